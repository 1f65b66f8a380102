"""What the store does to the tables, as plain functions of a connection that has a transaction open.

A function raises an error of the port only while it has changed nothing, so that several may share a transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from contextport.contracts import Draft, Entry, Head, MessageConflict, StateConflict
from contextport.contracts.store import make_entry, make_head
from contextport.contracts.stored_form import dump_message, load_message, same_message

from .sqlite_connection import LogConnection, Session
from .sqlite_tables import SEQ_BITS

__all__ = [
    "Written",
    "append",
    "append_alone",
    "as_value",
    "clear",
    "entry_of",
    "head",
    "locate",
    "page",
    "purge",
    "put_state",
    "sessions",
    "write_down",
]

_LAST = (1 << SEQ_BITS) - 1
_SESSION = f"""
    SELECT s.key, s.epoch, e.number & {_LAST}, e.turn, e.epoch_messages, e.epoch_tokens, s.state_version, s.state, e.epoch{{more}}
    FROM sessions s LEFT JOIN entries e ON e.number = (
        SELECT number FROM entries
        WHERE number BETWEEN s.key << {SEQ_BITS} AND (s.key << {SEQ_BITS}) + {_LAST} ORDER BY number DESC LIMIT 1
    )
"""
_ONE_SESSION = _SESSION.format(more="") + "WHERE s.name = CAST(? AS TEXT)"
_SESSIONS = _SESSION.format(more=", CAST(s.name AS BLOB)") + "WHERE s.name > CAST(? AS TEXT) ORDER BY s.name LIMIT ?"
_NEW_SESSION = "INSERT INTO sessions (name, epoch, state_version, state) VALUES (CAST(? AS TEXT), ?, ?, '')"
_INSERT = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_IF_THERE = """
    INSERT INTO entries SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE key = ? AND epoch = ?
"""
_COLUMNS = f"SELECT number & {_LAST}, epoch, turn, at, tokens, counter, stored FROM entries "
_SAME_ID = _COLUMNS + "WHERE session = ? AND epoch = ? AND id = ?"
_PAGE = _COLUMNS + "WHERE number BETWEEN ? AND ? AND epoch = ?{only} ORDER BY number DESC LIMIT ?"
_PAGE_ALL = _PAGE.format(only="")
_PAGE_MARKED = _PAGE.format(only=" AND marked = 1")
_LAST_OF_EPOCH = "SELECT last_seq FROM past_epochs WHERE session = ? AND epoch = ?"


Written: TypeAlias = tuple[Draft, str]
"""A draft and the stored form of its message."""


def write_down(drafts: Iterable[Draft]) -> list[Written]:
    """The drafts with their stored form, made before any lock is taken."""
    return [(draft, dump_message(draft.message)) for draft in drafts]


def head(connection: LogConnection, session_id: str) -> Head:
    """The head of one session."""
    return _head(session_id, locate(connection, session_id))


def sessions(connection: LogConnection, after: str, limit: int) -> tuple[Head, ...]:
    """One page of heads, in rising order of the session id."""
    rows = connection.execute(_SESSIONS, (_name(after), limit)).fetchall()
    return tuple(_head(_as_str(row[9]), _session(row)) for row in rows)


def page(
    connection: LogConnection,
    session_id: str,
    *,
    after: int,
    before: int | None,
    limit: int,
    marked: bool,
    epoch: int | None,
) -> list[Any]:
    """Rows of one epoch for `entry_of`, newest first."""
    session = locate(connection, session_id)
    key, current = session.key, session.epoch
    wanted = current if epoch is None else epoch
    if key is None or not 1 <= wanted <= current:
        return []
    # By number within the bounds of the epoch, so that no more rows are looked at than are asked for.
    first = max(after + 1, _last_of_epoch(connection, key, wanted - 1) + 1)
    last = _LAST if before is None else min(before - 1, _LAST)
    if wanted < current:
        last = min(last, _last_of_epoch(connection, key, wanted))
    if first > last:
        return []
    start = key << SEQ_BITS
    return connection.execute(_PAGE_MARKED if marked else _PAGE_ALL, (start + first, start + last, wanted, limit)).fetchall()


def _last_of_epoch(connection: LogConnection, key: int, epoch: int) -> int:
    """The last seq of an epoch that was cleared; 0 for the one before the first, and in a session purged a moment ago."""
    row = connection.execute(_LAST_OF_EPOCH, (key, epoch)).fetchone() if epoch else None
    return row[0] if row else 0


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry in a row of `page`. Raises `StoreCorrupt` when its message cannot be read."""
    seq, epoch, turn, at, tokens, counter, stored = row
    message = load_message(stored)
    return make_entry(seq=seq, epoch=epoch, turn=turn, at=at, tokens=tokens, counter=_as_str(counter), message=message)


