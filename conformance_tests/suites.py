"""The suites: one class per port, one method to write.

    class TestRedisContextStore(ContextStoreConformance):
        def make_store(self):
            return RedisContextStore(prefix=self.fresh_name())

Each rule of the port, and of the optional ports that belong to it, is a test method, sealed against redefinition. A suite works
without pytest as well: see `checks`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence, Set
from contextlib import asynccontextmanager, suppress
from typing import Any, ClassVar

from contextport.contracts import (
    CompressionStrategy,
    ContextStore,
    Durable,
    EventSink,
    FoldsHistory,
    Json,
    KeepsLatest,
    KeepsPins,
    KeepsVectors,
    LearnsFromUsage,
    LearnsLimits,
    LimitsSource,
    ListsSessions,
    MemoryUnavailable,
    MessageCodec,
    NeedsOnlyNewest,
    OnlyShortens,
    SharedAcrossProcesses,
    StablePrefix,
    StoreUnavailable,
    Summarizer,
    TokenCounter,
    verify,
)
from contextport.contracts.memory import LongTermMemory, PersistentMemory
from contextport.contracts.model import ChatModel, StopReason, StreamsCompletions
from contextport.contracts.provider_error import ErrorClassifier

from . import (
    classifier_rules,
    codec_loss_rules,
    codec_rules,
    counter_rules,
    fold_keeping_rules,
    fold_rules,
    memory_recall_rules,
    memory_rules,
    model_rules,
    sink_and_limits_rules,
    store_concurrency_rules,
    store_rules,
    strategy_ability_rules,
    strategy_result_rules,
    strategy_rules,
    vector_store_rules,
)
from .embedder_suite import EmbedderConformance
from .exact_counters import WordsCounter
from .lexical_suite import LexicalIndexConformance
from .manager_suite import ContextManagerConformance
from .mode_suite import ModePolicyConformance, ModeSignalConformance
from .retriever_suite import RetrieverConformance
from .rules import NotChecked, settled
from .scripted_answers import Scripted, SentRequest
from .suite import Conformance
from .summarizer_suite import SummarizerConformance
from .vector_index_suite import VectorIndexConformance

__all__ = [
    "SUITES",
    "ChatModelConformance",
    "CompressionStrategyConformance",
    "Conformance",
    "ContextManagerConformance",
    "ContextStoreConformance",
    "EmbedderConformance",
    "ErrorClassifierConformance",
    "EventSinkConformance",
    "LexicalIndexConformance",
    "LimitsSourceConformance",
    "LongTermMemoryConformance",
    "MessageCodecConformance",
    "ModePolicyConformance",
    "ModeSignalConformance",
    "RetrieverConformance",
    "SummarizerConformance",
    "TokenCounterConformance",
    "VectorIndexConformance",
]

RULE_MODULES = (
    store_rules,
    store_concurrency_rules,
    vector_store_rules,
    counter_rules,
    strategy_rules,
    strategy_result_rules,
    strategy_ability_rules,
    fold_rules,
    fold_keeping_rules,
    sink_and_limits_rules,
    codec_rules,
    codec_loss_rules,
    model_rules,
    classifier_rules,
    memory_recall_rules,
    memory_rules,
)

_OF_STORES = (ListsSessions, Durable, SharedAcrossProcesses, KeepsVectors)


class ContextStoreConformance(Conformance, port=ContextStore, capabilities=_OF_STORES):
    """Suite of `ContextStore`, `ListsSessions`, `Durable`, `SharedAcrossProcesses` and `KeepsVectors`."""

    def make_store(self) -> ContextStore | Awaitable[ContextStore]:
        """A store over an empty backend of its own."""
        raise NotImplementedError("write make_store: return a store over an empty backend of its own")

    def reopen_store(self, store: ContextStore) -> ContextStore | Awaitable[ContextStore] | None:
        """Another store over the backend of `store`, which may be closed or not. None: it has no backend apart from itself."""
        return None

    def broken_store(self) -> ContextStore | Awaitable[ContextStore] | None:
        """A store whose backend fails at each call, such as a server that is down. None: there is nothing that can fail."""
        return None

    async def make(self) -> ContextStore:
        store = await settled(self.make_store())
        verify(store, ContextStore)
        return store

    async def release(self, adapter: Any) -> None:
        with suppress(StoreUnavailable):
            await adapter.close()

    @asynccontextmanager
    async def reopened(self, store: ContextStore) -> AsyncGenerator[ContextStore]:
        """A second store over the same backend."""
        second = self.reopen_store(store)
        if second is None:
            raise NotChecked("write reopen_store, so that a second store can be opened on the same backend")
        built = await settled(second)
        verify(built, ContextStore)
        try:
            yield built
        finally:
            await self.release(built)


class TokenCounterConformance(Conformance, port=TokenCounter, capabilities=(LearnsFromUsage,)):
    """Suite of `TokenCounter` and `LearnsFromUsage`."""

    def make_counter(self) -> TokenCounter | Awaitable[TokenCounter]:
        """A counter that has learnt nothing yet."""
        raise NotImplementedError("write make_counter: return a counter")

    def other_counters(self) -> Sequence[TokenCounter]:
        """Counters of the same class in other configurations: no two that count differently may have one name."""
        return ()

    async def make(self) -> TokenCounter:
        counter = await settled(self.make_counter())
        verify(counter, TokenCounter)
        return counter


_OF_STRATEGIES = (KeepsPins, StablePrefix, NeedsOnlyNewest, OnlyShortens, FoldsHistory, KeepsLatest)


class CompressionStrategyConformance(Conformance, port=CompressionStrategy, capabilities=_OF_STRATEGIES):
    """Suite of `CompressionStrategy` and of what a strategy may be able to besides, down to `KeepsLatest`."""

    #: Conversations of each shape that are tried, and the stride through their budgets: 1 tries every one.
    rounds: ClassVar[int] = 2
    budget_step: ClassVar[int] = 1

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy | Awaitable[CompressionStrategy]:
        """A strategy that measures with `counter`."""
        raise NotImplementedError("write make_strategy: return a strategy that measures with the given counter")

    def make_strategy_on(
        self, counter: TokenCounter, summarizer: Summarizer
    ) -> CompressionStrategy | Awaitable[CompressionStrategy] | None:
        """A strategy that has its summaries written by `summarizer`. None: it cannot be given one."""
        return None

    async def make(self) -> CompressionStrategy:
        return await self.strategy(WordsCounter())

    async def strategy(self, counter: TokenCounter) -> CompressionStrategy:
        """A strategy that measures with a counter of the suite's choice."""
        built = await settled(self.make_strategy(counter))
        verify(built, CompressionStrategy)
        return built

    async def strategy_on(self, counter: TokenCounter, summarizer: Summarizer) -> CompressionStrategy | None:
        """A strategy on a summarizer of the suite's choice; None if it cannot be given one."""
        built = await settled(self.make_strategy_on(counter, summarizer))
        if built is not None:
            verify(built, CompressionStrategy)
        return built


