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
    SELECT at, fact, status FROM words WHERE scope = ? AND word = ? AND status = ? {kinds}
    ORDER BY at DESC, fact DESC LIMIT ?
"""
_HAS_WORD = "SELECT 1 FROM words WHERE scope = ? AND word = ? AND status = ? AND at = ? AND fact = ?"
_FACT = """
    SELECT n.session, n.epoch, n.message, f.note, f.at, f.stored, f.status, f.kind, f.origin, f.about
    FROM facts f JOIN notes n ON n.key = f.note WHERE f.key = ?
"""
_MOST_ROWS = (1 << 63) - 1
_MOST_OF_A_WORD = 256  # facts that are looked at for one word, at least
_RANKED = 2  # so many times the limit are ranked by all of their words

_Found: TypeAlias = tuple[float, int, int]
"""The time, the key and the status of a fact: what is larger is newer."""


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
    states = sorted([STATUSES.index(status) for status in set(statuses)])
    numbers = sorted([KINDS.index(kind) for kind in set(kinds)])
    found = (
        _newest(connection, key, states, numbers, limit)
        if words is None
        else _best(connection, key, words, states, numbers, limit)
    )
    return tuple([_note(connection.execute(_FACT, (fact,)).fetchone(), fact) for fact in found])


def _newest(connection: sqlite3.Connection, scope: int, states: Iterable[int], kinds: Iterable[int], limit: int) -> list[int]:
    """The newest of all are among the newest of each status and kind."""
    each = [(scope, status, kind, limit) for status in states for kind in kinds]
    rows = [row for asked in each for row in connection.execute(_NEWEST, asked)]
    return [fact for _, fact in nlargest(limit, rows)]


def _best(
    connection: sqlite3.Connection, scope: int, words: Iterable[str], states: Sequence[int], kinds: Sequence[int], limit: int
) -> list[int]:
    """By the weights of the words that they have; of equal ones the newest first."""
    most = max(limit, _MOST_OF_A_WORD)
    having = {word: _with_word(connection, scope, word, states, kinds, most) for word in sorted(words)}
    weights = {word: math.log(1 + most / len(found)) for word, found in having.items() if found}
    scores: dict[_Found, float] = {}
    for word, weight in weights.items():
        for found in having[word]:
            scores[found] = scores.get(found, 0.0) + weight
    ranked = nlargest(limit * _RANKED, [(score, *found) for found, score in scores.items()])
    cut = {word: frozenset(having[word]) for word in weights if len(having[word]) >= most}
    whole: list[tuple[float, float, int]] = []
    for score, at, fact, status in ranked:
        for word, looked_at in cut.items():
            if (at, fact, status) not in looked_at and connection.execute(_HAS_WORD, (scope, word, status, at, fact)).fetchone():
                score += weights[word]
        whole.append((score, at, fact))
    return [fact for _, _, fact in nlargest(limit, whole)]


def _with_word(
    connection: sqlite3.Connection, scope: int, word: str, states: Iterable[int], kinds: Sequence[int], most: int
) -> list[_Found]:
    """The newest facts with a word."""
    of_kinds = "" if len(kinds) == len(KINDS) else f"AND kind IN ({', '.join(map(str, kinds))})"
    statement = _NEWEST_WITH_WORD.format(kinds=of_kinds)
    rows = [row for status in states for row in connection.execute(statement, (scope, word, status, most))]
    return nlargest(most, rows)


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
