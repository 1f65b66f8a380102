"""Deliberately broken adapters. Each names the rules that catch it; a rule that catches none is not worth its number."""

from . import (
    classifiers,
    codecs,
    compacting_managers,
    counters,
    folding_strategies,
    lexical_indexes,
    manager_sessions,
    manager_shapes,
    managers,
    memories,
    memory_backends,
    models,
    retriever_histories,
    retrievers,
    sinks_and_limits,
    store_concurrency,
    store_states,
    stores,
    strategies,
    strategy_results,
    summarizers,
    vector_stores,
)
from .registry import BROKEN, HEALTHY, Broken, rules_kept_by, suite_of, verdict

__all__ = ["BROKEN", "HEALTHY", "Broken", "rules_kept_by", "suite_of", "verdict"]

_MODULES = (
    classifiers,
    stores,
    store_states,
    store_concurrency,
    vector_stores,
    counters,
    strategies,
    strategy_results,
    folding_strategies,
    managers,
    manager_sessions,
    manager_shapes,
    compacting_managers,
    sinks_and_limits,
    codecs,
    models,
    lexical_indexes,
    memories,
    memory_backends,
    retrievers,
    retriever_histories,
    summarizers,
)
