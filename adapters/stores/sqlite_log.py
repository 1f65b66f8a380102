"""What the store does to the tables, as plain functions of a connection that has a transaction open.

A function raises an error of the port only while it has changed nothing, so that several may share a transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from attrs import evolve

from contextport.contracts import Draft, Entry, Head, MessageConflict, StateConflict
from contextport.contracts.store import make_entry, make_head
from contextport.contracts.stored_form import dump_message, load_message, same_message

from .sqlite_connection import LogConnection
from .sqlite_tables import SEQ_BITS

__all__ = [
    "Written",
    "append",
    "append_one",
    "as_value",
    "clear",
    "entry_of",
    "head",
    "key_of",
    "page",
    "purge",
    "put_state",
    "sessions",
    "write_down",
]

_LAST = (1 << SEQ_BITS) - 1
_SESSION = f"""
    SELECT {{name}}, s.key, s.epoch, s.state_version, s.state,
        e.epoch, e.number & {_LAST}, e.turn, e.epoch_messages, e.epoch_tokens
    FROM sessions s LEFT JOIN entries e ON e.number = (
        SELECT number FROM entries
        WHERE number BETWEEN s.key << {SEQ_BITS} AND (s.key << {SEQ_BITS}) + {_LAST} ORDER BY number DESC LIMIT 1
    )
