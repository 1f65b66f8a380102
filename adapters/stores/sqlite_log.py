"""What the store does to the tables, as plain functions of a connection that has a transaction open.

A function raises an error of the port only while it has changed nothing, so that several may share a transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import evolve, frozen

from contextport.contracts import Draft, Entry, Head, MessageConflict, StateConflict
from contextport.contracts.stored_form import dump_message, load_message

__all__ = ["Written", "append", "clear", "entry_of", "head", "page", "purge", "put_state", "sessions", "write_down"]

_NEWEST = 2**63 - 1
_SESSION = """
    SELECT s.key, s.epoch, s.state_version, e.epoch, e.seq, e.turn, e.epoch_messages, e.epoch_tokens{more}
    FROM sessions s LEFT JOIN entries e ON e.session = s.key AND (e.epoch, e.seq) =
        (SELECT epoch, seq FROM entries WHERE session = s.key ORDER BY epoch DESC, seq DESC LIMIT 1)
"""
_LOCATE = _SESSION.format(more="") + "WHERE s.name = CAST(? AS TEXT)"
_HEAD = _SESSION.format(more=", s.state") + "WHERE s.name = CAST(? AS TEXT)"
_LIST = _SESSION.format(more=", s.state, CAST(s.name AS BLOB)") + "WHERE s.name > CAST(? AS TEXT) ORDER BY s.name LIMIT ?"
_INSERT = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_COLUMNS = "SELECT seq, epoch, turn, at, tokens, counter, stored FROM entries "
_SAME_ID = _COLUMNS + "WHERE session = ? AND epoch = ? AND id = ?"
_PAGE = (
    _COLUMNS
    + """
    WHERE session = (SELECT key FROM sessions WHERE name = CAST(?1 AS TEXT))
        AND epoch = coalesce(?2, (SELECT epoch FROM sessions WHERE name = CAST(?1 AS TEXT)))
        AND seq > ?3 AND seq < ?4 {only}
    ORDER BY seq DESC LIMIT ?5
"""
)
_PAGE_ALL = _PAGE.format(only="")
_PAGE_MARKED = _PAGE.format(only="AND marked = 1")


@frozen
class Written:
    """A draft and the stored form of its message."""

    draft: Draft
    stored: str


@frozen(kw_only=True)
class _Session:
    """Where a session stands; `key` is None for one that was never written."""

    key: int | None = None
    epoch: int = 1
    state_version: int = 0
    last_seq: int = 0
    turn: int = 0
    messages: int = 0
    tokens: int = 0


def write_down(drafts: Iterable[Draft]) -> list[Written]:
    """The drafts with their stored form, made before any lock is taken."""
    return [Written(draft, dump_message(draft.message)) for draft in drafts]


def head(connection: sqlite3.Connection, session_id: str) -> Head:
    """The head of one session."""
    row = connection.execute(_HEAD, (_name(session_id),)).fetchone()
    return _head(session_id, _session(row), _as_str(row[8])) if row else Head(session_id=session_id)


def sessions(connection: sqlite3.Connection, after: str, limit: int) -> tuple[Head, ...]:
    """One page of heads, in rising order of the session id."""
    rows = connection.execute(_LIST, (_name(after), limit)).fetchall()
    return tuple(_head(_as_str(row[9]), _session(row), _as_str(row[8])) for row in rows)


def page(
    connection: sqlite3.Connection,
    session_id: str,
    *,
    after: int,
    before: int | None,
    limit: int,
    marked: bool,
    epoch: int | None,
) -> list[Any]:
    """Rows of one epoch for `entry_of`, newest first."""
    bounds = (_name(session_id), epoch, after, _NEWEST if before is None else before, limit)
    return connection.execute(_PAGE_MARKED if marked else _PAGE_ALL, bounds).fetchall()


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry in a row of `page`. Raises `StoreCorrupt` when its message cannot be read."""
    seq, epoch, turn, at, tokens, counter, stored = row
    message = load_message(stored)
    return Entry(seq=seq, epoch=epoch, turn=turn, at=at, tokens=tokens, counter=_as_str(counter), message=message)


def append(connection: sqlite3.Connection, session_id: str, written: Sequence[Written]) -> tuple[Entry, ...]:
    """Store a group; what is there already is not stored again."""
    return _append(connection, session_id, _locate(connection, session_id), written)[1]


def put_state(connection: sqlite3.Connection, session_id: str, state: str, expected: int, written: Sequence[Written]) -> Head:
    """Compare and set the state, and store the group."""
    session = _locate(connection, session_id)
    if session.state_version != expected:
        actual = session.state_version
        raise StateConflict(
            f"the state of session {session_id!r} is at version {actual}, not {expected}: read the head and decide again",
            session_id=session_id,
            expected=expected,
            actual=actual,
        )
    if written:
        session, _ = _append(connection, session_id, session, written)
    session = evolve(_created(connection, session_id, session), state_version=expected + 1)
    connection.execute(
        "UPDATE sessions SET state_version = ?, state = ? WHERE key = ?", (expected + 1, _as_value(state), session.key)
    )
    return _head(session_id, session, state)


