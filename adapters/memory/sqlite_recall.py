"""What the memory reads from the tables, as plain functions of a connection that has a transaction open.

A call takes much the same time however many facts a scope has: of a word that many have, only the newest of these are looked at.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from heapq import nlargest
from typing import TypeAlias

from contextport.contracts.facts import Fact
from contextport.contracts.memory import MemoryKind, MemoryNote, MemoryScope, MemoryStatus, Remembered

from .sqlite_tables import KINDS, ORIGINS, STATUSES, column_value

__all__ = ["fact_from", "key_of", "recall", "scope_key"]

_SCOPE = "SELECT key FROM scopes WHERE tenant = ? AND subject = ?"
_NEWEST = "SELECT at, key FROM facts WHERE scope = ? AND status = ? AND kind = ? ORDER BY at DESC, key DESC LIMIT ?"
_NEWEST_WITH_WORD = """
    SELECT at, fact FROM words WHERE scope = ? AND word = ? AND status = ? AND kind = ? ORDER BY at DESC, fact DESC LIMIT ?
"""
_HAS_WORD = """
    SELECT 1 FROM words w JOIN facts f ON f.key = :fact
    WHERE w.scope = :scope AND w.word = :word AND w.status = f.status AND w.kind = f.kind AND w.at = f.at AND w.fact = :fact
"""
_FACT = """
    SELECT n.session, n.epoch, n.message, f.note, f.at, f.stored, f.status, f.kind, f.origin, f.about
    FROM facts f JOIN notes n ON n.key = f.note WHERE f.key = ?
"""
_MOST_ROWS = (1 << 63) - 1
_MOST_OF_A_WORD = 512  # facts that are looked at for one word, at least
_RANKED = 4  # so many times the limit are ranked by all of their words

_State: TypeAlias = tuple[int, int]
"""Numbers of a status and a kind."""

_Found: TypeAlias = tuple[float, int]
"""The time and the key of a fact: what is larger is newer."""


def recall(
    connection: sqlite3.Connection,
    scope: MemoryScope,
    words: frozenset[str] | None,
    kinds: Collection[MemoryKind],
    statuses: Collection[MemoryStatus],
    limit: int,
) -> tuple[MemoryNote, ...]:
    """The facts that have the words, those with more and rarer ones first; the newest, for None."""
    key = scope_key(connection, scope)
    if key is None:
        return ()
    limit = min(limit, _MOST_ROWS // _RANKED)
    states = [(STATUSES.index(status), KINDS.index(kind)) for status in set(statuses) for kind in set(kinds)]
    found = _newest(connection, key, states, limit) if words is None else _best(connection, key, words, states, limit)
    return tuple([_note(connection.execute(_FACT, (fact,)).fetchone(), fact) for _, fact in found])


def _newest(connection: sqlite3.Connection, scope: int, states: Iterable[_State], limit: int) -> list[_Found]:
    """The newest of all are among the newest of each state."""
    rows = [connection.execute(_NEWEST, (scope, *state, limit)).fetchall() for state in states]
    return nlargest(limit, [row for some in rows for row in some])


def _best(connection: sqlite3.Connection, scope: int, words: Iterable[str], states: Sequence[_State], limit: int) -> list[_Found]:
    """By the weights of the words that they have; of equal ones the newest first."""
    most = max(limit, _MOST_OF_A_WORD)
    having = {word: _with_word(connection, scope, word, states, most) for word in sorted(words)}
    weights = {word: math.log(1 + most / len(found)) for word, found in having.items() if found}
    scores: dict[_Found, float] = {}
    for word, weight in weights.items():
        for found in having[word]:
            scores[found] = scores.get(found, 0.0) + weight
    ranked = nlargest(limit * _RANKED, [(score, *found) for found, score in scores.items()])
    cut = [word for word in weights if len(having[word]) >= most]
    whole: list[tuple[float, float, int]] = []
    for score, at, fact in ranked:
        unseen = [word for word in cut if (at, fact) not in having[word] and _has_word(connection, scope, word, fact)]
        whole.append((score + sum([weights[word] for word in unseen]), at, fact))
    return [(at, fact) for _, at, fact in nlargest(limit, whole)]


def _with_word(connection: sqlite3.Connection, scope: int, word: str, states: Iterable[_State], most: int) -> frozenset[_Found]:
    """The newest facts with a word."""
    rows = [connection.execute(_NEWEST_WITH_WORD, (scope, word, *state, most)).fetchall() for state in states]
    return frozenset(nlargest(most, [row for some in rows for row in some]))


def _has_word(connection: sqlite3.Connection, scope: int, word: str, fact: int) -> bool:
    return connection.execute(_HAS_WORD, {"scope": scope, "word": word, "fact": fact}).fetchone() is not None


def scope_key(connection: sqlite3.Connection, scope: MemoryScope) -> int | None:
    """The key of a scope, if it was ever written."""
    row = connection.execute(_SCOPE, (column_value(scope.tenant), column_value(scope.subject))).fetchone()
    return row[0] if row else None


def key_of(id: str) -> tuple[int, int]:
    """The keys of a fact and of its note that an id names; of nothing, where it is none of ours.

    The key of a fact may be used again once it is forgotten, but never for the same note.
    """
    note, _, fact = id.partition(".")
    if note.isascii() and note.isdecimal() and fact.isascii() and fact.isdecimal() and max(len(note), len(fact)) < 19:
        return int(fact), int(note)
    return -1, -1


def fact_from(stored: str) -> Fact:
    """The fact of its stored form. Raises `ValueError` or `StoreCorrupt` for what is none."""
    return Fact.from_json(json.loads(stored))


def _note(row: tuple[str | bytes, int, str | bytes, int, float, str, int, int, int, str | bytes], key: int) -> MemoryNote:
    session, epoch, message, note, at, stored, status, kind, origin, about = row
    one = Remembered(
        fact=fact_from(stored),
        kind=KINDS[kind],
        origin=ORIGINS[origin],
        about=_text(about),
        status=STATUSES[status],
        id=f"{note}.{key}",
    )
    return MemoryNote(session_id=_text(session), epoch=epoch, message_id=_text(message), at=at, facts=(one,))


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
