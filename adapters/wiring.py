"""The parts put together the usual way: one call for hosts that do not need to choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.adapters.limits.environment_limits import EnvironmentLimits
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.mode_keeper import ModeSenses
from contextport.adapters.retrieval.history_retriever import HistoryRetriever
from contextport.adapters.retrieval.retrieval_policy import RetrievalPolicy
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.bedrock_converse import BedrockConverseCodec
from contextport.adapters.wire.gemini_contents import GeminiCodec
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.adapters.wire.openai_responses import OpenAIResponsesCodec
from contextport.contracts import (
    Budget,
    ChatModel,
    CompressionStrategy,
    ContextStore,
    Embedder,
    ErrorClassifier,
    EventSink,
    InvalidArgument,
    Json,
    LearnsLimits,
    Limits,
    LimitsSource,
    LongTermMemory,
    MemoryScope,
    MessageCodec,
    ModePolicy,
    ModeRules,
    ProviderProfile,
    Retriever,
    Summarizer,
    TokenCounter,
    VectorIndex,
    provides,
    verify,
)
from contextport.strategies.folding import FoldOldest, FoldPolicy, prices_for
from contextport.strategies.limits_resolution import resolve_budget
from contextport.strategies.modes import ModeMachine
from contextport.strategies.provider_rules import profile_for
from contextport.strategies.recovery import ContinuationPolicy, Responder
from contextport.strategies.summaries import CheckedSummarizer, ExtractiveSummarizer, ModelSummarizer
from contextport.strategies.tool_results import BudgetToolResults, IngestPolicy, ShrinkToolResults

__all__ = [
    "anthropic_model",
    "codec_for",
    "context_engine",
    "folding_strategy",
    "history_retriever",
    "openai_model",
    "responder",
]

_SUMMARIZER_WINDOW = 120_000  # tokens; what every current model of the large providers takes


def context_engine(
    *,
    budget: Budget | int | None = None,
    database: str | PathLike[str] | None = None,
    store: ContextStore | None = None,
    counter: TokenCounter | None = None,
    strategy: CompressionStrategy | None = None,
    tools: Sequence[Json] = (),
    model: str = "",
    host: str = "",
    limits: Sequence[LimitsSource] = (),
    sink: EventSink | None = None,
    strict: bool = False,
    summarizer: Summarizer | ChatModel | None = None,
    folding: FoldPolicy | None = None,
    memory: LongTermMemory | None = None,
    scope_of: Callable[[str], MemoryScope] | None = None,
    ingest: IngestPolicy | None = None,
    retriever: Retriever | Embedder | bool = False,
    knowledge: Retriever | None = None,
    modes: ModePolicy | ModeRules | None = None,
    senses: ModeSenses | None = None,
    search_in: Callable[[str], Sequence[str]] | None = None,
) -> ContextEngine:
    """A `ContextEngine` with what is not given filled in: tokens by estimate, old history folded, messages in memory.

    Without a `strategy`, what is old is folded into a summary and a ledger of facts once the window is over its thresholds, and
    old tool results are made shorter. No model is asked for that, unless `summarizer` is one, or stands on one: what a model
    writes is checked before it is kept. `folding` holds the thresholds; without it, they are the defaults, with the prices of
    `model`. `memory` takes what is worth keeping beyond a session, and windows show what it knows.

    With `retriever=True`, what a question needs of the older history is searched by its words and put before it; with an
    embedder, by its meaning too, which needs the extra `faiss`. Or hand in a `Retriever` of your own. `knowledge` searches what
    you know besides. `modes` decides how windows are made up, see `ContextEngine`; rules make a `ModeMachine`.

    The default counter estimates, takes a tenth more for granted (R63), and learns the real ratio from `record_usage`.
    `budget` is a `Budget` or the number of tokens for all that is sent. Without one, it is that of `model` on `host` by the
    first of `limits` that knows it, then by the environment, else a 128 000 token window of which half is for the answer.
    `database` is the path of a SQLite file that holds the log; give it or a store. The rest is `ContextEngine`'s.
    """
    if isinstance(budget, bool) or not isinstance(budget, Budget | int | None):
        raise InvalidArgument(
            f"budget is {budget!r}; it must be a Budget or a whole number of tokens, such as 8000", name="budget", value=budget
        )
    if store is not None and database is not None:
        raise InvalidArgument("both store and database are given; leave one out", name="database", value=str(database))
    if budget is None:
        budget = resolve_budget(model=model, host=host, sources=(*limits, EnvironmentLimits()), sink=sink)
    if store is None:
        store = MemoryContextStore() if database is None else SqliteContextStore(database)
    if counter is None:
        counter = CalibratedTokenCounter(HeuristicTokenCounter())
    if strategy is not None and summarizer is not None:
        raise InvalidArgument("both strategy and summarizer are given; hand the summarizer to the strategy", name="summarizer")
    if folding is None:
        prices = prices_for(model)
        asked = summarizer is not None and not isinstance(summarizer, ExtractiveSummarizer)  # of a model, and paid for
        folding = FoldPolicy(prices=prices.summarized_by_same_model(reads_prefix=False) if asked else prices)
    if strategy is None:
        strategy = folding_strategy(counter, summarizer=summarizer, folding=folding, tools=tools)
    history: Retriever | None = None
    if provides(retriever, Retriever):
        history = retriever
    elif retriever is not False and retriever is not None:
        history = history_retriever(store, counter, embedder=_embedder_in(retriever), sink=sink)
    return ContextEngine(
        store=store,
        counter=counter,
        strategy=strategy,
        budget=Budget.of(budget) if isinstance(budget, int) else budget,
        tools=tools,
        model=model,
        sink=sink,
        strict=strict,
        folding=folding,
        memory=memory,
        scope_of=scope_of,
        ingest=ingest,
        retriever=history,
        knowledge=knowledge,
        modes=_policy_of(modes),
        senses=senses,
        search_in=search_in,
    )


def _embedder_in(retriever: Embedder | Literal[True]) -> Embedder | None:
    """What `retriever` has to search by meaning with; None for words alone."""
    if retriever is True:
        return None
    if hasattr(retriever, "retrieve"):
        verify(retriever, Retriever)  # written as one, and not declared
    if not hasattr(retriever, "embed"):
        raise InvalidArgument(
            f"retriever is {retriever!r:.80}; it must be True to search by words, False, an Embedder or a Retriever",
            name="retriever",
            value=retriever,
        )
    return retriever


def _policy_of(modes: ModePolicy | ModeRules | None) -> ModePolicy | None:
    if isinstance(modes, ModeRules):
        return ModeMachine(modes)
    if modes is not None and not provides(modes, ModePolicy) and not hasattr(modes, "decide"):
        raise InvalidArgument(
            f"modes is {modes!r:.80}; it must be ModeRules, such as ModeRules(control=Control.SEMI_AUTOMATIC), or a ModePolicy",
            name="modes",
            value=modes,
        )
    return modes


def history_retriever(
    store: ContextStore,
    counter: TokenCounter,
    *,
    embedder: Embedder | None = None,
    index_path: str | PathLike[str] | None = None,
    policy: RetrievalPolicy | None = None,
    sink: EventSink | None = None,
) -> HistoryRetriever:
    """A search in the sessions of a store: by words, and with an `embedder` by meaning, which needs the extra `faiss`.

    The index of words is in memory, or in a file at `index_path` that several processes may share; vectors are kept in the store.
    """
    index: VectorIndex | None = None
    if embedder is not None:
        verify(embedder, Embedder)
        from contextport.adapters.indexes.faiss_vector_index import FaissVectorIndex

        index = FaissVectorIndex()
    lexical = Fts5LexicalIndex(index_path)
    return HistoryRetriever(store, counter, lexical, embedder, index, policy=policy or RetrievalPolicy(), events=sink)


def folding_strategy(
    counter: TokenCounter,
    *,
    summarizer: Summarizer | ChatModel | None = None,
    folding: FoldPolicy | None = None,
    tools: Sequence[Json] = (),
) -> FoldOldest:
    """The strategy of `context_engine`: tool results within a budget for each turn, old ones shrunk, the oldest steps folded.

    A `ChatModel` writes summaries within 120 000 tokens of input; for one with a smaller window, hand in a `ModelSummarizer`.
    """
    if summarizer is not None and not provides(summarizer, ChatModel) and not hasattr(summarizer, "summarize"):
        raise InvalidArgument(
            f'summarizer is {summarizer!r:.80}; it must be a Summarizer, or a ChatModel such as openai_model("...")',
            name="summarizer",
            value=summarizer,
        )
    if provides(summarizer, ChatModel):
        summarizer = ModelSummarizer(summarizer, counter, window=_SUMMARIZER_WINDOW, classifier=RuleErrorClassifier())
    writer = summarizer.inner if isinstance(summarizer, CheckedSummarizer) else summarizer
    return FoldOldest(
        counter,
        summarizer=summarizer,
        raw_reach=0 if isinstance(writer, ModelSummarizer) and writer.same_model else None,
        policy=folding or FoldPolicy(),
        layers=(BudgetToolResults(counter), ShrinkToolResults(counter)),
        tools=tuple(tools),
    )


def codec_for(profile: ProviderProfile | str) -> MessageCodec:
    """The codec of the api that a profile is about, or that a model is usually called by.

    What it encodes goes into the call as it is: `client.messages.create(model=..., max_tokens=..., **codec.encode(m).request)`.
    Raises `InvalidArgument` for a profile of an api that no codec here knows.
    """
    known = profile_for(profile) if isinstance(profile, str) else profile
    match known.api:
        case "openai.chat":
            return OpenAIChatCodec()
        case "openai.responses":
            return OpenAIResponsesCodec()
        case "anthropic.messages":
            return AnthropicCodec(middle_system=known.system_place == "field_and_middle")
        case "gemini.generate_content":
            return GeminiCodec()
        case "bedrock.converse":
            return BedrockConverseCodec()
        case "langchain.messages":
            from contextport.adapters.wire.langchain_messages import LangChainCodec  # needs the extra langchain

            return LangChainCodec()
        case api:
            raise InvalidArgument(f"no codec here is for the api {api!r} of profile {known.name!r}; hand your own to the model")


def openai_model(model: str, *, base_url: str | None = None, api_key: str | None = None, window: int | None = None) -> ChatModel:
    """A model of OpenAI, or of any host that speaks the same at `base_url`. Needs the extra `openai`.

    Without a key, the SDK reads `OPENAI_API_KEY`. `window` is the size of the model's window in tokens, if it is known.
    """
    from contextport.adapters.models.openai_chat_model import OpenAIChatModel

    return OpenAIChatModel.at(model, OpenAIChatCodec(), base_url=base_url, api_key=api_key, window=window)


def anthropic_model(
    model: str, *, base_url: str | None = None, api_key: str | None = None, window: int | None = None
) -> ChatModel:
    """A Claude model at Anthropic, or at a host that speaks the same at `base_url`. Needs the extra `anthropic`.

    Without a key, the SDK reads `ANTHROPIC_API_KEY`. `window` is the size of the model's window in tokens, if it is known.
    """
    from contextport.adapters.models.anthropic_chat_model import AnthropicChatModel

    codec = codec_for(profile_for(model, api="anthropic.messages"))
    return AnthropicChatModel.at(model, codec, base_url=base_url, api_key=api_key, window=window)


def responder(
    context: ContextEngine,
    model: ChatModel,
    *,
    profile: ProviderProfile | str | None = None,
    limits: Limits | None = None,
    learner: LearnsLimits | None = None,
    classifier: ErrorClassifier | None = None,
    max_tries: int = 3,
    continuation: ContinuationPolicy | None = None,
) -> Responder:
    """A model behind a context manager: it answers sessions, makes the window smaller after an overflow, finishes cut answers.

    `profile` says what the model's provider accepts; without it, what the model's name tells. `limits` is what the model allows:
    with them, no request leaves its answer less room than it needs. `learner`, such as `LearntLimits`, remembers what errors
    said, for later answers. The rest is `Responder`'s.
    """
    if profile is None or isinstance(profile, str):
        profile = profile_for(profile or model.model, api=model.api)
    return Responder(
        manager=context,
        model=model,
        classifier=classifier if classifier is not None else RuleErrorClassifier(),
        counter=context.counter,
        profile=profile,
        tools=context.tools,
        limits=limits or Limits(),
        max_tries=max_tries,
        continuation=continuation or ContinuationPolicy(),
        learns_as=context.model,
        learner=learner,
        sink=context.sink,
    )
