"""The suite of `ContextManager`: what an author writes to have one checked."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from contextport.contracts import (
    AddsGroups,
    Budget,
    CapabilityNotSupported,
    Compacts,
    ContextManager,
    ControlsMode,
    EventSink,
    Message,
    Replays,
    ShapesWindow,
    TokenCounter,
    provides,
    verify,
)

from . import compaction_rules, manager_rules, manager_session_rules, manager_shape_rules, mode_manager_rules, mode_window_rules
from .exact_counters import WordsCounter
from .rules import AbsentPort, NotChecked, settled
from .suite import Conformance

__all__ = ["ContextManagerConformance"]

RULE_MODULES = (  # a suite has the rules that are known when it is defined
    manager_rules,
    manager_session_rules,
    manager_shape_rules,
    compaction_rules,
    mode_manager_rules,
    mode_window_rules,
)
_OF_MANAGERS = (AddsGroups, Replays, ShapesWindow, Compacts, ControlsMode)


class ContextManagerConformance(Conformance, port=ContextManager, capabilities=_OF_MANAGERS):
    """Suite of `ContextManager`, `AddsGroups`, `Replays`, `ShapesWindow`, `Compacts` and `ControlsMode`."""

    def make_manager(self, counter: TokenCounter, budget: Budget) -> ContextManager | Awaitable[ContextManager]:
        """A manager over an empty store of its own, with that counter and budget."""
        raise NotImplementedError("write make_manager: return a manager with the given counter and budget")

    def make_mode_manager(
        self, counter: TokenCounter, budget: Budget, sink: EventSink
    ) -> ContextManager | Awaitable[ContextManager] | None:
        """As `make_manager`: a manager with modes that can fold and search, which tells `sink` of its events. Under automatic
        control its sessions change their mode at the latest when their history no longer fits. None: it is that of
        `make_manager`, whose events are not seen."""
        return None

    def second_manager(
        self, manager: ContextManager, counter: TokenCounter, budget: Budget
    ) -> ContextManager | Awaitable[ContextManager] | None:
        """Another manager over the store of `manager`, with modes if that one has them. None: its store cannot be shared."""
        return None

    def settle_manager(self, manager: ContextManager) -> Awaitable[None] | None:
        """Wait until the manager does nothing in the background, such as a fold. None: it never does."""
        return None

    def messages_behind(
        self, manager: ContextManager, session_id: str, summary: Message
    ) -> Sequence[Message] | Awaitable[Sequence[Message]] | None:
        """The messages that a summary in a window stands for, found in the manager's log. None: there is no way to ask."""
        return None

    def records_of(self, manager: ContextManager, session_id: str) -> Sequence[Message] | Awaitable[Sequence[Message]] | None:
        """The messages of kind record in the log of the session, oldest first. None: there is no way to ask."""
        return None

    async def make(self) -> ContextManager:
        return await self.manager(Budget.of(1_000))

    async def manager(self, budget: Budget) -> ContextManager:
        """A manager with a budget of the suite's choice, counting words."""
        built = await settled(self.make_manager(WordsCounter(), budget))
        verify(built, ContextManager)
        return built

    async def mode_manager(self, budget: Budget, sink: EventSink) -> tuple[ContextManager, bool]:
        """A manager with modes, counting words, and whether `sink` is told of its events."""
        built = await settled(self.make_mode_manager(WordsCounter(), budget, sink))
        manager: object = await self.manager(budget) if built is None else built
        verify(manager, ContextManager)
        if not provides(manager, ControlsMode):
            raise AbsentPort(f"{type(manager).__name__} does not provide ControlsMode")
        try:
            await manager.mode_state("of-a-manager-with-modes")
        except CapabilityNotSupported as error:
            raise AbsentPort(f"{type(manager).__name__} was built without modes: {error}; write make_mode_manager") from error
        return manager, built is not None  # type: ignore[return-value]

    async def settle(self, manager: ContextManager) -> None:
        """Let what the manager does in the background end, so that two looks at a session show the same."""
        await settled(self.settle_manager(manager))

    async def sharing(self, manager: ContextManager, budget: Budget) -> ContextManager:
        """A second manager over the same store."""
        second = self.second_manager(manager, WordsCounter(), budget)
        if second is None:
            raise NotChecked("write second_manager, so that two managers over one store can be compared")
        built = await settled(second)
        verify(built, ContextManager)
        return built
