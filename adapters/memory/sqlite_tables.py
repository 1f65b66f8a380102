"""The tables. A change of them is one more step at the end of `MIGRATIONS`; a step that was released never changes.

A note is the mark that a message was flushed, and stays when its facts are forgotten. Words lie by status and time, so that the
newest facts with a word that still hold are the first rows of a range, however many others there are. Status, kind and origin are
numbers: the places in `STATUSES`, `KINDS` and `ORIGINS`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import Any

from contextport.contracts.memory import MemoryKind, MemoryOrigin, MemoryStatus, normal_form

__all__ = ["APPLICATION_ID", "KINDS", "MIGRATIONS", "ORIGINS", "STATUSES", "add_functions", "column_value", "digest_of"]

APPLICATION_ID = 0x4354584D  # "CTXM"

#: By the numbers that stand for them. New ones go to the end.
STATUSES = (MemoryStatus.ACTIVE, MemoryStatus.DONE, MemoryStatus.SUPERSEDED)
KINDS = (MemoryKind.PROFILE, MemoryKind.PREFERENCE, MemoryKind.FACT, MemoryKind.TASK)
ORIGINS = (MemoryOrigin.USER, MemoryOrigin.ASSISTANT, MemoryOrigin.TOOL, MemoryOrigin.HOST)

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

# What is kept gets a kind, an origin, a status and what it is about. `said` is a digest of the normal form of its text; of what
# was forgotten, the digest alone is left. In files of before, a rule of the user's is a preference, and what was said again takes
# the place of what it repeats.
_RECALL = (
    "ALTER TABLE facts ADD COLUMN status INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE facts ADD COLUMN kind INTEGER NOT NULL DEFAULT 2",
    "ALTER TABLE facts ADD COLUMN origin INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE facts ADD COLUMN about NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN said BLOB NOT NULL DEFAULT x''",
    """
    UPDATE facts SET status = old_status(stored), kind = old_kind(stored), origin = old_origin(stored),
        about = old_about(stored), said = old_said(stored)
    """,
    "DROP INDEX facts_by_time",
    "CREATE INDEX facts_by_about ON facts (scope, about) WHERE status = 0",
    """
    UPDATE facts SET status = 2 WHERE key IN (
        SELECT key FROM (
            SELECT key, row_number() OVER (PARTITION BY scope, about ORDER BY at DESC, key DESC) AS place
            FROM facts WHERE status = 0 AND about != ''
        ) WHERE place > 1
    )
    """,
    "CREATE INDEX facts_by_state ON facts (scope, status, kind, at DESC, key DESC)",
    "CREATE INDEX facts_by_text ON facts (scope, said)",
    "ALTER TABLE words RENAME TO old_words",
    """
    CREATE TABLE words (
        scope INTEGER NOT NULL,
        word TEXT NOT NULL,
        status INTEGER NOT NULL,
        at REAL NOT NULL,
        fact INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        PRIMARY KEY (scope, word, status, at DESC, fact DESC)
    ) WITHOUT ROWID
    """,
    """
    INSERT INTO words (scope, word, status, at, fact, kind)
    SELECT w.scope, w.word, f.status, w.at, w.fact, f.kind FROM old_words w JOIN facts f ON f.key = w.fact
    """,
    "DROP TABLE old_words",
    "CREATE TABLE forgotten (scope INTEGER NOT NULL, said BLOB NOT NULL, PRIMARY KEY (scope, said)) WITHOUT ROWID",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_TABLES, _RECALL)


def add_functions(connection: sqlite3.Connection) -> None:
    """Give a connection the functions that the steps call."""
    for function in (old_status, old_kind, old_origin, old_about, old_said):
        connection.create_function(function.__name__, 1, function, deterministic=True)


def digest_of(text: str) -> bytes:
    """What tells whether two texts say the same, without either."""
    return hashlib.sha256(normal_form(text).encode("utf-8", "surrogatepass")).digest()[:16]


def column_value(text: str) -> str | bytes:
    """Text as such where UTF-8 can hold it, so that people can read the tables; a blob where it has lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


# Facts of files of version 1, by their stored form. What is damaged is left for `recall` to report.


def old_status(stored: str) -> int:
    """Done where its state says so."""
    return int(_old(stored).get("state") == "done")


def old_kind(stored: str) -> int:
    """By the kind of the fact, for the words were not looked at."""
    fact = _old(stored)
    if fact.get("kind") == "constraint" and fact.get("role", "user") == "user":
        return 1
    return 3 if fact.get("kind") == "task" else 2


def old_origin(stored: str) -> int:
    """By the role."""
    return {"user": 0, "assistant": 1, "tool": 2}.get(str(_old(stored).get("role", "user")), 3)


def old_about(stored: str) -> str | bytes:
    """Its own text: what repeats it takes its place. With the label, where it is a name, whose case matters."""
    fact = _old(stored)
    text = str(fact.get("text", ""))
    if fact.get("kind") in ("constraint", "decision", "task", "conclusion"):
        return column_value(normal_form(text))
    return column_value(f"{fact.get('label', '')}={text}")


def old_said(stored: str) -> bytes:
    """The digest of its text."""
    return digest_of(str(_old(stored).get("text", "")))


def _old(stored: str) -> dict[str, Any]:
    try:
        fact: Any = json.loads(stored)
    except ValueError:
        return {}
    return fact if isinstance(fact, dict) else {}  # pyright: ignore[reportUnknownVariableType]
