"""Lexical indexes that break one thing each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import attrs

from contextport.conformance_tests.reference_lexical_index import LexicalBackend, ReferenceLexicalIndex
from contextport.contracts.errors import IndexUnavailable
from contextport.contracts.retrieval import IndexedText, Matches

from .registry import broken

__all__: list[str] = []

_Texts = dict[int, Counter[str]]


@broken("LEXICAL-1")
class ReturnsTheFirstThousand(ReferenceLexicalIndex):
    def matched(self, texts: _Texts, asked: Sequence[str]) -> Matches:
        found = super().matched(texts, asked)
        first = sorted(found.lengths)[:1_000]
        postings = {term: {id: posting[id] for id in first if id in posting} for term, posting in found.postings.items()}
        return attrs.evolve(found, postings=postings, lengths={id: found.lengths[id] for id in first})


@broken("LEXICAL-1")
class CountsAWordOnce(ReferenceLexicalIndex):
    def matched(self, texts: _Texts, asked: Sequence[str]) -> Matches:
        found = super().matched(texts, asked)
        return attrs.evolve(found, postings={term: dict.fromkeys(posting, 1) for term, posting in found.postings.items()})


@broken("LEXICAL-1 LEXICAL-2 LEXICAL-3 LEXICAL-7 LEXICAL-9 LEXICAL-11")
class WantsAllWords(ReferenceLexicalIndex):
    def matched(self, texts: _Texts, asked: Sequence[str]) -> Matches:
        found = super().matched(texts, asked)
        left = {id: length for id, length in found.lengths.items() if all(term in texts[id] for term in asked)}
        postings = {term: {id: posting[id] for id in posting if id in left} for term, posting in found.postings.items()}
        return attrs.evolve(found, postings=postings, lengths=left)


@broken("LEXICAL-1 LEXICAL-4")
class LengthsAreOfDifferentTerms(ReferenceLexicalIndex):
    def matched(self, texts: _Texts, asked: Sequence[str]) -> Matches:
        found = super().matched(texts, asked)
        return attrs.evolve(found, lengths={id: len(texts[id]) for id in found.lengths})


@broken("LEXICAL-1 LEXICAL-4 LEXICAL-8 LEXICAL-9 LEXICAL-11")
class CountsOnlyWhatItFound(ReferenceLexicalIndex):
    """The texts and the mean length of the answer, not of the space: rare words look common."""

    def matched(self, texts: _Texts, asked: Sequence[str]) -> Matches:
        found = super().matched(texts, asked)
        return attrs.evolve(found, texts=len(found.lengths), mean_length=1.0)


@broken("LEXICAL-2 LEXICAL-3")
class MindsCase(ReferenceLexicalIndex):
    def folded(self, text: str) -> str:
        return "".join([sign if sign.isupper() and sign.isascii() else super(MindsCase, self).folded(sign) for sign in text])


@broken("LEXICAL-2")
class MindsAccents(ReferenceLexicalIndex):
    def folded(self, text: str) -> str:
        return text.casefold()


@broken("LEXICAL-2")
class KeepsEndings(ReferenceLexicalIndex):
    def stem(self, word: str) -> str:
        return word


@broken("LEXICAL-2 LEXICAL-3")
class CutsWordsToThreeLetters(ReferenceLexicalIndex):
    def stem(self, word: str) -> str:
        return word if word.startswith("q") else super().stem(word)[:3]


@broken("LEXICAL-2")
class TakesEveryWord(ReferenceLexicalIndex):
    def says_nothing(self, word: str) -> bool:
        return False


@broken("LEXICAL-3")
class TakesAChineseSentenceForAWord(ReferenceLexicalIndex):
    def of_run(self, run: str) -> list[str]:
        return [run]


@broken("LEXICAL-3")
class TakesPairsOnly(ReferenceLexicalIndex):
    def of_run(self, run: str) -> list[str]:
        return super().of_run(run)[len(run) :]


@broken("LEXICAL-3")
class TakesCharactersOnly(ReferenceLexicalIndex):
    def of_run(self, run: str) -> list[str]:
        return [*run]


@broken("LEXICAL-3")
class KnowsLatinOnly(ReferenceLexicalIndex):
    def kind(self, sign: str) -> str:
        return "word" if sign.isalnum() and sign.isascii() else ""


@broken("LEXICAL-3")
class TakesNumbersForNothing(ReferenceLexicalIndex):
    def says_nothing(self, word: str) -> bool:
        return word.isdigit() or super().says_nothing(word)


@broken("LEXICAL-3")
class CutsAtSpacesOnly(ReferenceLexicalIndex):
    def kind(self, sign: str) -> str:
        return "word" if sign in "-_.@" else super().kind(sign)

    def stem(self, word: str) -> str:
        return super().stem(word.strip("-_.@"))


@broken("LEXICAL-4")
class KeepsTheFirstText(ReferenceLexicalIndex):
    def put(self, texts: _Texts, cut: Sequence[tuple[int, Counter[str]]]) -> _Texts:
        return {**dict(cut), **texts}


@broken("LEXICAL-4 LEXICAL-8")
class AddsToTheText(ReferenceLexicalIndex):
    """Never lets go of a term that an id had: neither when its text is replaced nor when its space is dropped."""

    def __init__(self, backend: LexicalBackend | None = None) -> None:
        super().__init__(backend)
        self.had: dict[tuple[str, int], Counter[str]] = {}

    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        await super().add(space, texts)
        with self.backend.lock:
            for id in [one.id for one in texts]:
                terms = self.backend.spaces[space]
                terms[id] = self.had[space, id] = self.had.get((space, id), Counter()) | terms[id]


@broken("LEXICAL-5")
class FoldsNamesOfSpaces(ReferenceLexicalIndex):
    def place(self, space: str) -> str:
        return space.casefold()


@broken("LEXICAL-5")
class TrimsNamesOfSpaces(ReferenceLexicalIndex):
    def place(self, space: str) -> str:
        return space.strip()


@broken("LEXICAL-5")
class CutsNamesOfSpaces(ReferenceLexicalIndex):
    def place(self, space: str) -> str:
        return space.partition("\u0000")[0]


@broken("LEXICAL-5 LEXICAL-6 LEXICAL-8")
class UnwrittenSpaceIsAnError(ReferenceLexicalIndex):
    async def newest(self, space: str) -> int | None:
        return max(self.find(space))


@broken("LEXICAL-5 LEXICAL-8")
class NewestIsOfAllSpaces(ReferenceLexicalIndex):
    async def newest(self, space: str) -> int | None:
        own = await super().newest(space)
        return own if own is None else max(id for texts in self.backend.spaces.values() for id in texts)


@broken("LEXICAL-6 LEXICAL-9")
class NewestIsTheLastThatWasAdded(ReferenceLexicalIndex):
    async def newest(self, space: str) -> int | None:
        return next(reversed(self.find(space)), None)


@broken("LEXICAL-6")
class TakesTheFirstIdForNone(ReferenceLexicalIndex):
    async def newest(self, space: str) -> int | None:
        return await super().newest(space) or None


@broken("LEXICAL-6")
class KeepsIdsInFourBytes(ReferenceLexicalIndex):
    def put(self, texts: _Texts, cut: Sequence[tuple[int, Counter[str]]]) -> _Texts:
        return super().put(texts, [(id & 0xFFFFFFFF, terms) for id, terms in cut])


@broken("LEXICAL-7")
class TakesAQuestionForAQuery(ReferenceLexicalIndex):
    async def matches(self, space: str, question: str) -> Matches:
        if question.count('"') % 2:
            raise ValueError("unterminated string")
        return await super().matches(space, question)


@broken("LEXICAL-7")
class EncodesTextStrictly(ReferenceLexicalIndex):
    def folded(self, text: str) -> str:
        return super().folded(text.encode().decode())


@broken("LEXICAL-7")
class ReadsUpToTheFirstNul(ReferenceLexicalIndex):
    def folded(self, text: str) -> str:
        return super().folded(text.partition("\u0000")[0])


@broken("LEXICAL-7")
class ReadsTheFirstFewThousandCharacters(ReferenceLexicalIndex):
    def folded(self, text: str) -> str:
        return super().folded(text[:8_000])


@broken("LEXICAL-8")
class DropsSpacesOfLikeName(ReferenceLexicalIndex):
    async def drop(self, space: str) -> None:
        await super().drop(space)
        for name in list(self.backend.spaces):
            if space and name.startswith(space):
                await super().drop(name)


@broken("LEXICAL-8")
class DropsTheNewestOnly(ReferenceLexicalIndex):
    async def drop(self, space: str) -> None:
        with self.backend.lock:
            texts = self.find(space)
            if texts:
                del texts[max(texts)]


@broken("LEXICAL-9")
class WritesWithoutALock(ReferenceLexicalIndex):
    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        before = dict(self.find(space))
        await asyncio.sleep(0)
        if texts:
            cut = [(one.id, Counter(self.terms(one.text))) for one in texts]
            self.backend.spaces[space] = self.put(before, cut)


@broken("LEXICAL-10")
class LetsForeignErrorsThrough(ReferenceLexicalIndex):
    def find(self, space: str) -> _Texts:
        self.check_open()
        return self.backend.find(space)


@broken("LEXICAL-10")
class HidesTheCause(ReferenceLexicalIndex):
    def find(self, space: str) -> _Texts:
        try:
            return super().find(space)
        except IndexUnavailable as error:
            raise IndexUnavailable(str(error)) from None


@broken("LEXICAL-10")
class WorksAfterClose(ReferenceLexicalIndex):
    async def close(self) -> None:
        pass


@broken("LEXICAL-10")
class ClosesOnce(ReferenceLexicalIndex):
    async def close(self) -> None:
        if self.closed:
            raise RuntimeError("the index was closed before")
        await super().close()


@broken("LEXICAL-11")
class StoresUpToTheFailure(ReferenceLexicalIndex):
    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        with self.backend.lock:
            for one in texts:
                await super().add(space, [one])


@broken("LEXICAL-11")
class CancelLeavesHalf(ReferenceLexicalIndex):
    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        terms = [self.terms(one.text) for one in texts]
        if not terms:
            return
        for one in texts:
            await super().add(space, [one])
            await asyncio.sleep(0)


@broken("LEXICAL-11")
class CancelLeavesTheIndexBusy(ReferenceLexicalIndex):
    busy = False

    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        if self.busy:
            raise IndexUnavailable("the index is busy")
        if len(texts) == 4:
            self.busy = True
            await asyncio.sleep(0)
            self.busy = False
        await super().add(space, texts)
