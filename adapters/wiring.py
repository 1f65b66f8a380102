"""The parts put together the usual way: one call for hosts that do not need to choose."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import Budget, CompressionStrategy, ContextStore, EventSink, InvalidArgument, Json, TokenCounter

__all__ = ["context_engine"]


def context_engine(
    *,
    budget: Budget | int | None = None,
    database: str | PathLike[str] | None = None,
    store: ContextStore | None = None,
    counter: TokenCounter | None = None,
    strategy: CompressionStrategy | None = None,
    tools: Sequence[Json] = (),
    model: str = "",
    sink: EventSink | None = None,
    strict: bool = False,
) -> ContextEngine:
    """A `ContextEngine` with what is not given filled in: tokens by estimate, the newest steps kept, messages in memory.

    The default counter estimates, takes a tenth more for granted (R63), and learns the real ratio from `record_usage`.
    `budget` is a `Budget` or the number of tokens for all that is sent; without one, a 128 000 token window of which half is kept
    for the answer. `database` is the path of a SQLite file that holds the log; give it or a store. The rest is `ContextEngine`'s.
    """
    if isinstance(budget, bool) or not isinstance(budget, Budget | int | None):
        raise InvalidArgument(
            f"budget is {budget!r}; it must be a Budget or a whole number of tokens, such as 8000", name="budget", value=budget
        )
    if store is not None and database is not None:
        raise InvalidArgument("both store and database are given; leave one out", name="database", value=str(database))
    if store is None:
        store = MemoryContextStore() if database is None else SqliteContextStore(database)
    return ContextEngine(
        store=store,
        counter=counter if counter is not None else CalibratedTokenCounter(HeuristicTokenCounter()),
        strategy=strategy,
        budget=Budget.of(budget) if isinstance(budget, int) else budget,
        tools=tools,
        model=model,
        sink=sink,
        strict=strict,
    )
