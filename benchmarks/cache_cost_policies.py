"""Fixed policies for `cache_cost.py`: fold when the history reaches a share of the room, down to another share, always."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from attrs import frozen
from prefix_cache import Requests

__all__ = ["FixedPolicy", "Sizes", "fixed_policies", "sliding_window"]


@frozen(kw_only=True)
class Sizes:
    """A conversation as sizes in tokens: of the system prompt, of all messages up to each; where a window may begin, and after
    how many messages there is a request.
    """

    system: int
    before: tuple[int, ...]
    starts: tuple[int, ...]
    requests: tuple[int, ...]

    @classmethod
    def of(cls, system: int, roles: Sequence[str], tokens: Sequence[int]) -> Sizes:
        """A window does not begin with the result of a tool."""
        return cls(
            system=system,
            before=tuple(accumulate(tokens, initial=0)),
            starts=tuple([n for n, role in enumerate(roles) if role != "tool"]),
            requests=tuple([n for n, role in enumerate(roles) if role == "assistant"]),
        )

    def between(self, place: int, end: int) -> int:
        """Tokens of the messages from a start to before `end`."""
        return self.before[end] - self.before[self.starts[place]]

    def may_leave(self, place: int, end: int) -> bool:
        """Whether a window that ends there may begin later than at that start."""
        return place + 1 < len(self.starts) and self.starts[place + 1] < end


@frozen(order=True)
class FixedPolicy:
    """Shares of the room, limit - system, at which a fold is made and to which it goes down."""

    trigger: float
    target: float

    def run(self, sizes: Sizes, limit: int, summary: int, keep_latest: int) -> Requests:
        """The requests with a summary of always so many tokens. The newest messages stay, unless they alone do not fit."""
        room = limit - sizes.system
        trigger, target = int(room * self.trigger), int(room * self.target)
        made = Requests()
        place = head = last = 0

        def enough(start: int, end: int) -> bool:
            history = summary + sizes.between(start, end)
            return history <= target or (history <= room and end - sizes.starts[start] <= keep_latest)

        for end in sizes.requests:
            shared = last
            if head + sizes.between(place, end) >= trigger:
                start = place
                while sizes.may_leave(start, end) and not enough(start, end):
                    start += 1
                if start > place:
                    place, head, shared = start, summary, sizes.system
            last = sizes.system + head + sizes.between(place, end)
            made.note(last, shared)
        return made


def sliding_window(sizes: Sizes, limit: int) -> Requests:
    """The newest messages that fit, anew for each request: the oldest are dropped one by one, and nothing stands for them."""
    made = Requests()
    place = last = 0
    for end in sizes.requests:
        start = place
        while sizes.may_leave(start, end) and sizes.between(start, end) > limit - sizes.system:
            start += 1
        shared = last if start == place else sizes.system
        place, last = start, sizes.system + sizes.between(start, end)
        made.note(last, shared)
    return made


def fixed_policies() -> Iterator[FixedPolicy]:
    """All of a grid of twentieths, from one that is nearly always folded to one that is when it is full."""
    for trigger in range(2, 21):
        for target in range(1, trigger):
            yield FixedPolicy(trigger / 20, target / 20)