def append_alone(connection: LogConnection, session_id: str, written: Sequence[Written]) -> tuple[Entry, ...] | None:
    """Store one message by a statement that commits itself, or None where the session does not stand as remembered.

    The statement checks that: seq has no holes, so a number that is free shows that nobody else has appended, and keys are never
    given twice, so a row with the key and the epoch shows that nobody has purged or cleared the session.
    """
    session = connection.believed(session_id)
    if session is None or session.key is None:
        return None
    key, epoch = session.key, session.epoch
    entries, rows, sums = _numbered(session, key, written)
    try:
        stored = connection.execute(_INSERT_IF_THERE, (*rows[0], key, epoch)).rowcount
    except sqlite3.IntegrityError:  # the number or the id is there already
        return None
    if not stored:
        return None
    session.last_seq, session.turn, session.messages, session.tokens = sums
    return entries


def append(connection: LogConnection, session_id: str, written: Sequence[Written]) -> tuple[Entry, ...]:
    """Store a group; what is there already is not stored again."""
    return _append(connection, session_id, locate(connection, session_id), written)


def put_state(connection: LogConnection, session_id: str, state: str, expected: int, written: Sequence[Written]) -> Head:
    """Compare and set the state, and store the group."""
    session = locate(connection, session_id)
    if session.state_version != expected:
        actual = session.state_version
        raise StateConflict(
            f"the state of session {session_id!r} is at version {actual}, not {expected}: read the head and decide again",
            session_id=session_id,
            expected=expected,
            actual=actual,
        )
    if written:
        _append(connection, session_id, session, written)
    key = _key(connection, session_id, session)
    changed = (expected + 1, as_value(state), key)
    connection.execute("UPDATE sessions SET state_version = ?, state = ? WHERE key = ?", changed)
    session.state_version, session.state = expected + 1, state
    return _head(session_id, session)


def clear(connection: LogConnection, session_id: str) -> Head:
    """Begin a new epoch."""
    session = locate(connection, session_id)
    key = _key(connection, session_id, session)
    connection.execute("INSERT INTO past_epochs VALUES (?, ?, ?)", (key, session.epoch, session.last_seq))
    connection.execute("UPDATE sessions SET epoch = epoch + 1 WHERE key = ?", (key,))
    session.epoch += 1
    session.turn = session.messages = session.tokens = 0
    return _head(session_id, session)


def purge(connection: LogConnection, session_id: str) -> int:
    """Remove a session, and overwrite what it had with zeros; the number of its entries."""
    key = locate(connection, session_id).key
    if key is None:
        return 0
    connection.execute("PRAGMA secure_delete = ON")
    try:
        removed = _delete_after(connection, key, 0)
        connection.execute("DELETE FROM past_epochs WHERE session = ?", (key,))
        connection.execute("DELETE FROM sessions WHERE key = ?", (key,))
    finally:
        connection.execute("PRAGMA secure_delete = OFF")
    connection.forget()
    return removed


def locate(connection: LogConnection, session_id: str) -> Session:
    """Where the session stands."""
    known = connection.remembered()
    session = known.get(session_id)
    if session is None:
        row = connection.execute(_ONE_SESSION, (_name(session_id),)).fetchone()
        session = known[session_id] = _session(row) if row else Session()
    return session


def _session(row: Sequence[Any]) -> Session:
    key, epoch, last_seq, turn, messages, tokens, state_version, state, last_epoch = row[:9]
    if last_epoch != epoch:
        last_seq, turn, messages, tokens = last_seq or 0, 0, 0, 0
    return Session(key, epoch, last_seq, turn, messages, tokens, state_version, _as_str(state))


