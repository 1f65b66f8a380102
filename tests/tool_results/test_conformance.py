"""The strategies for tool results under the suite that others run, alone and in a pipeline."""

from contextport.conformance_tests import CompressionStrategyConformance
from contextport.contracts import CompressionStrategy, KeepsPins, OnlyShortens, TokenCounter
from contextport.strategies import KeepRecentTokens, Pipeline
from contextport.strategies.tool_results import BudgetToolResults, ShrinkToolResults


class TestBudgetToolResults(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, OnlyShortens})
    budget_step = 3

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return BudgetToolResults(counter)


class TestBudgetToolResultsWithALimit(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, OnlyShortens})
    rounds = 1
    budget_step = 5

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return BudgetToolResults(counter, per_turn=8, turn_share=0.2)


class TestShrinkToolResults(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, OnlyShortens})
    budget_step = 3

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return ShrinkToolResults(counter, keep_turns=1, keep_steps=1, result_tokens=12)


class TestShrinkToolResultsToNearlyNothing(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, OnlyShortens})
    rounds = 1
    budget_step = 5

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return ShrinkToolResults(counter, keep_turns=1, keep_steps=1, result_tokens=1)


class TestPipeline(CompressionStrategyConformance):
    claims = frozenset({KeepsPins})
    rounds = 1
    budget_step = 5

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return Pipeline(
            BudgetToolResults(counter), ShrinkToolResults(counter, keep_turns=1, result_tokens=10), KeepRecentTokens(counter)
        )
