"""The plainest store that keeps vectors beside its messages."""

from __future__ import annotations

from typing import cast

from attrs import define, field

from contextport.contracts import Head, implements
from contextport.contracts.vectors import KeepsVectors, StoredVectors, Vectors

from .reference_store import Backend, Log, ReferenceStore

__all__ = ["Place", "ReferenceVectorStore", "Rows", "VectorBackend"]

Place = tuple[int, int]
Rows = dict[Place, Vectors]


@define
class VectorBackend(Backend):
    """A backend with vectors, by the incarnation and the epoch of the session, and the name they were put under."""

    vectors: dict[tuple[str, int, str], Rows] = field(factory=dict[tuple[str, int, str], Rows])


@implements(KeepsVectors)
class ReferenceVectorStore(ReferenceStore):
    """Keeps each row as a value of its own, and sorts them when they are asked for."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend if backend is not None else VectorBackend())

    @property
    def kept(self) -> dict[tuple[str, int, str], Rows]:
        """All vectors of the backend."""
        return cast(VectorBackend, self.backend).vectors

    def key(self, session_id: str, log: Log, epoch: int, name: str) -> tuple[str, int, str]:
        """What vectors are kept by."""
        return log.incarnation, epoch, name

    def takes(self, log: Log | None, epoch: int, incarnation: str | None) -> bool:
        """Whether the session is the one that the vectors were made for."""
        return log is not None and log.epoch == epoch and incarnation in (None, log.incarnation)

    def drop(self, session_id: str, log: Log) -> None:
        """Remove the vectors of a session, whatever their epoch and name."""
        for key in [key for key in self.kept if key[0] == log.incarnation]:
            del self.kept[key]

    def page(self, rows: Rows, after: Place, limit: int) -> list[Place]:
        """The places of a page."""
        return sorted(place for place in rows if place > after)[:limit]

    def read_back(self, vectors: Vectors) -> Vectors:
        """A row as it comes out again."""
        return vectors

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        with self.backend.lock:
            log = self.find(session_id)
            if log is None or not self.takes(log, epoch, incarnation):
                return 0
            rows = self.kept.setdefault(self.key(session_id, log, epoch, name), {})
            rows.update({place: stored.vectors.rows(row, row + 1) for row, place in enumerate(stored.places)})
            return len(stored.places)

    async def vectors(self, session_id: str, name: str, *, after: Place = (0, -1), limit: int = 1024) -> StoredVectors | None:
        with self.backend.lock:
            log = self.find(session_id)
            rows = self.kept.get(self.key(session_id, log, log.epoch, name), {}) if log else {}
            places = self.page(rows, after, limit)
            if not places:
                return None
            dimensions = rows[places[0]].dimensions
            joined = Vectors.joined([self.read_back(rows[place]) for place in places], dimensions)
            return StoredVectors(places=tuple(places), vectors=joined)

    async def clear(self, session_id: str) -> Head:
        with self.backend.lock:
            self.drop(session_id, self.find_or_make(session_id))
            return await super().clear(session_id)

    async def purge(self, session_id: str) -> int:
        with self.backend.lock:
            log = self.find(session_id)
            if log is not None:
                self.drop(session_id, log)
            return await super().purge(session_id)

    def second(self) -> ReferenceVectorStore:
        return type(self)(self.backend)