class EventSinkConformance(Conformance, port=EventSink):
    """Suite of `EventSink`."""

    def make_sink(self) -> EventSink | Awaitable[EventSink]:
        """A sink whose target works."""
        raise NotImplementedError("write make_sink: return a sink")

    def broken_sink(self) -> EventSink | Awaitable[EventSink] | None:
        """A sink whose target fails, such as a full disk or a closed connection. None: there is nothing that can fail."""
        return None

    async def make(self) -> EventSink:
        sink = await settled(self.make_sink())
        verify(sink, EventSink)
        return sink


class LimitsSourceConformance(Conformance, port=LimitsSource, capabilities=(LearnsLimits,)):
    """Suite of `LimitsSource` and `LearnsLimits`."""

    def make_source(self) -> LimitsSource | Awaitable[LimitsSource]:
        """A source of limits."""
        raise NotImplementedError("write make_source: return a source of limits")

    def known_models(self) -> Sequence[tuple[str, str]]:
        """(model, host) pairs that the source knows."""
        return ()

    async def make(self) -> LimitsSource:
        source = await settled(self.make_source())
        verify(source, LimitsSource)
        return source


class MessageCodecConformance(Conformance, port=MessageCodec):
    """Suite of `MessageCodec`, for any wire form: what is in a request is looked for in its JSON."""

    def make_codec(self) -> MessageCodec | Awaitable[MessageCodec]:
        """A codec."""
        raise NotImplementedError("write make_codec: return a codec")

    def requests(self) -> Sequence[Mapping[str, Json]]:
        """Requests of the codec's api as hosts have them: whole conversations, with all that is hard to bring back unchanged."""
        return ()

    def unknown_blocks(self) -> Sequence[Mapping[str, Json]]:
        """Requests in which one block is of a type that nobody knows yet, beside blocks that are known."""
        return ()

    def invalid_requests(self) -> Sequence[Mapping[str, Json]]:
        """Requests in which something cannot be a message: a message without a role, a result without an id."""
        return ()

    def as_json(self, request: Mapping[str, Json]) -> Json:
        """The request as JSON values, for an api whose requests hold objects."""
        return request

    async def make(self) -> MessageCodec:
        codec = await settled(self.make_codec())
        verify(codec, MessageCodec)
        return codec


