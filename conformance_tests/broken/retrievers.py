"""Retrievers that break one thing each."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from contextport.conformance_tests.reference_retriever import Passage, ReferenceRetriever
from contextport.contracts import RetrievalFailed
from contextport.contracts.retrieval import Query, Snippet

from .registry import broken

__all__: list[str] = []


@broken("RETRIEVER-1 HISTORY-1 HISTORY-4 HISTORY-5")
class ReturnsTheBestAlone(ReferenceRetriever):
    """Returns the best, however large the room is, and nothing else."""

    def chosen(self, query: Query, ranked: Sequence[tuple[float, Passage]], max_tokens: int) -> tuple[Snippet, ...]:
        return super().chosen(query, ranked, 1_000_000)[:1]


@broken("RETRIEVER-1")
class ChecksEachSizeAlone(ReferenceRetriever):
    def chosen(self, query: Query, ranked: Sequence[tuple[float, Passage]], max_tokens: int) -> tuple[Snippet, ...]:
        return tuple([one for one in super().chosen(query, ranked, 1_000_000) if one.tokens <= max_tokens])


@broken("RETRIEVER-1")
class SaysThatTextIsFree(ReferenceRetriever):
    def size(self, text: str) -> int:
        return 0


@broken("RETRIEVER-1 RETRIEVER-5")
class ReturnsInOrderOfTime(ReferenceRetriever):
    def chosen(self, query: Query, ranked: Sequence[tuple[float, Passage]], max_tokens: int) -> tuple[Snippet, ...]:
        return tuple(sorted(super().chosen(query, ranked, max_tokens), key=lambda one: one.seq))


@broken("RETRIEVER-1")
class CountsWordsOfAllKindsAlike(ReferenceRetriever):
    """Gives every passage with a word of the question the same score: the oldest comes first."""

    def score(self, share: float) -> float:
        return 1.0

    def ranked(self, query: Query, passages: Sequence[Passage]) -> list[tuple[float, Passage]]:
        return sorted(super().ranked(query, passages), key=lambda one: one[1].entry.seq)


@broken("RETRIEVER-2")
class TellsEqualTextsByTheirMessages(ReferenceRetriever):
    def is_new(self, snippet: Snippet, taken: Sequence[Snippet]) -> bool:
        return all(snippet.message_id != other.message_id or snippet.text != other.text for other in taken)


@broken("RETRIEVER-2")
class ReturnsPartsOfWhatItReturned(ReferenceRetriever):
    def is_new(self, snippet: Snippet, taken: Sequence[Snippet]) -> bool:
        return snippet.text not in [other.text for other in taken]


@broken("RETRIEVER-3")
class JoinsBlanks(ReferenceRetriever):
    def snippet(self, score: float, passage: Passage) -> Snippet:
        found = super().snippet(score, passage)
        return attrs.evolve(found, text=" ".join(found.text.split()))


@broken("RETRIEVER-1 RETRIEVER-2 RETRIEVER-3 RETRIEVER-4 RETRIEVER-6 HISTORY-2 HISTORY-3 HISTORY-8")
class QuotesWhatItIndexed(ReferenceRetriever):
    """Returns text in lower case and without accents, as it is searched."""

    def snippet(self, score: float, passage: Passage) -> Snippet:
        found = super().snippet(score, passage)
        return attrs.evolve(found, text=" ".join(self.terms(found.text)))


@broken("RETRIEVER-3 HISTORY-1 HISTORY-2 HISTORY-4 HISTORY-5 HISTORY-8")
class SaysNotWhereFrom(ReferenceRetriever):
    def snippet(self, score: float, passage: Passage) -> Snippet:
        return attrs.evolve(super().snippet(score, passage), message_id="", session_id="", seq=0)


@broken("RETRIEVER-3")
class SaysTheWrongPlace(ReferenceRetriever):
    def snippet(self, score: float, passage: Passage) -> Snippet:
        return attrs.evolve(super().snippet(score, passage), seq=0)


@broken("RETRIEVER-4 HISTORY-8")
class KnowsLatinLettersAlone(ReferenceRetriever):
    def terms(self, text: str) -> list[str]:
        return re.findall("[a-z\u00e0-\u024f0-9]+", text.casefold())


@broken("RETRIEVER-4 HISTORY-8")
class SplitsAtBlanksAlone(ReferenceRetriever):
    def terms(self, text: str) -> list[str]:
        return [term for word in text.casefold().split() if (term := word.strip(".,?!\"'()[]{}:;-"))]


@broken("RETRIEVER-4 HISTORY-8")
class DropsNumbersAndIdentifiers(ReferenceRetriever):
    def terms(self, text: str) -> list[str]:
        return [term for term in super().terms(text) if term.isalpha() or not term.isascii()]


@broken("RETRIEVER-5")
class LooksAtNoLeastScore(ReferenceRetriever):
    def chosen(self, query: Query, ranked: Sequence[tuple[float, Passage]], max_tokens: int) -> tuple[Snippet, ...]:
        return super().chosen(attrs.evolve(query, min_score=0.0), ranked, max_tokens)


@broken("RETRIEVER-5")
class LooksAtTheBestScoreAlone(ReferenceRetriever):
    def chosen(self, query: Query, ranked: Sequence[tuple[float, Passage]], max_tokens: int) -> tuple[Snippet, ...]:
        found = super().chosen(attrs.evolve(query, min_score=0.0), ranked, max_tokens)
        return found if found and found[0].score >= query.min_score else ()


@broken("RETRIEVER-6")
class TakesQuestionsForPatterns(ReferenceRetriever):
    def ranked(self, query: Query, passages: Sequence[Passage]) -> list[tuple[float, Passage]]:
        re.compile(query.text[:100])
        return super().ranked(query, passages)


@broken("RETRIEVER-6")
class FindsEverythingForNothing(ReferenceRetriever):
    def ranked(self, query: Query, passages: Sequence[Passage]) -> list[tuple[float, Passage]]:
        return super().ranked(query, passages) if self.terms(query.text) else [(0.0, passage) for passage in passages]


@broken("RETRIEVER-6")
class StoresTheQuestionAsUtf8(ReferenceRetriever):
    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        query.text.encode()
        return await super().retrieve(query, max_tokens=max_tokens)


@broken("RETRIEVER-6")
class RefusesLongQuestions(ReferenceRetriever):
    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        if len(query.text) > 50_000:
            raise RetrievalFailed("the question is too long")
        return await super().retrieve(query, max_tokens=max_tokens)


@broken("RETRIEVER-7 RETRIEVER-9")
class AvoidsWhatItReturnedLast(ReferenceRetriever):
    """Puts what the last answer had behind the rest, for variety."""

    last: frozenset[str] = frozenset()

    def chosen(self, query: Query, ranked: Sequence[tuple[float, Passage]], max_tokens: int) -> tuple[Snippet, ...]:
        found = super().chosen(query, ranked, max_tokens)
        if max_tokens == _A_FEW and len(found) > 1 and found[-1].text in self.last:
            found = found[:-1]
        self.last = frozenset([one.text for one in found])
        return found


_A_FEW = 100


@broken("RETRIEVER-8")
class FindsNothingAfterClose(ReferenceRetriever):
    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        return () if self.closed else await super().retrieve(query, max_tokens=max_tokens)


@broken("RETRIEVER-8")
class ClosesOnce(ReferenceRetriever):
    async def close(self) -> None:
        if self.closed:
            raise RetrievalFailed("it is closed already")
        await super().close()


@broken("RETRIEVER-8")
class PassesForeignErrors(ReferenceRetriever):
    def check_open(self) -> None:
        if self.closed:
            raise RetrievalFailed("the retriever is closed")
        self.access()


@broken("RETRIEVER-8")
class HidesTheForeignError(ReferenceRetriever):
    def check_open(self) -> None:
        try:
            super().check_open()
        except RetrievalFailed as error:
            hidden = RetrievalFailed(str(error))
        else:
            return
        raise hidden


@broken("RETRIEVER-9")
class KeepsTheQuestionOnItself(ReferenceRetriever):
    asked: Query

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        self.asked = query
        await asyncio.sleep(0)
        return await super().retrieve(self.asked, max_tokens=max_tokens)


@broken("RETRIEVER-9")
class KeepsToOneLoop(ReferenceRetriever):
    loop: asyncio.AbstractEventLoop | None = None

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        running = asyncio.get_running_loop()
        self.loop = self.loop or running
        if self.loop is not running:
            raise RuntimeError("this retriever belongs to another event loop")
        return await super().retrieve(query, max_tokens=max_tokens)


@broken("RETRIEVER-9")
class StaysBusyAfterACancelledCall(ReferenceRetriever):
    busy = False

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        if self.busy:
            raise RuntimeError("it is busy")
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.busy = True
            raise
        return await super().retrieve(query, max_tokens=max_tokens)


@broken("RETRIEVER-7 RETRIEVER-9")
class TurnsEqualScoresRound(ReferenceRetriever):
    calls: Iterator[int]

    def __init__(self, store: Any, *, down: bool = False) -> None:
        super().__init__(store, down=down)
        self.calls = itertools.count()

    def ranked(self, query: Query, passages: Sequence[Passage]) -> list[tuple[float, Passage]]:
        ranked = super().ranked(query, passages)
        if next(self.calls) % 2:
            ranked.reverse()
            ranked.sort(key=lambda one: -one[0])
        return ranked
