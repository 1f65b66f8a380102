"""Embedders that break one thing each."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
from collections.abc import Sequence

from contextport.conformance_tests.reference_embedder import ReferenceEmbedder
from contextport.contracts import EmbeddingFailed
from contextport.contracts.vectors import Vectors

from .registry import broken

__all__: list[str] = []


@broken("EMBEDDER-1")
class CountsAreNotScaled(ReferenceEmbedder):
    def row(self, text: str, query: bool) -> Sequence[float]:
        return [2 * number for number in super().row(text, query)]


@broken("EMBEDDER-1")
class QuestionsAreNotScaled(ReferenceEmbedder):
    def row(self, text: str, query: bool) -> Sequence[float]:
        return [number / (1.5 if query else 1) for number in super().row(text, query)]


@broken("EMBEDDER-1 EMBEDDER-2 EMBEDDER-4")
class RowsAreLeftSortedByLength(ReferenceEmbedder):
    def rows(self, texts: list[str], query: bool) -> Vectors:
        return super().rows(sorted(texts, key=len), query)


@broken("EMBEDDER-1")
class DropsWhatIsBeyondABatch(ReferenceEmbedder):
    def rows(self, texts: list[str], query: bool) -> Vectors:
        return super().rows(texts[:100], query)


@broken("EMBEDDER-1")
class NoTextsAreAnError(ReferenceEmbedder):
    def rows(self, texts: list[str], query: bool) -> Vectors:
        made = super().rows(texts, query)
        return made if texts else Vectors.of([])


@broken("EMBEDDER-1")
class SaysOtherDimensions(ReferenceEmbedder):
    def rows(self, texts: list[str], query: bool) -> Vectors:
        made = super().rows(texts, query)
        halves = [made.numbers(place)[: self.dimensions // 2] for place in range(len(made))]
        return Vectors.of([[number / _length(half) for number in half] for half in halves], self.dimensions // 2)


def _length(row: Sequence[float]) -> float:
    return math.hypot(*row)


@broken("EMBEDDER-2")
class EmbedsEachDifferentTextOnce(ReferenceEmbedder):
    """And has rows of nothing left for the places of the others."""

    def rows(self, texts: list[str], query: bool) -> Vectors:
        different = list(dict.fromkeys(texts))
        return super().rows([*different, *([""] * (len(texts) - len(different)))], query)


@broken("EMBEDDER-1 EMBEDDER-2 EMBEDDER-4 EMBEDDER-5 EMBEDDER-7 EMBEDDER-9")
class IsNeverTheSame(ReferenceEmbedder):
    def row(self, text: str, query: bool) -> Sequence[float]:
        row = [number + random.uniform(-0.3, 0.3) for number in super().row(text, query)]
        return [number / _length(row) for number in row]


@broken("EMBEDDER-2")
class LongNeighboursShine(ReferenceEmbedder):
    """The longest text of a call is a little in all its rows, as by padding that is not masked."""

    def rows(self, texts: list[str], query: bool) -> Vectors:
        longest = max(map(len, texts), default=0)
        return super().rows([f"{text} {'. ' * (longest // 100)}" for text in texts], query)


@broken("EMBEDDER-3")
class EmptyTextsAreRowsOfZeros(ReferenceEmbedder):
    def features(self, text: str) -> list[str]:
        return super().features(text)[1:]

    def row(self, text: str, query: bool) -> Sequence[float]:
        return super().row(text, query) if text.strip() else [0.0] * self.dimensions


@broken("EMBEDDER-3")
class ControlCharactersAreNotANumber(ReferenceEmbedder):
    def row(self, text: str, query: bool) -> Sequence[float]:
        return [float("nan")] * self.dimensions if "\0" in text else super().row(text, query)


@broken("EMBEDDER-3 EMBEDDER-8")
class EncodesStrictly(ReferenceEmbedder):
    def row(self, text: str, query: bool) -> Sequence[float]:
        text.encode()
        return super().row(text, query)

    def coverage(self, text: str) -> float:
        return len(text) / max(1, len(text.encode()))


@broken("EMBEDDER-3")
class RefusesLongTexts(ReferenceEmbedder):
    def row(self, text: str, query: bool) -> Sequence[float]:
        if len(text) > 30_000:
            raise ConnectionError("input is too long")
        return super().row(text, query)


@broken("EMBEDDER-2 EMBEDDER-3")
class LeavesEmptyTextsOut(ReferenceEmbedder):
    def rows(self, texts: list[str], query: bool) -> Vectors:
        return super().rows([text for text in texts if text], query)


@broken("EMBEDDER-4")
class HasNoMeaning(ReferenceEmbedder):
    def features(self, text: str) -> list[str]:
        return [text]


@broken("EMBEDDER-4")
class QuestionsAreInAnotherSpace(ReferenceEmbedder):
    def row(self, text: str, query: bool) -> Sequence[float]:
        row = super().row(text, query)
        return row[::-1] if query else row


@broken("EMBEDDER-4")
class KnowsAsciiOnlyAndDoesNotSaySo(ReferenceEmbedder):
    def features(self, text: str) -> list[str]:
        return super().features("".join(sign if sign.isascii() else "?" for sign in text if sign.isascii() or sign == " "))


@broken("EMBEDDER-5")
class IsSaltedByTheObject(ReferenceEmbedder):
    made = itertools.count()

    def __init__(self, *, dimensions: int = 256, down: bool = False) -> None:
        super().__init__(dimensions=dimensions, down=down)
        self.salt = next(self.made)

    def row(self, text: str, query: bool) -> Sequence[float]:
        row = list(super().row(text, query))
        turn = self.salt % 7 * 11
        return row[turn:] + row[:turn]


@broken("EMBEDDER-5")
class NamesCountCalls(ReferenceEmbedder):
    calls = 0

    def rows(self, texts: list[str], query: bool) -> Vectors:
        self.calls += 1
        return super().rows(texts, query)

    @property
    def name(self) -> str:
        return f"words:{self.calls}"


@broken("EMBEDDER-5")
class NameIsEmpty(ReferenceEmbedder):
    @property
    def name(self) -> str:
        return ""


@broken("EMBEDDER-5")
class NameLacksTheDimensions(ReferenceEmbedder):
    @property
    def name(self) -> str:
        return "words"


@broken("EMBEDDER-6")
class PassesForeignErrors(ReferenceEmbedder):
    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.check_open()
        return await asyncio.to_thread(self.rows, list(texts), query)


@broken("EMBEDDER-6")
class HidesTheForeignError(ReferenceEmbedder):
    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        try:
            return await super().embed(texts, query=query)
        except EmbeddingFailed as error:
            hidden = EmbeddingFailed(str(error))
        raise hidden


@broken("EMBEDDER-6")
class NoRowsOnFailure(ReferenceEmbedder):
    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        try:
            return await super().embed(texts, query=query)
        except EmbeddingFailed:
            return Vectors(self.dimensions)


@broken("EMBEDDER-6")
class EmbedsAfterClose(ReferenceEmbedder):
    def check_open(self) -> None:
        """Never closed."""


@broken("EMBEDDER-6")
class EmbedsNothingAfterClose(ReferenceEmbedder):
    """Answers before it looks whether it is closed."""

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        return await super().embed(texts, query=query) if texts else Vectors(self.dimensions)


@broken("EMBEDDER-6")
class ClosesOnce(ReferenceEmbedder):
    async def close(self) -> None:
        self.check_open()
        await super().close()

    def __del__(self) -> None:
        self.closed = True


@broken("EMBEDDER-7")
class BlocksTheLoop(ReferenceEmbedder):
    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.check_open()
        try:
            made = self.rows(list(texts), query)
        except ConnectionError as error:
            raise EmbeddingFailed("the backend does not answer") from error
        await asyncio.sleep(0)
        return made


@broken("EMBEDDER-7")
class KeepsTheTextsOfTheLastCall(ReferenceEmbedder):
    texts: Sequence[str] = ()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.texts = texts
        await asyncio.sleep(0)
        return await super().embed(self.texts, query=query)


@broken("EMBEDDER-7")
class KeepsToOneLoop(ReferenceEmbedder):
    loop: asyncio.AbstractEventLoop | None = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.loop = self.loop or asyncio.get_running_loop()
        if self.loop is not asyncio.get_running_loop():
            raise EmbeddingFailed("the embedder belongs to another event loop")
        return await super().embed(texts, query=query)


@broken("EMBEDDER-8")
class CoverageIsAPercentage(ReferenceEmbedder):
    def coverage(self, text: str) -> float:
        return 100.0


@broken("EMBEDDER-8")
class CoverageDependsOnWhatWasRead(ReferenceEmbedder):
    known: frozenset[str] = frozenset()

    def rows(self, texts: list[str], query: bool) -> Vectors:
        self.known = self.known.union(*map(str.split, texts))
        return super().rows(texts, query)

    def coverage(self, text: str) -> float:
        words = text.split()
        return 0.9 + 0.1 * sum(word in self.known for word in words) / len(words) if words else 1.0


@broken("EMBEDDER-9")
class CancelLeavesItBusy(ReferenceEmbedder):
    busy = False

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.check_open()
        while self.busy and len(texts) < 20:
            raise EmbeddingFailed("the embedder is busy")
        self.busy = len(texts) >= 20
        made = await super().embed(texts, query=query)
        self.busy = False
        return made
