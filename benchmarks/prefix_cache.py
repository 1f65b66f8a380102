"""What a provider charges for the input of a run of requests: the longest common prefix with the request before is read from its
cache, the rest is written to it. Standard library only: the modules in `peers/` use it too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Piece", "Requests", "input_cost", "piece"]

Piece = tuple[bytes, int]
"""A message as it is sent, and its tokens."""


def piece(chat: dict[str, Any], tokens: int) -> Piece:
    """A chat dict as one of its serialised forms; equal dicts have equal ones."""
    return json.dumps(chat, ensure_ascii=False, sort_keys=True).encode(), tokens


@dataclass
class Requests:
    """A run of requests: of each its tokens, and how many of the first of them are those of the request before."""

    totals: list[int] = field(default_factory=list[int])
    shared: list[int] = field(default_factory=list[int])
    _last: Sequence[Piece] = field(default=(), init=False, repr=False)

    def send(self, window: Sequence[Piece]) -> None:
        """Count the prefix that `window` has in common with the last one: whole messages, and a part of the next by its bytes."""
        same = 0
        for before, now in zip(self._last, window, strict=False):
            if before[0] is not now[0] and before[0] != now[0]:
                same += _common(before[0], now[0]) * now[1] // len(now[0])
                break
            same += now[1]
        self.note(sum([tokens for _, tokens in window]), same)
        self._last = window

    def note(self, total: int, shared: int) -> None:
        self.totals.append(total)
        self.shared.append(shared)

    @property
    def mean_tokens(self) -> float:
        return sum(self.totals) / len(self.totals)


def _common(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def input_cost(runs: Iterable[Requests], *, read: float, write: float, minimum: int) -> float:
    """Cost of all requests in tokens of uncached input, the cache being warm throughout.

    A prefix below `minimum` tokens is never read, a prompt below it never written: it costs what uncached input does.
    """
    cost = 0.0
    for run in runs:
        for total, shared in zip(run.totals, run.shared, strict=True):
            hit = shared if shared >= minimum else 0
            cost += hit * read + (total - hit) * (write if total >= minimum else 1.0)
    return cost
