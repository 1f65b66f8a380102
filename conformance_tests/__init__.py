"""Suites that prove an adapter, ours or a stranger's: numbered rules of each port, run on the adapter.

    from contextport.conformance_tests import ContextStoreConformance

    class TestMine(ContextStoreConformance):
        def make_store(self):
            return MyStore()

Without pytest: `check_context_store(MyStore)` and its siblings return one result per rule; `check_suite(TestMine())` does so for
a suite with hooks of its own.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checks import (
        check_chat_model,
        check_compression_strategy,
        check_context_manager,
        check_context_store,
        check_embedder,
        check_error_classifier,
        check_event_sink,
        check_lexical_index,
        check_limits_source,
        check_long_term_memory,
        check_message_codec,
        check_mode_policy,
        check_mode_signal,
        check_retriever,
        check_suite,
        check_summarizer,
        check_token_counter,
        check_vector_index,
    )
    from .exact_counters import CharactersCounter, WordsCounter
    from .rules import RuleResult, Status
    from .suites import (
        ChatModelConformance,
        CompressionStrategyConformance,
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
    "CharactersCounter",
    "ChatModelConformance",
    "CompressionStrategyConformance",
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
    "RuleResult",
    "Status",
    "SummarizerConformance",
    "TokenCounterConformance",
    "VectorIndexConformance",
    "WordsCounter",
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

_WITH_ASSERTIONS = (
    "classifier_rules",
    "compaction_rules",
    "embedder_rules",
    "fold_keeping_rules",
    "fold_rules",
    "lexical_rules",
    "memory_rules",
    "model_rules",
    "mode_policy_rules",
    "mode_signal_rules",
    "retriever_history_rules",
    "retriever_inputs",
    "retriever_rules",
    "retriever_suite",
    "store_rules",
    "store_concurrency_rules",
    "counter_rules",
    "strategy_rules",
    "strategy_result_rules",
    "manager_rules",
    "manager_session_rules",
    "manager_shape_rules",
    "manager_suite",
    "mode_manager_rules",
    "mode_sessions",
    "mode_window_rules",
    "sink_and_limits_rules",
    "codec_rules",
    "codec_loss_rules",
    "codec_requests",
    "suite",
    "suites",
    "summarizer_rules",
    "vector_index_rules",
)

# pytest takes an installed namespace package for its folders and would leave the assertions of the rules as they are.
_pytest: Any = sys.modules.get("pytest")
if _pytest is not None:
    _pytest.register_assert_rewrite(*(f"{__name__}.{module}" for module in _WITH_ASSERTIONS))


def __getattr__(name: str) -> Any:
    """Load on first use: the pytest plug-in lives here and is imported in every environment that has both."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = (
        "checks"
        if name.startswith("check_")
        else "rules"
        if name in ("RuleResult", "Status")
        else "exact_counters"
        if name.endswith("sCounter")
        else "suites"
    )
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
