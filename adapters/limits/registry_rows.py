"""How a question finds its row in a registry: spellings of a model's name, and what to do when hosts disagree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

import attrs

from contextport.contracts import Limits

__all__ = ["agreed", "found_row"]

_Row = TypeVar("_Row")

_SNAPSHOT: Final = re.compile(r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$")


def found_row(rows: Mapping[str, _Row], model: str, provider: str) -> _Row | None:
    """The row of `model` among a provider's `rows`, whose keys are in small letters.

    Tried in this order: the name in small letters; without `models/` and without the provider's own name and a slash before
    it; without the date of a snapshot, or `-latest`, behind it. No other likeness counts.
    """
    name = model.lower()
    plain = name.removeprefix("models/").removeprefix(f"{provider}/")
    for spelling in (name, plain, _SNAPSHOT.sub("", plain)):
        if spelling in rows:
            return rows[spelling]
    return None


def agreed(candidates: Iterable[Limits]) -> Limits | None:
    """The first of the candidates, if all state the same numbers; None if they differ, or there is none."""
    found = list(candidates)
    numbers = {attrs.evolve(limits, source="", soft_limit=None) for limits in found}
    return found[0] if len(numbers) == 1 else None
