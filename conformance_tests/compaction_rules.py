"""The rules of `Compacts`: what was folded when it was asked for, and that nothing of it is lost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from contextport.contracts import (
    Budget,
    CapabilityNotSupported,
    Compacts,
    Context,
    Kind,
    Message,
    MessageConflict,
    Replays,
    dump_message,
    provides,
)

from .exact_counters import WordsCounter
from .manager_rules import WORDY, fill, said
from .rules import AbsentPort, NotChecked, rule, settled
from .store_inputs import at_once

if TYPE_CHECKING:
    from .suites import ContextManagerConformance as Suite

__all__: list[str] = []

_ROOMY = Budget.of(100_000)
_TO = 350  # tokens of the 800 that were said
_MORE: list[dict[str, Any]] = [{**message, "id": f"later {message['id']}"} for message in WORDY]


async def _filled(suite: Suite) -> Any:
    """A manager with a session that has much to fold, and room for all of it."""
    manager: Any = await suite.manager(_ROOMY)
    await manager.set_system_prompt("s", "Be brief.")
    await fill(manager, "s", *WORDY)
    return manager


async def _compacted(manager: Any, session_id: str, max_tokens: int | None = None) -> bool:
    try:
        folded: bool = await manager.compact(session_id, max_tokens=max_tokens)
    except CapabilityNotSupported as error:
        raise AbsentPort(f"{type(manager).__name__} was built without a strategy that folds: {error}") from error
    assert folded is True or folded is False, f"compact returned {folded!r}"
    return folded


def _of_kind(context: Context, kind: Kind) -> list[Message]:
    return [message for message in context.messages if message.kind is kind]


def _shown(context: Context) -> list[str]:
    return [dump_message(message) for message in context.messages]


@rule(
    "MANAGER-25",
    Compacts,
    cause="what compact returns is not what the fold came to, or what was folded is no longer in the counts.",
)
async def compacting_makes_the_window_smaller(suite: Suite) -> None:
    manager = await _filled(suite)
    for nothing in ("never", "prompted", "short"):
        if nothing != "never":
            await manager.set_system_prompt(nothing, "Be brief.")
        if nothing == "short":
            await manager.add_message(nothing, {"id": "q", "role": "user", "content": "hello"})
        before = _shown(await manager.get_context(nothing))
        assert not await _compacted(manager, nothing), f"compact returned true for a session of {len(before)} messages"
        assert _shown(await manager.get_context(nothing)) == before, "compact returned false and changed the window"
    added = 0
    for more, max_tokens in (((), _TO), (_MORE[:8], _TO), (_MORE[8:], None)):
        await fill(manager, "s", *more)
        added += len(more)
        before = await manager.get_context("s")
        folded = await _compacted(manager, "s", max_tokens)
        after = await manager.get_context("s")
        if max_tokens is None and not folded:
            assert _shown(after) == _shown(before), "compact returned false and changed the window"
            continue
        assert folded, f"compact returned false, with a window of {before.tokens} tokens to be made one of {max_tokens}"
        assert after.tokens < before.tokens, f"compact returned true; the window had {before.tokens} tokens, now {after.tokens}"
        assert _shown(await manager.get_context("s")) == _shown(after), "the second window after compact is another one"
        _assert_accounted(after, len(WORDY) + added)


def _assert_accounted(context: Context, added: int) -> None:
    """All that was added is in the window, or behind its summary, or told by a gap; the newest question as it was."""
    missing = added - len({message.id for message in said(context)})
    assert context.omitted_count == missing, f"omitted_count is {context.omitted_count}, {missing} of {added} are not there"
    summaries, gaps = _of_kind(context, Kind.SUMMARY), _of_kind(context, Kind.GAP)
    assert not context.folded_count or summaries, f"folded_count is {context.folded_count}, and there is no summary"
    assert context.folded_count == missing or (gaps and context.folded_count < missing), (
        f"{missing} messages are missing, the summary stands for {context.folded_count}, and there are {len(gaps)} gap messages"
    )
    newest = [message for message in (*WORDY, *_MORE)[:added] if message["role"] == "user"][-1]
    texts = [message.text for message in said(context) if message.id == newest["id"]]
    assert texts == [newest["content"]], f"the newest user message {newest['id']!r} is not in the window as it was"


@rule(
    "MANAGER-26", Compacts, cause="folding deletes or rewrites what it folds, or a summary knows the last fold's messages alone."
)
async def compacting_keeps_the_log(suite: Suite) -> None:
    manager = await _filled(suite)
    receipts = [await manager.get_context("s")]
    behind: list[list[str] | None] = []
    for more in ((), _MORE):
        await fill(manager, "s", *more)
        receipts.append(await manager.get_context("s"))
        await _compacted(manager, "s", _TO)
        receipts.append(await manager.get_context("s"))
        behind.append(await _assert_found(suite, manager, receipts[-1], [*WORDY, *more]))
    await _assert_all_there(manager, [*WORDY, *_MORE])
    if provides(manager, Replays):
        for context in receipts:
            replayed = [dump_message(message) for message in await manager.replay(context.receipt)]
            assert replayed == _shown(context), (
                f"after compact a receipt of version {context.receipt.version} gives other messages"
            )
    if None in behind:
        raise NotChecked("write messages_behind, so that the messages that a summary stands for can be looked at")


async def _assert_found(suite: Suite, manager: Any, context: Context, added: list[dict[str, Any]]) -> list[str] | None:
    summaries = _of_kind(context, Kind.SUMMARY)
    assert summaries, f"after compact to {_TO} tokens, a window of {context.tokens} tokens has no summary"
    found = await settled(suite.messages_behind(manager, "s", summaries[0]))
    if found is None:
        return None
    there = {message.id for message in said(context)}
    gone = [message["id"] for message in added if message["id"] not in there]
    ids = [message.id for message in found]
    assert len(ids) == context.folded_count, f"behind the summary are {len(ids)} messages, it stands for {context.folded_count}"
    assert [id for id in gone if id in ids] == ids, f"behind the summary are {ids}; missing in the window are {gone}"
    texts = {message["id"]: message["content"] for message in added}
    changed = [message.id for message in found if message.text != texts[message.id]]
    assert not changed, f"behind the summary, {changed} have other text than was added"
    return ids


async def _assert_all_there(manager: Any, added: list[dict[str, Any]]) -> None:
    """The log knows each message: as the same when it is added again, and as another when its text is not the same."""
    before = await manager.get_context_stats("s")
    tokens = sum(WordsCounter().count_text(message["content"]) for message in added)
    assert before.history_tokens == tokens, f"history_tokens is {before.history_tokens}, {tokens} tokens were added"
    for message in added:
        stored = await manager.add_message("s", message)
        assert stored.text == message["content"], f"message {message['id']!r} reads otherwise in the log"
        try:
            await manager.add_message("s", {**message, "content": "other words"})
        except MessageConflict:
            continue
        raise AssertionError(f"after compact the log does not know message {message['id']!r}: other content was accepted")
    assert await manager.get_context_stats("s") == before, "messages that were folded count again when they are added again"


@rule("MANAGER-27", Compacts, cause="the earlier fold stays in the window, or two folds at once are both put into it.")
async def one_summary_however_often(suite: Suite) -> None:
    manager = await _filled(suite)
    for turn in range(3):
        await fill(manager, "s", *({**message, "id": f"{turn} {message['id']}"} for message in WORDY))
        for max_tokens in (_TO, _TO - 50 * turn):
            await _compacted(manager, "s", max_tokens)
            _assert_one(await manager.get_context("s"))
    await fill(manager, "s", *_MORE)
    await at_once(*(partial(_compacted, manager, "s", _TO) for _ in range(4)))
    _assert_one(await manager.get_context("s"))


def _assert_one(context: Context) -> None:
    summaries, facts = len(_of_kind(context, Kind.SUMMARY)), len(_of_kind(context, Kind.FACTS))
    assert summaries == 1, f"after compact a window of {context.tokens} tokens has {summaries} messages of kind summary"
    assert facts <= 1, f"after compact a window of {context.tokens} tokens has {facts} messages of kind facts"
