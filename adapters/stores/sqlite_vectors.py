"""What the store does to the tables of vectors, as plain functions of a connection. Each vector is a row of its own."""

from __future__ import annotations

from typing import TypeAlias

from contextport.contracts.vectors import StoredVectors, Vectors

from .kept_vectors import check_dimensions
from .sqlite_connection import LogConnection
from .sqlite_log import as_value, head, key_of
from .sqlite_tables import VERSION_WITH_VECTORS

__all__ = ["Origin", "Row", "has_any", "joined", "page", "put", "split"]

_EMBEDDER = "SELECT key FROM embedders WHERE name = ?"
_NEW_EMBEDDER = "INSERT INTO embedders (name) VALUES (?)"
_SIZE = "SELECT length(vector) FROM vectors WHERE session = ? AND embedder = ? LIMIT 1"
_ANY = "SELECT 1 FROM vectors WHERE session = ? LIMIT 1"
_PUT = """
    INSERT INTO vectors (session, embedder, seq, part, vector) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (session, embedder, seq, part) DO UPDATE SET vector = excluded.vector
"""
_PAGE = f"""
    SELECT seq, part, vector FROM vectors
    WHERE session = ? AND embedder = ({_EMBEDDER}) AND (seq, part) > (?, ?) ORDER BY seq, part LIMIT ?
"""

Row: TypeAlias = tuple[int, int, bytes]
"""Seq, part and the numbers of a vector."""

Origin: TypeAlias = tuple[int | None, int]
"""The key of a session and its epoch: while both are the same, rows only become more or newer."""


def split(stored: StoredVectors) -> list[Row]:
    """The rows one by one, made before any lock is taken."""
    data, size = stored.vectors.data, 4 * stored.vectors.dimensions
    return [(seq, part, data[row * size : (row + 1) * size]) for row, (seq, part) in enumerate(stored.places)]


def joined(rows: list[Row]) -> StoredVectors | None:
    """The rows of a page as one value."""
    if not rows:
        return None
    vectors = Vectors(len(rows[0][2]) // 4, b"".join([row[2] for row in rows]))
    return StoredVectors(places=tuple([(row[0], row[1]) for row in rows]), vectors=vectors)


def put(
    connection: LogConnection,
    session_id: str,
    name: str,
    rows: list[Row],
    *,
    epoch: int,
    incarnation: str | None,
) -> int:
    """Store the rows, if the session is still the one they were made for; the number of those stored."""
    now = head(connection, session_id)
    key = key_of(now)
    if key is None or now.epoch != epoch or incarnation not in (None, now.incarnation):
        return 0
    embedder = _embedder(connection, key, name, len(rows[0][2]) // 4)
    connection.executemany(_PUT, [(key, embedder, *row) for row in rows])
    return len(rows)


def page(
    connection: LogConnection, session_id: str, name: str, *, after: tuple[int, int], limit: int
) -> tuple[Origin, list[Row]]:
    """The first rows after a place, and whose they are."""
    now = head(connection, session_id)
    key = key_of(now)
    rows: list[Row] = []
    if key is not None and _has_tables(connection):
        rows = connection.execute(_PAGE, (key, as_value(name), *after, limit)).fetchall()
    return (key, now.epoch), rows


def has_any(connection: LogConnection, session_id: str) -> bool:
    """Whether the session has vectors at all."""
    key = key_of(head(connection, session_id))
    return key is not None and _has_tables(connection) and bool(connection.execute(_ANY, (key,)).fetchall())


def _embedder(connection: LogConnection, session: int, name: str, dimensions: int) -> int:
    """The key of the name. Raises `InvalidArgument` where the session has vectors of another size under it."""
    row = connection.execute(_EMBEDDER, (as_value(name),)).fetchone()
    if row is None:
        return connection.execute(_NEW_EMBEDDER, (as_value(name),)).lastrowid or 0
    size = connection.execute(_SIZE, (session, row[0])).fetchone()
    if size is not None:
        check_dimensions(name, size[0] // 4, dimensions)
    key: int = row[0]
    return key


def _has_tables(connection: LogConnection) -> bool:
    """False for a file of an earlier version that may only be read, and so was not migrated."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version >= VERSION_WITH_VECTORS