def clear(connection: sqlite3.Connection, session_id: str) -> Head:
    """Begin a new epoch."""
    session = _created(connection, session_id, _locate(connection, session_id))
    connection.execute("UPDATE sessions SET epoch = epoch + 1 WHERE key = ?", (session.key,))
    return head(connection, session_id)


def purge(connection: sqlite3.Connection, session_id: str) -> int:
    """Remove a session, and overwrite what it had with zeros; the number of its entries."""
    session = _locate(connection, session_id)
    if session.key is None:
        return 0
    connection.execute("PRAGMA secure_delete = ON")
    try:
        removed = connection.execute("DELETE FROM entries WHERE session = ?", (session.key,)).rowcount
        connection.execute("DELETE FROM sessions WHERE key = ?", (session.key,))
    finally:
        connection.execute("PRAGMA secure_delete = OFF")
    return removed


def _locate(connection: sqlite3.Connection, session_id: str) -> _Session:
    row = connection.execute(_LOCATE, (_name(session_id),)).fetchone()
    return _session(row) if row else _Session()


def _session(row: Sequence[Any]) -> _Session:
    key, epoch, state_version, last_epoch, last_seq, turn, messages, tokens = row[:8]
    if last_epoch == epoch:
        return _Session(
            key=key, epoch=epoch, state_version=state_version, last_seq=last_seq, turn=turn, messages=messages, tokens=tokens
        )
    return _Session(key=key, epoch=epoch, state_version=state_version, last_seq=last_seq or 0)


def _head(session_id: str, session: _Session, state: str) -> Head:
    return Head(
        session_id=session_id,
        epoch=session.epoch,
        last_seq=session.last_seq,
        messages=session.messages,
        tokens=session.tokens,
        turn=session.turn,
        state=state,
        state_version=session.state_version,
    )


def _created(connection: sqlite3.Connection, session_id: str, session: _Session) -> _Session:
    if session.key is not None:
        return session
    key = connection.execute(
        "INSERT INTO sessions (name, epoch, state_version, state) VALUES (CAST(? AS TEXT), 1, 0, '')", (_name(session_id),)
    ).lastrowid
    return evolve(session, key=key)


def _append(
    connection: sqlite3.Connection, session_id: str, session: _Session, written: Sequence[Written]
) -> tuple[_Session, tuple[Entry, ...]]:
    """Insert in the belief that all ids are new, which the unique index checks; look closer only when one is not."""
    if len(written) == 1 or len({item.draft.message.id for item in written}) == len(written):
        created = _created(connection, session_id, session)
        try:
            return _insert(connection, created, written)
        except sqlite3.IntegrityError:
            bounds = (session.key, session.epoch, session.last_seq)
            connection.execute("DELETE FROM entries WHERE session = ? AND epoch = ? AND seq > ?", bounds)
    known, fresh = _compare(connection, session_id, session, written)
    if fresh:
        session, entries = _insert(connection, _created(connection, session_id, session), fresh)
        known.update((entry.message.id, entry) for entry in entries)
    return session, tuple(known[item.draft.message.id] for item in written)


def _compare(
    connection: sqlite3.Connection, session_id: str, session: _Session, written: Sequence[Written]
) -> tuple[dict[str, Entry], list[Written]]:
    """The entries that are there already, by id, and what is new, each once. Raises `MessageConflict`."""
    known: dict[str, Entry] = {}
    fresh: list[Written] = []
    texts: dict[str, str] = {}
    for item in written:
        message_id = item.draft.message.id
        if message_id not in texts:
            row = connection.execute(_SAME_ID, (session.key, session.epoch, _as_value(message_id))).fetchone()
            if row:
                known[message_id], texts[message_id] = entry_of(row), row[6]
            else:
                fresh.append(item)
                texts[message_id] = item.stored
        if texts[message_id] != item.stored:
            raise MessageConflict(
                f"session {session_id!r} has a message {message_id!r} with other content; give the new one an id of its own",
                session_id=session_id,
                message_id=message_id,
            )
    return known, fresh


def _insert(connection: sqlite3.Connection, session: _Session, written: Sequence[Written]) -> tuple[_Session, tuple[Entry, ...]]:
    entries: list[Entry] = []
    rows: list[tuple[Any, ...]] = []
    key, epoch, seq, turn = session.key, session.epoch, session.last_seq, session.turn
    messages, total = session.messages, session.tokens
    for item in written:
        draft, message = item.draft, item.draft.message
        tokens, counter, at = draft.tokens, draft.counter, draft.at
        seq += 1
        if message.opens_turn:
            turn = seq
        if message.in_conversation:
            messages += 1
            total += tokens
        entries.append(Entry(seq=seq, epoch=epoch, turn=turn, at=at, tokens=tokens, counter=counter, message=message))
        value, marked = _as_value(message.id), message.marked
        rows.append((key, epoch, seq, turn, messages, total, at, tokens, _as_value(counter), marked, value, item.stored))
    connection.executemany(_INSERT, rows)
    return evolve(session, last_seq=seq, turn=turn, messages=messages, tokens=total), tuple(entries)


def _name(session_id: str) -> bytes:
    return session_id.encode("utf-8", "surrogatepass")


def _as_value(text: str) -> str | bytes:
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
