"""Strategies that fold, and break one thing each about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from contextport.conformance_tests.conversations import is_complete, is_system, newest_question
from contextport.conformance_tests.reference_folding_strategy import MEMORY, ReferenceFoldingStrategy, of_kind
from contextport.conformance_tests.reference_strategy import ReferenceStrategy
from contextport.contracts import (
    Compression,
    FactLedger,
    Fold,
    Kind,
    Message,
    Summary,
    SummaryFailed,
    SummaryRequest,
)

from .registry import broken

__all__: list[str] = []


@broken("STRATEGY-23 STRATEGY-24 STRATEGY-25 STRATEGY-26 STRATEGY-27")
class NeverFolds(ReferenceFoldingStrategy):
    def covered(self, said: Sequence[Message], kept: Sequence[Message]) -> list[Message]:
        return []


@broken("STRATEGY-23 STRATEGY-27")
class CoversTheQuestion(ReferenceFoldingStrategy):
    """As one that notes what the summarizer read, and that read all."""

    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        question = newest_question(given)
        return tuple(m.id for m in given if m in covered or m is question)


@broken("STRATEGY-23")
class CoversPinsAndKeepsThemToo(ReferenceFoldingStrategy):
    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        return tuple(m.id for m in given if m in covered or (m.pinned and not is_system(m)))


@broken("STRATEGY-23")
class CoversSystemMessages(ReferenceFoldingStrategy):
    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        return tuple(m.id for m in given if m in covered or is_system(m))


@broken("STRATEGY-23")
class CoversTheSummaryBefore(ReferenceFoldingStrategy):
    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        return tuple(m.id for m in given if m in covered or m.kind in MEMORY)


@broken("STRATEGY-23")
class CoversTheSummaryItMade(ReferenceFoldingStrategy):
    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        return (*super().covers(given, covered), "summary")


@broken("STRATEGY-23")
class CoversEachResultWithItsCallAgain(ReferenceFoldingStrategy):
    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        return tuple(id for m in covered for id in ((m.id, m.id) if m.tool_results else (m.id,)))


@broken("STRATEGY-23")
class CoversInReverse(ReferenceFoldingStrategy):
    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        return super().covers(given, covered)[::-1]


@broken("STRATEGY-23")
class CoversCallsWithoutResults(ReferenceFoldingStrategy):
    """As one that summarises what was said, and takes results for something else."""

    def covered(self, said: Sequence[Message], kept: Sequence[Message]) -> list[Message]:
        return [message for message in super().covered(said, kept) if not message.tool_results]


@broken("STRATEGY-23")
class CoversCallsThatWait(ReferenceFoldingStrategy):
    def may_go(self, step: Sequence[Message]) -> bool:
        return is_complete(step) and step[0].in_conversation

    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        return tuple(message.id for message in covered if message.in_conversation)


@broken("STRATEGY-23")
class CoversGaps(ReferenceFoldingStrategy):
    def may_go(self, step: Sequence[Message]) -> bool:
        return is_complete(step) and all(message.kind is not Kind.STAND_IN for message in step)


@broken("STRATEGY-23")
class RewritesWhatItCovers(ReferenceFoldingStrategy):
    def folded(
        self, given: Sequence[Message], kept: Sequence[Message], covered: Sequence[Message], summary: Summary, max_tokens: int
    ) -> Compression:
        result = super().folded(given, kept, covered, summary, max_tokens)
        assert result.fold is not None
        return attrs.evolve(result, fold=attrs.evolve(result.fold, rewritten=tuple(covered[:1])))


@broken("STRATEGY-24")
class KeepsTheOldSummaryToo(ReferenceFoldingStrategy):
    def window(self, given: Sequence[Message], kept: Sequence[Message], fold: Fold) -> list[Message]:
        earlier = of_kind(given, Kind.SUMMARY)
        window = super().window(given, kept, fold)
        return window if earlier is None else self.with_memory(window, [earlier])

    def cap(self, given: Sequence[Message], kept: Sequence[Message], covered: Sequence[Message], max_tokens: int) -> int:
        before = [message for message in given if message.kind is Kind.SUMMARY]
        return super().cap(given, kept, covered, max_tokens) - self.estimate_tokens(before)


@broken("STRATEGY-24")
class ForgetsTheOldSummary(ReferenceFoldingStrategy):
    def request(self, given: Sequence[Message], covered: Sequence[Message], cap: int) -> SummaryRequest:
        return SummaryRequest(messages=tuple(covered), max_tokens=cap)


@broken("STRATEGY-24")
class ReadsTheOldSummaryLast(ReferenceFoldingStrategy):
    def request(self, given: Sequence[Message], covered: Sequence[Message], cap: int) -> SummaryRequest:
        request = super().request(given, covered, cap)
        return attrs.evolve(request, messages=tuple(sorted(request.messages, key=lambda m: m.kind is Kind.SUMMARY)))


@broken("STRATEGY-24")
class ForgetsTheOldFacts(ReferenceFoldingStrategy):
    def ledger(self, given: Sequence[Message], covered: Sequence[Message]) -> FactLedger:
        return super().ledger([], covered)


@broken("STRATEGY-24")
class KeepsTheOldFactsToo(ReferenceFoldingStrategy):
    def window(self, given: Sequence[Message], kept: Sequence[Message], fold: Fold) -> list[Message]:
        earlier = of_kind(given, Kind.FACTS)
        window = super().window(given, kept, fold)
        return window if earlier is None else self.with_memory(window, [earlier])


@broken("STRATEGY-24")
class LeavesTheSummaryOut(ReferenceFoldingStrategy):
    def window(self, given: Sequence[Message], kept: Sequence[Message], fold: Fold) -> list[Message]:
        return self.with_memory(kept, [fold.facts] if fold.facts else [])


@broken("STRATEGY-24")
class DropsTheMemoryWhenNothingIsFolded(ReferenceFoldingStrategy):
    async def without_fold(self, messages: Sequence[Message], said: Sequence[Message], max_tokens: int) -> Compression:
        result = await super().without_fold(messages, said, max_tokens)
        return self.finished(messages, [m for m in result.messages if m.kind not in MEMORY], max_tokens)


@broken("STRATEGY-24")
class CallsTheSummaryFacts(ReferenceFoldingStrategy):
    def folded(
        self, given: Sequence[Message], kept: Sequence[Message], covered: Sequence[Message], summary: Summary, max_tokens: int
    ) -> Compression:
        result = super().folded(given, kept, covered, summary, max_tokens)
        assert result.fold is not None
        return attrs.evolve(result, fold=attrs.evolve(result.fold, summary=result.fold.facts, facts=result.fold.summary))


@broken("STRATEGY-25")
class PutsTheSummaryLast(ReferenceFoldingStrategy):
    def with_memory(self, kept: Sequence[Message], memory: Sequence[Message]) -> list[Message]:
        return [*kept, *memory]


@broken("STRATEGY-25")
class PutsTheSummaryAfterThePins(ReferenceFoldingStrategy):
    """Where the folded messages stood, as it seems."""

    def with_memory(self, kept: Sequence[Message], memory: Sequence[Message]) -> list[Message]:
        first = next((n for n, message in enumerate(kept) if not is_system(message) and not message.pinned), len(kept))
        return [*kept[:first], *memory, *kept[first:]]


@broken("STRATEGY-25")
class PutsTheFactsLast(ReferenceFoldingStrategy):
    def with_memory(self, kept: Sequence[Message], memory: Sequence[Message]) -> list[Message]:
        first = [message for message in memory if message.kind is Kind.SUMMARY]
        return [*super().with_memory(kept, first), *(message for message in memory if message not in first)]


@broken("STRATEGY-26")
class LetsTheErrorOut(ReferenceFoldingStrategy):
    """Knows that there may be nothing to say, and not that the model may be gone."""

    async def summary(self, given: Sequence[Message], covered: Sequence[Message], cap: int) -> Summary | None:
        try:
            return await self.summarizer.summarize(self.request(given, covered, cap))
        except SummaryFailed as error:
            if "did not answer" in str(error):
                raise
            return None


@broken("STRATEGY-26")
class EmptiesTheHistory(ReferenceFoldingStrategy):
    """When nothing was summarised, nothing is left."""

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        self.failed = False
        result = await super().compress(messages, max_tokens)
        return self.finished(messages, [m for m in messages if is_system(m)], max_tokens) if self.failed else result

    async def summary(self, given: Sequence[Message], covered: Sequence[Message], cap: int) -> Summary | None:
        try:
            return await self.summarizer.summarize(self.request(given, covered, cap))
        except SummaryFailed as error:
            self.failed = "did not answer" in str(error)
            return None


@broken("STRATEGY-26")
class TakesTheErrorForASummary(ReferenceFoldingStrategy):
    async def summary(self, given: Sequence[Message], covered: Sequence[Message], cap: int) -> Summary | None:
        try:
            return await self.summarizer.summarize(self.request(given, covered, cap))
        except SummaryFailed as error:
            words = str(error).split()
            return Summary(text=words[-1]) if "answer:" in words else None


@broken("STRATEGY-26")
class CoversWithoutASummary(ReferenceFoldingStrategy):
    async def summary(self, given: Sequence[Message], covered: Sequence[Message], cap: int) -> Summary | None:
        try:
            return await self.summarizer.summarize(self.request(given, covered, cap))
        except SummaryFailed as error:
            return Summary() if "did not answer" in str(error) else None

    def folded(
        self, given: Sequence[Message], kept: Sequence[Message], covered: Sequence[Message], summary: Summary, max_tokens: int
    ) -> Compression:
        result = super().folded(given, kept, covered, summary, max_tokens)
        if not summary.is_empty or result.fold is None:
            return result
        fold = attrs.evolve(result.fold, summary=None)
        return attrs.evolve(self.finished(given, self.window(given, kept, fold), max_tokens), fold=fold)


class _FoldsAllItCan(ReferenceFoldingStrategy):
    """Leaves nothing alone that it need not."""

    def ends(self, said: Sequence[Message], max_tokens: int) -> Iterator[list[Message]]:
        yield from reversed(list(super().ends(said, max_tokens)))


@broken("STRATEGY-27")
class KeepsWhatItAlwaysKept(_FoldsAllItCan):
    def keeping(self, messages: int) -> ReferenceFoldingStrategy:
        return self


@broken("STRATEGY-27")
class KeepsOneLess(_FoldsAllItCan):
    def keeping(self, messages: int) -> ReferenceFoldingStrategy:
        return super().keeping(max(0, messages - 1))


@broken("STRATEGY-27")
class KeepsWhatTakesATenth(_FoldsAllItCan):
    """The size that a fold aims at comes first."""

    def left_alone(self, said: Sequence[Message], max_tokens: int) -> set[str]:
        return super().left_alone(said, max_tokens * 3 // 10)


@broken("STRATEGY-27")
class KeepsTheOldest(_FoldsAllItCan):
    def left_alone(self, said: Sequence[Message], max_tokens: int) -> set[str]:
        return {message.id for message in said[: self.latest]} if super().left_alone(said, max_tokens) else set()


@broken("STRATEGY-27")
class ChangesTheStrategyThatWasAsked(_FoldsAllItCan):
    def keeping(self, messages: int) -> ReferenceFoldingStrategy:
        self.latest = messages
        return self


@broken("STRATEGY-27")
class ForgetsItsSummarizer(ReferenceFoldingStrategy):
    """Makes itself anew, with its defaults."""

    def keeping(self, messages: int) -> ReferenceFoldingStrategy:
        kept = type(self)(self.counter)
        kept.latest = messages
        return kept


@broken("STRATEGY-27")
class FoldsNothingWhenItKeeps(ReferenceFoldingStrategy):
    def covered(self, said: Sequence[Message], kept: Sequence[Message]) -> list[Message]:
        return [] if self.latest else super().covered(said, kept)


@broken("STRATEGY-27")
class BecomesAPlainStrategy(ReferenceFoldingStrategy):
    def keeping(self, messages: int) -> Any:
        return ReferenceStrategy(self.counter)


@broken("STRATEGY-27")
class HasToKeepSomething(ReferenceFoldingStrategy):
    def keeping(self, messages: int) -> ReferenceFoldingStrategy:
        if messages < 1:
            raise ValueError("there is nothing to keep")
        return super().keeping(messages)
