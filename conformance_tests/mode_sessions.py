"""Sessions with modes: what is said in them, and how a rule puts a manager into each mode."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from contextport.contracts import (
    Budget,
    CapabilityNotSupported,
    Context,
    Control,
    Event,
    EventKind,
    EventSink,
    Message,
    Mode,
    ModeState,
    ToolCall,
    implements,
    mode_line,
)

from .manager_rules import fill
from .rules import NotChecked

if TYPE_CHECKING:
    from .suites import ContextManagerConformance as Suite

__all__ = ["ASKED", "PROMPT", "ROOMY", "STEP", "TIGHT", "TOLD", "Events", "Moded", "turns"]

PROMPT = "You label the trees of an orchard."
ROOMY = Budget.of(5_000)
TIGHT = Budget.of(400)  # a half of what `turns` says
_TREES = ("quince", "medlar", "rowan", "walnut", "damson", "hazel", "mulberry", "cherry", "almond", "olive", "apple", "pear")
_LABELS = ("tawny", "cobalt", "ochre", "scarlet", "ivory", "teal", "maroon", "silver", "amber", "violet", "indigo", "coral")
_FILLER = "rain on the lower rows was soft today and we dug the clay before noon while the gate stood open to the lane"

#: A question about what the first turn told, and the word that answers it.
ASKED = Message.user("Which label did the quince get?", id="ask")
TOLD = "tawny"
#: What may follow a question in its turn.
STEP = (
    Message.assistant("", ToolCall(call_id="look", name="labels", arguments="{}"), id="look"),
    Message.tool("look", "three labels are left", id="looked"),
)


def turns(count: int = 12, first: int = 0) -> list[Message]:
    """Turns of 65 words each: question `u<n>` tells of a tree and its label, answer `a<n>` says nothing new."""
    said, words = list[Message](), _FILLER.split()
    for n in range(first, first + count):
        tree, label = _TREES[n % len(_TREES)], _LABELS[n % len(_LABELS)]
        filler = " ".join(words[(n * 5 + k) % len(words)] for k in range(26))
        said.append(Message.user(f"The {tree} gets the {label} label. {filler}", id=f"u{n}"))
        said.append(Message.assistant(f"That is noted, go on. {filler} {n} {n}", id=f"a{n}"))
    return said


@implements(EventSink)
@frozen
class Events:
    """Keeps all events in a list."""

    told: list[Event] = field(factory=list[Event])

    def emit(self, event: Event) -> None:
        self.told.append(event)

    def changes(self, session_id: str) -> list[Event]:
        """The changes of mode of a session."""
        return [event for event in self.told if event.kind is EventKind.MODE_CHANGED and event.session_id == session_id]


@frozen
class Moded:
    """A manager with modes, and the suite that it is checked by. `seen` are the modes of each session, one for each look."""

    suite: Suite
    manager: Any
    events: Events
    sees_events: bool
    seen: dict[str, list[Mode]] = field(factory=dict[str, list[Mode]])

    @classmethod
    async def of(cls, suite: Suite, budget: Budget) -> Moded:
        """A manager of its own."""
        events = Events()
        manager, sees_events = await suite.mode_manager(budget, events)
        return cls(suite, manager, events, sees_events)

    async def begun(self, session_id: str, said: Sequence[Message], control: Control | None = None) -> ModeState:
        """A session with its prompt and what was said, under that control. Returns its state before anything was decided."""
        await self.manager.set_system_prompt(session_id, PROMPT)
        state = await self.state(session_id)
        self.seen[session_id] = [state.mode]
        if control is not None:
            state = await self.manager.set_control(session_id, control)
        await self.say(session_id, *said)
        return state

    async def say(self, session_id: str, *messages: Message) -> None:
        """Add messages, and let what follows from them in the background end."""
        await fill(self.manager, session_id, *messages)
        await self.suite.settle(self.manager)

    async def look(self, session_id: str) -> Context:
        """The window, which must fit (D21), however much was said and whatever is proposed."""
        context: Context = await self.manager.get_context(session_id)
        assert context.tokens <= context.limit, f"a window of mode {context.mode} has {context.tokens} of {context.limit} tokens"
        self.seen[session_id].append(context.mode)
        return context

    async def window(self, session_id: str) -> Context:
        """The window, once nothing goes on in the background any more."""
        await self.look(session_id)
        await self.suite.settle(self.manager)
        return await self.look(session_id)

    def changes(self, session_id: str) -> list[str]:
        """The changes of mode that were seen, as lines."""
        seen = self.seen[session_id]
        return [mode_line(before, after) for before, after in pairwise(seen) if before is not after]

    async def state(self, session_id: str) -> ModeState:
        """What the manager says of the session's mode."""
        state: ModeState = await self.manager.mode_state(session_id)
        return state

    async def put(self, session_id: str, mode: Mode, *, new_task: bool = False) -> bool:
        """Put the session into the mode; false where the manager says that it lacks what the mode needs."""
        try:
            await self.manager.set_mode(session_id, mode, new_task=new_task)
        except CapabilityNotSupported as error:
            if mode in (Mode.ZERO_SHOT, Mode.FULL):
                raise AssertionError(f"mode {mode}, which needs nothing, was refused: {error}") from error
            return False
        return True

    async def moved(self) -> tuple[Mode, Mode]:
        """The mode that sessions begin in, and the next of one under automatic control whose history no longer fits."""
        before = await self.begun("automatic", turns(), Control.AUTOMATIC)
        after = (await self.look("automatic")).mode
        if after is before.mode:
            raise NotChecked(
                f"under automatic control a session stays in mode {after}, with twice as much said as there is room for; "
                "write make_mode_manager, so that it has a policy that changes modes"
            )
        await self.window("automatic")
        return before.mode, after
