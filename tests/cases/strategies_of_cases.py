"""Which strategies a case means, and the budget it gives them."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from attrs import field, frozen

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
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
from contextport.strategies.folding import FoldPolicy
from contextport.strategies.folding.fold_oldest import FoldOldest
from contextport.strategies.limits_resolution import resolve_budget
from contextport.strategies.retrieval import RetrieveOlder
from contextport.strategies.summaries import CheckedSummarizer, ExtractiveSummarizer, ModelSummarizer

from .case import Case
from .case_summarisers import CaseSummariser
from .evidence import Dict
from .read_texts import ReadTexts
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


@frozen(kw_only=True)
class Chosen:
    """A strategy to run a case with: with the policy of its folds, if it folds, its fake, and all that summarisers were given."""

    strategy: CompressionStrategy
    policy: FoldPolicy | None = None
    fake: CaseSummariser | None = None
    read: ReadTexts = field(factory=ReadTexts)

    @property
    def folds(self) -> bool:
        """Whether it folds history."""
        return self.policy is not None

    @property
    def requests(self) -> list[list[Dict]]:
        """What the model was asked so far."""
        return [] if self.fake is None else list(self.fake.requests)

    @property
    def told(self) -> tuple[list[Dict], ...]:
        """All that was given to summarisers so far."""
        return (*self.requests, *self.read.requests)


def strategies(case: Case, counter: TokenCounter) -> dict[str, Chosen]:
    """The strategies to run the case with, by name, each with a fake of its own. One is called only once the last is done."""
    named = case.given.get("strategy", "summary" if "fake_summariser" in case.given else "truncation")
    if named == "truncation":
        return {"KeepRecentTokens": Chosen(strategy=KeepRecentTokens(counter))}
    if named == "summary":
        return {"FoldOldest": _folding(case, counter)}
    if named == "retrieval":
        return {"RetrieveOlder": Chosen(strategy=_retrieving(KeepRecentTurns(counter, 2), counter))}
    if named == "hybrid":
        folding = _folding(case, counter)
        return {"RetrieveOlder, FoldOldest": attrs.evolve(folding, strategy=_retrieving(folding.strategy, counter), policy=None)}
    if named == "each":
        trimming: dict[str, CompressionStrategy] = {
            "KeepRecentTokens": KeepRecentTokens(counter),
            "KeepRecentTurns": KeepRecentTurns(counter),
            # It leaves nothing out by itself: it is made to stand in a pipeline.
            "ShortenLongMessages": Pipeline(ShortenLongMessages(counter, _share(case.given)), KeepRecentTokens(counter)),
        }
        chosen = {name: Chosen(strategy=one) for name, one in trimming.items()}
        return {**chosen, "FoldOldest": _folding(case, counter)}
    if named == {"custom": "returns_empty_list"}:
        return {"returns_empty_list": Chosen(strategy=ReturnsEmptyList(counter))}
    raise ValueError(f"the strategy {named!r} is not known")


def _retrieving(inner: CompressionStrategy, counter: TokenCounter) -> CompressionStrategy:
    return RetrieveOlder(inner, counter, Fts5LexicalIndex())


def _folding(case: Case, counter: TokenCounter) -> Chosen:
    """Folds by the case's fake model, checked; by extraction without one."""
    read = ReadTexts()
    extractive = read.by(ExtractiveSummarizer(counter))
    cap = case.given.get("summary_cap")
    policy = FoldPolicy() if cap is None else FoldPolicy(summary_tokens=int(cap))
    if "fake_summariser" not in case.given:
        return Chosen(strategy=FoldOldest(counter, summarizer=extractive, policy=policy), policy=policy, read=read)
    fake = CaseSummariser(case.given, counter)
    model = ModelSummarizer(fake, counter, window=fake.declared_window, classifier=RuleErrorClassifier())
    checked = CheckedSummarizer(read.by(model), counter, fallback=extractive)
    return Chosen(strategy=FoldOldest(counter, summarizer=checked, policy=policy), policy=policy, fake=fake, read=read)


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
