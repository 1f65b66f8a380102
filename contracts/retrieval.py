"""Bringing back what a question needs: the values, and the ports of what searches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from .errors import InvalidArgument
from .port import Port

__all__ = ["IndexedText", "IndexesHistory", "LexicalIndex", "Matches", "Query", "Retriever", "Snippet"]


@frozen(kw_only=True)
class Query:
    """What is asked, in which session, and what need not be found.

    `visible` are the ids of messages that are in the window already. Only messages before entry `before` of the session's log
    are found, if it is given. `sessions` are others that the host lets the question reach into, by name. `known` are places
    (seqs) of the log where something stands that the question names, by the ledger of facts. What scores less than `min_score`,
    from 0 to 1, is left out. `at` is when it is asked, in seconds since 1970.

    Raises `InvalidArgument` for a score that is none.
    """

    text: str
    session_id: str
    visible: frozenset[str] = frozenset()
    before: int | None = None
    sessions: tuple[str, ...] = ()
    known: tuple[int, ...] = ()
    min_score: float = 0.0
    at: float | None = None

    def __attrs_post_init__(self) -> None:
        if isinstance(self.min_score, bool) or not 0 <= self.min_score <= 1:
            raise InvalidArgument(f"min_score is {self.min_score!r}; it must be from 0 to 1", name="min_score")
        if isinstance(self.sessions, str):
            raise InvalidArgument(f"sessions is {self.sessions!r}; it must be a tuple of session ids", name="sessions")


@frozen(kw_only=True)
class Snippet:
    """A piece of text that was found, and where it is from.

    From a session's history: `session_id`, `message_id`, `seq` and `role` say which message it is of, `speaker` who said it,
    if that is known. From elsewhere: `source` is what people find it by, such as a title, a path or an address. `at` is when it
    was said or written. `score` is from 0 to 1, comparable within one answer. `tokens` is the size of the text alone.
    `is_stale` says that it is a tool result that may be out of date.
    """

    text: str
    score: float
    tokens: int
    session_id: str = ""
    message_id: str = ""
    seq: int = 0
    role: str = ""
    speaker: str = ""
    source: str = ""
    at: float | None = None
    is_stale: bool = False

    def __attrs_post_init__(self) -> None:
        if not math.isfinite(self.score) or not 0 <= self.score <= 1:
            raise InvalidArgument(f"the score of a snippet is {self.score!r}; it must be from 0 to 1", name="score")


class Retriever(Port):
    """Finds the pieces of text that a question needs: in the history of sessions, or in what a host knows besides.

    Obligations
        RETRIEVER-1  `retrieve` returns snippets that take at most `max_tokens` together, the most useful first.
        RETRIEVER-2  No snippet is there twice, nor one whose text is part of another's.
        RETRIEVER-3  A snippet's text is a piece of its source, word for word, and says where it is from: a message, or `source`.
        RETRIEVER-4  A text with the rare words of the question is found, in any script.
        RETRIEVER-5  Nothing scores less than the question's `min_score`; scores do not rise from one snippet to the next.
        RETRIEVER-6  Every text may be asked: empty, of operators and quotes, U+0000, lone surrogates, far longer than what is
                     searched. One without words finds nothing.
        RETRIEVER-7  Equal questions get equal answers while nothing is added.
        RETRIEVER-8  A backend that fails raises `RetrievalFailed` with the foreign error as its cause; so does every call after
                     `close`, which may be repeated.
        RETRIEVER-9  Calls by many tasks at once get their own answers; after one that was cancelled it goes on working.

    Caller guarantees
        `max_tokens` is 0 or more. The session is one that whoever asks may see; so are those that the question names.
    Errors
        `RetrievalFailed`.
    Concurrency
        Any number of tasks; threads that each run their own event loop.
    Lifetime
        From construction to `close`. A retriever closes nothing that it was given.
    Latitude
        What is useful; how texts are cut into pieces; whether sessions matter to it at all, where it does not search in them.
    """

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        """What was found. Sizes are counted by the retriever's own counter."""
        ...

    async def close(self) -> None:
        """Release what the retriever made for itself."""
        ...