def _head(session_id: str, session: Session) -> Head:
    return make_head(
        session_id=session_id,
        epoch=session.epoch,
        last_seq=session.last_seq,
        messages=session.messages,
        tokens=session.tokens,
        turn=session.turn,
        state=session.state,
        state_version=session.state_version,
        incarnation="" if session.key is None else str(session.key),
    )


def _key(connection: LogConnection, session_id: str, session: Session) -> int:
    """The key of the session, which is made if it was never written."""
    if session.key is None:
        values = (_name(session_id), session.epoch, session.state_version)
        session.key = connection.execute(_NEW_SESSION, values).lastrowid or 0
    return session.key


def _append(connection: LogConnection, session_id: str, session: Session, written: Sequence[Written]) -> tuple[Entry, ...]:
    """Insert in the belief that all ids are new, which the unique index checks; look closer only when one is not."""
    if len(written) == 1 or len({draft.message.id for draft, _ in written}) == len(written):
        key = _key(connection, session_id, session)
        try:
            return _insert(connection, key, session, written)
        except sqlite3.IntegrityError:
            _delete_after(connection, key, session.last_seq)
    known, fresh = _compare(connection, session_id, session, written)
    if fresh:
        key = _key(connection, session_id, session)
        known.update((entry.message.id, entry) for entry in _insert(connection, key, session, fresh))
    return tuple(known[draft.message.id] for draft, _ in written)


def _compare(
    connection: LogConnection, session_id: str, session: Session, written: Sequence[Written]
) -> tuple[dict[str, Entry], list[Written]]:
    """The entries that are there already, by id, and what is new, each once. Raises `MessageConflict`."""
    known: dict[str, Entry] = {}
    fresh: list[Written] = []
    texts: dict[str, str] = {}
    for item in written:
        message_id, stored = item[0].message.id, item[1]
        if message_id not in texts:
            row = connection.execute(_SAME_ID, (session.key, session.epoch, as_value(message_id))).fetchone()
            if row:
                known[message_id], texts[message_id] = entry_of(row), row[6]
            else:
                fresh.append(item)
                texts[message_id] = stored
        if not same_message(texts[message_id], stored):
            raise MessageConflict(
                f"session {session_id!r} has a message {message_id!r} with other content; give the new one an id of its own",
                session_id=session_id,
                message_id=message_id,
            )
    return known, fresh


def _delete_after(connection: LogConnection, key: int, seq: int) -> int:
    first = key << SEQ_BITS
    return connection.execute("DELETE FROM entries WHERE number > ? AND number <= ?", (first + seq, first + _LAST)).rowcount


def _insert(connection: LogConnection, key: int, session: Session, written: Sequence[Written]) -> tuple[Entry, ...]:
    """Store what is new, and bring `session` up to it."""
    entries, rows, sums = _numbered(session, key, written)
    connection.executemany(_INSERT, rows)
    session.last_seq, session.turn, session.messages, session.tokens = sums
    return entries


def _numbered(
    session: Session, key: int, written: Sequence[Written]
) -> tuple[tuple[Entry, ...], list[tuple[Any, ...]], tuple[int, int, int, int]]:
    """The entries that follow in the session, their rows, and the session's last seq, turn, messages and tokens after them."""
    entries: list[Entry] = []
    rows: list[tuple[Any, ...]] = []
    first, epoch, seq, turn = key << SEQ_BITS, session.epoch, session.last_seq, session.turn
    messages, total = session.messages, session.tokens
    for draft, stored in written:
        message = draft.message
        tokens, counter, at = draft.tokens, draft.counter, draft.at
        seq += 1
        if message.opens_turn:
            turn = seq
        if message.in_conversation:
            messages += 1
            total += tokens
        entries.append(make_entry(seq=seq, epoch=epoch, turn=turn, at=at, tokens=tokens, counter=counter, message=message))
        value, marked = as_value(message.id), message.marked
        rows.append((first + seq, key, epoch, turn, messages, total, at, tokens, as_value(counter), marked, value, stored))
    return tuple(entries), rows, (seq, turn, messages, total)


def _name(session_id: str) -> bytes:
    return session_id.encode("utf-8", "surrogatepass")


def as_value(text: str) -> str | bytes:
    """Text as such where UTF-8 can hold it, so that people can read the tables; a blob where it has lone surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _as_str(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
