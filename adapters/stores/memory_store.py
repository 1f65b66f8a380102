"""A store in the memory of the process: for tests, for short-lived sessions, and as the plainest reading of the port."""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left
from collections.abc import Sequence
from heapq import nsmallest

from attrs import Factory, define

from contextport.contracts import (
    ContextStore,
    Draft,
    Entry,
    Head,
    InvalidArgument,
    ListsSessions,
    Message,
    MessageConflict,
    StateConflict,
    StoreUnavailable,
    implements,
    new_id,
)
from contextport.contracts.store import make_entry, make_head
from contextport.contracts.stored_form import dump_message, same_message
from contextport.contracts.vectors import KeepsVectors, StoredVectors

from .kept_vectors import KeptVectors, check_dimensions
from .past_epoch import CHUNK, pack, unpack

__all__ = ["MemoryContextStore"]


@define
class _Epoch:
    """What has been said since the last clear; entry number n has the seq of the first plus n."""

    entries: list[Entry] = Factory(list[Entry])
    by_id: dict[str, Entry] = Factory(dict[str, Entry])
    marked: list[Entry] = Factory(list[Entry])


@define
class _PastEpoch:
    """A cleared epoch in chunks of `CHUNK` entries, each packed or still to be packed."""

    epoch: int
    first_seq: int
    count: int
    chunks: list[bytes | list[Entry]]

    def chunk(self, number: int) -> Sequence[Entry]:
        chunk = self.chunks[number]
        return unpack(chunk, self.epoch) if isinstance(chunk, bytes) else chunk


@define
class _Session:
    """A log and its head. A cleared session keeps neither lists nor dicts: a host may have very many of them."""

    epoch: int = 1
    last_seq: int = 0
    messages: int = 0
    tokens: int = 0
    turn: int = 0
    state: str = ""
    state_version: int = 0
    current: _Epoch | None = None
    past: tuple[_PastEpoch, ...] = ()
    vectors: dict[str, KeptVectors] | None = None
    incarnation: str = Factory(new_id)

    def head(self, session_id: str) -> Head:
        return make_head(
            session_id=session_id,
            epoch=self.epoch,
            last_seq=self.last_seq,
            messages=self.messages,
            tokens=self.tokens,
            turn=self.turn,
            state=self.state,
            state_version=self.state_version,
            incarnation=self.incarnation,
        )


