"""What the memory writes to the tables, as plain functions of a connection that has a transaction open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from attrs import frozen

from contextport.contracts import dump_json
from contextport.contracts.facts import Fact
from contextport.contracts.memory import MemoryNote, MemoryOrigin, MemoryScope, MemoryStatus, Remembered

from .sqlite_recall import fact_from, key_of, scope_key
from .sqlite_tables import KINDS, ORIGINS, STATUSES, column_value, digest_of
from .words import words_of

__all__ = ["Written", "flush", "forget", "write_down"]

_NEW_SCOPE = "INSERT INTO scopes (tenant, subject) VALUES (?, ?)"
_NEW_NOTE = """
    INSERT INTO notes (scope, session, epoch, message) VALUES (?, ?, ?, ?)
    ON CONFLICT (scope, session, epoch, message) DO NOTHING
"""
_NEW_FACT = """
    INSERT INTO facts (scope, at, note, stored, status, kind, origin, about, said) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_NEW_WORD = "INSERT INTO words (scope, word, status, at, fact, kind) VALUES (?, ?, ?, ?, ?, ?)"
_RIVALS = "SELECT key, at FROM facts WHERE scope = ? AND about = ? AND status = 0"
_IS_FORGOTTEN = "SELECT 1 FROM forgotten WHERE scope = ? AND said = ?"
_FORGET_TEXT = "INSERT OR IGNORE INTO forgotten (scope, said) VALUES (?, ?)"
_WITH_ID = "SELECT key FROM facts WHERE key = ? AND note = ? AND scope = ?"
_WITH_TEXT = "SELECT key FROM facts WHERE scope = ? AND said = ?"
_OF_NOTES = "SELECT f.key FROM notes n JOIN facts f ON f.note = n.key WHERE n.scope = ? AND n.session = ?"
_OF_MESSAGES = "SELECT f.key FROM notes n JOIN facts f ON f.note = n.key WHERE n.scope = ? AND n.message = ?"
_ROW = "SELECT scope, status, at, said, stored FROM facts WHERE key = ?"
_SET_STATUS = "UPDATE facts SET status = ? WHERE key = ?"
_SET_STATUS_OF_WORD = "UPDATE words SET status = ? WHERE scope = ? AND word = ? AND status = ? AND at = ? AND fact = ?"
_DELETE_WORD = "DELETE FROM words WHERE scope = ? AND word = ? AND status = ? AND at = ? AND fact = ?"
_ACTIVE, _DONE, _SUPERSEDED = (
    STATUSES.index(status) for status in (MemoryStatus.ACTIVE, MemoryStatus.DONE, MemoryStatus.SUPERSEDED)
)


@frozen(kw_only=True)
class Written:
    """A fact as the tables have it, and its words."""

    stored: str
    words: tuple[str, ...]
    status: int
    kind: int
    origin: int
    about: str | bytes
    said: bytes


def write_down(notes: Sequence[MemoryNote]) -> list[tuple[MemoryNote, list[Written]]]:
    """The notes with their facts as the tables have them, made before any lock is taken."""
    return [(note, [_written(one) for one in note.facts]) for note in notes]


def _written(one: Remembered) -> Written:
    return Written(
        stored=dump_json(one.fact.as_json()),
        words=_words(one.fact),
        status=STATUSES.index(one.status),
        kind=KINDS.index(one.kind),
        origin=ORIGINS.index(one.origin),
        about=column_value(one.about),
        said=digest_of(one.fact.text),
    )


def _words(fact: Fact) -> tuple[str, ...]:
    return tuple(sorted(words_of((fact.text, fact.label, *fact.earlier))))


def flush(connection: sqlite3.Connection, scope: MemoryScope, notes: Sequence[tuple[MemoryNote, Sequence[Written]]]) -> int:
    """Store notes of messages that have none yet; how many those were."""
    key = scope_key(connection, scope)
    if key is None:
        key = connection.execute(_NEW_SCOPE, (column_value(scope.tenant), column_value(scope.subject))).lastrowid
        assert key is not None
    new = 0
    for note, facts in notes:
        place = (key, column_value(note.session_id), note.epoch, column_value(note.message_id))
        row = connection.execute(_NEW_NOTE, place)
        if row.rowcount:
            new += 1
            note_key = row.lastrowid
            _end(connection, key, note.done, _DONE)
            _end(connection, key, note.replaced, _SUPERSEDED)
            for written in facts:
                if _is_wanted(connection, key, written):
                    _put(connection, key, note_key, note.at, written)
    return new


