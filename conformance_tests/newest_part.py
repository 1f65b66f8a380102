"""The newest part of a conversation, as a manager reads it from a log that is longer than the window."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.contracts import Kind, Message, Text, TokenCounter, message_tokens

from .conversations import segments

__all__ = ["newest_part"]


def newest_part(messages: Sequence[Message], counter: TokenCounter, max_tokens: int) -> tuple[Message, ...] | None:
    """The newest whole steps of just over `max_tokens` tokens, what is marked before them, and a gap message for the rest.

    What is marked comes with its step, and with the question of its turn; the newest part with that of its first turn. None if
    all of the conversation belongs to it. `messages` are complete, and hold no gap message.
    """
    steps = segments(messages)
    start, tokens = len(steps), 0
    while start and tokens <= max_tokens:
        start -= 1
        tokens += _cost(steps[start], counter)
    kept = {n for n, step in enumerate(steps[:start]) if any(message.marked for message in step)}
    kept |= {asked for n in (*kept, start) if (asked := _question_of(steps, n)) is not None and asked < start}
    missing = [n for n in range(start) if n not in kept]
    if tokens <= max_tokens or not missing:
        return None
    place = missing[-1] + 1  # what is kept right before the newest part stands behind the gap
    before = [message for n in sorted(kept) if n < place for message in steps[n]]
    after = [message for step in steps[place:] for message in step]
    return (*before, _gap([message for n in missing for message in steps[n]], counter), *after)


def _question_of(steps: Sequence[Sequence[Message]], place: int) -> int | None:
    """The step that opened the turn of the step at `place`."""
    return next((n for n in range(place, -1, -1) if steps[n][0].opens_turn), None)


def _gap(missing: Sequence[Message], counter: TokenCounter) -> Message:
    figures = {"omitted_messages": len(missing), "omitted_tokens": _cost(missing, counter)}
    what = "1 earlier message" if len(missing) == 1 else f"{len(missing)} earlier messages"
    return Message(role="user", id="gap", kind=Kind.GAP, parts=(Text(f"[{what} left out here]"),), metadata=figures)


def _cost(messages: Sequence[Message], counter: TokenCounter) -> int:
    return sum(message_tokens(message, counter) for message in messages)
