"""A plain manager whose sessions have modes: what it can show in each, and a policy that folds what no longer fits."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from attrs import define, field

from contextport.contracts import (
    Budget,
    Context,
    Control,
    ControlsMode,
    Event,
    EventKind,
    EventSink,
    InvalidArgument,
    Json,
    Kind,
    Message,
    Mode,
    ModeProposal,
    ModeState,
    Text,
    TokenCounter,
    implements,
    mode_line,
)

from .reference_compacting_manager import CompactedSession, ReferenceCompactingManager
from .reference_manager import ReferenceManager, Session

__all__ = ["ModedSession", "ReferenceModeManager"]

FOLDED = (Mode.SUMMARY, Mode.HYBRID)
SEARCHED = (Mode.RETRIEVAL, Mode.HYBRID)
TURNS = 2  # that RETRIEVAL shows before the question


@define
class ModedSession(CompactedSession):
    """A session in `mode`, whose task began after `floor` messages. `refused` is a question and a mode not wanted for it."""

    mode: Mode = Mode.FULL
    control: Control | None = None
    floor: int = 0
    proposal: ModeProposal | None = None
    refused: tuple[str, Mode] | None = None
    line: str = ""
    records: list[Message] = field(factory=list[Message])


@implements(ControlsMode)
class ReferenceModeManager(ReferenceCompactingManager):
    """Goes from FULL to SUMMARY once a session is folded or no longer fits, and to nothing else by itself."""

    def __init__(
        self,
        counter: TokenCounter,
        budget: Budget,
        sessions: dict[str, Session] | None = None,
        sink: EventSink | None = None,
    ) -> None:
        super().__init__(counter, budget, sessions)
        self.sink = sink

    def second(self, counter: TokenCounter, budget: Budget) -> ReferenceManager:
        return type(self)(counter, budget, self.sessions, self.sink)

    def new_session(self) -> Session:
        return ModedSession()

    def moded(self, session: Session) -> ModedSession:
        """The session as one with a mode."""
        assert isinstance(session, ModedSession)
        return session

    def records_of(self, session_id: str) -> Sequence[Message]:
        """The records in the session's log."""
        return self.moded(self.session(session_id)).records

    async def clear_context(self, session_id: str) -> None:
        await super().clear_context(session_id)
        session = self.moded(self.session(session_id))
        session.mode, session.floor, session.proposal, session.refused = Mode.FULL, 0, None, None

    # --- windows --------------------------------------------------------------------------------------------------------

    async def get_context(self, session_id: str) -> Context:
        session = self.moded(self.sessions.get(session_id, self.new_session()))
        if session_id in self.sessions:
            self.follow(session_id, session)
            if session.mode in FOLDED:
                await self.fold_what_is_too_much(session_id, session)
        context = await super().get_context(session_id)
        mode = self.told_mode(session)
        return attrs.evolve(context, mode=mode, receipt=attrs.evolve(context.receipt, mode=mode))

    def told_mode(self, session: ModedSession) -> Mode:
        """The mode that a window says it has."""
        return session.mode

    async def fold_what_is_too_much(self, session_id: str, session: ModedSession) -> None:
        """Fold until what is left and the snippets fit."""
        share = 2 / 3 if session.mode in SEARCHED else 1
        if self.size([*session.memory, *self.rest(session)], session) > self.limit * share:
            await self.compact(session_id, max_tokens=self.limit // 2)

    def size(self, messages: Sequence[Message], session: ModedSession) -> int:
        """What the messages take with the prompt."""
        return self.strategy.estimate_tokens([*self.prompt_messages(session), *messages])

    async def window(self, session: Session) -> tuple[list[Message], int]:
        moded = self.moded(session)
        if moded.mode in self.folded_modes():
            kept, omitted = await super().window(moded)
        else:
            shown = self.shown(moded)
            kept, omitted = await self.plain_window(Session(said=shown, prompt=moded.prompt))
            omitted += len(moded.said) - len(shown)
        if moded.mode in self.searched_modes():
            kept = self.with_snippets(moded, kept)
        return kept, omitted

    async def plain_window(self, session: Session) -> tuple[list[Message], int]:
        """The window of a session without modes and folds."""
        return await ReferenceManager(self.counter, self.budget).window(session)

    def folded_modes(self) -> Sequence[Mode]:
        """The modes whose windows have a summary for what is folded."""
        return FOLDED

    def searched_modes(self) -> Sequence[Mode]:
        """The modes whose windows have snippets."""
        return SEARCHED

    def shown(self, session: ModedSession) -> list[Message]:
        """What a mode that shows no folds shows: all since the task began, or the last turns of that."""
        said = session.said[session.floor :]
        turns = [n for n, message in enumerate(said) if message.opens_turn]
        before = {Mode.ZERO_SHOT: 0, Mode.RETRIEVAL: TURNS}.get(session.mode)
        return said if before is None or not turns else said[turns[max(0, len(turns) - 1 - before)] :]

    def with_snippets(self, session: ModedSession, kept: list[Message]) -> list[Message]:
        """The window with what was found for its newest question right before that."""
        place = max((n for n, message in enumerate(kept) if message.opens_turn), default=-1)
        text = self.found(session, kept, kept[place].text, self.limit - self.strategy.estimate_tokens(kept)) if place >= 0 else ""
        snippet = Message.user(text, id=f"{kept[place].id} snippets", kind=Kind.RETRIEVED)
        return self.placed(kept, place, [snippet]) if text else kept

    def placed(self, kept: list[Message], place: int, snippets: list[Message]) -> list[Message]:
        """The window with snippets before the message at `place`."""
        return [*kept[:place], *snippets, *kept[place:]]

    def found(self, session: ModedSession, kept: Sequence[Message], question: str, room: int) -> str:
        """The message that is not in the window with the most rare words of the question, cut to the room."""
        visible = {message.id for message in kept}
        texts = [message.text for message in session.said if message.id not in visible]
        words = [set(text.lower().split()) for text in texts]
        asked = set(question.lower().replace("?", "").split())
        scores = [sum(1 / sum(word in other for other in words) for word in asked & own) for own in words]
        best = max(range(len(texts)), key=lambda n: scores[n], default=-1)
        return " ".join(texts[best].split()[: max(0, room)]) if best >= 0 and scores[best] else ""

    # --- the policy -----------------------------------------------------------------------------------------------------

    def decided(self, session: ModedSession) -> Mode:
        """The mode that the session should be in."""
        if session.mode not in (Mode.FULL, Mode.SUMMARY):
            return session.mode
        over = self.size(session.said[session.floor :], session) > self.limit
        return Mode.SUMMARY if over or session.folded else Mode.FULL

    def control(self, session_id: str, session: ModedSession) -> Control:
        """Who decides on the session's mode."""
        return session.control or Control.AUTOMATIC

    def follow(self, session_id: str, session: ModedSession) -> None:
        """Do as the policy says, as far as it may."""
        control, wanted = self.control(session_id, session), self.decided(session)
        if control is Control.MANUAL or wanted is session.mode:
            return
        if control is Control.SEMI_AUTOMATIC:
            self.propose(session, wanted)
        else:
            self.move(session_id, session, wanted, "it no longer fits", by="policy")

    def propose(self, session: ModedSession, mode: Mode) -> None:
        """Keep the transition for a person to confirm, unless it was rejected for this question."""
        question = self.question(session)
        if session.refused == (question, mode) or (session.proposal is not None and session.proposal.mode is mode):
            return
        seq = len(session.said)
        session.proposal = ModeProposal(id=f"{mode} {seq}", mode=mode, reason="it no longer fits", seq=seq)

    def question(self, session: ModedSession) -> str:
        """The id of the newest question."""
        return next((message.id for message in reversed(session.said) if message.opens_turn), "")

    # --- changes --------------------------------------------------------------------------------------------------------

    def move(self, session_id: str, session: ModedSession, mode: Mode, reason: str, *, by: str) -> None:
        """Put the session into the mode, and tell of it."""
        before, session.mode, session.proposal = session.mode, mode, None
        if before is not mode:
            told: dict[str, Json] = {"line": mode_line(before, mode), "reason": reason, "by": by}
            session.line = mode_line(before, mode)
            self.record(session, told)
            self.tell(session_id, told)

    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        """Put the transition into the log."""
        text = Text(f"[system] {told['line']}")
        session.records.append(Message(role="system", kind=Kind.RECORD, parts=(text,), metadata={"mode": told}))

    def tell(self, session_id: str, told: dict[str, Json]) -> None:
        """Put the transition into the events."""
        if self.sink is not None:
            self.sink.emit(Event(kind=EventKind.MODE_CHANGED, session_id=session_id, data=told))

    async def mode_state(self, session_id: str) -> ModeState:
        session = self.moded(self.sessions.get(session_id, self.new_session()))
        return ModeState(
            mode=session.mode,
            control=self.control(session_id, session),
            proposal=session.proposal,
            last_line=session.line,
            floor=session.floor + 1 if session.floor else 0,
        )

    async def set_mode(self, session_id: str, mode: Mode, *, new_task: bool = False) -> ModeState:
        session = self.moded(self.session(session_id))
        self.take_control(session_id, session)
        if new_task:
            session.floor = len(session.said)
        self.move(session_id, session, mode, "asked", by="host")
        return await self.mode_state(session_id)

    def take_control(self, session_id: str, session: ModedSession) -> None:
        """Let nobody else decide on the mode from here on."""
        session.control = Control.MANUAL

    async def set_control(self, session_id: str, control: Control | None) -> ModeState:
        self.moded(self.session(session_id)).control = control
        return await self.mode_state(session_id)

    async def confirm(self, session_id: str, proposal_id: str) -> ModeState:
        session = self.moded(self.session(session_id))
        proposal = self.pending(session, proposal_id)
        self.move(session_id, session, proposal.mode, proposal.reason, by="confirmed")
        return await self.mode_state(session_id)

    async def reject(self, session_id: str, proposal_id: str) -> ModeState:
        session = self.moded(self.session(session_id))
        proposal = self.pending(session, proposal_id)
        session.proposal, session.refused = None, (self.question(session), proposal.mode)
        return await self.mode_state(session_id)

    def pending(self, session: ModedSession, proposal_id: str) -> ModeProposal:
        """The proposal of that id."""
        if session.proposal is None or session.proposal.id != proposal_id:
            raise InvalidArgument(f"there is no proposal {proposal_id!r}", name="proposal_id")
        return session.proposal
