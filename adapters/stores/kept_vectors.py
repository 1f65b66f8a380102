"""The vectors of one embedder in one session, in memory: the rows in one piece, in the order of their places."""

from __future__ import annotations

from bisect import bisect_right

from attrs import define, field

from contextport.contracts import InvalidArgument
from contextport.contracts.vectors import StoredVectors, Vectors

__all__ = ["KeptVectors", "check_dimensions"]

_Place = tuple[int, int]


def check_dimensions(name: str, kept: int, given: int) -> None:
    """Raise `InvalidArgument` for vectors that cannot be compared with those that are kept under the same name."""
    if kept != given:
        raise InvalidArgument(
            f"the vectors of {name!r} have {kept} dimensions in this session, these have {given}; "
            "give another model, or another version of it, a name of its own",
            name="dimensions",
            value=given,
        )


@define
class KeptVectors:
    """Rows by rising place. New places are mostly higher than all others, so that they go to the end."""

    dimensions: int
    places: list[_Place] = field(factory=list[_Place])
    data: bytearray = field(factory=bytearray)

    def put(self, stored: StoredVectors) -> None:
        """Add the rows, or replace those whose place is there."""
        given = dict(zip(stored.places, _rows(stored.vectors.data, self.dimensions), strict=True))
        if self.places and min(given) <= self.places[-1]:
            given = dict(zip(self.places, _rows(bytes(self.data), self.dimensions), strict=True)) | given
            self.places, self.data = [], bytearray()
        in_order = sorted(given)
        self.places.extend(in_order)
        self.data.extend(b"".join([given[place] for place in in_order]))

    def page(self, after: _Place, limit: int) -> StoredVectors | None:
        """The first `limit` rows after a place."""
        first = bisect_right(self.places, after)
        places = tuple(self.places[first : first + limit])
        if not places:
            return None
        size = 4 * self.dimensions
        data = bytes(self.data[first * size : (first + len(places)) * size])
        return StoredVectors(places=places, vectors=Vectors(self.dimensions, data))


def _rows(data: bytes, dimensions: int) -> list[bytes]:
    size = 4 * dimensions
    return [data[at : at + size] for at in range(0, len(data), size)]
