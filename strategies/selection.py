"""From a window start to the messages of the window: what is kept from before it, and the gap message."""

from __future__ import annotations

from collections.abc import Iterable

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


def window_from(steps: Steps, start: int, max_tokens: int, counter: TokenCounter) -> list[int] | None:
    """The steps of the window that begins at step `start`, with what stays from before it; None when they do not fit.

    The gap message has to fit with them, unless it would take more than `GAP_SHARE` of the budget: then content goes first.
    """
    used = steps.system_tokens + steps.suffix_tokens[start]
    if used > max_tokens:
        return None
    extras = extras_before(steps, start, max_tokens)
    kept = [*extras.steps, *range(start, len(steps.steps))]
    gap, _ = _gap(steps, kept, counter)
    marker = 0 if gap is None else message_tokens(gap, counter)
    if marker <= max_tokens * GAP_SHARE:
        used += marker
    return kept if used + extras.tokens <= max_tokens else None


def select(
    steps: Steps, kept: Iterable[int], max_tokens: int, counter: TokenCounter, *, to_be_shortened: bool = False
) -> Selection:
    """The window of the steps `kept` and, if there is room, a gap message for what is missing.

    In a window `to_be_shortened` there is room for one that takes at most `GAP_SHARE` of the budget.
    """
    chosen = sorted(set(kept))
    used = steps.system_tokens + sum(steps.steps[n].tokens for n in chosen)
    gap, place = _gap(steps, chosen, counter)
    left = int(max_tokens * GAP_SHARE) if to_be_shortened else max_tokens - used
    fits = gap is not None and message_tokens(gap, counter) <= left
    return Selection(messages=_messages(steps, chosen, gap if fits else None, place), has_gap=fits)


def _gap(steps: Steps, kept: list[int], counter: TokenCounter) -> tuple[Message | None, int]:
    """The gap message for all that is not kept, and the index in `messages` before which it goes: the last hole."""
    present = set(kept)
    missing = [step for n, step in enumerate(steps.steps) if n not in present]
    count, tokens = _said(steps, missing, counter)
    if not (count or steps.omitted_messages):
        return None, 0
    place = len(steps.messages)
    if kept and kept[-1] == len(steps.steps) - 1:
        for earlier, later in zip([-1, *kept], kept, strict=False):
            unread = steps.omitted_messages > 0 and earlier < steps.first <= later
            if later - earlier > 1 or unread:
                place = steps.steps[later].start
    return gap_marker(steps.omitted_messages + count, steps.omitted_tokens + tokens), place


def _said(steps: Steps, missing: list[Step], counter: TokenCounter) -> tuple[int, int]:
    """(messages, tokens) of the conversation in the missing steps; stand-ins were never said."""
    messages = [m for step in missing for m in steps.messages[step.start : step.stop] if m.in_conversation]
    return len(messages), total_tokens(messages, counter)


def _messages(steps: Steps, kept: list[int], gap: Message | None, place: int) -> tuple[Message, ...]:
    chosen = {*steps.system}
    for n in kept:
        chosen.update(range(steps.steps[n].start, steps.steps[n].stop))
    out: list[Message] = []
    for n in sorted(chosen):
        if gap is not None and n >= place:
            out.append(gap)
            gap = None
        out.append(steps.messages[n])
    if gap is not None:
        out.append(gap)
    return tuple(out)
