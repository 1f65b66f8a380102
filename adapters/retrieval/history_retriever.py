"""The retriever of what was said: searches the log of sessions by words, and by meaning where there is an embedder."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence

from contextport.contracts import (
    ContextStore,
    Embedder,
    Event,
    EventKind,
    EventSink,
    IndexesHistory,
    IndexUnavailable,
    InvalidArgument,
    LexicalIndex,
    Query,
    RetrievalFailed,
    Retriever,
    Snippet,
    TokenCounter,
    VectorIndex,
    implements,
)
from contextport.strategies.retrieval.ranking import Ranking, rank_passages
from contextport.strategies.retrieval.snippet_selection import select_snippets
from contextport.strategies.retrieval.terms import terms_of

from .background_work import BackgroundWork
from .history_spaces import HistorySpaces
from .passage_vectors import PassageVectors, Question
from .retrieval_policy import RetrievalPolicy
from .session_passages import SessionPassages

__all__ = ["HistoryRetriever"]


_Scored = tuple[float, int, SessionPassages]  # the score, the place, and where it is a place of


@implements(Retriever, IndexesHistory)
class HistoryRetriever:
    """Finds messages, or passages of long ones, in the sessions of `store`; see `rank_passages` for how they are ranked.

    `lexical` is needed; with `embedder` and `index`, which are given both or neither, meaning is looked up as well. Vectors are
    made in the background and kept in the store, if it `KeepsVectors`. Where embedder or vector index fail or are slow, words
    alone are searched, and `events` get a `RETRIEVAL_FAILED`. All parts stay their owner's: none is closed. What is put into the
    indexes is this retriever's alone, made anew from the store by the next one, and taken out by `close`.

    A session is read when it is first asked for or told of, and held in memory while there is room (`policy`).
    """

    def __init__(
        self,
        store: ContextStore,
        counter: TokenCounter,
        lexical: LexicalIndex,
        embedder: Embedder | None = None,
        index: VectorIndex | None = None,
        *,
        policy: RetrievalPolicy = RetrievalPolicy(),  # noqa: B008  # immutable
        events: EventSink | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if (embedder is None) != (index is None):
            given, other = ("embedder", "index") if index is None else ("index", "embedder")
            raise InvalidArgument(f"{given} was given without {other}: give both, or neither", name=other)
        self._counter = counter
        self._lexical = lexical
        self._policy = policy
        self._events = events
        self._vectors: PassageVectors | None = None
        if embedder is not None and index is not None:
            self._vectors = PassageVectors(
                store=store, embedder=embedder, index=index, policy=policy, failed=self._report, clock=clock
            )
        self._spaces = HistorySpaces(
            store=store, lexical=lexical, most_characters=policy.most_characters, dropped=self._drop_vectors
        )
        self._background = BackgroundWork(self._prepare)
        self._is_closed = False

    def note_added(self, session_id: str) -> None:
        if not self._is_closed:
            self._background.ask(session_id)

    async def settle(self) -> None:
        await self._background.settle()

    async def close(self) -> None:
        self._is_closed = True
        await self._background.stop()
        await self._spaces.close()

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        if self._is_closed:
            raise RetrievalFailed("the retriever is closed; make a new one")
        text = self._read(query.text)
        if max_tokens < 1 or not terms_of(text):
            return ()
        question = asyncio.ensure_future(self._question(query.session_id, text))
        try:
            found = [
                await self._search(query, session_id, text, question)
                for session_id in dict.fromkeys((query.session_id, *query.sessions))
            ]
        except IndexUnavailable as error:
            raise RetrievalFailed(f"the words of the history cannot be searched: {error}") from error
        except asyncio.CancelledError:  # perhaps a long log took too long to read: the next question shall not begin anew
            for session_id in (query.session_id, *query.sessions):
                self.note_added(session_id)
            raise
        finally:
            question.cancel()
        best_first = heapq.merge(*found, key=lambda one: -one[0])
        return select_snippets(
            (passages.snippet(place, score, self._counter) for score, place, passages in best_first), max_tokens
        )

    def _read(self, text: str) -> str:
        """The text as far as it is searched for."""
        half = self._policy.longest_question // 2
        return text if len(text) <= 2 * half else f"{text[:half]} {text[-half:]}"

    async def _question(self, session_id: str, text: str) -> Question | None:
        return None if self._vectors is None else await self._vectors.question(session_id, text)

    async def _search(self, query: Query, session_id: str, text: str, question: Awaitable[Question | None]) -> Iterator[_Scored]:
        """The passages of a session that may be returned, the best first."""
        async with self._spaces.opened(session_id) as passages:
            if not passages.ids:
                return iter(())
            matches = await self._lexical.matches(passages.space, text)
            asked = await question
            cosines: Sequence[tuple[int, float]] = ()
            if self._vectors is not None and asked is not None:
                cosines = await self._vectors.nearest(passages, asked)
                if len(passages.embedded) < len(passages.ids):
                    self._background.ask(session_id)
            with passages.lock:
                ranking = rank_passages(
                    matches,
                    passages.places,
                    cosines=cosines,
                    fit=0.0 if asked is None else asked.fit,
                    bonus=passages.bonus(frozenset(terms_of(text))),
                )
        return _wanted(query, passages, ranking)

    async def _prepare(self, session_id: str) -> None:
        """Read what is new in a session, and embed it."""
        try:
            async with self._spaces.opened(session_id) as passages:
                if self._vectors is not None:
                    await self._vectors.fill(passages)
        except Exception as error:  # the next question meets it again, and raises it
            self._report(session_id, error)

    async def _drop_vectors(self, space: str) -> None:
        if self._vectors is not None:
            await self._vectors.drop(space)

    def _report(self, session_id: str, error: Exception) -> None:
        if self._events is not None:
            told = {"retriever": "history", "error": type(error).__name__}
            self._events.emit(Event(kind=EventKind.RETRIEVAL_FAILED, session_id=session_id, data=told))


def _wanted(query: Query, passages: SessionPassages, ranking: Ranking) -> Iterator[_Scored]:
    """Those that the query does not exclude: what is known to be asked for first, then as they rank."""
    is_own = passages.session_id == query.session_id
    known = {place for seq in query.known for place in passages.places_of(seq)[:1]} if is_own else set[int]()

    def is_wanted(place: int) -> bool:
        origin = passages.origins[place]
        return not is_own or (origin.message_id not in query.visible and (query.before is None or origin.seq < query.before))

    yield from [(1.0, place, passages) for place in sorted(known) if is_wanted(place)]
    for place, score in zip(ranking.places, ranking.scores, strict=True):
        if score < query.min_score:
            return
        if place not in known and is_wanted(place):
            yield score, place, passages