class IndexesHistory(Port):
    """A retriever that searches the messages of the sessions of a store.

    Obligations
        HISTORY-1  Only messages of the question's session are found, and of those that it names.
        HISTORY-2  Messages of cleared epochs and purged sessions are never found.
        HISTORY-3  A message is found by its words from the moment on at which the store acknowledged it, also if another
                   process added it.
        HISTORY-4  Messages in the window (`visible`), and those from `before` on, are not found.
        HISTORY-5  What was not said is not found: system prompts, summaries, facts, records, and what was made for a window.
        HISTORY-6  Nothing is written to the log, and sessions that were never written are not made by asking.
        HISTORY-7  Opened anew on the same store, it finds the same.
        HISTORY-8  A long message is found by words anywhere in it.

    Caller guarantees, concurrency, lifetime: as `Retriever`. Errors: also the store's.
    Latitude: whether more is found once `settle` came back, as where meanings are looked up in the background.
    """

    def note_added(self, session_id: str) -> None:
        """Told after messages were added; takes no time. What is to be prepared is prepared in the background."""
        ...

    async def settle(self) -> None:
        """Wait until nothing is being prepared in the background."""
        ...


@frozen(kw_only=True)
class IndexedText:
    """A text on its way into an index: under `id`, from 0 to 2**63 - 1, within its space."""

    id: int
    text: str


@frozen(kw_only=True)
class Matches:
    """Where the terms of a question stand in a space, for scoring.

    `postings` has by term the texts it is in: {id: how often}. `lengths` has how many terms each of these texts has. `texts` is
    how many texts the space has, `mean_length` how many terms they have on average.
    """

    postings: Mapping[str, Mapping[int, int]] = field(factory=dict[str, Mapping[int, int]])
    lengths: Mapping[int, int] = field(factory=dict[int, int])
    texts: int = 0
    mean_length: float = 0.0


class LexicalIndex(Port):
    """Finds texts by their words. A derived thing: it can be filled again from the log.

    Texts lie in spaces, one for each set that is searched by itself.

    Obligations
        LEXICAL-1  `matches` returns every text of the space that has a term of the question, how often it has it, and true counts
                   of texts and terms.
        LEXICAL-2  English words match in their other forms (plurals, endings of verbs), in upper and lower case, with and without
                   accents; words that every text has (`the`, `of`) are no terms.
        LEXICAL-3  Chinese, Japanese and Korean texts match by their characters and pairs of characters, and other scripts by
                   words; numbers and identifiers by what they consist of.
        LEXICAL-4  An id that is added again has the new text.
        LEXICAL-5  Spaces are separate, whatever characters their names have. One that was never added to is empty.
        LEXICAL-6  Texts that were acknowledged are found by the next call; `newest` is the highest id of the space, or None.
        LEXICAL-7  Every text may be added and asked for: empty, of operators and quotes, U+0000, lone surrogates, very long ones.
        LEXICAL-8  `drop` empties a space.
        LEXICAL-9  Calls by many tasks at once lose nothing.
        LEXICAL-10 A backend that fails raises `IndexUnavailable` with the foreign error as its cause; so does every call after
                   `close`, which may be repeated.
        LEXICAL-11 An `add` that fails or is cancelled has stored all of its texts or none, and the index goes on working.

    Caller guarantees
        No id twice in a call.
    Errors
        `IndexUnavailable`. After an error nothing of the call is stored.
    Concurrency
        Any number of tasks; threads that each run their own event loop.
    Lifetime
        From construction to `close`.
    Latitude
        What a term is beyond that; how terms are written in `postings`; whether it outlives its process.
    """

    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        """Store texts, all or none."""
        ...

    async def matches(self, space: str, question: str) -> Matches:
        """Where the terms of the question stand."""
        ...

    async def newest(self, space: str) -> int | None:
        """The highest id of the space."""
        ...

    async def drop(self, space: str) -> None:
        """Remove the texts of the space."""
        ...

    async def close(self) -> None:
        """Release the backend."""
        ...
