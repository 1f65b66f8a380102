"""Managers with modes, each with one thing wrong about who changes them and how that is told."""

from __future__ import annotations

import attrs

from contextport.conformance_tests.reference_manager import Session
from contextport.conformance_tests.reference_mode_manager import ModedSession, ReferenceModeManager
from contextport.contracts import (
    CapabilityNotSupported,
    Context,
    Control,
    Json,
    Kind,
    Message,
    Mode,
    ModeProposal,
    ModeState,
    mode_line,
)

from .registry import broken

__all__: list[str] = []


@broken("MANAGER-28 MANAGER-30 MANAGER-32")
class SetsNoMode(ReferenceModeManager):
    async def set_mode(self, session_id: str, mode: Mode, *, new_task: bool = False) -> ModeState:
        session = self.moded(self.session(session_id))
        self.take_control(session_id, session)
        return await self.mode_state(session_id)


@broken("MANAGER-28 MANAGER-30 MANAGER-32")
class RefusesEveryMode(ReferenceModeManager):
    async def set_mode(self, session_id: str, mode: Mode, *, new_task: bool = False) -> ModeState:
        raise CapabilityNotSupported("modes are decided on by the policy")


@broken("MANAGER-28")
class TakesControlAndRefuses(ReferenceModeManager):
    """Looks whether it has what the mode needs when half is done."""

    async def set_mode(self, session_id: str, mode: Mode, *, new_task: bool = False) -> ModeState:
        if mode is Mode.HYBRID:
            self.take_control(session_id, self.moded(self.session(session_id)))
            raise CapabilityNotSupported("there is nothing to search")
        return await super().set_mode(session_id, mode, new_task=new_task)


@broken("MANAGER-28")
class TakesNoControl(ReferenceModeManager):
    """The policy goes on deciding."""

    def take_control(self, session_id: str, session: ModedSession) -> None:
        pass


@broken("MANAGER-28 MANAGER-30")
class TellsTheModeBefore(ReferenceModeManager):
    """Windows say that they are full when they have a single turn."""

    def told_mode(self, session: ModedSession) -> Mode:
        return Mode.FULL if session.mode is Mode.ZERO_SHOT else session.mode


@broken("MANAGER-28 MANAGER-32")
class KeepsTheModeForOneWindow(ReferenceModeManager):
    """As one that takes a mode for an option of a call. Nobody is told that it is over."""

    async def get_context(self, session_id: str) -> Context:
        context = await super().get_context(session_id)
        session = self.sessions.get(session_id)
        if session is not None and self.moded(session).mode is Mode.RETRIEVAL:
            self.moded(session).mode = Mode.FULL
        return context


@broken("MANAGER-28")
class SetsEverySession(ReferenceModeManager):
    async def set_mode(self, session_id: str, mode: Mode, *, new_task: bool = False) -> ModeState:
        state = await super().set_mode(session_id, mode, new_task=new_task)
        for session in self.sessions.values():
            self.moded(session).mode = mode
        return state


