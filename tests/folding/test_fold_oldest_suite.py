"""FoldOldest under the suite of strategies: alone, after other layers, and on a summarizer that fails."""

from contextport.conformance_tests import CompressionStrategyConformance
from contextport.contracts import (
    CompressionStrategy,
    FoldsHistory,
    KeepsLatest,
    KeepsPins,
    Summarizer,
    Summary,
    SummaryFailed,
    SummaryRequest,
    TokenCounter,
    implements,
)
from contextport.strategies.folding import FoldOldest
from contextport.strategies.summaries import CheckedSummarizer
from contextport.strategies.tool_results import BudgetToolResults, ShrinkToolResults


class FoldOldestConformance(CompressionStrategyConformance):
    claims = frozenset({FoldsHistory, KeepsLatest, KeepsPins})
    rounds = 1
    budget_step = 7

    def layers(self, counter: TokenCounter) -> tuple[CompressionStrategy, ...]:
        return ()

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return FoldOldest(counter, layers=self.layers(counter))

    def make_strategy_on(self, counter: TokenCounter, summarizer: Summarizer) -> CompressionStrategy:
        return FoldOldest(counter, summarizer=summarizer, layers=self.layers(counter))


class TestAlone(FoldOldestConformance):
    pass


class TestAfterToolResultLayers(FoldOldestConformance):
    def layers(self, counter: TokenCounter) -> tuple[CompressionStrategy, ...]:
        return (BudgetToolResults(counter), ShrinkToolResults(counter))


class TestOnASummarizerThatFails(FoldOldestConformance):
    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return FoldOldest(counter, summarizer=CheckedSummarizer(Unreachable(), counter))


@implements(Summarizer)
class Unreachable:
    """A summarizer whose model cannot be reached."""

    max_input: int | None = None

    async def summarize(self, request: SummaryRequest) -> Summary:
        raise SummaryFailed(f"{len(request.messages)} messages were not summarised: no connection", faults=("failed",))