@implements(ContextStore, ListsSessions, KeepsVectors)
class MemoryContextStore:
    """Keeps all sessions in this object until `purge`, those of cleared epochs packed to a fraction of their size.

    It is a log, not a cache: what a host wants to be forgotten, it purges. Nothing here waits or changes threads.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}
        self._lock = threading.Lock()  # event loops of several threads may share the store; never held across an await
        self._closed = False

    async def head(self, session_id: str) -> Head:
        with self._lock:
            session = self._find(session_id)
            return session.head(session_id) if session else Head(session_id=session_id)

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        with self._lock:
            session = self._find(session_id)
            if not drafts:
                return ()
            if session is None:
                session = _Session()
            entries = _append(session_id, session, drafts)
            self._sessions[session_id] = session
            return entries

    async def read(
        self,
        session_id: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 64,
        marked: bool = False,
        epoch: int | None = None,
    ) -> tuple[Entry, ...]:
        if limit < 1:
            raise InvalidArgument(f"limit is {limit}; ask for at least 1 entry", limit=limit)
        with self._lock:
            session = self._find(session_id)
            if session is None:
                return ()
            upper = session.last_seq + 1 if before is None else before
            if epoch is None or epoch == session.epoch:
                return _read_current(session.current, after, upper, limit, marked) if session.current else ()
            past = next((past for past in session.past if past.epoch == epoch), None)
        return _read_past(past, after, upper, limit, marked) if past else ()

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        with self._lock:
            session = self._find(session_id) or _Session()
            if session.state_version != expected:
                actual = session.state_version
                raise StateConflict(
                    f"the state of session {session_id!r} is at version {actual}, not {expected}: read the head and decide again",
                    session_id=session_id,
                    expected=expected,
                    actual=actual,
                )
            _append(session_id, session, drafts)
            session.state = state
            session.state_version += 1
            self._sessions[session_id] = session
            return session.head(session_id)

    async def clear(self, session_id: str) -> Head:
        with self._lock:
            session = self._find(session_id) or _Session()
            past = _past(session.epoch, session.current.entries) if session.current else None
            if past:
                session.past = (*session.past, past)
            session.epoch += 1
            session.messages = session.tokens = session.turn = 0
            session.current = session.vectors = None
            self._sessions[session_id] = session
            head = session.head(session_id)
        if past:
            await _pack(past)
        return head

    async def purge(self, session_id: str) -> int:
        with self._lock:
            session = self._find(session_id)
            if session is None:
                return 0
            del self._sessions[session_id]
            return session.last_seq

    async def close(self) -> None:
        with self._lock:
            self._closed = True
            self._sessions.clear()

    async def sessions(self, *, after: str = "", limit: int = 100) -> tuple[Head, ...]:
        if limit < 1:
            raise InvalidArgument(f"limit is {limit}; ask for at least 1 session", limit=limit)
        with self._lock:
            if self._closed:
                raise _closed()
            page = nsmallest(limit, (session_id for session_id in self._sessions if session_id > after))
            return tuple(self._sessions[session_id].head(session_id) for session_id in page)

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        with self._lock:
            session = self._find(session_id)
            if session is None or session.epoch != epoch or incarnation not in (None, session.incarnation) or not stored.places:
                return 0
            given = stored.vectors.dimensions
            kept = (session.vectors or {}).get(name) or KeptVectors(given)
            check_dimensions(name, kept.dimensions, given)
            kept.put(stored)
            session.vectors = {**(session.vectors or {}), name: kept}
            return len(stored.places)

    async def vectors(
        self, session_id: str, name: str, *, after: tuple[int, int] = (0, -1), limit: int = 1024
    ) -> StoredVectors | None:
        if limit < 1:
            raise InvalidArgument(f"limit is {limit}; ask for at least 1 vector", limit=limit)
        with self._lock:
            session = self._find(session_id)
            kept = (session.vectors or {}).get(name) if session else None
            return kept.page(after, limit) if kept else None

    def _find(self, session_id: str) -> _Session | None:
        if self._closed:
            raise _closed()
        if not session_id:
            raise InvalidArgument("the session id is empty; give each conversation an id of its own")
        return self._sessions.get(session_id)


def _closed() -> StoreUnavailable:
    return StoreUnavailable("the store is closed; open another")


def _append(session_id: str, session: _Session, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
    """Store the drafts. Where one cannot be, those before it are taken back, and everything is as it was."""
    current = session.current or _Epoch()
    by_id, epoch, seq, turn = current.by_id, session.epoch, session.last_seq, session.turn
    messages, tokens = session.messages, session.tokens
    entries: list[Entry] = []
    fresh: list[Entry] = []
    marked: list[Entry] = []
    try:
        for draft in drafts:
            message = draft.message
            entry = by_id.get(message.id)
            if entry is None:
                seq += 1
                if message.opens_turn:
                    turn = seq
                if message.in_conversation:
                    messages += 1
                    tokens += draft.tokens
                entry = by_id[message.id] = make_entry(
                    seq=seq, epoch=epoch, turn=turn, at=draft.at, tokens=draft.tokens, counter=draft.counter, message=message
                )
                fresh.append(entry)
                if message.marked:
                    marked.append(entry)
            elif not _same(entry.message, message):
                raise MessageConflict(
                    f"session {session_id!r} has a message {message.id!r} with other content; give the new one an id of its own",
                    session_id=session_id,
                    message_id=message.id,
                )
            entries.append(entry)
    except BaseException:
        for entry in fresh:
            del by_id[entry.message.id]
        raise
    if fresh:
        current.entries += fresh
        current.marked += marked
        session.last_seq, session.turn, session.messages, session.tokens = seq, turn, messages, tokens
        session.current = current
    return tuple(entries)


def _same(stored: Message, given: Message) -> bool:
    return stored is given or same_message(dump_message(stored), dump_message(given))


def _read_current(current: _Epoch, after: int, before: int, limit: int, marked: bool) -> tuple[Entry, ...]:
    if marked:
        end = bisect_left(current.marked, before, key=_seq)
        start = bisect_left(current.marked, after + 1, key=_seq)
        return tuple(current.marked[max(start, end - limit) : end])
    first = current.entries[0].seq
    end = max(0, before - first)
    start = max(0, after + 1 - first)
    return tuple(current.entries[max(start, min(end, len(current.entries)) - limit) : end])


def _seq(entry: Entry) -> int:
    return entry.seq


def _past(epoch: int, entries: list[Entry]) -> _PastEpoch:
    chunks: list[bytes | list[Entry]] = [entries[n : n + CHUNK] for n in range(0, len(entries), CHUNK)]
    return _PastEpoch(epoch, entries[0].seq, len(entries), chunks)


async def _pack(past: _PastEpoch) -> None:
    """Chunk by chunk, with other tasks in between; a chunk is readable before and after, so a cancelled call harms nothing."""
    for number in range(len(past.chunks)):
        if number:
            await asyncio.sleep(0)
        past.chunks[number] = pack(past.chunk(number))


def _read_past(past: _PastEpoch, after: int, before: int, limit: int, marked: bool) -> tuple[Entry, ...]:
    end = min(before - past.first_seq, past.count)
    start = max(0, after + 1 - past.first_seq)
    newest_first: list[Entry] = []
    for number in range((end - 1) // CHUNK, start // CHUNK - 1, -1):
        for entry in reversed(past.chunk(number)):
            if after < entry.seq < before and (entry.message.marked or not marked):
                newest_first.append(entry)
                if len(newest_first) == limit:
                    return tuple(reversed(newest_first))
    return tuple(reversed(newest_first))
