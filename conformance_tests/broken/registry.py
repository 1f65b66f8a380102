"""Broken adapters: healthy ones with one thing wrong, each with the rules that must catch it, no more and no fewer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from attrs import frozen

from contextport.conformance_tests.embedder_suite import EmbedderConformance
from contextport.conformance_tests.lexical_suite import LexicalIndexConformance
from contextport.conformance_tests.mode_situations import RuleLayers
from contextport.conformance_tests.reference_classifier import ReferenceClassifier
from contextport.conformance_tests.reference_codec import REQUESTS, UNKNOWN_BLOCKS, ReferenceCodec
from contextport.conformance_tests.reference_compacting_manager import ReferenceCompactingManager
from contextport.conformance_tests.reference_counter import ReferenceCounter
from contextport.conformance_tests.reference_embedder import ReferenceEmbedder
from contextport.conformance_tests.reference_folding_strategy import ReferenceFoldingStrategy
from contextport.conformance_tests.reference_lexical_index import LexicalBackend, ReferenceLexicalIndex
from contextport.conformance_tests.reference_manager import ReferenceManager
from contextport.conformance_tests.reference_memory import Backend as MemoryBackend
from contextport.conformance_tests.reference_memory import ReferenceMemory
from contextport.conformance_tests.reference_mode_manager import ReferenceModeManager
from contextport.conformance_tests.reference_mode_policy import ReferenceModePolicy, ReferenceModeSignal
from contextport.conformance_tests.reference_model import WORDS, ReferenceModel, ReferenceProvider
from contextport.conformance_tests.reference_retriever import ReferenceRetriever
from contextport.conformance_tests.reference_shaping_manager import ReferenceShapingManager
from contextport.conformance_tests.reference_sink_and_limits import ReferenceLearningLimits, ReferenceLimits, ReferenceSink
from contextport.conformance_tests.reference_store import Backend, ReferenceStore
from contextport.conformance_tests.reference_strategy import (
    ReferenceNewestStrategy,
    ReferenceShorteningStrategy,
    ReferenceStrategy,
)
from contextport.conformance_tests.reference_summarizer import ReferenceSummarizer, ReferenceWriter
from contextport.conformance_tests.reference_vector_index import ReferenceVectorIndex
from contextport.conformance_tests.reference_vector_store import ReferenceVectorStore, VectorBackend
from contextport.conformance_tests.retriever_suite import RetrieverConformance
from contextport.conformance_tests.rules import Rule, Status, run_rule
from contextport.conformance_tests.scripted_answers import Scripted, SentRequest
from contextport.conformance_tests.suites import (
    ChatModelConformance,
    CompressionStrategyConformance,
    Conformance,
    ContextManagerConformance,
    ContextStoreConformance,
    ErrorClassifierConformance,
    EventSinkConformance,
    LimitsSourceConformance,
    LongTermMemoryConformance,
    MessageCodecConformance,
    ModePolicyConformance,
    ModeSignalConformance,
    SummarizerConformance,
    TokenCounterConformance,
)
from contextport.conformance_tests.vector_index_suite import VectorIndexConformance
from contextport.contracts import (
    Budget,
    ContextManager,
    ContextStore,
    EventSink,
    Json,
    LimitsSource,
    Message,
    MessageCodec,
    TokenCounter,
)
from contextport.contracts.memory import LongTermMemory
from contextport.contracts.summary import Summarizer

__all__ = ["BROKEN", "HEALTHY", "Broken", "broken", "rules_kept_by", "suite_of", "verdict"]

_C = TypeVar("_C", bound=type[Any])


@frozen(kw_only=True)
class Broken:
    """A broken adapter and the ids of all rules that fail on it."""

    adapter: type[Any]
    must_fail: frozenset[str]

    @property
    def name(self) -> str:
        """Where it stands and what it does wrong, such as `stores.NumbersFromZero`."""
        return f"{self.adapter.__module__.rpartition('.')[2]}.{self.adapter.__name__}"


BROKEN: list[Broken] = []


def broken(rules: str) -> Callable[[_C], _C]:
    """Class decorator: this adapter fails exactly these rules, separated by spaces."""

    def register(adapter: _C) -> _C:
        BROKEN.append(Broken(adapter=adapter, must_fail=frozenset(rules.split())))
        return adapter

    return register


class _Stores(ContextStoreConformance):
    adapter_class = ReferenceStore

    def make_store(self) -> ContextStore:
        return self.adapter_class()

    def reopen_store(self, store: ContextStore) -> ContextStore:
        assert isinstance(store, ReferenceStore)
        return store.second()

    def broken_store(self) -> ContextStore:
        return self.adapter_class(Backend(down=True))


class _VectorStores(_Stores):
    adapter_class = ReferenceVectorStore

    def broken_store(self) -> ContextStore:
        return self.adapter_class(VectorBackend(down=True))


class _Counters(TokenCounterConformance):
    adapter_class = ReferenceCounter

    def make_counter(self) -> TokenCounter:
        return self.adapter_class()

    def other_counters(self) -> tuple[TokenCounter, ...]:
        return tuple(self.adapter_class.others())


class _Strategies(CompressionStrategyConformance):
    adapter_class = ReferenceStrategy

    def make_strategy(self, counter: TokenCounter) -> ReferenceStrategy:
        return self.adapter_class(counter)


class _NewestStrategies(_Strategies):
    adapter_class = ReferenceNewestStrategy


class _ShorteningStrategies(_Strategies):
    adapter_class = ReferenceShorteningStrategy


class _FoldingStrategies(_Strategies):
    adapter_class = ReferenceFoldingStrategy

    def make_strategy_on(self, counter: TokenCounter, summarizer: Summarizer) -> ReferenceFoldingStrategy:
        return self.adapter_class(counter, summarizer)


class _Managers(ContextManagerConformance):
    adapter_class = ReferenceManager

    def make_manager(self, counter: TokenCounter, budget: Budget) -> ContextManager:
        return self.adapter_class(counter, budget)

    def second_manager(self, manager: ContextManager, counter: TokenCounter, budget: Budget) -> ContextManager:
        assert isinstance(manager, ReferenceManager)
        return manager.second(counter, budget)


class _ShapingManagers(_Managers):
    adapter_class = ReferenceShapingManager


class _CompactingManagers(_Managers):
    adapter_class = ReferenceCompactingManager

    def messages_behind(self, manager: ContextManager, session_id: str, summary: Message) -> Sequence[Message]:
        assert isinstance(manager, ReferenceCompactingManager)
        return manager.messages_behind(session_id, summary)


class _ModeManagers(_CompactingManagers):
    adapter_class = ReferenceModeManager

    def make_mode_manager(self, counter: TokenCounter, budget: Budget, sink: EventSink) -> ContextManager:
        return self.adapter_class(counter, budget, sink=sink)

    def records_of(self, manager: ContextManager, session_id: str) -> Sequence[Message]:
        assert isinstance(manager, ReferenceModeManager)
        return manager.records_of(session_id)


class _Sinks(EventSinkConformance):
    adapter_class = ReferenceSink

    def make_sink(self) -> EventSink:
        return self.adapter_class([])

    def broken_sink(self) -> EventSink:
        return self.adapter_class(None)


class _Sources(LimitsSourceConformance):
    adapter_class = ReferenceLimits

    def make_source(self) -> LimitsSource:
        return self.adapter_class()

    def known_models(self) -> tuple[tuple[str, str], ...]:
        return (("small", ""), ("large", "host"))


class _LearningSources(_Sources):
    adapter_class = ReferenceLearningLimits


class _Codecs(MessageCodecConformance):
    adapter_class = ReferenceCodec

    def make_codec(self) -> MessageCodec:
        return self.adapter_class()

    def requests(self) -> tuple[Mapping[str, Json], ...]:
        return REQUESTS

    def unknown_blocks(self) -> tuple[Mapping[str, Json], ...]:
        return UNKNOWN_BLOCKS


class _Models(ChatModelConformance):
    adapter_class = ReferenceModel
    words = WORDS
    patience = 1.0

    def make_model(self, script: Sequence[Scripted]) -> ReferenceModel:
        return self.adapter_class(ReferenceProvider(script, self.secret))

    def sent_requests(self, model: object) -> Sequence[SentRequest]:
        assert isinstance(model, ReferenceModel)
        return model.provider.sent


class _Classifiers(ErrorClassifierConformance):
    adapter_class = ReferenceClassifier

    def make_classifier(self) -> ReferenceClassifier:
        return self.adapter_class()


class _Memories(LongTermMemoryConformance):
    adapter_class = ReferenceMemory

    def make_memory(self) -> LongTermMemory:
        return self.adapter_class()

    def reopen_memory(self, memory: LongTermMemory) -> LongTermMemory:
        assert isinstance(memory, ReferenceMemory)
        return memory.second()

    def broken_memory(self) -> LongTermMemory:
        return self.adapter_class(MemoryBackend(down=True))


class _Retrievers(RetrieverConformance):
    adapter_class = ReferenceRetriever

    def make_history_retriever(self, store: ContextStore) -> ReferenceRetriever:
        return self.adapter_class(store)

    def broken_retriever(self) -> ReferenceRetriever:
        return self.adapter_class(ReferenceStore(), down=True)


class _LexicalIndexes(LexicalIndexConformance):
    adapter_class = ReferenceLexicalIndex

    def make_index(self) -> ReferenceLexicalIndex:
        return self.adapter_class()

    def broken_index(self) -> ReferenceLexicalIndex:
        return self.adapter_class(LexicalBackend(down=True))


class _Embedders(EmbedderConformance):
    adapter_class = ReferenceEmbedder

    def make_embedder(self) -> ReferenceEmbedder:
        return self.adapter_class()

    def other_embedders(self) -> tuple[ReferenceEmbedder, ...]:
        return (self.adapter_class(dimensions=128),)

    def broken_embedder(self) -> ReferenceEmbedder:
        return self.adapter_class(down=True)


class _VectorIndexes(VectorIndexConformance):
    adapter_class = ReferenceVectorIndex

    def make_index(self) -> ReferenceVectorIndex:
        return self.adapter_class()

    def broken_index(self) -> ReferenceVectorIndex:
        return self.adapter_class(down=True)


class _Summarizers(SummarizerConformance):
    adapter_class = ReferenceSummarizer
    patience = 1.0

    def make_summarizer(self, counter: TokenCounter) -> ReferenceSummarizer:
        return self.adapter_class(counter)

    def scripted_summarizer(self, counter: TokenCounter, script: Sequence[Scripted]) -> ReferenceSummarizer:
        return self.adapter_class(counter, ReferenceWriter(script))

    def sent_texts(self, summarizer: Summarizer) -> Sequence[str]:
        assert isinstance(summarizer, ReferenceSummarizer)
        return summarizer.writer.read


class _ModePolicies(ModePolicyConformance):
    adapter_class = ReferenceModePolicy

    def make_policy(self, layers: RuleLayers) -> ReferenceModePolicy:
        return self.adapter_class(layers)


class _ModeSignals(ModeSignalConformance):
    adapter_class = ReferenceModeSignal

    def make_signal(self) -> ReferenceModeSignal:
        return self.adapter_class()


#: A suite per port, over an adapter that keeps every rule.
HEALTHY: tuple[type[Any], ...] = (
    _VectorStores,
    _Stores,
    _Counters,
    _FoldingStrategies,
    _NewestStrategies,
    _ShorteningStrategies,
    _Strategies,
    _ShapingManagers,
    _ModeManagers,
    _CompactingManagers,
    _Managers,
    _Sinks,
    _LearningSources,
    _Sources,
    _Codecs,
    _Models,
    _Classifiers,
    _Memories,
    _LexicalIndexes,
    _Embedders,
    _VectorIndexes,
    _Retrievers,
    _Summarizers,
    _ModePolicies,
    _ModeSignals,
)


def rules_kept_by(healthy: type[Any]) -> list[Rule]:
    """The rules of a healthy suite that its adapter has to keep: those of the ports that it provides."""
    return [rule for rule in healthy.rules if rule.port.implementedBy(healthy.adapter_class)]


def suite_of(adapter: type[Any], *, sparse: bool = False) -> Conformance:
    """The suite that checks a reference adapter, or one made from it; `sparse` tries fewer conversations and budgets."""
    healthy = next(suite for suite in HEALTHY if issubclass(adapter, suite.adapter_class))
    fewer = {"rounds": 1, "budget_step": 5} if sparse else {}
    made = type(adapter.__name__, (healthy,), {"adapter_class": adapter, **fewer})
    return cast(Conformance, made())


def verdict(one: Broken, *, others: bool = True) -> dict[str, str]:
    """Run rules of the port on the adapter, each alone, and return the failure texts of those that failed.

    The rules that must fail are run as anyone runs them; with `others`, so are those that must hold, on fewer conversations.
    """
    suite = suite_of(one.adapter)
    results = [run_rule(suite, checked) for checked in suite.rules if checked.id in one.must_fail]
    if others:
        sparse = suite_of(one.adapter, sparse=True)
        results += [run_rule(sparse, checked) for checked in sparse.rules if checked.id not in one.must_fail]
    return {result.rule: result.detail for result in results if result.status is Status.FAILED}