"""
_ONE_SESSION = _SESSION.format(name="?") + "WHERE s.name = CAST(? AS TEXT)"
_SESSIONS = _SESSION.format(name="CAST(s.name AS BLOB)") + "WHERE s.name > CAST(? AS TEXT) ORDER BY s.name LIMIT ?"
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
Row: TypeAlias = tuple[Any, ...]


def write_down(drafts: Iterable[Draft]) -> list[Written]:
    """The drafts with their stored form, made before any lock is taken."""
    return [(draft, dump_message(draft.message)) for draft in drafts]


def head(connection: LogConnection, session_id: str) -> Head:
    """The head of one session."""
    known = connection.known_head(session_id)
    if known is None:
        name = _name(session_id)
        row = connection.execute(_ONE_SESSION, (name, name)).fetchone()
        known = connection.heads[session_id] = _head(row) if row else make_head(session_id=session_id)
    return known


def key_of(head: Head) -> int | None:
    """The key of a session; None for one that was never written."""
    return int(head.incarnation) if head.incarnation else None


def sessions(connection: LogConnection, after: str, limit: int) -> tuple[Head, ...]:
    """One page of heads, in rising order of the session id."""
    return tuple(map(_head, connection.execute(_SESSIONS, (_name(after), limit)).fetchall()))


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
    now = head(connection, session_id)
    key, current = key_of(now), now.epoch
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


def append_one(connection: LogConnection, session_id: str, draft: Draft, stored: str) -> Entry | None:
    """Store one message by a statement that commits itself, or None where the session does not stand as remembered.

    The statement checks that: seq has no holes, so a number that is free shows that nobody else has appended, and keys are never
    given twice, so a row with the key and the epoch shows that nobody has purged or cleared the session.
    """
    believed = connection.believed_head(session_id)
    if believed is None or not believed.incarnation:
        return None
    key = int(believed.incarnation)
    entry, row, after = _next(key, believed, draft, stored)
    try:
        if not connection.execute(_INSERT_IF_THERE, (*row, key, after.epoch)).rowcount:
            return None
    except sqlite3.IntegrityError:  # the number or the id is there already
        return None
    connection.heads[session_id] = after
    return entry


def append(connection: LogConnection, session_id: str, written: Sequence[Written]) -> tuple[Entry, ...]:
    """Store a group; what is there already is not stored again."""
    now = head(connection, session_id)
    if len(written) == 1 or len({draft.message.id for draft, _ in written}) == len(written):
        # In the belief that all ids are new, which the unique index checks: look closer only when one is not.
        now = _made(connection, now)
        try:
            return _insert(connection, now, written)
        except sqlite3.IntegrityError:
            _delete_after(connection, int(now.incarnation), now.last_seq)
    known, fresh = _compare(connection, now, written)
    if fresh:
        known.update((entry.message.id, entry) for entry in _insert(connection, _made(connection, now), fresh))
    return tuple(known[draft.message.id] for draft, _ in written)


def put_state(connection: LogConnection, session_id: str, state: str, expected: int, written: Sequence[Written]) -> Head:
    """Compare and set the state, and store the group."""
    actual = head(connection, session_id).state_version
    if actual != expected:
        raise StateConflict(
            f"the state of session {session_id!r} is at version {actual}, not {expected}: read the head and decide again",
            session_id=session_id,
            expected=expected,
            actual=actual,
        )
    if written:
        append(connection, session_id, written)
    now = _made(connection, head(connection, session_id))
    changed = (expected + 1, as_value(state), int(now.incarnation))
    connection.execute("UPDATE sessions SET state_version = ?, state = ? WHERE key = ?", changed)
    return _remember(connection, evolve(now, state_version=expected + 1, state=state))


def clear(connection: LogConnection, session_id: str) -> Head:
    """Begin a new epoch."""
    now = _made(connection, head(connection, session_id))
    key = int(now.incarnation)
    connection.execute("INSERT INTO past_epochs VALUES (?, ?, ?)", (key, now.epoch, now.last_seq))
    connection.execute("UPDATE sessions SET epoch = epoch + 1 WHERE key = ?", (key,))
    return _remember(connection, evolve(now, epoch=now.epoch + 1, turn=0, messages=0, tokens=0))


def purge(connection: LogConnection, session_id: str) -> int:
    """Remove a session, and overwrite what it had with zeros; the number of its entries."""
    key = key_of(head(connection, session_id))
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


def _head(row: Sequence[Any]) -> Head:
    name, key, epoch, state_version, state, epoch_of_last, last_seq, turn, messages, tokens = row
    if epoch_of_last != epoch:  # nothing was said since it began
        last_seq, turn, messages, tokens = last_seq or 0, 0, 0, 0
    return make_head(
        session_id=_as_str(name),
        epoch=epoch,
        last_seq=last_seq,
        messages=messages,
        tokens=tokens,
        turn=turn,
        state=_as_str(state),
        state_version=state_version,
        incarnation=str(key),
    )


def _remember(connection: LogConnection, head: Head) -> Head:
    connection.heads[head.session_id] = head
    return head


def _made(connection: LogConnection, head: Head) -> Head:
    """The head with a key for its session, which is made if it was never written."""
    if head.incarnation:
        return head
    values = (_name(head.session_id), head.epoch, head.state_version)
    key = connection.execute(_NEW_SESSION, values).lastrowid
    return _remember(connection, evolve(head, incarnation=str(key)))


def _compare(connection: LogConnection, head: Head, written: Sequence[Written]) -> tuple[dict[str, Entry], list[Written]]:
    """The entries that are there already, by id, and what is new, each once. Raises `MessageConflict`."""
    key, session_id = key_of(head), head.session_id
    known: dict[str, Entry] = {}
    fresh: list[Written] = []
    texts: dict[str, str] = {}
    for item in written:
        message_id, stored = item[0].message.id, item[1]
        if message_id not in texts:
            row = connection.execute(_SAME_ID, (key, head.epoch, as_value(message_id))).fetchone()
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


def _insert(connection: LogConnection, head: Head, written: Sequence[Written]) -> tuple[Entry, ...]:
    """Store what is new, after `head`."""
    key = int(head.incarnation)
    entries: list[Entry] = []
    rows: list[Row] = []
    for draft, stored in written:
        entry, row, head = _next(key, head, draft, stored)
        entries.append(entry)
        rows.append(row)
    connection.executemany(_INSERT, rows)
    _remember(connection, head)
    return tuple(entries)


def _next(key: int, head: Head, draft: Draft, stored: str) -> tuple[Entry, Row, Head]:
    """The entry that follows in a session, its row, and the head after it."""
    message, tokens, counter, at = draft.message, draft.tokens, draft.counter, draft.at
    epoch, seq, turn, messages, total = head.epoch, head.last_seq + 1, head.turn, head.messages, head.tokens
    if message.opens_turn:
        turn = seq
    if message.in_conversation:
        messages += 1
        total += tokens
    number, value = (key << SEQ_BITS) + seq, as_value(message.id)
    row = (number, key, epoch, turn, messages, total, at, tokens, as_value(counter), message.marked, value, stored)
    entry = make_entry(seq=seq, epoch=epoch, turn=turn, at=at, tokens=tokens, counter=counter, message=message)
    after = make_head(
        session_id=head.session_id,
        epoch=epoch,
        last_seq=seq,
        messages=messages,
        tokens=total,
        turn=turn,
        state=head.state,
        state_version=head.state_version,
        incarnation=head.incarnation,
    )
    return entry, row, after


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
