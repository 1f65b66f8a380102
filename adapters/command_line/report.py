"""The account of a window: what was kept, shortened and left out, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from contextport.contracts import Context, CountKind, Kind, Message, TokenCounter, message_tokens

__all__ = ["Account", "first_line"]

_MOST_LISTED = 12


@frozen(kw_only=True)
class Account:
    """A window beside the conversation it was made from. Messages are named by their place in it, which is `first` and up.

    A message that comes again with the same id is one message, at its first place. `margin` is the share of the budget left free.
    """

    given: tuple[Message, ...]
    first: int = 1
    context: Context
    counter: TokenCounter
    strategy: str
    margin: float = 0.0

    @property
    def tokens_before(self) -> int:
        return sum(message_tokens(self.given[n - self.first], self.counter) for n in self._places().values())

    def _places(self) -> dict[str, int]:
        places: dict[str, int] = {}
        for n, message in enumerate(self.given, self.first):
            places.setdefault(message.id, n)
        return places

    def kept(self) -> list[int]:
        places = self._places()
        return [places[message.id] for message in self.context.messages if message.id in places]

    def left_out(self) -> list[int]:
        kept = {message.id for message in self.context.messages}
        return [n for message_id, n in self._places().items() if message_id not in kept]

    def repeated(self) -> list[int]:
        """Messages that were there before, id and all."""
        first = set(self._places().values())
        return [n for n in range(self.first, self.first + len(self.given)) if n not in first]

    def made(self) -> list[Message]:
        """Messages of the window that nobody said: gap markers and stand-ins."""
        return [message for message in self.context.messages if message.kind in (Kind.GAP, Kind.STAND_IN)]

    def as_dict(self) -> dict[str, Any]:
        """For programs: sizes in tokens."""
        places, bound = self._places(), self.counter.bound
        return {
            "tokens_before": self.tokens_before,
            "tokens_after": self.context.tokens,
            "budget": self.context.limit,
            "margin": self.margin,
            "counter": self.counter.name,
            "counter_kind": str(self.counter.kind),
            "counter_bound": {"under": bound.under, "over": bound.over},
            "strategy": self.strategy,
            "messages_before": len(self.given),
            "messages_after": len(self.context.messages),
            "kept": self.kept(),
            "left_out": self.left_out(),
            "repeated": self.repeated(),
            "shortened": [
                {"message": places.get(one.message_id), "chars_before": one.chars_before, "chars_after": one.chars_after}
                for one in self.context.shortened
            ],
            "made": [{"kind": str(message.kind), "text": message.text} for message in self.made()],
            "reason": self.context.reason,
        }

    def lines(self) -> list[tuple[str, str]]:
        """For people: a label and what is to be said about it."""
        margin = f", a margin of {self.margin:.4g} of the budget taken off" if self.margin else ""
        said = [
            ("tokens", f"{self.tokens_before:,} before, {self.context.tokens:,} now, {self.context.limit:,} allowed{margin}"),
            ("counted by", f"{self.counter.name}, {_trust(self.counter)}"),
            ("strategy", self.strategy),
            ("kept", f"{len(self.kept()):,} of {len(self.given):,} messages{_listed(self.kept())}"),
        ]
        repeated = self.repeated()
        if repeated:
            said.append(("repeated", f"{len(repeated):,} with an id that came before, kept once{_listed(repeated)}"))
        places = self._places()
        for one in self.context.shortened:
            place = places[one.message_id]
            role = self.given[place - self.first].role
            said.append(("shortened", f"#{place} {role}, {one.chars_before:,} characters to {one.chars_after:,}"))
        left_out = self.left_out()
        if left_out:
            tokens = sum(message_tokens(self.given[n - self.first], self.counter) for n in left_out)
            said.append(("left out", f"{len(left_out):,} messages, {tokens:,} tokens{_listed(left_out)}"))
        said.extend(("added", f"{message.kind} as {message.role}: {first_line(message.text)}") for message in self.made())
        said.append(("why", self.context.reason or "everything fits"))
        return said


def _trust(counter: TokenCounter) -> str:
    if counter.kind is CountKind.EXACT:
        return "exact for text"
    bound = counter.bound
    return f"{counter.kind}: the true size of ordinary text is {1 - bound.over:.2f} to {1 + bound.under:.2f} times that"


def _listed(places: Iterable[int]) -> str:
    """Places as runs, such as `: #1, #80-#132`."""
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and place == runs[-1][1] + 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    shown = [f"#{a}" if a == b else f"#{a}-#{b}" for a, b in runs[:_MOST_LISTED]]
    more = f" and {len(runs) - _MOST_LISTED} more runs" if len(runs) > _MOST_LISTED else ""
    return f": {', '.join(shown)}{more}" if shown else ""


def first_line(text: str, width: int = 72) -> str:
    """The text in one line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
