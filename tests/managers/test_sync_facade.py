"""The blocking facade: shared between threads, and closed while they call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue

import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.sync_facade import SyncContextManager
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.wiring import context_engine
from contextport.contracts import (
    Budget,
    CapabilityNotSupported,
    Context,
    ContextManager,
    Control,
    Event,
    EventSink,
    Head,
    InvalidArgument,
    Json,
    Mode,
    ModeProposal,
    ModeState,
    implements,
)
from contextport.strategies.folding import FoldOldest
from contextport.strategies.modes import ModeMachine
from tests.cases.words_counter import WordsCounter

PATIENCE = 30.0  # seconds; only a thread that hangs takes them
CALLERS = 4


def manager(store: MemoryContextStore | None = None, sink: EventSink | None = None) -> ContextEngine:
    store = store if store is not None else MemoryContextStore()
    return ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(1_000), sink=sink)


def spoken(n: int) -> dict[str, Json]:
    """Message number n of a session, of 33 words."""
    return {"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " + "rain on the beds " * 8}


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def ended(thread: threading.Thread) -> bool:
    thread.join(PATIENCE)
    return not thread.is_alive()


@pytest.mark.parametrize("run", range(10))
def test_closing_while_other_threads_call_leaves_nobody_waiting_and_loses_nothing(run: int) -> None:
    store = MemoryContextStore()
    facade = SyncContextManager(manager(store))
    added: list[int] = [0] * CALLERS
    refused: list[str] = []
    busy = threading.Barrier(CALLERS + 1)

    def call(caller: int) -> None:
        facade.add_message(f"s{caller}", {"role": "user", "content": "first"})
        added[caller] = 1
        busy.wait(PATIENCE)
        try:
            while True:
                facade.add_message(f"s{caller}", {"role": "user", "content": "next"})
                added[caller] += 1
        except InvalidArgument as error:
            refused.append(str(error))

    threads = [started(lambda caller=caller: call(caller)) for caller in range(CALLERS)]  # type: ignore[misc]
    busy.wait(PATIENCE)
    assert ended(started(facade.close))
    assert all(ended(thread) for thread in threads)
    assert len(refused) == CALLERS
    assert all("closed" in said for said in refused)
    assert [asyncio.run(store.head(f"s{caller}")).messages for caller in range(CALLERS)] == added


class HeldStore(MemoryContextStore):
    """A store whose heads arrive only when they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: SimpleQueue[asyncio.AbstractEventLoop] = SimpleQueue()
        self.let_go = asyncio.Event()

    async def head(self, session_id: str) -> Head:
        self.asked.put(asyncio.get_running_loop())
        await self.let_go.wait()
        return await super().head(session_id)


def test_a_call_that_is_running_is_finished_before_close_returns() -> None:
    store = HeldStore()
    facade = SyncContextManager(manager(store))
    answers: SimpleQueue[int] = SimpleQueue()
    caller = started(lambda: answers.put(len(facade.get_context("s").messages)))
    loop = store.asked.get(timeout=PATIENCE)
    closers = [started(facade.close) for _ in range(2)]
    while True:  # until the closing has begun, calls are taken
        try:
            facade.set_system_prompt("", "")
        except InvalidArgument as error:
            if "closed" in str(error):
                break
    assert all(closer.is_alive() for closer in closers)
    loop.call_soon_threadsafe(store.let_go.set)
    assert ended(caller)
    assert answers.get(timeout=PATIENCE) == 0
    assert all(ended(closer) for closer in closers)


@implements(EventSink)
class ClosingSink:
    """A sink that closes the facade, which runs on the facade's own loop."""

    def __init__(self) -> None:
        self.facade: SyncContextManager | None = None
        self.refusals: list[str] = []

    def emit(self, event: Event) -> None:
        assert self.facade is not None
        with pytest.raises(InvalidArgument) as caught:
            self.facade.close()
        self.refusals.append(str(caught.value))


