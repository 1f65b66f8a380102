"""Which strategies a case means, and the budget it gives them."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.adapters.limits.environment_limits import EnvironmentLimits
from contextport.adapters.limits.static_limits import StaticLimits
from contextport.contracts import (
    Budget,
    Compression,
    CompressionStrategy,
    Limits,
    LimitsSource,
    Message,
    Outcome,
    TokenCounter,
    implements,
)
from contextport.strategies import KeepRecentTokens, KeepRecentTurns, Pipeline, ShortenLongMessages
from contextport.strategies.limits_resolution import resolve_budget

from .case import Case
from .evidence import Dict
from .words_counter import WordsCounter


@implements(CompressionStrategy)
class ReturnsEmptyList:
    """A faulty strategy of a host: it gives back nothing."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return sum(self._counter.count_message(message) for message in messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        return Compression(messages=(), outcome=Outcome.SMALLER, tokens=0, omitted=tuple(message.id for message in messages))


def words_counter(case: Case) -> WordsCounter:
    """The counter with exact numbers that the case names."""
    named = case.given.get("counter", "words")
    if isinstance(named, dict) and named.get("kind") == "floor":
        return WordsCounter(min_per_message=int(named["min_per_message"]))
    if named in ("words", "counting_words"):
        return WordsCounter()
    raise ValueError(f"the counter {named!r} is not known for {case.operation}")


def strategies(case: Case, counter: TokenCounter) -> dict[str, CompressionStrategy]:
    """The strategies to run the case with, by name."""
    named = case.given.get("strategy", "truncation")
    if named == "truncation":
        return {"KeepRecentTokens": KeepRecentTokens(counter)}
    if named == "each":
        return {
            "KeepRecentTokens": KeepRecentTokens(counter),
            "KeepRecentTurns": KeepRecentTurns(counter),
            # It leaves nothing out by itself: it is made to stand in a pipeline.
            "ShortenLongMessages": Pipeline(ShortenLongMessages(counter, _share(case.given)), KeepRecentTokens(counter)),
        }
    if named == {"custom": "returns_empty_list"}:
        return {"returns_empty_list": ReturnsEmptyList(counter)}
    raise ValueError(f"the strategy {named!r} is not known")


def _share(given: Dict) -> int:
    """A size for single messages that suits the budget: a third of it."""
    return max(1, int(given["budget" if "budget" in given else "window"]) // 3)


def budget_of(given: Dict) -> Budget:
    """The budget of a case: all that may be returned, or a window with what is kept free for the answer."""
    if "budget" in given:
        return Budget.of(given["budget"])
    if "model" in given:
        rows = {name: Limits(**row, source="model_table") for name, row in given.get("model_table", {}).items()}
        window, max_output = given.get("window"), given.get("output_reserve")
        sources: list[LimitsSource] = [StaticLimits(rows), EnvironmentLimits(given.get("env", {}))]
        return resolve_budget(model=given["model"], window=window, max_output=max_output, sources=sources)
    return Budget(window=given["window"], output_reserve=given.get("output_reserve", 0))
