"""Make a failing input small: leave out what the failure does not need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

__all__ = ["shrink"]

_T = TypeVar("_T")


async def shrink(items: Sequence[_T], fails: Callable[[list[_T]], Awaitable[bool]], most_tries: int = 400) -> list[_T]:
    """A part of `items`, in order, that still `fails`. Leaves out ever smaller runs, until no single one can go."""
    current = list(items)
    size = max(1, len(current) // 2)
    tries = 0
    while current and tries < most_tries:
        at = 0
        removed = False
        while at < len(current) and tries < most_tries:
            candidate = current[:at] + current[at + size :]
            tries += 1
            if await fails(candidate):
                current, removed = candidate, True
            else:
                at += size
        if size > 1:
            size //= 2
        elif not removed:
            break
    return current
