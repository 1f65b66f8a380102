"""The last resort: the newest step does not fit whole, so its longest texts are shortened, and then the rest gives way."""

from __future__ import annotations

from contextport.contracts import Kind, Message, TokenCounter, message_tokens

from .atoms import MEMORY, Steps, is_system, newest_question
from .head_and_tail import shorten_message
from .selection import extras_before, select

__all__ = ["give_up_order", "shorten_to_fit", "squeeze"]

_SMALL_SHARE = 0.25  # of the budget, for what stays beside a question that is shortened
_BARE = 2  # steps of a window with nothing but the newest question and the newest step
_NEVER_SHORTENED = MEMORY | {Kind.GAP}


def squeeze(steps: Steps, max_tokens: int, counter: TokenCounter) -> tuple[Message, ...]:
    """The best legal window that fits, from most to least: newest step with summary and pins, without pins, without a summary,
    the newest question alone.

    Returns the smallest one, over budget, when none fits.
    """
    window = tuple(steps.messages[n] for n in steps.system)
    place = newest_question(steps.messages)
    question = None if place is None else steps.messages[place]
    is_small = question is not None and steps.system_tokens + message_tokens(question, counter) <= max_tokens
    for kept in _candidates(steps, max_tokens):
        chosen = select(steps, kept, max_tokens, counter, to_be_shortened=_too_large(steps, kept, max_tokens)).messages
        window = shorten_to_fit(chosen, max_tokens, counter)
        if len(kept) > _BARE and is_small and question not in window:
            continue  # no summary or pin is worth a word of a question that could stand whole
        if sum(message_tokens(m, counter) for m in window) <= max_tokens:
            break
    return window


def _candidates(steps: Steps, max_tokens: int) -> list[list[int]]:
    """Step indices of ever smaller windows. Each holds the newest question, if there is one.

    Where the question alone is too large, summary, facts and pins stay beside what is left of it as long as they are small.
    """
    last = len(steps.steps) - 1
    if last < 0:
        return []
    question = next((n for n in range(last, -1, -1) if steps.messages[steps.steps[n].start].opens_turn), None)
    asked = [] if question is None else [question]
    extras = [n for n in extras_before(steps, last, max_tokens).steps if n not in asked]
    memory = [n for n in extras if steps.messages[steps.steps[n].start].kind in MEMORY]
    pins = [n for n in extras if n not in memory]
    room = max_tokens - steps.system_tokens - sum([steps.steps[n].tokens for n in asked])
    most = room if room >= 0 else int(max_tokens * _SMALL_SHARE)
    beside = [kept for kept in (extras, pins, memory) if kept and sum([steps.steps[n].tokens for n in kept]) <= most]
    return [*([*kept, *asked, last] for kept in beside), [*asked, last], asked or [last]]


def _too_large(steps: Steps, kept: list[int], max_tokens: int) -> bool:
    """Whether something has to be shortened anyway: where all of it fits, a gap message is worth no word of it."""
    return steps.system_tokens + sum([steps.steps[n].tokens for n in set(kept)]) > max_tokens


def shorten_to_fit(messages: tuple[Message, ...], max_tokens: int, counter: TokenCounter) -> tuple[Message, ...]:
    """Shorten texts until the messages fit, or as far as it goes: least important first, the newest question last."""
    current = list(messages)
    excess = sum(message_tokens(m, counter) for m in current) - max_tokens
    for n in give_up_order(messages, counter):
        if excess <= 0:
            break
        before = message_tokens(current[n], counter)
        current[n] = shorten_message(current[n], counter, max(0, before - excess))
        excess -= before - message_tokens(current[n], counter)
    return tuple(current)


def give_up_order(messages: tuple[Message, ...], counter: TokenCounter) -> list[int]:
    """Indices of the messages that may be shortened, first to give up first.

    Unpinned before pinned, less important before more, tool results before speech, larger before smaller; system messages are
    never shortened, nor are summary, facts and gaps, of which half says nothing; the newest question is last (R98 to R100, R165).
    """
    question = newest_question(messages)

    def rank(n: int) -> tuple[bool, bool, int, bool, int]:
        message = messages[n]
        size = message_tokens(message, counter)
        return (n == question, message.pinned, message.importance, not message.tool_results, -size)

    may_be = [n for n, message in enumerate(messages) if not is_system(message) and message.kind not in _NEVER_SHORTENED]
    return sorted(may_be, key=rank)
