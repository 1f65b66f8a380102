"""Texts as vectors: the values, and the ports of what makes them, keeps them and searches among them."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence

from attrs import field, frozen

from .errors import InvalidArgument
from .port import Port

__all__ = ["Embedder", "KeepsVectors", "StoredVectors", "VectorIndex", "Vectors"]

_WIDTH = 4  # bytes of a float32


@frozen
class Vectors:
    """Rows of `dimensions` numbers each: `data` holds them row after row as little-endian float32.

    Raises `InvalidArgument` for data that is not a whole number of rows.
    """

    dimensions: int
    data: bytes = field(default=b"", repr=False)

    def __attrs_post_init__(self) -> None:
        if self.dimensions < 1 or len(self.data) % (_WIDTH * self.dimensions):
            raise InvalidArgument(
                f"{len(self.data)} bytes are no whole number of rows of {self.dimensions} float32 numbers", name="data"
            )

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]], dimensions: int | None = None) -> Vectors:
        """The rows as vectors; `dimensions` has to be given where there may be none."""
        width = dimensions if dimensions is not None else len(rows[0]) if rows else 0
        uneven = next((len(row) for row in rows if len(row) != width), None)
        if uneven is not None:
            raise InvalidArgument(f"a row has {uneven} numbers; every row must have {width}", name="rows", value=uneven)
        return cls(width, _little_endian(array("f", [number for row in rows for number in row])).tobytes())

    @classmethod
    def joined(cls, parts: Iterable[Vectors], dimensions: int) -> Vectors:
        """The rows of all parts, in order."""
        return cls(dimensions, b"".join([part.data for part in parts]))

    def __len__(self) -> int:
        return len(self.data) // (_WIDTH * self.dimensions)

    def rows(self, first: int, end: int) -> Vectors:
        """The rows from `first` up to `end`."""
        size = _WIDTH * self.dimensions
        return Vectors(self.dimensions, self.data[first * size : end * size])

    def numbers(self, row: int) -> array[float]:
        """The numbers of one row."""
        size = _WIDTH * self.dimensions
        numbers = array("f")
        numbers.frombytes(self.data[row * size : (row + 1) * size])
        return _little_endian(numbers)


def _little_endian(numbers: array[float]) -> array[float]:
    """The numbers with their bytes in the order of the stored form, or back."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class Embedder(Port):
    """Turns texts into vectors, so that texts of like meaning lie close to one another.

    Obligations
        EMBEDDER-1  `embed` returns one row per text, in their order, each of `dimensions` numbers and of length 1: the inner
                    product of two rows is their cosine. No texts give no rows.
        EMBEDDER-2  A text has the same vector in every call and beside any other texts (cosine of at least 0.999).
        EMBEDDER-3  Every text has a vector: empty, U+0000, lone surrogates, any script, and far longer than the model reads.
        EMBEDDER-4  A text lies closer to one of the same meaning than to one about something else, as far as `coverage` is high.
        EMBEDDER-5  `name` and `dimensions` never change. Embedders of one name give the same vectors, also in other processes.
        EMBEDDER-6  A backend that fails raises `EmbeddingFailed` with the foreign error as its cause. So does `embed` after
                    `close`, which may be repeated.
        EMBEDDER-7  Calls by many tasks at once get their own rows, and other tasks go on while a batch is embedded.
        EMBEDDER-8  `coverage` is between 0 and 1, and the same for the same text.
        EMBEDDER-9  After a call that was cancelled the embedder goes on working.

    Caller guarantees
        Texts are strings.
    Errors
        `EmbeddingFailed`.
    Concurrency
        Any number of tasks; threads that each run their own event loop.
    Lifetime
        From construction to `close`.
    Latitude
        How much of a long text is read; whether a `query` is embedded in another way than the texts that are searched for it;
        what is known of scripts: where nothing is, coverage is 1.
    """

    @property
    def name(self) -> str:
        """The model, with all that its vectors depend on. Vectors of another name are never compared with these."""
        ...

    @property
    def dimensions(self) -> int:
        """Numbers in a row."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """The texts as rows. `query` says that they are questions for which other texts are searched."""
        ...

    def coverage(self, text: str) -> float:
        """The share of the text that is in scripts and words the model was made for."""
        ...

    async def close(self) -> None:
        """Release the backend."""
        ...


class VectorIndex(Port):
    """Finds the stored vectors that are nearest to one. A derived thing: it can be filled again from where vectors are kept.

    Vectors lie in spaces, one for each set that is searched by itself, and have integer ids there.

    Obligations
        INDEX-1  `search` returns the ids and inner products of the nearest vectors of the space, the nearest first: as many as
                 asked for, or all. At least nine of the true ten nearest are among ten that are asked for.
        INDEX-2  An id that is added again has the new vector.
        INDEX-3  Spaces are separate, whatever characters their names have. One that was never added to is empty.
        INDEX-4  Vectors of other dimensions than the space has, and as many ids as there are not rows, raise `InvalidArgument`;
                 nothing of the call is stored.
        INDEX-5  `drop` empties a space, which may be filled anew, with other dimensions too.
        INDEX-6  Vectors that were acknowledged are found by the next search; `size` counts them.
        INDEX-7  Calls by many tasks at once lose nothing.
        INDEX-8  Equal questions get equal answers, in whatever order the vectors came. Of equal products the lower id comes
                 first.
        INDEX-9  A backend that fails raises `IndexUnavailable` with the foreign error as its cause; so does every call after
                 `close`, which may be repeated.

    Caller guarantees
        Ids are from 0 to 2**63 - 1, no id twice in a call. Rows have length 1. `limit` is at least 1.
    Errors
        `InvalidArgument`, `IndexUnavailable`. After an error nothing of the call is stored.
    Concurrency
        Any number of tasks; threads that each run their own event loop.
    Lifetime
        From construction to `close`.
    Latitude
        Whether it is exact; where it is kept.
    """

    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        """Store one row per id."""
        ...

    async def search(self, space: str, vector: Vectors, *, limit: int) -> tuple[tuple[int, float], ...]:
        """The nearest to the one row of `vector`: (id, inner product)."""
        ...

    async def size(self, space: str) -> int:
        """How many vectors the space has."""
        ...

    async def drop(self, space: str) -> None:
        """Remove the vectors of the space."""
        ...

    async def close(self) -> None:
        """Release the backend."""
        ...


@frozen(kw_only=True)
class StoredVectors:
    """Vectors as a store keeps them: `places` are (seq of the message, number of the passage in it), one per row.

    Raises `InvalidArgument` for more or fewer places than rows.
    """

    places: tuple[tuple[int, int], ...] = ()
    vectors: Vectors

    def __attrs_post_init__(self) -> None:
        if len(self.places) != len(self.vectors):
            raise InvalidArgument(
                f"there are {len(self.places)} places for {len(self.vectors)} vectors; give one for each", name="places"
            )


class KeepsVectors(Port):
    """A store that keeps vectors beside the messages they are of, so that no message is embedded twice.

    Obligations
        VECTORS-1  `vectors` returns what was put under the same name, in rising place: of those after `after`, the first `limit`.
        VECTORS-2  A place that is put again under the same name has the new vector, and is returned once.
        VECTORS-3  Names and sessions are separate, whatever characters they have.
        VECTORS-4  Vectors belong to the epoch they were put for: after `clear` there are none, and what is put for an epoch that
                   is not the current one is not stored.
        VECTORS-5  `purge` removes the vectors of the session. A session that was never written takes none, nor does one of
                   another `incarnation` than the one that is named.
        VECTORS-6  `put_vectors` stores all rows or none, also when it is cancelled, and returns how many it stored. Calls by many
                   tasks at once lose nothing.
        VECTORS-7  What a store promises of its log (`Durable`, `SharedAcrossProcesses`) it promises of vectors.
        VECTORS-8  Putting vectors changes neither log nor head, and never makes another call fail.
        VECTORS-9  Vectors come back bit by bit.
        VECTORS-10 A backend that fails raises `StoreUnavailable` or `StoreCorrupt` with the foreign error as its cause; after
                   `close` every call raises `StoreUnavailable`.

    Caller guarantees
        Places are of messages of the epoch; no place twice in a call. All vectors of one name have the same dimensions. `limit`
        is at least 1.
    Errors
        As `ContextStore`, and `InvalidArgument` for other dimensions than the name has in the session.
    Concurrency, lifetime
        As `ContextStore`.
    Latitude
        Whether what was acknowledged outlives a loss of power: what is missing is embedded again.
    """

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        """Keep vectors of passages of the epoch, made by the embedder `name`.

        `epoch` and `incarnation` are those of the head that was read before the texts were: what was embedded while the session
        was cleared, or purged and written again, is then not stored beside other texts. None takes any incarnation.
        """
        ...

    async def vectors(
        self, session_id: str, name: str, *, after: tuple[int, int] = (0, -1), limit: int = 1024
    ) -> StoredVectors | None:
        """A page of the current epoch's vectors; None where there are none."""
        ...
