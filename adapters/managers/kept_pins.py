"""Pins for strategies that know none: what has to stay is taken out of what they are shown, and put back into what they give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from contextport.contracts import Kind, Message, TokenCounter
from contextport.strategies import newest_question, split

__all__ = ["Pins", "pins_to_keep", "with_pins"]

_MOST_OF_WINDOW = 0.5  # above half of the window, pins give way (R95)


@frozen(kw_only=True)
class Pins:
    """Messages that stay for the sake of pins, in their order, and their size in tokens."""

    messages: tuple[Message, ...] = ()
    tokens: int = 0

    def beside(self, messages: Iterable[Message]) -> list[Message]:
        """The messages without those that stay."""
        ids = {message.id for message in self.messages}
        return [message for message in messages if message.id not in ids]


def pins_to_keep(messages: Sequence[Message], counter: TokenCounter, max_tokens: int) -> Pins:
    """The pinned messages of a well-formed list with the steps they stand in and the questions of their turns, newest pins first,
    as far as they take half of `max_tokens` and fit beside system messages, the newest question and the newest step.

    The newest question is not among them: it is in every window.
    """
    steps = split(messages, counter)
    question = newest_question(steps.messages)
    stays = {n for n, step in enumerate(steps.steps) if step.start == question} | {len(steps.steps) - 1}
    least = steps.system_tokens + sum([steps.steps[n].tokens for n in stays if n >= 0])
    room = min(int(max_tokens * _MOST_OF_WINDOW), max_tokens - least)
    kept: set[int] = set()
    for n in reversed(steps.claimants):
        step = steps.steps[n]
        if not any(message.pinned for message in steps.messages[step.start : step.stop]):
            continue
        wanted = {place for place in (n, step.head) if place is not None and steps.steps[place].start != question} - kept
        tokens = sum([steps.steps[place].tokens for place in wanted - stays])
        if tokens <= room:
            kept |= wanted
            room -= tokens
    chosen = [message for n in sorted(kept) for message in steps.messages[steps.steps[n].start : steps.steps[n].stop]]
    return Pins(messages=tuple(chosen), tokens=sum([steps.steps[n].tokens for n in kept]))


def with_pins(given: Sequence[Message], window: Iterable[Message], pins: Pins) -> list[Message]:
    """The window of the list without the pins, with them in their places. A gap message stays right before what follows it."""
    places = {message.id: n for n, message in enumerate(given)}
    waiting = list(reversed(pins.messages))
    out: list[Message] = []
    gaps: list[Message] = []
    for message in window:
        place = places.get(message.id)
        if place is None and message.kind is Kind.GAP:
            gaps.append(message)
            continue
        while place is not None and waiting and places[waiting[-1].id] < place:
            out.append(waiting.pop())
        out += [*gaps, message]
        gaps = []
    return [*out, *reversed(waiting), *gaps]
