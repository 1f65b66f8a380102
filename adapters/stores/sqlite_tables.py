"""The tables. A change of them is one more step at the end of `MIGRATIONS`; a step that was released never changes.

`entries` is clustered by session, epoch and seq: the tail of a session lies on neighbouring pages, however many other sessions
write between. Each entry carries the counts up to itself, so the newest one is the head: no second copy that could drift, and one
page less to write per append.
"""

from __future__ import annotations

__all__ = ["APPLICATION_ID", "MIGRATIONS"]

APPLICATION_ID = 0x43545850  # "CTXP"

_TABLES = (
    # AUTOINCREMENT: a key is never given twice, so that rows of a purged session cannot turn up in a new one.
    # A name is UTF-8 with lone surrogates kept, stored as text; it sorts by code point.
    """
    CREATE TABLE sessions (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        epoch INTEGER NOT NULL,
        state_version INTEGER NOT NULL,
        state NOT NULL
    )
    """,
    # `id`, `counter` and `state` have no type: text as such, or a blob when it has lone surrogates.
    """
    CREATE TABLE entries (
        session INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        epoch_messages INTEGER NOT NULL,
        epoch_tokens INTEGER NOT NULL,
        at REAL NOT NULL,
        tokens INTEGER NOT NULL,
        counter NOT NULL,
        marked INTEGER NOT NULL,
        id NOT NULL,
        stored TEXT NOT NULL,
        PRIMARY KEY (session, epoch, seq)
    ) WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX entries_by_id ON entries (session, epoch, id)",
    "CREATE INDEX marked_entries ON entries (session, epoch, seq) WHERE marked = 1",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_TABLES,)
