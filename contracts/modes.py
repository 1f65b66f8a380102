"""Which of the five modes a session is in: the values, the table of legal transitions, and the ports around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from attrs import field, frozen

from .context import Mode
from .errors import InvalidArgument
from .messages import Message
from .port import Port

__all__ = [
    "TRANSITIONS",
    "Control",
    "ControlsMode",
    "ModeDecision",
    "ModePath",
    "ModePolicy",
    "ModeProposal",
    "ModeRules",
    "ModeSignal",
    "ModeSituation",
    "ModeState",
    "Sensed",
    "SensedTurn",
    "mode_line",
]


class Control(StrEnum):
    """Who decides on a session's mode (R185 to R187)."""

    MANUAL = "manual"  # a person or the host; nothing changes by itself
    SEMI_AUTOMATIC = "semi_automatic"  # the policy proposes, a person confirms
    AUTOMATIC = "automatic"  # the policy


class ModePath(StrEnum):
    """Why one mode follows another (R141 to R143)."""

    DEGRADE = "degrade"  # the window fills: less of the history is shown word for word
    PLUG_IN = "plug_in"  # the question needs what the window does not have; and back, when it no longer does
    RESET = "reset"  # a new task: what was before stays out of the window
    RECOVER = "recover"  # all of it fits again


def _table() -> Mapping[tuple[Mode, Mode], ModePath]:
    zero, full, summary, retrieval, hybrid = Mode.ZERO_SHOT, Mode.FULL, Mode.SUMMARY, Mode.RETRIEVAL, Mode.HYBRID
    table = {
        (zero, full): ModePath.RECOVER,
        (full, summary): ModePath.DEGRADE,
        (full, hybrid): ModePath.DEGRADE,
        (zero, summary): ModePath.DEGRADE,
        (zero, hybrid): ModePath.DEGRADE,
        (hybrid, summary): ModePath.PLUG_IN,
        (summary, hybrid): ModePath.PLUG_IN,
        (full, retrieval): ModePath.PLUG_IN,
        (retrieval, full): ModePath.PLUG_IN,
        (retrieval, hybrid): ModePath.DEGRADE,
        (retrieval, summary): ModePath.DEGRADE,
        (retrieval, zero): ModePath.PLUG_IN,
        (zero, retrieval): ModePath.PLUG_IN,
        (summary, full): ModePath.RECOVER,
        (hybrid, full): ModePath.RECOVER,
    }
    return MappingProxyType(table | {(mode, zero): ModePath.RESET for mode in (full, summary, hybrid)})


#: The transitions a policy may make, each with its path. A reset may also lead from any mode to `FULL`, which then
#: begins with the new task, and to `RETRIEVAL`, where something has to be looked up; its path is RESET. A person may set any.
TRANSITIONS: Mapping[tuple[Mode, Mode], ModePath] = _table()


