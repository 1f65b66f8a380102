"""What a model or a service answers, as rows of length 1."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from contextport.contracts.vectors import Vectors

__all__ = ["UnusableRows", "unit_rows"]

_CLOSE = 1e-6  # lengths that float32 rounds to 1


class UnusableRows(ValueError):
    """An answer that is not what was asked for; the text has the numbers."""


def unit_rows(rows: Sequence[Sequence[float]], dimensions: int) -> Vectors:
    """The rows, each scaled to length 1. One of length 0, which says nothing, becomes the same number everywhere.

    Raises `UnusableRows` for a row of another width, or with a number that is not finite.
    """
    return Vectors.of([_unit(row, dimensions) for row in rows], dimensions)


def _unit(row: Sequence[float], dimensions: int) -> Sequence[float]:
    length = math.hypot(*row)
    if len(row) != dimensions or not math.isfinite(length):
        raise UnusableRows(f"a row of {len(row)} numbers and length {length} came; {dimensions} finite numbers were expected")
    if abs(length - 1) <= _CLOSE:
        return row
    return [number / length for number in row] if length else array("f", [dimensions**-0.5]) * dimensions
