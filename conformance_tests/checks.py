"""The suites as functions, without pytest: for a host that checks a plug-in at start-up, or for a notebook."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from contextport.contracts import (
    Budget,
    CompressionStrategy,
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
from contextport.contracts.model import ChatModel, StopReason
from contextport.contracts.modes import ModePolicy, ModeSignal
from contextport.contracts.provider_error import ErrorClassifier
from contextport.contracts.retrieval import LexicalIndex, Retriever
from contextport.contracts.summary import Summarizer
from contextport.contracts.vectors import Embedder, VectorIndex

from .mode_situations import RuleLayers
from .rules import RuleResult, run_rule
from .scripted_answers import Scripted, SentRequest
from .suites import (
    ChatModelConformance,
    CompressionStrategyConformance,
    Conformance,
    ContextManagerConformance,
    ContextStoreConformance,
    EmbedderConformance,
    ErrorClassifierConformance,
    EventSinkConformance,
    LexicalIndexConformance,
    LimitsSourceConformance,
    LongTermMemoryConformance,
    MessageCodecConformance,
    ModePolicyConformance,
    ModeSignalConformance,
    RetrieverConformance,
    SummarizerConformance,
    TokenCounterConformance,
    VectorIndexConformance,
)

__all__ = [
    "check_chat_model",
    "check_compression_strategy",
    "check_context_manager",
    "check_context_store",
    "check_embedder",
    "check_error_classifier",
    "check_event_sink",
    "check_lexical_index",
    "check_limits_source",
    "check_long_term_memory",
    "check_message_codec",
    "check_mode_policy",
    "check_mode_signal",
    "check_retriever",
    "check_suite",
    "check_summarizer",
    "check_token_counter",
    "check_vector_index",
]


def check_suite(suite: Conformance) -> list[RuleResult]:
    """Run all rules of a suite. Never raises for a broken adapter: each rule has its own result."""
    return [run_rule(suite, checked) for checked in suite.rules]


def check_context_store(
    make: Callable[[], ContextStore | Awaitable[ContextStore]],
    *,
    reopen: Callable[[ContextStore], ContextStore | Awaitable[ContextStore]] | None = None,
) -> list[RuleResult]:
    """Check stores that `make` builds, each over an empty backend. `reopen` opens another on the backend of one."""

    class Checked(ContextStoreConformance):
        def make_store(self) -> ContextStore | Awaitable[ContextStore]:
            return make()

        def reopen_store(self, store: ContextStore) -> ContextStore | Awaitable[ContextStore] | None:
            return None if reopen is None else reopen(store)

    return check_suite(Checked())


def check_token_counter(
    make: Callable[[], TokenCounter | Awaitable[TokenCounter]], *, others: Sequence[TokenCounter] = ()
) -> list[RuleResult]:
    """Check counters that `make` builds. `others` are counters in other configurations, compared by name."""

    class Checked(TokenCounterConformance):
        def make_counter(self) -> TokenCounter | Awaitable[TokenCounter]:
            return make()

        def other_counters(self) -> Sequence[TokenCounter]:
            return others

    return check_suite(Checked())


def check_compression_strategy(
    make: Callable[[TokenCounter], CompressionStrategy | Awaitable[CompressionStrategy]],
    *,
    on: Callable[[TokenCounter, Summarizer], CompressionStrategy | Awaitable[CompressionStrategy]] | None = None,
) -> list[RuleResult]:
    """Check strategies that `make` builds on the counter it is given. `on` builds one on a summarizer, too."""

    class Checked(CompressionStrategyConformance):
        def make_strategy(self, counter: TokenCounter) -> CompressionStrategy | Awaitable[CompressionStrategy]:
            return make(counter)

        def make_strategy_on(
            self, counter: TokenCounter, summarizer: Summarizer
        ) -> CompressionStrategy | Awaitable[CompressionStrategy] | None:
            return None if on is None else on(counter, summarizer)

    return check_suite(Checked())


def check_context_manager(
    make: Callable[[TokenCounter, Budget], ContextManager | Awaitable[ContextManager]],
    *,
    second: Callable[[ContextManager, TokenCounter, Budget], ContextManager | Awaitable[ContextManager]] | None = None,
    settle: Callable[[ContextManager], Awaitable[None]] | None = None,
    behind: Callable[[ContextManager, str, Message], Sequence[Message] | Awaitable[Sequence[Message]]] | None = None,
    moded: Callable[[TokenCounter, Budget, EventSink], ContextManager | Awaitable[ContextManager]] | None = None,
    records: Callable[[ContextManager, str], Sequence[Message] | Awaitable[Sequence[Message]]] | None = None,
) -> list[RuleResult]:
    """Check managers that `make` builds, each over an empty store. `second` builds another over the store of one, `settle` waits
    for what one does in the background, and `behind` finds the messages that a summary of a session stands for. `moded` builds
    one with modes, which tells a sink of its events, and `records` finds the records in the log of a session.
    """

    class Checked(ContextManagerConformance):
        def make_manager(self, counter: TokenCounter, budget: Budget) -> ContextManager | Awaitable[ContextManager]:
            return make(counter, budget)

        def second_manager(
            self, manager: ContextManager, counter: TokenCounter, budget: Budget
        ) -> ContextManager | Awaitable[ContextManager] | None:
            return None if second is None else second(manager, counter, budget)

        def settle_manager(self, manager: ContextManager) -> Awaitable[None] | None:
            return None if settle is None else settle(manager)

        def messages_behind(
            self, manager: ContextManager, session_id: str, summary: Message
        ) -> Sequence[Message] | Awaitable[Sequence[Message]] | None:
            return None if behind is None else behind(manager, session_id, summary)

        def make_mode_manager(
            self, counter: TokenCounter, budget: Budget, sink: EventSink
        ) -> ContextManager | Awaitable[ContextManager] | None:
            return None if moded is None else moded(counter, budget, sink)

        def records_of(self, manager: ContextManager, session_id: str) -> Sequence[Message] | Awaitable[Sequence[Message]] | None:
            return None if records is None else records(manager, session_id)

    return check_suite(Checked())


def check_event_sink(make: Callable[[], EventSink | Awaitable[EventSink]]) -> list[RuleResult]:
    """Check sinks that `make` builds."""

    class Checked(EventSinkConformance):
        def make_sink(self) -> EventSink | Awaitable[EventSink]:
            return make()

    return check_suite(Checked())


def check_limits_source(
    make: Callable[[], LimitsSource | Awaitable[LimitsSource]], *, known: Sequence[tuple[str, str]] = ()
) -> list[RuleResult]:
    """Check sources that `make` builds. `known` are (model, host) pairs that they must know."""

    class Checked(LimitsSourceConformance):
        def make_source(self) -> LimitsSource | Awaitable[LimitsSource]:
            return make()

        def known_models(self) -> Sequence[tuple[str, str]]:
            return known

    return check_suite(Checked())


def check_error_classifier(make: Callable[[], ErrorClassifier | Awaitable[ErrorClassifier]]) -> list[RuleResult]:
    """Check classifiers that `make` builds."""

    class Checked(ErrorClassifierConformance):
        def make_classifier(self) -> ErrorClassifier | Awaitable[ErrorClassifier]:
            return make()

    return check_suite(Checked())


def check_message_codec(
    make: Callable[[], MessageCodec | Awaitable[MessageCodec]],
    *,
    requests: Sequence[Mapping[str, Json]] = (),
    unknown_blocks: Sequence[Mapping[str, Json]] = (),
    as_json: Callable[[Mapping[str, Json]], Json] | None = None,
) -> list[RuleResult]:
    """Check codecs that `make` builds. `requests` and `unknown_blocks` are of their api; `as_json` writes a request as JSON."""
    given, unknown, written = requests, unknown_blocks, as_json

    class Checked(MessageCodecConformance):
        def make_codec(self) -> MessageCodec | Awaitable[MessageCodec]:
            return make()

        def requests(self) -> Sequence[Mapping[str, Json]]:
            return given

        def unknown_blocks(self) -> Sequence[Mapping[str, Json]]:
            return unknown

        def as_json(self, request: Mapping[str, Json]) -> Json:
            return request if written is None else written(request)

    return check_suite(Checked())


def check_mode_policy(make: Callable[[RuleLayers], ModePolicy | Awaitable[ModePolicy]]) -> list[RuleResult]:
    """Check policies of modes that `make` builds, each with the rules that it is given."""

    class Checked(ModePolicyConformance):
        def make_policy(self, layers: RuleLayers) -> ModePolicy | Awaitable[ModePolicy]:
            return make(layers)

    return check_suite(Checked())


def check_mode_signal(make: Callable[[], ModeSignal | Awaitable[ModeSignal]]) -> list[RuleResult]:
    """Check signals that `make` builds."""

    class Checked(ModeSignalConformance):
        def make_signal(self) -> ModeSignal | Awaitable[ModeSignal]:
            return make()

    return check_suite(Checked())


def check_chat_model(
    make: Callable[[Sequence[Scripted]], ChatModel | Awaitable[ChatModel]],
    *,
    words: Mapping[StopReason, str],
    sent: Callable[[ChatModel], Sequence[SentRequest]] | None = None,
) -> list[RuleResult]:
    """Check chat models that `make` builds on a provider with the given script. `words` are the provider's reasons to end, `sent`
    tells the requests that the provider of a model got.
    """
    known = words

    class Checked(ChatModelConformance):
        words = known

        def make_model(self, script: Sequence[Scripted]) -> ChatModel | Awaitable[ChatModel]:
            return make(script)

        def sent_requests(self, model: ChatModel) -> Sequence[SentRequest] | None:
            return None if sent is None else sent(model)

    return check_suite(Checked())


def check_long_term_memory(
    make: Callable[[], LongTermMemory | Awaitable[LongTermMemory]],
    *,
    reopen: Callable[[LongTermMemory], LongTermMemory | Awaitable[LongTermMemory]] | None = None,
    broken: Callable[[], LongTermMemory | Awaitable[LongTermMemory]] | None = None,
) -> list[RuleResult]:
    """Check memories that `make` builds, each over an empty backend. `reopen` opens another on the backend of one, `broken`
    builds one whose backend fails.
    """

    class Checked(LongTermMemoryConformance):
        def make_memory(self) -> LongTermMemory | Awaitable[LongTermMemory]:
            return make()

        def reopen_memory(self, memory: LongTermMemory) -> LongTermMemory | Awaitable[LongTermMemory] | None:
            return None if reopen is None else reopen(memory)

        def broken_memory(self) -> LongTermMemory | Awaitable[LongTermMemory] | None:
            return None if broken is None else broken()

    return check_suite(Checked())


def check_summarizer(
    make: Callable[[TokenCounter], Summarizer | Awaitable[Summarizer]],
    *,
    scripted: Callable[[TokenCounter, Sequence[Scripted]], Summarizer | Awaitable[Summarizer]] | None = None,
    sent: Callable[[Summarizer], Sequence[str]] | None = None,
) -> list[RuleResult]:
    """Check summarizers that `make` builds on a counter. `scripted` builds one on a model with the given script, and `sent` tells
    what the model of one was sent.
    """

    class Checked(SummarizerConformance):
        def make_summarizer(self, counter: TokenCounter) -> Summarizer | Awaitable[Summarizer]:
            return make(counter)

        def scripted_summarizer(
            self, counter: TokenCounter, script: Sequence[Scripted]
        ) -> Summarizer | Awaitable[Summarizer] | None:
            return None if scripted is None else scripted(counter, script)

        def sent_texts(self, summarizer: Summarizer) -> Sequence[str] | None:
            return None if sent is None else sent(summarizer)

    return check_suite(Checked())


def check_lexical_index(
    make: Callable[[], LexicalIndex | Awaitable[LexicalIndex]],
    *,
    broken: Callable[[], LexicalIndex | Awaitable[LexicalIndex]] | None = None,
) -> list[RuleResult]:
    """Check lexical indexes that `make` builds, each empty. `broken` builds one whose backend fails."""

    class Checked(LexicalIndexConformance):
        def make_index(self) -> LexicalIndex | Awaitable[LexicalIndex]:
            return make()

        def broken_index(self) -> LexicalIndex | Awaitable[LexicalIndex] | None:
            return None if broken is None else broken()

    return check_suite(Checked())


def check_embedder(
    make: Callable[[], Embedder | Awaitable[Embedder]],
    *,
    others: Callable[[], Sequence[Embedder | Awaitable[Embedder]]] | None = None,
    broken: Callable[[], Embedder | Awaitable[Embedder]] | None = None,
) -> list[RuleResult]:
    """Check embedders that `make` builds. `others` builds some in other configurations, compared by name; `broken` builds one
    whose backend fails.
    """

    class Checked(EmbedderConformance):
        def make_embedder(self) -> Embedder | Awaitable[Embedder]:
            return make()

        def other_embedders(self) -> Sequence[Embedder | Awaitable[Embedder]]:
            return () if others is None else others()

        def broken_embedder(self) -> Embedder | Awaitable[Embedder] | None:
            return super().broken_embedder() if broken is None else broken()

    return check_suite(Checked())


def check_vector_index(
    make: Callable[[], VectorIndex | Awaitable[VectorIndex]],
    *,
    broken: Callable[[], VectorIndex | Awaitable[VectorIndex] | None] | None = None,
) -> list[RuleResult]:
    """Check indexes that `make` builds, each empty. `broken` builds one whose backend fails, or returns None if nothing can."""

    class Checked(VectorIndexConformance):
        def make_index(self) -> VectorIndex | Awaitable[VectorIndex]:
            return make()

        def broken_index(self) -> VectorIndex | Awaitable[VectorIndex] | None:
            return super().broken_index() if broken is None else broken()

    return check_suite(Checked())


def check_retriever(
    make: Callable[[Mapping[str, str]], Retriever | Awaitable[Retriever]] | None = None,
    *,
    history: Callable[[ContextStore], Retriever | Awaitable[Retriever]] | None = None,
    broken: Callable[[], Retriever | Awaitable[Retriever]] | None = None,
) -> list[RuleResult]:
    """Check retrievers that `make` builds over texts, by what people find them by; or those that `history` builds over the
    sessions of a store. `broken` builds one whose backend fails.
    """

    class Checked(RetrieverConformance):
        def make_retriever(self, documents: Mapping[str, str]) -> Retriever | Awaitable[Retriever]:
            return super().make_retriever(documents) if make is None else make(documents)

        def make_history_retriever(self, store: ContextStore) -> Retriever | Awaitable[Retriever] | None:
            return None if history is None else history(store)

        def broken_retriever(self) -> Retriever | Awaitable[Retriever] | None:
            return super().broken_retriever() if broken is None else broken()

    return check_suite(Checked())