@broken("MANAGER-28")
class NeverGivesControlBack(ReferenceModeManager):
    """What a person set is kept apart from the control, and nothing takes it away."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self.by_hand: set[str] = set()

    def take_control(self, session_id: str, session: ModedSession) -> None:
        super().take_control(session_id, session)
        self.by_hand.add(session_id)

    def follow(self, session_id: str, session: ModedSession) -> None:
        if session_id not in self.by_hand:
            super().follow(session_id, session)


@broken("MANAGER-3")
class GoesOnWhereAFoldHelped(ReferenceModeManager):
    """Decides on HYBRID because of what it folds then, and again at the next look, when that is folded."""

    def decided(self, session: ModedSession) -> Mode:
        wanted = super().decided(session)
        return Mode.HYBRID if wanted is Mode.SUMMARY and not session.folded else self.after(session, wanted)

    def after(self, session: ModedSession, wanted: Mode) -> Mode:
        """The mode once a fold is there."""
        return Mode.SUMMARY if session.folded and session.mode is Mode.HYBRID else wanted


@broken("MANAGER-29 MANAGER-30")
class ChangesWhatItProposes(ReferenceModeManager):
    """Does not wait."""

    def propose(self, session: ModedSession, mode: Mode) -> None:
        super().propose(session, mode)
        session.mode = mode


@broken("MANAGER-29")
class FoldsWhatItProposes(ReferenceModeManager):
    """Prepares what will be confirmed, and shows it before it is."""

    def folded_modes(self) -> tuple[Mode, ...]:
        return (Mode.SUMMARY, Mode.HYBRID, Mode.FULL) if self.waits else (Mode.SUMMARY, Mode.HYBRID)

    waits = False

    async def get_context(self, session_id: str) -> Context:
        session = self.sessions.get(session_id)
        self.waits = session is not None and self.moded(session).proposal is not None
        if self.waits:
            await self.compact(session_id, max_tokens=self.limit // 2)
        try:
            return await super().get_context(session_id)
        finally:
            self.waits = False


@broken("MANAGER-29 MANAGER-30")
class ProposesNothing(ReferenceModeManager):
    def propose(self, session: ModedSession, mode: Mode) -> None:
        pass


@broken("MANAGER-29")
class ProposesAnewForEachWindow(ReferenceModeManager):
    """The id that a person was shown is not known any more when they confirm."""

    count = 0

    def propose(self, session: ModedSession, mode: Mode) -> None:
        session.proposal = None
        super().propose(session, mode)
        self.count += 1
        if session.proposal is not None:
            session.proposal = attrs.evolve(session.proposal, id=f"{mode} {self.count}")


@broken("MANAGER-29")
class ProposesAnotherModeThanThePolicy(ReferenceModeManager):
    def propose(self, session: ModedSession, mode: Mode) -> None:
        super().propose(session, Mode.ZERO_SHOT)


@broken("MANAGER-29 MANAGER-30")
class ConfirmsNothing(ReferenceModeManager):
    async def confirm(self, session_id: str, proposal_id: str) -> ModeState:
        session = self.moded(self.session(session_id))
        self.pending(session, proposal_id)
        session.proposal = None
        return await self.mode_state(session_id)


@broken("MANAGER-29")
class ConfirmsAnyId(ReferenceModeManager):
    def pending(self, session: ModedSession, proposal_id: str) -> ModeProposal:
        known = ModeProposal(id=proposal_id, mode=session.mode, reason="asked", seq=0)
        return session.proposal or known


@broken("MANAGER-29")
class ConfirmsTwice(ReferenceModeManager):
    """The proposal stays, and can be confirmed long after."""

    async def confirm(self, session_id: str, proposal_id: str) -> ModeState:
        session = self.moded(self.session(session_id))
        proposal = self.pending(session, proposal_id)
        await super().confirm(session_id, proposal_id)
        session.proposal = proposal
        return await self.mode_state(session_id)


@broken("MANAGER-29")
class TakesControlByConfirming(ReferenceModeManager):
    async def confirm(self, session_id: str, proposal_id: str) -> ModeState:
        await super().confirm(session_id, proposal_id)
        self.take_control(session_id, self.moded(self.session(session_id)))
        return await self.mode_state(session_id)


@broken("MANAGER-29")
class ProposesAgainWhatWasRejected(ReferenceModeManager):
    async def reject(self, session_id: str, proposal_id: str) -> ModeState:
        await super().reject(session_id, proposal_id)
        self.moded(self.session(session_id)).refused = None
        return await self.mode_state(session_id)


@broken("MANAGER-29")
class ProposesAgainWithTheNextMessage(ReferenceModeManager):
    """Takes an answer for a new question."""

    def question(self, session: ModedSession) -> str:
        return session.said[-1].id if session.said else ""


@broken("MANAGER-29")
class NeverProposesWhatWasRejectedOnce(ReferenceModeManager):
    def question(self, session: ModedSession) -> str:
        return "any"


@broken("MANAGER-29")
class DoesWhatWasRejected(ReferenceModeManager):
    async def reject(self, session_id: str, proposal_id: str) -> ModeState:
        return await self.confirm(session_id, proposal_id)


@broken("MANAGER-29 MANAGER-30")
class OverflowsWhileItWaits(ReferenceModeManager):
    """The window that a person has not yet allowed to shrink is sent as it is."""

    async def plain_window(self, session: Session) -> tuple[list[Message], int]:
        waits = any(self.moded(one).proposal is not None for one in self.sessions.values())
        if not waits:
            return await super().plain_window(session)
        return [*self.prompt_messages(session), *self.arranged(session.said)], 0


@broken("MANAGER-30")
class WritesNoRecord(ReferenceModeManager):
    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        pass


@broken("MANAGER-30")
class WritesARecordWithoutTheLine(ReferenceModeManager):
    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        super().record(session, {**told, "line": f"mode {session.mode}"})


@broken("MANAGER-30")
class WritesARecordWithoutTheReason(ReferenceModeManager):
    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        super().record(session, {"line": told["line"]})


@broken("MANAGER-30")
class WritesWhatIsNoRecord(ReferenceModeManager):
    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        super().record(session, told)
        session.records[-1] = attrs.evolve(session.records[-1], kind=Kind.CHAT)


@broken("MANAGER-30")
class RecordsWhatAHostSetTwice(ReferenceModeManager):
    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        super().record(session, told)
        if told["by"] == "host":
            super().record(session, told)


@broken("MANAGER-30")
class RecordsTheOtherWayRound(ReferenceModeManager):
    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        before, _, after = str(told["line"]).partition("context mode: ")[2].partition(" -> ")
        super().record(session, {**told, "line": mode_line(Mode(after), Mode(before))})


@broken("MANAGER-30")
class RecordsProposalsAsChanges(ReferenceModeManager):
    def propose(self, session: ModedSession, mode: Mode) -> None:
        before = session.proposal
        super().propose(session, mode)
        if session.proposal is not None and before is None:
            self.record(session, {"line": mode_line(session.mode, mode), "reason": "it no longer fits"})


@broken("MANAGER-30")
class TellsNoEvent(ReferenceModeManager):
    def tell(self, session_id: str, told: dict[str, Json]) -> None:
        pass


@broken("MANAGER-30")
class TellsEventsWithoutTheLine(ReferenceModeManager):
    def tell(self, session_id: str, told: dict[str, Json]) -> None:
        super().tell(session_id, {"reason": told["reason"]})


@broken("MANAGER-30")
class TellsEventsWithoutAReason(ReferenceModeManager):
    def tell(self, session_id: str, told: dict[str, Json]) -> None:
        super().tell(session_id, {**told, "reason": ""})


@broken("MANAGER-30")
class TellsOfTheWrongSession(ReferenceModeManager):
    def tell(self, session_id: str, told: dict[str, Json]) -> None:
        super().tell("modes", told)


@broken("MANAGER-30")
class TellsOnlyWhatThePolicyDid(ReferenceModeManager):
    """What a person does is no news."""

    def tell(self, session_id: str, told: dict[str, Json]) -> None:
        if told["by"] == "policy":
            super().tell(session_id, told)


@broken("MANAGER-30")
class TellsOnlyWhatAHostSet(ReferenceModeManager):
    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        if told["by"] == "host":
            super().record(session, told)


@broken("MANAGER-30")
class TellsNothingOfConfirmedChanges(ReferenceModeManager):
    def tell(self, session_id: str, told: dict[str, Json]) -> None:
        if told["by"] != "confirmed":
            super().tell(session_id, told)


@broken("MANAGER-30")
class RemembersTheFirstLine(ReferenceModeManager):
    def record(self, session: ModedSession, told: dict[str, Json]) -> None:
        super().record(session, told)
        session.line = str(session.records[0].text)


class _OwnControls(ReferenceModeManager):
    """Keeps the controls beside the sessions, where no other manager sees them."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self.controls: dict[str, Control] = {}

    def key(self, session_id: str) -> str:
        """Under what the control of a session is kept."""
        return session_id

    def control(self, session_id: str, session: ModedSession) -> Control:
        return self.controls.get(self.key(session_id), Control.AUTOMATIC)

    def take_control(self, session_id: str, session: ModedSession) -> None:
        self.controls[self.key(session_id)] = Control.MANUAL

    async def set_control(self, session_id: str, control: Control | None) -> ModeState:
        self.controls.pop(self.key(session_id), None)
        if control is not None:
            self.controls[self.key(session_id)] = control
        return await self.mode_state(session_id)


@broken("MANAGER-31")
class ForgetsTheControlWhenItEnds(_OwnControls):
    pass


@broken("MANAGER-28 MANAGER-31")
class HasOneControlForAllSessions(_OwnControls):
    def key(self, session_id: str) -> str:
        return "all"


@broken("MANAGER-31")
class ForgetsTheModeWhenItEnds(ReferenceModeManager):
    """Another manager begins with the mode of new sessions."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        for session in self.sessions.values():
            self.moded(session).mode = Mode.FULL


@broken("MANAGER-31")
class KeepsTheControlForGood(ReferenceModeManager):
    """None changes nothing."""

    async def set_control(self, session_id: str, control: Control | None) -> ModeState:
        return await (self.mode_state(session_id) if control is None else super().set_control(session_id, control))


@broken("MANAGER-28 MANAGER-31 MANAGER-32")
class TakesManualForAdvice(ReferenceModeManager):
    """Changes the mode all the same where the policy wants another."""

    def follow(self, session_id: str, session: ModedSession) -> None:
        control, session.control = session.control, None if session.control is Control.MANUAL else session.control
        super().follow(session_id, session)
        session.control = control
