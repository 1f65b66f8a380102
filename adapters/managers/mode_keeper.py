"""The modes of sessions: what a policy decides by, and how a transition is made, proposed, confirmed and told.

A transition is one compare-and-set of the session's state with its record in the log, so that it is there once, whoever else
works on the session.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import OrderedDict
from collections.abc import Callable

import attrs
from attrs import define, field, frozen

from contextport.contracts import (
    TRANSITIONS,
    ContextStore,
    Control,
    Draft,
    EventKind,
    Head,
    InvalidArgument,
    Json,
    Kind,
    Message,
    Mode,
    ModeDecision,
    ModePath,
    ModeProposal,
    ModeRules,
    ModeSignal,
    ModeSituation,
    ModeState,
    Sensed,
    SensedTurn,
    StateConflict,
    Text,
    TokenCounter,
    message_tokens,
    mode_line,
    verify,
)
from contextport.strategies.modes import AsksAboutEarlyDetails, BeginsNewTask, NeedsKnowledge

from .mode_guard import ModeGuard
from .session_state import SessionMode, SessionState
from .window_plan import SHOWS_FOLDS

__all__ = ["ModeKeeper", "ModeSenses", "Standing"]

Report = Callable[[str, EventKind, dict[str, Json]], None]

_TRIES = 16  # lost races against other changes of the state before a transition waits for the next window
_MOST_SESSIONS = 4096  # sessions whose newest question is remembered
_REFUSED_FOR = 20  # entries of the log after which what a person refused may be proposed for the same reason again
_NOTHING = Sensed(score=0.0)


@frozen(kw_only=True)
class ModeSenses:
    """The signals that a policy is told of. Raises `PortMismatch` for what is no signal."""

    new_task: ModeSignal = field(factory=BeginsNewTask)
    asks_early: ModeSignal = field(factory=AsksAboutEarlyDetails)
    needs_knowledge: ModeSignal = field(factory=NeedsKnowledge)

    def __attrs_post_init__(self) -> None:
        for signal in (self.new_task, self.asks_early, self.needs_knowledge):
            verify(signal, ModeSignal)


@frozen(kw_only=True)
class Standing:
    """Where a session stands when its next window is made.

    `question_seq` is the log entry of the newest question, 0 for none; `tokens_before` is the size of what was said before it.
    `turn` is what signals look at. `occupancy` and the rest are as in `ModeSituation`.
    """

    head: Head
    turn: SensedTurn | None
    question_seq: int
    tokens_before: int
    occupancy: float
    has_folded: bool
    has_earlier: bool
    can_search: bool
    has_knowledge: bool


@define
class _Felt:
    """What the signals said of a question."""

    question: tuple[object, ...]
    new_task: Sensed
    asks_early: Sensed
    needs_knowledge: Sensed


@define(kw_only=True)
class ModeKeeper:
    """Decides on modes by `policy`, and keeps them in the sessions' states."""

    policy: ModeGuard
    senses: ModeSenses
    store: ContextStore
    counter: TokenCounter
    clock: Callable[[], float]
    report: Report
    can_fold: bool
    _felt: OrderedDict[str, _Felt] = field(init=False, factory=OrderedDict[str, _Felt])
    _rules: dict[str, tuple[str, Mode]] = field(init=False, factory=dict[str, tuple[str, Mode]])

    def has_sensed(self, head: Head, question: Message) -> bool:
        """Whether the signals have looked at this question of the session."""
        felt = self._felt.get(head.session_id)
        return felt is not None and felt.question == _place(head, question)

    async def note_rules(self, session_id: str, kept: SessionMode) -> bool:
        """Put into the log that other rules hold from here on, if so (R184). The mode stays what it was."""
        rules = self.policy.rules_for(session_id)
        digest = digest_of(rules)
        known, start = self._rules.get(session_id, (kept.rules, rules.start))
        self._rules[session_id] = digest, rules.start
        if kept.rules == digest or known in ("", digest):  # the first that are seen are no change
            return False
        said: dict[str, Json] = {"rules": {**attrs.asdict(rules)}}
        record = self._record("[system] context rules: changed", said)
        return await self._change(session_id, lambda now: attrs.evolve(now, rules=digest, mode=now.mode or start), record)

    async def before_window(self, standing: Standing, kept: SessionMode) -> bool:
        """Change the session's mode, or propose to, as the policy decides. Returns whether the mode is another now."""
        session_id = standing.head.session_id
        rules = self.policy.rules_for(session_id)
        control = kept.control or rules.control
        decision = self.policy.decide(self._situation(standing, kept, rules))
        if decision.mode in SHOWS_FOLDS and not self.can_fold:
            return False
        mode = kept.mode or rules.start
        resets = decision.resets and standing.tokens_before > kept.floor_tokens  # there is something to leave behind
        step = TRANSITIONS.get((mode, decision.mode))
        if kept.question == standing.question_seq > 0 and not resets and step is not ModePath.DEGRADE:
            return False  # what a question was given is not taken from it again
        if decision.mode is mode and not resets:
            if kept.proposal is not None:
                await self._change(session_id, lambda now: attrs.evolve(now, proposal=None), as_it_was=kept)
            return False
        if control is Control.SEMI_AUTOMATIC:
            await self._propose(standing, kept, decision)
            return False
        floor = (standing.question_seq, standing.tokens_before) if resets else None
        return await self._move(session_id, decision, floor, by="policy", standing=standing, as_it_was=kept)

    def _situation(self, standing: Standing, kept: SessionMode, rules: ModeRules) -> ModeSituation:
        felt = self._sensed(standing)
        began_here = kept.floor > 0 and kept.floor == standing.question_seq
        return ModeSituation(
            session_id=standing.head.session_id,
            mode=kept.mode or rules.start,
            occupancy=standing.occupancy,
            new_task=_NOTHING if began_here else felt.new_task,
            asks_early=felt.asks_early,
            needs_knowledge=felt.needs_knowledge,
            first_of_task=began_here,
            has_folded=standing.has_folded,
            has_earlier=standing.has_earlier,
            can_search=standing.can_search,
            has_knowledge=standing.has_knowledge,
        )

    def _sensed(self, standing: Standing) -> _Felt:
        """What the signals say of the newest question; they look at each once."""
        session_id, turn = standing.head.session_id, standing.turn
        felt = self._felt.get(session_id)
        if turn is None:
            return _Felt((), _NOTHING, _NOTHING, _NOTHING)
        question = _place(standing.head, turn.question)
        if felt is None or felt.question != question:
            signals = (self.senses.new_task, self.senses.asks_early, self.senses.needs_knowledge)
            felt = _Felt(question, *[self.policy.sense(session_id, signal, turn) for signal in signals])
            self._felt[session_id] = felt
            if len(self._felt) > _MOST_SESSIONS:
                idle, _ = self._felt.popitem(last=False)
                self._rules.pop(idle, None)
        self._felt.move_to_end(session_id)
        return felt

    # --- what people ask for --------------------------------------------------------------------------------------------

    async def state(self, session_id: str) -> ModeState:
        """The session's mode and what is proposed."""
        kept = _kept(await self.store.head(session_id))
        rules = self.policy.rules_for(session_id)
        return ModeState(
            mode=kept.mode or rules.start,
            control=kept.control or rules.control,
            proposal=kept.proposal,
            last_line=kept.line,
            floor=kept.floor,
        )

    async def set_mode(self, session_id: str, mode: Mode, *, new_task: bool) -> ModeState:
        """Put the session into a mode, where it stays: control becomes manual."""
        kept = await self.set_control(session_id, Control.MANUAL)  # from here on no policy changes it
        if kept.mode is mode and not new_task:
            await self._change(session_id, lambda now: attrs.evolve(now, mode=mode))  # where it was that of the rules so far
            return kept
        head = await self.store.head(session_id)
        floor = (head.last_seq + 1, head.tokens) if new_task else None
        await self._move(session_id, ModeDecision(mode=mode, reason="asked", resets=new_task), floor, by="host")
        return await self.state(session_id)

    async def set_control(self, session_id: str, control: Control | None) -> ModeState:
        """Who decides on the session's mode; None follows the rules again."""
        before = _kept(await self.store.head(session_id)).control
        if before is not control:
            told = control or self.policy.rules_for(session_id).control
            record = self._record(f"[system] context control: {told}", {})
            if not await self._change(session_id, lambda now: attrs.evolve(now, control=control), record):
                raise StateConflict(f"the state lost {_TRIES} races against other writers; try again", session_id=session_id)
            self.report(session_id, EventKind.CONTROL_CHANGED, {"control": str(told)})
        return await self.state(session_id)

    async def confirm(self, session_id: str, proposal_id: str) -> ModeState:
        """Make the proposed transition."""
        proposal = await self._proposal(session_id, proposal_id)
        head = await self.store.head(session_id)
        floor: tuple[int, int] | None = None
        if proposal.resets:
            after = await self.store.read(
                session_id, after=proposal.seq - 1, limit=max(1, head.last_seq - proposal.seq + 1), epoch=head.epoch
            )
            floor = proposal.seq, head.tokens - sum([entry.tokens for entry in after if entry.message.in_conversation])
        decision = ModeDecision(mode=proposal.mode, reason=proposal.reason, resets=proposal.resets)
        if not await self._move(session_id, decision, floor, by="confirmed", proposal=proposal):
            await self._proposal(session_id, proposal_id)  # somebody else was first
        return await self.state(session_id)

    async def reject(self, session_id: str, proposal_id: str) -> ModeState:
        """Drop the proposed transition. It is not proposed again for the question, nor for the same reason for some time."""
        proposal = await self._proposal(session_id, proposal_id)
        refused = (await self.store.head(session_id)).turn or proposal.seq, str(proposal.mode), proposal.reason
        if not await self._change(session_id, lambda now: attrs.evolve(now, proposal=None, refused=refused), proposal=proposal):
            await self._proposal(session_id, proposal_id)  # somebody else was first
        self.report(session_id, EventKind.MODE_REJECTED, {"mode": str(proposal.mode), "reason": proposal.reason})
        return await self.state(session_id)

    async def _proposal(self, session_id: str, proposal_id: str) -> ModeProposal:
        proposal = _kept(await self.store.head(session_id)).proposal
        if proposal is None or proposal.id != proposal_id:
            pending = "none" if proposal is None else repr(proposal.id)
            raise InvalidArgument(
                f"there is no proposal {proposal_id!r} for session {session_id!r}; pending: {pending}", name="proposal_id"
            )
        return proposal

    # --- changes of the state -------------------------------------------------------------------------------------------

    async def _propose(self, standing: Standing, kept: SessionMode, decision: ModeDecision) -> None:
        """Keep the decision for a person to confirm, unless it is kept already or was refused not long ago."""
        known, question = kept.proposal, standing.question_seq
        same = known is not None and (known.mode, known.resets) == (decision.mode, decision.resets)
        if same and (known is None or not known.resets or known.seq == question):
            return
        seq, mode, reason = kept.refused
        since = question - seq
        if mode == decision.mode and (since == 0 or (reason == decision.reason and since <= _REFUSED_FOR)):
            return
        proposal = ModeProposal(
            id=uuid.uuid4().hex[:12],
            mode=decision.mode,
            reason=decision.reason,
            seq=standing.question_seq,
            resets=decision.resets,
        )
        session_id = standing.head.session_id
        if await self._change(session_id, lambda now: attrs.evolve(now, proposal=proposal), as_it_was=kept):
            told: dict[str, Json] = {"proposal": proposal.id, "mode": str(proposal.mode), "reason": proposal.reason}
            self.report(session_id, EventKind.MODE_PROPOSED, told)

    async def _move(
        self,
        session_id: str,
        decision: ModeDecision,
        floor: tuple[int, int] | None,
        *,
        by: str,
        standing: Standing | None = None,
        as_it_was: SessionMode | None = None,
        proposal: ModeProposal | None = None,
    ) -> bool:
        """Make a transition. False if the session is not `as_it_was` any more, or the proposal is not pending, or the race was
        lost too often.
        """
        for _ in range(_TRIES):
            head = await self.store.head(session_id)
            state = SessionState.of(head)
            now = state.mode or SessionMode(epoch=head.epoch)
            before = now.mode or self.policy.rules_for(session_id).start
            if not _stands(now, as_it_was, proposal):
                return False
            line = mode_line(before, decision.mode) + (", a new task" if decision.resets else "")
            path = ModePath.RESET if decision.resets else TRANSITIONS.get((before, decision.mode))
            first, tokens = floor if floor is not None else (now.floor, now.floor_tokens)
            after = attrs.evolve(
                now,
                epoch=head.epoch,
                mode=decision.mode,
                rules=digest_of(self.policy.rules_for(session_id)),
                question=0 if standing is None else standing.question_seq,
                floor=first,
                floor_tokens=tokens,
                proposal=None,
                line=f"{line} ({decision.reason})",
            )
            told: dict[str, Json] = {
                "line": line,
                "from": str(before),
                "to": str(decision.mode),
                "reason": decision.reason,
                "path": "" if path is None else str(path),
                "by": by,
                "occupancy": None if standing is None else round(standing.occupancy, 3),
            }
            try:
                await self._put(head, attrs.evolve(state, mode=after), self._record(f"[system] {line}", {"mode": told}))
            except StateConflict:
                continue
            self.report(session_id, EventKind.MODE_CHANGED, told)
            return True
        if by != "policy":
            raise StateConflict(f"the mode lost {_TRIES} races against other writers; try again", session_id=session_id)
        return False

    async def _change(
        self,
        session_id: str,
        change: Callable[[SessionMode], SessionMode],
        record: Message | None = None,
        *,
        as_it_was: SessionMode | None = None,
        proposal: ModeProposal | None = None,
    ) -> bool:
        """Change what is kept of the mode. False where `_move` says so."""
        for _ in range(_TRIES):
            head = await self.store.head(session_id)
            state = SessionState.of(head)
            now = state.mode or SessionMode(epoch=head.epoch)
            if not _stands(now, as_it_was, proposal):
                return False
            try:
                await self._put(head, attrs.evolve(state, mode=change(now)), record)
            except StateConflict:
                continue
            return True
        return False

    async def _put(self, head: Head, state: SessionState, record: Message | None) -> None:
        drafts = [] if record is None else [self._draft(record)]
        await self.store.put_state(head.session_id, state.dump(), expected=head.state_version, drafts=drafts)

    def _record(self, text: str, metadata: dict[str, Json]) -> Message:
        return Message(role="system", kind=Kind.RECORD, parts=(Text(text),), metadata=metadata)

    def _draft(self, message: Message) -> Draft:
        tokens = message_tokens(message, self.counter)
        return Draft(message=message, tokens=tokens, counter=self.counter.name, at=self.clock())


def digest_of(rules: ModeRules) -> str:
    """A name for the rules: equal rules have the same."""
    return hashlib.sha256(repr(rules).encode()).hexdigest()[:12]


def _stands(now: SessionMode, as_it_was: SessionMode | None, proposal: ModeProposal | None) -> bool:
    """Whether nobody has changed what a change was decided on."""
    if proposal is not None and (now.proposal is None or now.proposal.id != proposal.id):
        return False
    return as_it_was is None or attrs.evolve(now, rules=as_it_was.rules) == as_it_was


def _place(head: Head, question: Message) -> tuple[object, ...]:
    """A question of one epoch of one incarnation: ids of messages may be used again."""
    return head.incarnation, head.epoch, question.id


def _kept(head: Head) -> SessionMode:
    return SessionState.of(head).mode or SessionMode(epoch=head.epoch)
