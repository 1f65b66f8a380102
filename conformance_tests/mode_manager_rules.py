"""The rules of `ControlsMode` about who changes a session's mode, when, and how it is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contextport.contracts import (
    Control,
    ControlsMode,
    InvalidArgument,
    Kind,
    Message,
    Mode,
    ModeProposal,
    ModeState,
    dump_message,
)

from .mode_sessions import TIGHT, Moded, turns
from .rules import NotChecked, rule, settled

if TYPE_CHECKING:
    from .suites import ContextManagerConformance as Suite

__all__: list[str] = []

_MARK = "context mode:"
_SOON = 30  # questions, one of which at the latest what was rejected is proposed for again


@rule(
    "MANAGER-28",
    ControlsMode,
    cause="the policy decides at the next window whoever set the mode, or the mode is kept and windows are made as before.",
)
async def who_sets_a_mode_has_control(suite: Suite) -> None:
    moded = await Moded.of(suite, TIGHT)
    for mode in Mode:
        session = f"set {mode}"
        await moded.begun(session, turns(4), Control.AUTOMATIC)
        if not await moded.put(session, mode):
            await _assert_untouched(moded, session, Control.AUTOMATIC)
            continue
        await _assert_in(moded, session, mode)
        for first in (4, 8):
            await moded.say(session, *turns(4, first=first))
            await _assert_in(moded, session, mode)
    other = await moded.begun("other", turns(1), Control.AUTOMATIC)
    for mode in (Mode.ZERO_SHOT, other.mode):
        assert await moded.put("one of two", mode), "a session that is new has no mode"
        state = await moded.state("other")
        assert (state.mode, state.control) == (other.mode, Control.AUTOMATIC), "set_mode changed another session"
    await _assert_given_back(moded)


async def _assert_untouched(moded: Moded, session: str, control: Control) -> None:
    state = await moded.state(session)
    assert state.control is control, f"set_mode was refused, and changed the control to {state.control}"


async def _assert_in(moded: Moded, session: str, mode: Mode) -> None:
    state = await moded.state(session)
    assert state.mode is mode, f"mode {mode} was set; mode_state says {state.mode}"
    assert state.control is Control.MANUAL, f"mode {mode} was set; the control is {state.control}, not manual"
    shown = (await moded.window(session)).mode
    assert shown is mode, f"mode {mode} was set; the window is made up in mode {shown}"
    state = await moded.state(session)
    assert state.mode is mode, f"mode {mode} was set; after a window mode_state says {state.mode}"


async def _assert_given_back(moded: Moded) -> None:
    start, after = await moded.moved()
    await moded.begun("given back", turns(), Control.AUTOMATIC)
    assert await moded.put("given back", start), f"mode {start}, which sessions begin in, was refused"
    await _assert_in(moded, "given back", start)
    state = await moded.manager.set_control("given back", Control.AUTOMATIC)
    assert state.control is Control.AUTOMATIC, f"after set_control to automatic the control is {state.control}"
    shown = (await moded.look("given back")).mode
    assert shown is after, f"control was given back, and the mode stays {shown}; a session that nobody touched is in {after}"


@rule(
    "MANAGER-29",
    ControlsMode,
    cause="a proposal is made and carried out in one step, or it is not remembered for which question one was rejected.",
)
async def nothing_changes_until_it_is_confirmed(suite: Suite) -> None:
    moded = await Moded.of(suite, TIGHT)
    start, after = await moded.moved()
    await _assert_confirmed(moded, start, after)
    await _assert_rejected(moded, start)


async def _proposed(moded: Moded, session: str, start: Mode) -> ModeProposal:
    """The proposal for a session whose history no longer fits. Its windows must be as before."""
    seen: list[ModeProposal | None] = []
    for _ in range(2):
        context = await moded.window(session)
        assert context.mode is start, f"under semi-automatic control the mode went from {start} to {context.mode} by itself"
        assert start is not Mode.FULL or not context.folded_count, "the history was folded before it was confirmed"
        state = await moded.state(session)
        assert state.mode is start, f"under semi-automatic control mode_state says {state.mode}; the session was in {start}"
        seen.append(state.proposal)
    assert seen[0] is not None, f"a session is full, and no mode is proposed; under automatic control it leaves mode {start}"
    assert seen[1] is not None, "the proposal is gone after another window"
    assert seen[1].mode is not start, f"mode {start} is proposed to a session that is in it"
    assert seen[0].id == seen[1].id, f"one transition was proposed as {seen[0].id!r} and again as {seen[1].id!r}"
    return seen[1]


async def _assert_confirmed(moded: Moded, start: Mode, after: Mode) -> None:
    await moded.begun("confirmed", turns(), Control.SEMI_AUTOMATIC)
    proposal = await _proposed(moded, "confirmed", start)
    assert proposal.mode is after, f"mode {proposal.mode} is proposed; under automatic control the same session goes to {after}"
    for unknown in ("no such proposal", ""):
        await _assert_unknown(moded, "confirmed", unknown)
    state: ModeState = await moded.manager.confirm("confirmed", proposal.id)
    assert state.mode is proposal.mode, f"{proposal.mode} was confirmed, and the mode is {state.mode}"
    assert state.proposal is None, "what was confirmed is still proposed"
    context = await moded.window("confirmed")
    assert context.mode is proposal.mode, f"{proposal.mode} was confirmed, and the window is made up in mode {context.mode}"
    state = await moded.state("confirmed")
    assert state.control is Control.SEMI_AUTOMATIC, f"a proposal was confirmed, and the control became {state.control}"
    await _assert_unknown(moded, "confirmed", proposal.id)


async def _assert_rejected(moded: Moded, start: Mode) -> None:
    await moded.begun("rejected", turns(), Control.SEMI_AUTOMATIC)
    proposal = await _proposed(moded, "rejected", start)
    state: ModeState = await moded.manager.reject("rejected", proposal.id)
    for more in ((), (Message.assistant("One moment, I look it up", id="moment"),), ()):
        assert state.mode is start, f"{proposal.mode} was rejected, and the mode is {state.mode}"
        again = state.proposal is not None and state.proposal.mode is proposal.mode
        assert not again, f"{proposal.mode} was rejected, and is proposed for the same question again"
        await moded.say("rejected", *more)
        context = await moded.window("rejected")
        assert context.mode is start, f"{proposal.mode} was rejected, and the window is made up in mode {context.mode}"
        state = await moded.state("rejected")
    await _assert_unknown(moded, "rejected", proposal.id)
    for n in range(_SOON):
        await moded.say("rejected", Message.user("And which one is next?", id=f"next {n}"))
        await moded.window("rejected")
        if (await moded.state("rejected")).proposal is not None:
            break
        await moded.say("rejected", Message.assistant("The one beside it", id=f"beside {n}"))
    await _proposed(moded, "rejected", start)  # by now at the latest


async def _assert_unknown(moded: Moded, session: str, proposal_id: str) -> None:
    before = await moded.state(session)
    for name in ("confirm", "reject"):
        try:
            await getattr(moded.manager, name)(session, proposal_id)
        except InvalidArgument:
            continue
        raise AssertionError(f"{name} accepts {proposal_id!r}, and proposed is {before.proposal and before.proposal.id!r}")
    assert await moded.state(session) == before, f"the unknown proposal {proposal_id!r} changed the state"


@rule(
    "MANAGER-30",
    ControlsMode,
    cause="one of the ways to another mode, by the host, the policy or a confirmation, does not go through what tells of it.",
)
async def every_change_is_told(suite: Suite) -> None:
    moded = await Moded.of(suite, TIGHT)
    await _set_by_hand(moded)
    await moded.moved()
    await moded.begun("confirmed", turns(), Control.SEMI_AUTOMATIC)
    await moded.window("confirmed")
    seen = await _told(moded, "confirmed")
    proposal = (await moded.state("confirmed")).proposal
    if proposal is not None:
        await moded.manager.confirm("confirmed", proposal.id)
        await moded.window("confirmed")
    for session in ("automatic", "confirmed", "by hand"):
        assert moded.changes(session), f"the mode of session {session!r} never changed"
        await _told(moded, session)
    missing = [] if moded.sees_events else ["make_mode_manager, so that events can be seen"]
    missing += [] if seen else ["records_of, so that the records in the log can be seen"]
    if missing:
        raise NotChecked(f"write {', and '.join(missing)}")


async def _set_by_hand(moded: Moded) -> None:
    await moded.begun("by hand", turns(2))
    for mode in (Mode.ZERO_SHOT, Mode.FULL, Mode.ZERO_SHOT):
        await moded.put("by hand", mode)
        for _ in range(2):
            await moded.window("by hand")
            await _told(moded, "by hand")


async def _told(moded: Moded, session: str) -> bool:
    """Whether the log could be looked at. Just the changes that were seen must be told, each with a reason."""
    wanted = moded.changes(session)
    last = (await moded.state(session)).last_line
    assert not wanted or wanted[-1] in last, f"the last change was {wanted[-1]!r}, and mode_state tells {last!r}"
    events = moded.events.changes(session)
    if moded.sees_events:
        told = [str(event.data.get("line")) for event in events]
        assert told == wanted, f"the mode changes are {wanted}, and the events tell of {told}"
        unreasoned = [line for line, event in zip(told, events, strict=True) if not event.data.get("reason")]
        assert not unreasoned, f"events without a reason: {unreasoned}"
    records = await settled(moded.suite.records_of(moded.manager, session))
    if records is None:
        return False
    of_modes = [record for record in records if _MARK in record.text]
    lines = [record.text[record.text.find(_MARK) :].splitlines()[0] for record in of_modes]
    assert lines == wanted, f"the mode changes are {wanted}, and the log's records tell of {lines}"
    for record, event in zip(of_modes, events, strict=False):
        _assert_record(record, str(event.data["reason"]))
    return True


def _assert_record(record: Message, reason: str) -> None:
    assert record.kind is Kind.RECORD, f"what tells of a change of mode in the log is of kind {record.kind}"
    told: Any = json.loads(dump_message(record))
    assert reason in json.dumps(told, ensure_ascii=False), f"the reason {reason!r} is not in the record {record.text!r}"


@rule("MANAGER-31", ControlsMode, cause="the control is an attribute of the manager, or of all sessions, and not in their state.")
async def control_is_of_a_session_and_lasts(suite: Suite) -> None:
    moded = await Moded.of(suite, TIGHT)
    start, after = await moded.moved()
    ruled = await moded.begun("ruled", turns(1))
    for control in Control:
        session = f"under {control}"
        state = await moded.begun(session, turns(1), control)
        assert state.control is control, f"set_control to {control} returned {state.control}"
    await _assert_controls(moded, ruled.control)
    state = await moded.manager.set_control(f"under {Control.MANUAL}", None)
    assert state.control is ruled.control, f"set_control to None gives {state.control}, the rules say {ruled.control}"
    await moded.manager.set_control(f"under {Control.MANUAL}", Control.MANUAL)
    await moded.say(f"under {Control.MANUAL}", *turns(11, first=1))
    shown = (await moded.window(f"under {Control.MANUAL}")).mode
    assert shown is start, f"under manual control the mode went to {shown} by itself; automatic goes to {after}"
    second = Moded(suite, await suite.sharing(moded.manager, TIGHT), moded.events, moded.sees_events)
    await _assert_controls(second, ruled.control)
    for session in ("automatic", f"under {Control.MANUAL}"):
        mode = moded.seen[session][-1]
        known = (await second.state(session)).mode
        assert known is mode, f"a session in mode {mode} is in mode {known} for another manager on the same store"


async def _assert_controls(moded: Moded, ruled: Control) -> None:
    expected = {f"under {control}": control for control in Control} | {"ruled": ruled}
    for session, control in expected.items():
        found = (await moded.state(session)).control
        assert found is control, f"the control of session {session!r} is {found}, and was set to {control} or never set"
