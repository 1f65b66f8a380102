"""The tables. A change of them is one more step at the end of `MIGRATIONS`; a step that was released never changes.

An entry's number is its session's key and its seq in one integer. So the tail of a session lies on neighbouring pages, however
many other sessions write between, and an append touches one page of the table and one of the index of ids. Each entry carries
the counts up to itself, so the newest one is the head: no second copy that could drift, and one page less to write.
"""

from __future__ import annotations

__all__ = ["APPLICATION_ID", "MIGRATIONS", "SEQ_BITS", "VERSION_WITH_VECTORS"]

APPLICATION_ID = 0x43545850  # "CTXP"
SEQ_BITS = 32  # four billion entries in each of two billion sessions

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
        number INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        epoch_messages INTEGER NOT NULL,
        epoch_tokens INTEGER NOT NULL,
        at REAL NOT NULL,
        tokens INTEGER NOT NULL,
        counter NOT NULL,
        marked INTEGER NOT NULL,
        id NOT NULL,
        stored TEXT NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX entries_by_id ON entries (session, epoch, id)",
    "CREATE INDEX marked_entries ON entries (marked) WHERE marked = 1",
    """
    CREATE TABLE past_epochs (
        session INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        PRIMARY KEY (session, epoch)
    ) WITHOUT ROWID
    """,
)

# What a session's messages were turned into: derived, so it goes with its epoch. By triggers, so that it does so too where a
# release that knows nothing of vectors has the file open already.
_VECTORS = (
    "CREATE TABLE embedders (key INTEGER PRIMARY KEY, name NOT NULL UNIQUE)",
    # With a rowid: without one, rows of a kilobyte and more would each take a page of their own.
    """
    CREATE TABLE vectors (
        session INTEGER NOT NULL,
        embedder INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        part INTEGER NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (session, embedder, seq, part)
    )
    """,
    """
    CREATE TRIGGER vectors_of_cleared_epoch AFTER UPDATE OF epoch ON sessions
    BEGIN DELETE FROM vectors WHERE session = OLD.key; END
    """,
    """
    CREATE TRIGGER vectors_of_purged_session AFTER DELETE ON sessions
    BEGIN DELETE FROM vectors WHERE session = OLD.key; END
    """,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_TABLES, _VECTORS)
VERSION_WITH_VECTORS = 2
