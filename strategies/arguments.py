"""What strategies are constructed with, checked there and then."""

from __future__ import annotations

from contextport.contracts import InvalidArgument

__all__ = ["check_count", "check_share"]


def check_count(name: str, value: object) -> None:
    """Raise `InvalidArgument` unless the value is a whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidArgument(f"{name} is {value!r}; it must be a whole number, at least 1", name=name, value=value)


def check_share(name: str, value: object, *, zero: bool) -> None:
    """Raise `InvalidArgument` unless the value is a number from 0 to 1; 0 itself only with `zero`."""
    wanted = "from 0 to 1" if zero else "above 0 and at most 1"
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1 or (value == 0 and not zero):
        raise InvalidArgument(f"{name} is {value!r}; it must be a number {wanted}, such as 0.5", name=name, value=value)
