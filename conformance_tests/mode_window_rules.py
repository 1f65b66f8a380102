"""The rule of `ControlsMode` about windows: what each mode shows, and what it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextport.contracts import Compacts, Context, Control, ControlsMode, Kind, Message, Mode, provides

from .manager_rules import said
from .mode_sessions import ASKED, PROMPT, ROOMY, STEP, TIGHT, TOLD, Moded, turns
from .rules import NotChecked, rule

if TYPE_CHECKING:
    from .suites import ContextManagerConformance as Suite

__all__: list[str] = []

_HISTORY = turns()
_SAID = [message.id for message in (*_HISTORY, ASKED, *STEP)]
_TURN = [ASKED.id, *(message.id for message in STEP)]


@rule(
    "MANAGER-32",
    ControlsMode,
    cause="a mode changes one part of the window, and the others are made up as in the mode before.",
)
async def windows_hold_what_the_mode_says(suite: Suite) -> None:
    missing: set[Mode] = set()
    for budget in (ROOMY, TIGHT):
        moded = await Moded.of(suite, budget)
        for mode in Mode:
            if not await _assert_window(moded, mode, is_roomy=budget is ROOMY):
                missing.add(mode)
        await _assert_new_task(moded)
    moded = await Moded.of(suite, ROOMY)
    await _assert_after_a_fold(moded)
    if missing:
        refused = ", ".join(sorted(missing))
        raise NotChecked(f"the manager has no mode {refused}; write make_mode_manager, so that it can fold and search")


async def _assert_window(moded: Moded, mode: Mode, *, is_roomy: bool) -> bool:
    """Windows of one mode, as the turn of the newest question goes on. False: the manager does not have it."""
    session = f"in {mode}"
    await moded.begun(session, _HISTORY, Control.MANUAL)
    if not await moded.put(session, mode):
        return False
    await moded.say(session, ASKED)
    for more in ((), STEP):
        await moded.say(session, *more)
        context = await moded.window(session)
        turn = [ASKED.id, *(message.id for message in more)]
        _assert_parts(context, mode, turn, len(_HISTORY) + len(turn))
        if mode is Mode.FULL and is_roomy:
            assert _ids(context) == [*_SAID[: len(_HISTORY)], *turn], f"in mode full the window has {_ids(context)}"
        if mode in (Mode.SUMMARY, Mode.HYBRID) and not is_roomy:
            _assert_summary(context)
    return True


def _assert_parts(context: Context, mode: Mode, turn: Sequence[str], added: int) -> None:
    """What can be said of a window of that mode whatever its size."""
    first = context.messages[0]
    assert (first.role, first.text) == ("system", PROMPT), f"in mode {mode} the window begins with {first.role}: {first.text!r}"
    shown = _ids(context)
    foreign = [id for id in shown if id not in _SAID]
    assert not foreign, f"in mode {mode} the window has {foreign} as if they had been said"
    assert shown[-len(turn) :] == turn, f"in mode {mode} the turn of the newest question is {turn}; the window has {shown}"
    assert context.omitted_count == added - len(shown), (
        f"in mode {mode} omitted_count is {context.omitted_count}, and {added - len(shown)} messages are not in the window"
    )
    if mode is Mode.ZERO_SHOT:
        made = [str(message.kind) for message in context.messages[1:] if not message.in_conversation]
        assert (shown, made) == (list(turn), []), f"in mode zero_shot the window has {shown} and {made} beside the prompt"
    if mode is Mode.RETRIEVAL:
        _assert_last_turns(shown, turn)
    if mode in (Mode.ZERO_SHOT, Mode.FULL, Mode.RETRIEVAL):
        folded = [str(m.kind) for m in context.messages if m.kind in (Kind.SUMMARY, Kind.FACTS)]
        assert not folded, f"in mode {mode} the window has messages of kind {folded}"
    if mode in (Mode.RETRIEVAL, Mode.HYBRID):
        _assert_snippets(context, turn[0])
    elif mode is not Mode.SUMMARY:
        found = [message for message in context.messages if message.kind is Kind.RETRIEVED]
        assert not found, f"in mode {mode} the window has {len(found)} messages of kind retrieved"


def _assert_last_turns(shown: Sequence[str], turn: Sequence[str]) -> None:
    before = list(shown[: -len(turn)])
    history = [message.id for message in _HISTORY]
    assert before, "in mode retrieval the last turns before the question are not in the window"
    assert before == history[-len(before) :], f"in mode retrieval the window has {before} before the question, not the last turns"
    assert before[0].startswith("u"), f"in mode retrieval the turns before the question begin with {before[0]}"
    assert len(before) < len(history) // 2, f"in mode retrieval the window has {len(before)} of {len(history)} earlier messages"


def _assert_snippets(context: Context, question: str) -> None:
    """Snippets answer the question, unless the message that they would be from is in the window."""
    messages = context.messages
    found = [n for n, message in enumerate(messages) if message.kind is Kind.RETRIEVED]
    if _HISTORY[0].id in _ids(context):
        return
    assert len(found) == 1, f"in mode {context.mode} the window has {len(found)} messages of kind retrieved"
    after = messages[found[0] + 1 : found[0] + 2]
    assert [message.id for message in after] == [question], (
        f"in mode {context.mode} the message of kind retrieved is number {found[0]} of {len(messages)}, "
        "and not right before the newest question"
    )
    text = messages[found[0]].text
    assert TOLD in text, f"in mode {context.mode} the snippets do not have {TOLD!r}, which the question asks for: {text[:200]!r}"


def _assert_summary(context: Context) -> None:
    summaries = [message for message in context.messages if message.kind is Kind.SUMMARY]
    assert len(summaries) == 1, f"in mode {context.mode} a window of a history twice its size has {len(summaries)} summaries"
    assert context.folded_count, f"in mode {context.mode} the window has a summary, and folded_count is 0"


async def _assert_new_task(moded: Moded) -> None:
    for mode in (Mode.FULL, Mode.ZERO_SHOT):
        session = f"new task in {mode}"
        await moded.begun(session, _HISTORY, Control.MANUAL)
        await moded.put(session, mode, new_task=True)
        new: list[Message] = []
        for n in range(2):
            new += [Message.user(f"Now count crate {n}", id=f"count {n}"), Message.assistant(f"{n} pears", id=f"counted {n}")]
            await moded.say(session, *new[-2:])
            context = await moded.window(session)
            wanted = [message.id for message in (new if mode is Mode.FULL else new[-2:])]
            shown = [message.id for message in context.messages[1:]]
            assert shown == wanted, f"since a new task began in mode {mode}, {wanted} belong in the window; it has {shown}"


async def _assert_after_a_fold(moded: Moded) -> None:
    """A session that is folded shows that in SUMMARY and HYBRID, and in no other mode."""
    manager = moded.manager
    await moded.begun("folded", _HISTORY, Control.MANUAL)
    can_fold = provides(manager, Compacts) and await moded.put("folded", Mode.SUMMARY)
    if not can_fold or not await manager.compact("folded", max_tokens=300):
        return
    await moded.say("folded", ASKED)
    for mode in (Mode.SUMMARY, Mode.FULL, Mode.HYBRID, Mode.ZERO_SHOT, Mode.RETRIEVAL, Mode.FULL, Mode.SUMMARY):
        if await moded.put("folded", mode):
            context = await moded.window("folded")
            _assert_parts(context, mode, _TURN[:1], len(_HISTORY) + 1)
            if mode is Mode.FULL:
                assert _ids(context) == _SAID[: len(_HISTORY) + 1], f"after a fold the window of mode full has {_ids(context)}"
            if mode in (Mode.SUMMARY, Mode.HYBRID):
                _assert_summary(context)


def _ids(context: Context) -> list[str]:
    return [message.id for message in said(context)]
