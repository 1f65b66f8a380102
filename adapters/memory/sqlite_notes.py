"""What the memory does to the tables, as plain functions of a connection that has a transaction open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from heapq import nlargest
from typing import TypeAlias

from contextport.contracts import dump_json
from contextport.contracts.facts import Fact
from contextport.contracts.memory import MemoryNote, MemoryScope

from .words import words_of

__all__ = ["flush", "forget", "recall", "write_down"]

Written: TypeAlias = tuple[str, frozenset[str]]
"""The stored form of a fact, and its words."""

_SCOPE = "SELECT key FROM scopes WHERE tenant = ? AND subject = ?"
_NEW_SCOPE = "INSERT INTO scopes (tenant, subject) VALUES (?, ?)"
_NEW_NOTE = """
    INSERT INTO notes (scope, session, epoch, message) VALUES (?, ?, ?, ?)
    ON CONFLICT (scope, session, epoch, message) DO NOTHING
"""
_NEW_FACT = "INSERT INTO facts (scope, at, note, stored) VALUES (?, ?, ?, ?)"
_NEW_WORD = "INSERT INTO words (scope, word, at, fact) VALUES (?, ?, ?, ?)"
_NEWEST = "SELECT at, key FROM facts WHERE scope = ? ORDER BY at DESC, key DESC LIMIT ?"
_NEWEST_WITH_WORD = "SELECT at, fact FROM words WHERE scope = ? AND word = ? ORDER BY at DESC, fact DESC LIMIT ?"
_FACT = """
    SELECT n.session, n.epoch, n.message, f.at, f.stored FROM facts f JOIN notes n ON n.key = f.note WHERE f.key = ?
"""
_OF_SESSION = "SELECT f.key FROM notes n JOIN facts f ON f.note = n.key WHERE n.scope = :scope AND n.session = :session"
_FORGET_ALL = ("DELETE FROM words WHERE scope = :scope", "DELETE FROM facts WHERE scope = :scope")
_FORGET_SESSION = (
    f"DELETE FROM words WHERE scope = :scope AND fact IN ({_OF_SESSION})",
    f"DELETE FROM facts WHERE key IN ({_OF_SESSION})",
)
_MOST_ROWS = (1 << 63) - 1


def write_down(notes: Sequence[MemoryNote]) -> list[tuple[MemoryNote, list[Written]]]:
    """The notes with the stored forms and the words of their facts, made before any lock is taken."""
    return [(note, [_written(fact) for fact in note.facts]) for note in notes]


def _written(fact: Fact) -> Written:
    return dump_json(fact.as_json()), words_of((fact.text, fact.label, *fact.earlier))


def flush(connection: sqlite3.Connection, scope: MemoryScope, notes: Sequence[tuple[MemoryNote, Sequence[Written]]]) -> int:
    """Store notes of messages that have none yet; how many those were."""
    key = _scope(connection, scope)
    if key is None:
        key = connection.execute(_NEW_SCOPE, (_value(scope.tenant), _value(scope.subject))).lastrowid
    new = 0
    for note, facts in notes:
        row = connection.execute(_NEW_NOTE, (key, _value(note.session_id), note.epoch, _value(note.message_id)))
        if row.rowcount:
            new += 1
            note_key = row.lastrowid
            for stored, words in facts:
                fact = connection.execute(_NEW_FACT, (key, note.at, note_key, stored)).lastrowid
                connection.executemany(_NEW_WORD, [(key, word, note.at, fact) for word in sorted(words)])
    return new


def recall(
    connection: sqlite3.Connection, scope: MemoryScope, words: frozenset[str] | None, limit: int
) -> tuple[MemoryNote, ...]:
    """The newest facts that have one of the words; all facts, for None."""
    key = _scope(connection, scope)
    if key is None:
        return ()
    limit = min(limit, _MOST_ROWS)
    if words is None:
        found = connection.execute(_NEWEST, (key, limit)).fetchall()
    else:  # the newest of all are among the newest of each word, so no more rows are looked at than that
        with_words = [connection.execute(_NEWEST_WITH_WORD, (key, word, limit)).fetchall() for word in words]
        found = nlargest(limit, {row for rows in with_words for row in rows})
    return tuple([_note(connection.execute(_FACT, (fact,)).fetchone()) for _, fact in found])


def forget(connection: sqlite3.Connection, scope: MemoryScope, session_id: str | None) -> int:
    """Remove facts and their words, and keep the marks of their messages; how many facts there were."""
    key = _scope(connection, scope)
    if key is None:
        return 0
    words, facts = _FORGET_ALL if session_id is None else _FORGET_SESSION
    names = {"scope": key} if session_id is None else {"scope": key, "session": _value(session_id)}
    connection.execute(words, names)
    return connection.execute(facts, names).rowcount


def _scope(connection: sqlite3.Connection, scope: MemoryScope) -> int | None:
    row = connection.execute(_SCOPE, (_value(scope.tenant), _value(scope.subject))).fetchone()
    return row[0] if row else None


def _note(row: tuple[str | bytes, int, str | bytes, float, str]) -> MemoryNote:
    session, epoch, message, at, stored = row
    fact = Fact.from_json(json.loads(stored))
    return MemoryNote(session_id=_text(session), epoch=epoch, message_id=_text(message), at=at, facts=(fact,))


def _value(text: str) -> str | bytes:
    """Text as such where UTF-8 can hold it, so that people can read the tables; a blob where it has lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
