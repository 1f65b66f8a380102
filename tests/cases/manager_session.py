"""A session of the real manager on a real store, as the operations drive it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from attrs import define, field

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import (
    ContextStore,
    Entry,
    Kind,
    Message,
    TokenCounter,
    dump_message,
    from_chat,
)

from .case import Case
from .evidence import Dict, Moment, Row, moment, rows_of
from .strategies_of_cases import Chosen, budget_of

SESSION = "session"
_PAGE = 64


def open_store(kind: str, folder: Path) -> ContextStore:
    """A store of that kind; the same folder is the same database."""
    return MemoryContextStore() if kind == "memory" else SqliteContextStore(folder / "log.sqlite")


def engine(
    case: Case,
    store: ContextStore,
    counter: TokenCounter,
    chosen: Chosen | None = None,
    clock: Callable[[], float] = time.time,
) -> ContextEngine:
    """The manager of a case. Without a budget in the case, everything fits."""
    strategy, folding = (None, None) if chosen is None else (chosen.strategy, chosen.policy)
    limited = {"budget", "window", "model"} & set(case.given)
    budget = budget_of(case.given if limited else {"budget": 1_000_000})
    tools = tuple(case.given.get("tools", ()))
    return ContextEngine(
        store=store, counter=counter, strategy=strategy, budget=budget, tools=tools, clock=clock, folding=folding
    )


async def entries(store: ContextStore, session_id: str = SESSION) -> list[Entry]:
    """The whole log of the current epoch, oldest first."""
    found: list[Entry] = []
    while page := await store.read(session_id, before=found[0].seq if found else None, limit=_PAGE):
        found[:0] = page
    return found


#: What the manager adds to the log by itself. It stands beside what was said, which stays as it is.
_OF_THE_MANAGER = (Kind.RECORD, Kind.SUMMARY, Kind.FACTS)


async def stored_rows(store: ContextStore, session_id: str = SESSION) -> list[Row]:
    """The stored messages, a system prompt included."""
    stored = [entry.message for entry in await entries(store, session_id)]
    return list(rows_of(message for message in stored if message.kind not in _OF_THE_MANAGER))


async def log_text(store: ContextStore, session_id: str = SESSION) -> list[str]:
    """What was said as text, to see whether the log of it changed."""
    found = await entries(store, session_id)
    return [f"{entry.seq} {dump_message(entry.message)}" for entry in found if entry.message.kind not in _OF_THE_MANAGER]


def pinned(case: Case, wire: Dict) -> bool:
    return bool(wire.get("pinned")) or wire.get("id") in case.given.get("pinned", [])


@define(kw_only=True)
class Driven:
    """Adds to one session and notes what comes back. `chosen` is the strategy of its manager, unless that is the default."""

    case: Case
    manager: ContextEngine
    store: ContextStore
    chosen: Chosen | None = None
    session_id: str = SESSION
    given: list[Row] = field(factory=list[Row])
    moments: list[Moment] = field(factory=list[Moment])
    log_before: list[str] | None = None
    log_after: list[str] | None = None

    @property
    def model(self) -> str | None:
        """The model that contexts are for, if the case names one."""
        return str(self.case.given["model"]) if self.case.operation == "get_context_for_model" else None

    async def add(self, wire: Dict) -> Message:
        pin = pinned(self.case, wire)
        message = await self.manager.add_message(self.session_id, from_chat(wire, pinned=True) if pin else wire)
        if message.id not in {row.id for row in self.given}:
            self.given.append(Row(id=message.id, kind=message.kind, pinned=message.pinned, wire=wire))
        return message

    async def get(self, label: str) -> None:
        """Ask for the context, and for stats if a check wants them; an error is part of what came back.

        What goes on in the background has ended before the next message comes: a model takes its time to answer.
        """
        watched = self.case.asks_for("state_unchanged") or self.case.asks_for("store_unchanged")
        self.log_before = await log_text(self.store, self.session_id) if watched else None
        await self._ask(label)
        self.log_after = await log_text(self.store, self.session_id) if watched else None
        await self.manager.settle()

    async def _ask(self, label: str) -> None:
        try:
            context = await self.manager.get_context(self.session_id, profile=self.model)
            asks = self.case.asks_for("stat_") or self.case.asks_for("stats_") or self.case.operation == "get_context_stats"
            stats = await self.manager.get_context_stats(self.session_id) if asks else None
            told = () if self.chosen is None else self.chosen.told
            self.moments.append(moment(label, self.given, context, stats, told=told))
        except Exception as error:  # judged by the checks
            self.moments.append(Moment(label=label, given=tuple(self.given), error=error))
