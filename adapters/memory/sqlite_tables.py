"""The tables. A change of them is one more step at the end of `MIGRATIONS`; a step that was released never changes.

A note is the mark that a message was flushed, and stays when its facts are forgotten. Words lie in the order of time, so the
newest facts with a word are the first rows of a range, however many there are.
"""

from __future__ import annotations

__all__ = ["APPLICATION_ID", "MIGRATIONS"]

APPLICATION_ID = 0x4354584D  # "CTXM"

_TABLES = (
    # Names have no type: text as such, or a blob where it has lone surrogates.
    """
    CREATE TABLE scopes (
        key INTEGER PRIMARY KEY,
        tenant NOT NULL,
        subject NOT NULL,
        UNIQUE (tenant, subject)
    )
    """,
    """
    CREATE TABLE notes (
        key INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL,
        session NOT NULL,
        epoch INTEGER NOT NULL,
        message NOT NULL,
        UNIQUE (scope, session, epoch, message)
    )
    """,
    """
    CREATE TABLE facts (
        key INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL,
        at REAL NOT NULL,
        note INTEGER NOT NULL,
        stored TEXT NOT NULL
    )
    """,
    "CREATE INDEX facts_by_time ON facts (scope, at DESC, key DESC)",
    "CREATE INDEX facts_by_note ON facts (note)",
    """
    CREATE TABLE words (
        scope INTEGER NOT NULL,
        word TEXT NOT NULL,
        at REAL NOT NULL,
        fact INTEGER NOT NULL,
        PRIMARY KEY (scope, word, at DESC, fact DESC)
    ) WITHOUT ROWID
    """,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_TABLES,)