class ChatModelConformance(Conformance, port=ChatModel, capabilities=(StreamsCompletions,)):
    """Suite of `ChatModel` and `StreamsCompletions`: models whose provider answers by a script."""

    #: The provider's own word for each reason to end that it has: at least for END, OUTPUT_LIMIT and TOOL_CALLS.
    words: ClassVar[Mapping[StopReason, str]] = {}
    #: Whether a call carries its arguments as text, so that any text can come; false where it carries an object.
    arguments_are_text: ClassVar[bool] = True
    #: Which of `code` and `type` the provider's errors have.
    error_fields: ClassVar[Set[str]] = frozenset({"code", "type"})
    #: Reasoning to be scripted with an answer; empty for a provider that shows none.
    reasoning: ClassVar[str] = "The user asks for two cities.\nI look up both."
    #: What to give the client as its key: it must never stand in an error.
    secret: ClassVar[str] = "sk-conformance-0123456789abcdef"

    #: Seconds within which the provider must see that a request has come or has ended; far above what it takes.
    patience: ClassVar[float] = 20.0

    def make_model(self, script: Sequence[Scripted]) -> ChatModel | Awaitable[ChatModel]:
        """A model whose provider gives the answers of `script`, one per request. See `scripted_answers` for what each means."""
        raise NotImplementedError("write make_model: return a model whose provider answers by the given script")

    def sent_requests(self, model: ChatModel) -> Sequence[SentRequest] | None:
        """The requests that the model's provider got. None: they cannot be seen."""
        return None

    def close_model(self, model: ChatModel) -> Awaitable[None] | None:
        """Close what `make_model` opened, such as a client or a server. None: nothing has to be awaited."""
        return None

    def word(self, stop: StopReason) -> str:
        """The provider's word for a reason."""
        if stop not in self.words:
            raise NotChecked(f"set words, a mapping in the suite class from StopReason.{stop.name} to the provider's word for it")
        return self.words[stop]

    async def make(self) -> ChatModel:
        model = await settled(self.make_model(()))
        verify(model, ChatModel)
        return model

    async def release(self, adapter: Any) -> None:
        await settled(self.close_model(adapter))

    @asynccontextmanager
    async def scripted(self, script: Sequence[Scripted]) -> AsyncGenerator[ChatModel]:
        """A model of its own, whose provider answers by the script."""
        model = await settled(self.make_model(tuple(script)))
        try:
            yield model
        finally:
            await self.release(model)


class ErrorClassifierConformance(Conformance, port=ErrorClassifier):
    """Suite of `ErrorClassifier`."""

    def make_classifier(self) -> ErrorClassifier | Awaitable[ErrorClassifier]:
        """A classifier, tried on errors of many providers: one that is made for a single provider hands on the rest."""
        raise NotImplementedError("write make_classifier: return a classifier")

    async def make(self) -> ErrorClassifier:
        classifier = await settled(self.make_classifier())
        verify(classifier, ErrorClassifier)
        return classifier


class LongTermMemoryConformance(Conformance, port=LongTermMemory, capabilities=(PersistentMemory,)):
    """Suite of `LongTermMemory` and `PersistentMemory`."""

    def make_memory(self) -> LongTermMemory | Awaitable[LongTermMemory]:
        """A memory over an empty backend of its own."""
        raise NotImplementedError("write make_memory: return a memory over an empty backend of its own")

    def reopen_memory(self, memory: LongTermMemory) -> LongTermMemory | Awaitable[LongTermMemory] | None:
        """Another memory over the backend of `memory`, which may be closed or not. None: it has no backend apart from itself."""
        return None

    def broken_memory(self) -> LongTermMemory | Awaitable[LongTermMemory] | None:
        """A memory whose backend fails at each call, such as a server that is down. None: there is nothing that can fail."""
        return None

    async def make(self) -> LongTermMemory:
        memory = await settled(self.make_memory())
        verify(memory, LongTermMemory)
        return memory

    async def release(self, adapter: Any) -> None:
        with suppress(MemoryUnavailable):
            await adapter.close()

    @asynccontextmanager
    async def reopened(self, memory: LongTermMemory) -> AsyncGenerator[LongTermMemory]:
        """A second memory over the same backend."""
        second = self.reopen_memory(memory)
        if second is None:
            raise NotChecked("write reopen_memory, so that a second memory can be opened on the same backend")
        built = await settled(second)
        verify(built, LongTermMemory)
        try:
            yield built
        finally:
            await self.release(built)


#: The suites, in the order of the documentation.
SUITES: tuple[type[Conformance], ...] = (
    ContextStoreConformance,
    TokenCounterConformance,
    CompressionStrategyConformance,
    ContextManagerConformance,
    EventSinkConformance,
    LimitsSourceConformance,
    MessageCodecConformance,
    ChatModelConformance,
    ErrorClassifierConformance,
    LongTermMemoryConformance,
    SummarizerConformance,
    RetrieverConformance,
    LexicalIndexConformance,
    EmbedderConformance,
    VectorIndexConformance,
    ModePolicyConformance,
    ModeSignalConformance,
)