@frozen(kw_only=True)
class ModeRules:
    """What modes are decided by and made of. Shares are of the room that the limit leaves beside the system prompt.

    Below `summary_from` a session is FULL, from there on SUMMARY, and HYBRID from `hybrid_from` on (D14). SUMMARY and HYBRID keep
    the newest `keep_messages` messages at least, in whole turns; RETRIEVAL keeps the `retrieval_turns` turns before the question.
    Snippets of HYBRID may take `snippet_tokens`, and no more than `snippet_share` of the room; those of RETRIEVAL, which stand
    for the history, `retrieval_tokens` of what is left. The former have a score of `min_score` at least, the latter of
    `retrieval_min_score`: a question that is about nothing that was said brings back nothing in HYBRID (R151).
    A signal counts from `signal_score` on. `control` is who decides. `reset_to` is the mode of a new task.

    Raises `InvalidArgument` for a setting outside of its domain.
    """

    control: Control = Control.AUTOMATIC
    start: Mode = Mode.FULL
    summary_from: float = 0.60
    hybrid_from: float = 0.85
    keep_messages: int = 8
    retrieval_turns: int = 2
    snippet_tokens: int = 3_000
    snippet_share: float = 0.30
    retrieval_tokens: int = 16_000
    min_score: float = 0.2
    retrieval_min_score: float = 0.0
    signal_score: float = 0.5
    reset_to: Mode = Mode.FULL

    def __attrs_post_init__(self) -> None:
        for name in ("summary_from", "hybrid_from", "snippet_share", "min_score", "retrieval_min_score", "signal_score"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise InvalidArgument(f"{name} is {value!r}; it must be a number from 0 to 1", name=name, value=value)
        for name, kind in (("control", Control), ("start", Mode), ("reset_to", Mode)):
            if not isinstance(getattr(self, name), kind):
                known = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
                value = getattr(self, name)
                raise InvalidArgument(f"{name} is {value!r}; it must be one of {known}", name=name, value=value)
        for name in ("keep_messages", "retrieval_turns", "snippet_tokens", "retrieval_tokens"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidArgument(f"{name} is {value!r}; it must be a whole number, 0 or more", name=name, value=value)
        if self.summary_from > self.hybrid_from:
            raise InvalidArgument(
                f"summary_from {self.summary_from:g} is above hybrid_from {self.hybrid_from:g}; SUMMARY comes first",
                name="summary_from",
                value=self.summary_from,
            )
        if self.reset_to not in (Mode.FULL, Mode.ZERO_SHOT):
            raise InvalidArgument(
                f"reset_to is {str(self.reset_to)!r}; a new task begins in full or zero_shot",
                name="reset_to",
                value=self.reset_to,
            )


@frozen(kw_only=True)
class Sensed:
    """What a signal found: a score from 0 (certainly not) to 1 (certainly), and a word for why."""

    score: float
    reason: str = ""


@frozen(kw_only=True)
class SensedTurn:
    """What signals look at: the newest question, and what came before it in the window.

    `known_facts` is how many facts of the ledger the question names that are not visible in the window. `found` are the scores of
    what a search for it found outside of the window, the best first; None where nothing was searched. `seconds_since` is
    how long ago the message before it came, if that is known.
    """

    question: Message
    before: Sequence[Message] = ()
    known_facts: int = 0
    found: tuple[float, ...] | None = None
    seconds_since: float | None = None


class ModeSignal(Port):
    """Reads one thing off a turn, such as whether a new task begins.

    Obligations
        SIGNAL-1  `sense` returns a score from 0 to 1, for every turn: of any script, empty, very long.
        SIGNAL-2  Equal turns have equal scores, in every process; it asks no model and no network.
        SIGNAL-3  The turn is not changed.

    Caller guarantees: the question is a user message. Errors: none. Concurrency: any thread. Lifetime: no state.
    Latitude: what it takes for a sign.
    """

    def sense(self, turn: SensedTurn) -> Sensed:
        """How sure it is."""
        ...


@frozen(kw_only=True)
class ModeSituation:
    """What a policy decides by (R139).

    `mode` is the session's. `occupancy` is (used - system) / (limit - system) with all that is not folded; it may be above 1.
    `new_task`, `asks_early` (about details that the window no longer has) and `needs_knowledge` (from outside) are what signals
    say. `first_of_task` says that the present task began with the newest question. `has_folded` says that a summary stands for a
    part of the present task's history, `has_earlier` that there were tasks before, which are out of sight. `can_search` says that
    there is a retriever for the history, `has_knowledge` that there is one for knowledge from outside, or that other sessions may
    be searched.
    """

    session_id: str
    mode: Mode
    occupancy: float
    new_task: Sensed = field(default=Sensed(score=0.0))
    asks_early: Sensed = field(default=Sensed(score=0.0))
    needs_knowledge: Sensed = field(default=Sensed(score=0.0))
    first_of_task: bool = False
    has_folded: bool = False
    has_earlier: bool = False
    can_search: bool = False
    has_knowledge: bool = False


@frozen(kw_only=True)
class ModeDecision:
    """The mode that should be next, and a code for why. `resets` says that a new task begins with the newest question."""

    mode: Mode
    reason: str
    resets: bool = False


class ModePolicy(Port):
    """Decides on modes, by rules that may change while it runs.

    Obligations
        MODE-1  `decide` returns the mode it was given, or one that `TRANSITIONS` has from there. A reset may also lead to FULL
                and to RETRIEVAL from any mode, and only a new task resets.
        MODE-2  Every situation gets a decision with a reason: no error, whatever the numbers.
        MODE-3  Equal situations under equal rules get equal decisions.
        MODE-4  RETRIEVAL and HYBRID are decided on only where something can be searched: history or knowledge.
        MODE-5  FULL is not decided on from `hybrid_from` on, except by a reset; nor SUMMARY and HYBRID below `summary_from` where
                nothing is folded and no signal calls for it.
        MODE-6  `rules_for` returns the rules of a session: its own over its tenant's over the default, setting by setting
                (R189).
        MODE-7  A decision that is followed settles: asked again with its mode and else the same, it stays. So does a reset, asked
                again as the first of its task, when nothing is folded and little is said.

    Caller guarantees: none. Errors: none. Concurrency: any thread. Lifetime: rules may change between two calls.
    Latitude: the decision itself.
    """

    def rules_for(self, session_id: str) -> ModeRules:
        """The rules of the session now."""
        ...

    def decide(self, situation: ModeSituation) -> ModeDecision:
        """The mode for the next window."""
        ...


@frozen(kw_only=True)
class ModeProposal:
    """A transition that waits to be confirmed. `seq` is the newest log entry it was made for; `id` names it."""

    id: str
    mode: Mode
    reason: str
    seq: int
    resets: bool = False


@frozen(kw_only=True)
class ModeState:
    """A session's mode, who decides on it, the transition that is proposed, and the last one as a line for people.

    `floor` is the log entry with which the present task began; windows of ZERO_SHOT and FULL show nothing from before it. 0 is
    the whole session.
    """

    mode: Mode
    control: Control
    proposal: ModeProposal | None = None
    last_line: str = ""
    floor: int = 0


class ControlsMode(Port):
    """A manager whose sessions have modes that people may set, confirm and reject.

    Obligations
        MANAGER-28  `set_mode` puts a session into a mode, and its next window is made up as that mode says, or raises
                    `CapabilityNotSupported` where it needs what the manager does not have, and changes nothing. It stays there:
                    who sets a mode takes control, which is manual then, until `set_control` gives it back.
        MANAGER-29  Under semi-automatic control nothing changes until `confirm`: then the proposed mode, the one that the policy
                    would go to, is the session's. After `reject` it is not, and the same is not proposed again for the same
                    question. Either raises `InvalidArgument` for what is not proposed. A window always fits (D21).
        MANAGER-30  Every change of mode is one record in the log and one event, with the line `context mode: full -> summary`
                    and the reason; `mode_state` tells the last.
        MANAGER-31  `set_control` is about one session; control and mode outlive the manager as the log does.
        MANAGER-32  A window of ZERO_SHOT is the system prompt and the turn of the newest question; one of RETRIEVAL adds snippets
                    and the last turns; FULL has everything since the task began; SUMMARY and HYBRID have a summary for what is
                    folded, HYBRID also snippets. Snippets are one message of kind retrieved right before the newest question,
                    and stand for what the window does not show. ZERO_SHOT and FULL have none, and neither they nor RETRIEVAL
                    a summary or facts. What a mode hides is counted as left out.

    Caller guarantees, concurrency, lifetime: as `ContextManager`. Errors: also `InvalidArgument`, and `CapabilityNotSupported`
    from a manager that was built without modes.
    Latitude: which modes the manager can make up without a retriever or a folding strategy; whether SUMMARY brings back words of
    what is folded; for how long what was rejected is not proposed again.
    """

    async def mode_state(self, session_id: str) -> ModeState:
        """The session's mode and what is proposed."""
        ...

    async def set_mode(self, session_id: str, mode: Mode, *, new_task: bool = False) -> ModeState:
        """Put the session into a mode. `new_task` lets it begin with the next message."""
        ...

    async def set_control(self, session_id: str, control: Control | None) -> ModeState:
        """Who decides on the session's mode; None follows the rules again."""
        ...

    async def confirm(self, session_id: str, proposal_id: str) -> ModeState:
        """Make the proposed transition."""
        ...

    async def reject(self, session_id: str, proposal_id: str) -> ModeState:
        """Drop the proposed transition."""
        ...


def mode_line(before: Mode, after: Mode) -> str:
    """A transition as people read it in logs: `context mode: full -> summary` (R144)."""
    return f"context mode: {before} -> {after}"
