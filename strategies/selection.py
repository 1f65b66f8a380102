"""From a window start to the messages of the window: what is kept from before it, and the gap message."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import compress

from attrs import frozen

from contextport.contracts import Importance, Kind, Message, TokenCounter, message_tokens
from contextport.contracts.counting import total_tokens

from .atoms import MEMORY, Step, Steps
from .gap_marker import gap_marker

__all__ = ["Extras", "Selection", "extras_before", "select", "window_from"]

PIN_SHARE = 0.5  # R95: above half of the budget, pins give way
GAP_SHARE = 0.1  # a gap message is worth this much of a budget at most


@frozen(kw_only=True)
class Selection:
    """The messages of a window, and whether a gap message says what is missing."""

    messages: tuple[Message, ...]
    has_gap: bool = False


@frozen(kw_only=True)
class Extras:
    """Steps kept from before the window start, by index in rising order, and their size."""

    steps: tuple[int, ...]
    tokens: int


def extras_before(steps: Steps, start: int, max_tokens: int) -> Extras:
    """What stays from before step `start`: summary and facts, the question of its turn, and marked steps with theirs.

    Marked steps take at most half of the budget, in the order of their claim: pins, then by importance, then interrupts of the
    same turn; newer ones first. One that does not fit is left out, and the next is tried.
    """
    kept: set[int] = set()
    head = steps.steps[start].head if start < len(steps.steps) else None
    if head is not None and head < start:
        kept.add(head)
    spent, cap = 0, int(max_tokens * PIN_SHARE)
    for n in _claims(steps, start, head):
        own_head = steps.steps[n].head
        if steps.messages[steps.steps[n].start].kind in MEMORY:
            kept.add(n)
            continue
        wanted = {n} if own_head is None else {n, own_head}
        cost = sum(steps.steps[k].tokens for k in wanted - kept)
        if spent + cost <= cap:
            kept |= wanted
            spent += cost
    return Extras(steps=tuple(sorted(kept)), tokens=sum(steps.steps[n].tokens for n in kept))


def _claims(steps: Steps, start: int, head: int | None) -> list[int]:
    """The steps before `start` that ask to stay, strongest claim first."""
    ranked: list[tuple[int, int]] = []
    for n in steps.claimants:
        if n >= start:
            break
        step = steps.steps[n]
        same_turn = head is not None and step.head == head
        rank = max(_rank(steps.messages[k], same_turn) for k in range(step.start, step.stop))
        if rank > 0:
            ranked.append((rank, n))
    return [n for _, n in sorted(ranked, reverse=True)]


def _rank(message: Message, same_turn: bool) -> int:
    """How strong a message's claim to stay is; 0 for none."""
    if message.kind in MEMORY:
        return 1000
    if message.pinned:
        return 100
    if message.importance > Importance.NORMAL:
        return 10 + message.importance
    return 1 if message.kind is Kind.INTERRUPT and same_turn else 0


def window_from(steps: Steps, start: int, max_tokens: int, counter: TokenCounter) -> Selection | None:
    """The window that begins at step `start`, with what stays from before it; None when that does not fit.

    The gap message has to fit with them, unless it would take more than `GAP_SHARE` of the budget: then content goes first.
    """
    used = steps.system_tokens + steps.suffix_tokens[start]
    if used > max_tokens:
        return None
    extras = extras_before(steps, start, max_tokens)
    used += extras.tokens
    kept = [*extras.steps, *range(start, len(steps.steps))]
    gap, size = _gap(steps, kept, counter)
    if used + (size if size <= max_tokens * GAP_SHARE else 0) > max_tokens:
        return None
    return _selected(steps, kept, gap if size <= max_tokens - used else None)


def select(
    steps: Steps, kept: Iterable[int], max_tokens: int, counter: TokenCounter, *, to_be_shortened: bool = False
) -> Selection:
    """The window of the steps `kept` and, if there is room, a gap message for what is missing.

    In a window `to_be_shortened` there is room for one that takes at most `GAP_SHARE` of the budget.
    """
    chosen = sorted(set(kept))
    used = steps.system_tokens + sum([steps.steps[n].tokens for n in chosen])
    gap, size = _gap(steps, chosen, counter)
    left = int(max_tokens * GAP_SHARE) if to_be_shortened else max_tokens - used
    return _selected(steps, chosen, gap if size <= left else None)


def _gap(steps: Steps, kept: list[int], counter: TokenCounter) -> tuple[Message | None, int]:
    """The gap message for all that is not among the steps `kept`, and its size; None and 0 where nothing is missing."""
    present = set(kept)
    missing = [step for n, step in enumerate(steps.steps) if n not in present]
    count, tokens = _said(steps, missing, counter)
    if not (count or steps.omitted_messages):
        return None, 0
    gap = gap_marker(steps.omitted_messages + count, steps.omitted_tokens + tokens)
    return gap, message_tokens(gap, counter)


def _said(steps: Steps, missing: list[Step], counter: TokenCounter) -> tuple[int, int]:
    """(messages, tokens) of the conversation in the missing steps; stand-ins were never said."""
    messages = [m for step in missing for m in steps.messages[step.start : step.stop] if m.in_conversation]
    return len(messages), total_tokens(messages, counter)


def _selected(steps: Steps, kept: list[int], gap: Message | None) -> Selection:
    """The system messages and the steps `kept`, which rise, with the gap message in its place."""
    chosen = bytearray(len(steps.messages))  # a flag for each message
    for n in steps.system:
        chosen[n] = 1
    for n in kept:
        step = steps.steps[n]
        for place in range(step.start, step.stop):
            chosen[place] = 1
    if gap is None:
        return Selection(messages=tuple(compress(steps.messages, chosen)))
    hole = _place_of_gap(steps, kept)
    before, after = compress(steps.messages[:hole], chosen), compress(steps.messages[hole:], chosen[hole:])
    return Selection(messages=(*before, gap, *after), has_gap=True)


def _place_of_gap(steps: Steps, kept: list[int]) -> int:
    """The index in `messages` before which a gap message goes: the last hole among the steps `kept`."""
    if not kept or kept[-1] != len(steps.steps) - 1:
        return len(steps.messages)
    holes = [later for earlier, later in zip([-1, *kept], kept, strict=False) if later - earlier > 1]
    if steps.omitted_messages > 0:
        unread = bisect_left(kept, steps.first)
        holes += kept[unread : unread + 1]
    return steps.steps[max(holes)].start if holes else len(steps.messages)