def test_closing_from_its_own_loop_is_refused_not_waited_for() -> None:
    sink = ClosingSink()
    facade = SyncContextManager(manager(sink=sink))
    sink.facade = facade
    caller = started(lambda: facade.set_system_prompt("s", "Be brief."))
    assert ended(caller)
    assert sink.refusals == ["the sync facade cannot be closed from its own event loop: close it from another thread"]
    facade.close()
    with pytest.raises(InvalidArgument, match="closed"):
        facade.get_context("s")


def test_groups_and_replay_are_there_for_managers_that_have_them() -> None:
    with SyncContextManager(context_engine(budget=500)) as blocking:
        group = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        assert [m.text for m in blocking.add_messages("s", group)] == ["a", "b"]
        context = blocking.get_context("s")
        blocking.clear_context("s")
        assert blocking.replay(context.receipt) == context.messages


def test_what_a_manager_does_not_have_is_named() -> None:
    @implements(ContextManager)
    class OnlyFive:
        def __init__(self) -> None:
            self.engine = context_engine(budget=500)
            self.add_message = self.engine.add_message
            self.clear_context = self.engine.clear_context
            self.get_context_stats = self.engine.get_context_stats
            self.set_system_prompt = self.engine.set_system_prompt

        async def get_context(self, session_id: str) -> Context:
            return await self.engine.get_context(session_id)

    with SyncContextManager(OnlyFive()) as blocking:
        with pytest.raises(CapabilityNotSupported, match="AddsGroups"):
            blocking.add_messages("s", [])
        with pytest.raises(CapabilityNotSupported, match="Replays"):
            blocking.replay(blocking.get_context("s").receipt)
        with pytest.raises(CapabilityNotSupported, match="Compacts"):
            blocking.compact("s")
        calls: list[Callable[[], ModeState]] = [
            lambda: blocking.mode_state("s"),
            lambda: blocking.set_mode("s", Mode.FULL),
            lambda: blocking.set_control("s", None),
            lambda: blocking.confirm("s", "proposal"),
            lambda: blocking.reject("s", "proposal"),
        ]
        for call in calls:
            with pytest.raises(CapabilityNotSupported, match="ControlsMode"):
                call()


def test_folds_on_request_are_waited_for() -> None:
    counter = WordsCounter()
    engine = ContextEngine(store=MemoryContextStore(), counter=counter, strategy=FoldOldest(counter), budget=Budget.of(1_000))
    with SyncContextManager(engine) as blocking:
        assert blocking.compact("s") is False
        for n in range(20):
            blocking.add_message("s", spoken(n))
        assert blocking.compact("s", max_tokens=300) is True
        assert blocking.get_context("s").folded_count > 0
    with SyncContextManager(manager()) as plain, pytest.raises(CapabilityNotSupported, match="does not fold"):
        plain.compact("s")


def test_modes_are_set_proposed_confirmed_and_rejected() -> None:
    counter = WordsCounter()
    engine = ContextEngine(
        store=MemoryContextStore(),
        counter=counter,
        strategy=FoldOldest(counter),
        budget=Budget.of(300),
        modes=ModeMachine(),
    )
    with SyncContextManager(engine) as blocking:
        assert blocking.set_mode("s", Mode.ZERO_SHOT, new_task=True).mode is Mode.ZERO_SHOT
        assert blocking.mode_state("s").control is Control.MANUAL
        assert blocking.set_control("s", Control.SEMI_AUTOMATIC).control is Control.SEMI_AUTOMATIC
        proposals: list[ModeProposal] = []
        for answer in (blocking.reject, blocking.confirm):
            for n in range(25):
                blocking.add_message("s", spoken(n))
            blocking.get_context("s")
            proposal = blocking.mode_state("s").proposal
            assert proposal is not None
            assert answer("s", proposal.id).proposal is None
            proposals.append(proposal)
        assert blocking.get_context("s").mode is proposals[-1].mode
        with pytest.raises(InvalidArgument, match="no proposal"):
            blocking.confirm("s", proposals[0].id)


def test_a_store_and_a_database_are_one_too_many() -> None:
    with pytest.raises(InvalidArgument, match="leave one out"):
        context_engine(budget=500, store=MemoryContextStore(), database="chat.db")
