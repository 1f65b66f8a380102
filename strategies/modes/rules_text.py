"""Rules as they stand in a file: bytes of JSON, with everything that is wrong told at once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NoReturn, cast

from contextport.contracts.messages import Json

from .rules import RulesBook, TenantOf, invalid
from .settings import at

__all__ = ["read_rules"]

_SHOWN: Final = 20  # characters of a word that is no JSON


def read_rules(data: bytes, *, tenant_of: TenantOf | None = None) -> RulesBook:
    """Read rules from the bytes of a file: JSON in UTF-8, with or without a byte order mark.

    Raises `RulesInvalid` with all that is wrong, each with its place: no UTF-8, no JSON, a key that is there twice, and what
    `RulesBook.of` finds.
    """
    value = _parsed(data)
    if doubled := list(_twice(value, "$")):
        raise invalid(doubled)
    return RulesBook.of(value, tenant_of=tenant_of)


class _Object(dict[str, Json]):
    """A JSON object that knows which of its keys were there twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        times = Counter([key for key, _ in pairs]) if len(pairs) > len(self) else {}
        self.twice = [key for key, count in times.items() if count > 1]


def _parsed(data: bytes) -> Json:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise invalid([f"$: is not UTF-8 at byte {error.start}; save it as UTF-8"]) from error
    if not text.strip():
        raise invalid(["$: is empty; an empty set of rules is {}"])
    try:
        return json.loads(text, object_pairs_hook=_Object, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise invalid([f"$: is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"]) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, objects thousands deep
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise invalid([f"$: cannot be read: {reason}"]) from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word[:_SHOWN]} is no number of JSON")


def _twice(value: Json, place: str, depth: int = 3) -> Iterator[str]:
    """Keys that are there twice, so many levels down: deeper there is nothing that rules may have."""
    if not isinstance(value, _Object):
        return
    for key in value.twice:
        yield f"{at(place, key)}: is there twice; which one is meant?"
    for key, inner in cast(dict[str, Json], value).items() if depth > 1 else ():
        yield from _twice(inner, at(place, key), depth - 1)