def _is_wanted(connection: sqlite3.Connection, scope: int, written: Written) -> bool:
    if ORIGINS[written.origin] is MemoryOrigin.HOST:
        return True
    return connection.execute(_IS_FORGOTTEN, (scope, written.said)).fetchone() is None


def _end(connection: sqlite3.Connection, scope: int, ids: Iterable[str], status: int) -> None:
    """Give active facts of the scope another status."""
    for id in ids:
        for (key,) in connection.execute(_WITH_ID, (*key_of(id), scope)).fetchall():
            _set_status(connection, key, status)


def _put(connection: sqlite3.Connection, scope: int, note: int | None, at: float, written: Written) -> None:
    """Store a fact, and settle which of those about the same is active."""
    status = written.status
    if written.about and status == _ACTIVE:
        rivals = connection.execute(_RIVALS, (scope, written.about)).fetchall()
        if any(other > at for _, other in rivals):
            status = _SUPERSEDED
        else:
            for key, _ in rivals:
                _set_status(connection, key, _SUPERSEDED)
    row = (scope, at, note, written.stored, status, written.kind, written.origin, written.about, written.said)
    fact = connection.execute(_NEW_FACT, row).lastrowid
    connection.executemany(_NEW_WORD, [(scope, word, status, at, fact, written.kind) for word in written.words])


def _set_status(connection: sqlite3.Connection, key: int, status: int) -> None:
    """If the fact is active."""
    scope, old, at, _, stored = connection.execute(_ROW, (key,)).fetchone()
    if old == _ACTIVE:
        connection.execute(_SET_STATUS, (status, key))
        words = _words(fact_from(stored))
        connection.executemany(_SET_STATUS_OF_WORD, [(status, scope, word, old, at, key) for word in words])


def forget(
    connection: sqlite3.Connection, scope: MemoryScope, session_id: str | None, message_id: str | None, id: str | None
) -> int:
    """Remove facts and their words, and keep the marks of their messages; how many facts there were."""
    key = scope_key(connection, scope)
    if key is None:
        return 0
    if session_id is None and message_id is None and id is None:
        connection.execute("DELETE FROM words WHERE scope = ?", (key,))
        return connection.execute("DELETE FROM facts WHERE scope = ?", (key,)).rowcount
    facts = _named(connection, key, session_id, message_id, id)
    if message_id is not None or id is not None:
        facts = _that_say_the_same(connection, key, facts)
    for fact in facts:
        _delete(connection, fact)
    return len(facts)


def _named(
    connection: sqlite3.Connection, scope: int, session_id: str | None, message_id: str | None, id: str | None
) -> frozenset[int]:
    """The keys of the facts that are of all that is named; at least one thing is."""
    found: list[frozenset[int]] = []
    if session_id is not None:
        found.append(_keys(connection.execute(_OF_NOTES, (scope, column_value(session_id)))))
    if message_id is not None:
        found.append(_keys(connection.execute(_OF_MESSAGES, (scope, column_value(message_id)))))
    if id is not None:
        found.append(_keys(connection.execute(_WITH_ID, (*key_of(id), scope))))
    return frozenset.intersection(*found)


def _that_say_the_same(connection: sqlite3.Connection, scope: int, facts: Iterable[int]) -> frozenset[int]:
    """These facts and all others of the scope that say the same; none of it is learnt again."""
    said = {connection.execute(_ROW, (fact,)).fetchone()[3] for fact in facts}
    connection.executemany(_FORGET_TEXT, [(scope, text) for text in said])
    return frozenset[int]().union(*[_keys(connection.execute(_WITH_TEXT, (scope, text))) for text in said])


def _keys(rows: sqlite3.Cursor) -> frozenset[int]:
    return frozenset([key for (key,) in rows])


def _delete(connection: sqlite3.Connection, key: int) -> None:
    scope, status, at, _, stored = connection.execute(_ROW, (key,)).fetchone()
    connection.executemany(_DELETE_WORD, [(scope, word, status, at, key) for word in _words(fact_from(stored))])
    connection.execute("DELETE FROM facts WHERE key = ?", (key,))
