"""The plainest retriever of a history that keeps every rule: what broken retrievers are made from."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence

from attrs import frozen

from contextport.contracts import ContextStore, Entry, RetrievalFailed, implements
from contextport.contracts.retrieval import IndexesHistory, Query, Retriever, Snippet

__all__ = ["Passage", "ReferenceRetriever"]

_PIECES = re.compile(r"[\u0900-\u0dff\w]+")  # words, with the vowel signs of Indian scripts
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PASSAGE = 200  # characters
_OVERLAP = 40  # no rare word of a text is cut in all of its passages


@frozen(kw_only=True)
class Passage:
    """A piece of a message, and where it is from."""

    session_id: str
    entry: Entry
    text: str


@implements(Retriever, IndexesHistory)
class ReferenceRetriever:
    """Reads all of a session for each question, and scores passages by the rare words that they share with it."""

    def __init__(self, store: ContextStore, *, down: bool = False) -> None:
        self.store = store
        self.down = down
        self.closed = False

    def note_added(self, session_id: str) -> None:
        pass  # each question reads the store

    async def settle(self) -> None:
        pass  # nothing is prepared

    async def close(self) -> None:
        self.closed = True

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        self.check_open()
        passages: list[Passage] = []
        for session_id in dict.fromkeys((query.session_id, *query.sessions)):
            passages += self.passages(query, session_id, await self.entries(session_id))
        return self.chosen(query, self.ranked(query, passages), max_tokens)

    def check_open(self) -> None:
        """Raise if the retriever is closed or its backend is down."""
        if self.closed:
            raise RetrievalFailed("the retriever is closed")
        try:
            self.access()
        except ConnectionError as error:
            raise RetrievalFailed("the backend does not answer") from error

    def access(self) -> None:
        """Ask the backend for anything."""
        if self.down:
            raise ConnectionError("the backend is down")

    async def entries(self, session_id: str) -> Sequence[Entry]:
        """The entries of the current epoch."""
        return await self.store.read(session_id, limit=1_000_000)

    def is_wanted(self, query: Query, session_id: str, entry: Entry) -> bool:
        """Whether an entry was said, and need be found."""
        if not entry.message.in_conversation or entry.message.id in query.visible:
            return False
        return session_id != query.session_id or query.before is None or entry.seq < query.before

    def passages(self, query: Query, session_id: str, entries: Sequence[Entry]) -> list[Passage]:
        """The pieces that may be found."""
        wanted = [entry for entry in entries if self.is_wanted(query, session_id, entry)]
        return [
            Passage(session_id=session_id, entry=entry, text=text) for entry in wanted for text in self.pieces(entry.message.text)
        ]

    def pieces(self, text: str) -> Iterator[str]:
        """The text, in pieces that overlap if it is long."""
        step = _PASSAGE - _OVERLAP
        for start in range(0, max(1, len(text) - _OVERLAP), step):
            yield text[start : start + _PASSAGE]

    def terms(self, text: str) -> list[str]:
        """The words of a text, and the single characters of scripts without blanks."""
        plain = unicodedata.normalize("NFKC", text).casefold()
        spaced = _UNSPACED.sub(lambda sign: f" {sign[0]} ", plain)
        return _PIECES.findall(spaced)

    def ranked(self, query: Query, passages: Sequence[Passage]) -> list[tuple[float, Passage]]:
        """Passages with a word of the question, the best first, with the share of its rare words that they have."""
        asked = set(self.terms(query.text))
        own = [asked.intersection(self.terms(passage.text)) for passage in passages]
        weights = {term: math.log(1 + len(passages) / (1 + sum(term in terms for terms in own))) for term in sorted(asked)}
        total = sum(weights.values()) or 1.0
        scored = [(self.score(sum(weights[term] for term in sorted(terms)) / total), n) for n, terms in enumerate(own) if terms]
        return [(score, passages[n]) for score, n in sorted(scored, key=lambda one: (-one[0], one[1]))]

    def score(self, share: float) -> float:
        """The share of the question's rare words as a score."""
        return min(1.0, share)

    def snippet(self, score: float, passage: Passage) -> Snippet:
        """A passage as it is returned."""
        message = passage.entry.message
        return Snippet(
            text=passage.text,
            score=score,
            tokens=self.size(passage.text),
            session_id=passage.session_id,
            message_id=message.id,
            seq=passage.entry.seq,
            role=message.role,
            speaker=message.name or "",
            at=passage.entry.at,
        )

    def size(self, text: str) -> int:
        """Four characters to the token."""
        return len(text) // 4 + 1

    def is_new(self, snippet: Snippet, taken: Sequence[Snippet]) -> bool:
        """Whether neither text is part of the other."""
        return not any(snippet.text in other.text or other.text in snippet.text for other in taken)

    def chosen(self, query: Query, ranked: Sequence[tuple[float, Passage]], max_tokens: int) -> tuple[Snippet, ...]:
        """As many of the best as there is room for."""
        taken: list[Snippet] = []
        for score, passage in ranked:
            snippet = self.snippet(score, passage)
            if score >= query.min_score and snippet.tokens <= max_tokens and self.is_new(snippet, taken):
                max_tokens -= snippet.tokens
                taken.append(snippet)
        return tuple(taken)
