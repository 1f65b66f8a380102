"""The plainest store that keeps every rule: the model that others are compared with, and what broken stores are made from."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Literal

from attrs import define, field

from contextport.contracts import (
    ContextStore,
    Draft,
    Durable,
    Entry,
    Head,
    ListsSessions,
    MessageConflict,
    SharedAcrossProcesses,
    StateConflict,
    StoreCorrupt,
    StoreUnavailable,
    dump_message,
    implements,
    load_message,
    new_id,
    same_message,
)

__all__ = ["Backend", "Log", "ReferenceStore"]


@define
class Log:
    """One session: all entries of all epochs, and the head's state."""

    entries: list[Entry] = field(factory=list[Entry])
    epoch: int = 1
    last_seq: int = 0
    state: str = ""
    state_version: int = 0
    incarnation: str = field(factory=new_id)

    def current(self) -> list[Entry]:
        """The entries of the current epoch."""
        return [entry for entry in self.entries if entry.epoch == self.epoch]


@define
class Backend:
    """What stores of one backend share. `down` makes each access fail, `corrupt` makes what is read unreadable."""

    logs: dict[str, Log] = field(factory=dict[str, Log])
    down: bool = False
    corrupt: bool = False
    lock: threading.RLock = field(factory=threading.RLock)  # event loops of several threads may share the backend

    def log(self, session_id: str) -> Log | None:
        """The session's log, if it was ever written."""
        if self.down:
            raise ConnectionError("the backend is down")
        if self.corrupt:
            raise ValueError("the backend holds something else")
        return self.logs.get(session_id)


@implements(ContextStore, ListsSessions, Durable, SharedAcrossProcesses)
class ReferenceStore:
    """Keeps entries in lists and looks through them. No call waits, so no two calls mix."""

    durability: Literal["process", "power"] = "process"
    shared_backend = "an object of this process"

    def __init__(self, backend: Backend | None = None) -> None:
        self.backend = backend if backend is not None else Backend()
        self.closed = False

    def find(self, session_id: str) -> Log | None:
        """The log, with the backend's errors mapped."""
        if self.closed:
            raise StoreUnavailable("the store is closed")
        try:
            return self.backend.log(session_id)
        except ConnectionError as error:
            raise StoreUnavailable("the backend does not answer") from error
        except ValueError as error:
            raise StoreCorrupt("the backend holds something else") from error

    def find_or_make(self, session_id: str) -> Log:
        """The log that a write goes to."""
        log = self.find(session_id)
        return log if log is not None else self.backend.logs.setdefault(session_id, Log())

    def head_of(self, session_id: str, log: Log) -> Head:
        """The head, recounted from the log."""
        said = [entry for entry in log.current() if entry.message.in_conversation]
        return Head(
            session_id=session_id,
            epoch=log.epoch,
            last_seq=log.last_seq,
            messages=len(said),
            tokens=sum(entry.tokens for entry in said),
            turn=max((entry.seq for entry in log.current() if entry.message.opens_turn), default=0),
            state=log.state,
            state_version=log.state_version,
            incarnation=log.incarnation,
        )

    def stored(self, draft: Draft, log: Log, seq: int, turn: int) -> Entry:
        """The entry of a draft, with a message of its own."""
        return Entry(
            seq=seq,
            epoch=log.epoch,
            turn=seq if draft.message.opens_turn else turn,
            at=draft.at,
            tokens=draft.tokens,
            counter=draft.counter,
            message=load_message(dump_message(draft.message)),
        )

    def plan(self, session_id: str, log: Log, drafts: Sequence[Draft]) -> tuple[list[Entry], list[Entry]]:
        """(one entry per draft, the new ones among them); raises before anything is stored."""
        known = {entry.message.id: entry for entry in log.current()}
        turn = max((entry.seq for entry in log.current() if entry.message.opens_turn), default=0)
        seq = log.last_seq
        answer: list[Entry] = []
        new: list[Entry] = []
        for draft in drafts:
            entry = known.get(draft.message.id)
            if entry is None:
                seq += 1
                entry = self.stored(draft, log, seq, turn)
                turn = entry.turn
                known[draft.message.id] = entry
                new.append(entry)
            elif not self.same(entry, draft):
                raise MessageConflict(
                    f"message {draft.message.id!r} is in session {session_id!r} with other content",
                    message_id=draft.message.id,
                )
            answer.append(entry)
        return answer, new

    def same(self, entry: Entry, draft: Draft) -> bool:
        """Whether a draft says again what is stored."""
        return same_message(dump_message(entry.message), dump_message(draft.message))

    def write(self, log: Log, new: Sequence[Entry]) -> None:
        """Store planned entries."""
        log.entries.extend(new)
        log.last_seq += len(new)

    async def head(self, session_id: str) -> Head:
        log = self.find(session_id)
        return self.head_of(session_id, log) if log else Head(session_id=session_id)

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        with self.backend.lock:
            log = self.find(session_id) or Log()
            answer, new = self.plan(session_id, log, drafts)
            if new:
                self.write(log, new)
                self.backend.logs[session_id] = log
            return tuple(answer)

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
        log = self.find(session_id)
        if log is None:
            return ()
        wanted = log.epoch if epoch is None else epoch
        found = [
            entry
            for entry in log.entries
            if entry.epoch == wanted
            and entry.seq > after
            and (before is None or entry.seq < before)
            and (not marked or entry.message.marked)
        ]
        return tuple(found[-limit:])

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        with self.backend.lock:
            log = self.find(session_id) or Log()
            if log.state_version != expected:
                raise StateConflict(
                    f"the state is at version {log.state_version}, not {expected}", expected=expected, actual=log.state_version
                )
            _, new = self.plan(session_id, log, drafts)
            self.write(log, new)
            log.state, log.state_version = state, log.state_version + 1
            self.backend.logs[session_id] = log
            return self.head_of(session_id, log)

    async def clear(self, session_id: str) -> Head:
        log = self.find_or_make(session_id)
        log.epoch += 1
        return self.head_of(session_id, log)

    async def purge(self, session_id: str) -> int:
        log = self.find(session_id)
        if log is None:
            return 0
        del self.backend.logs[session_id]
        return len(log.entries)

    async def close(self) -> None:
        self.closed = True

    async def sessions(self, *, after: str = "", limit: int = 100) -> tuple[Head, ...]:
        self.find("")
        page = sorted(session_id for session_id in self.backend.logs if session_id > after)[:limit]
        return tuple(self.head_of(session_id, self.backend.logs[session_id]) for session_id in page)

    def second(self) -> ReferenceStore:
        """Another store over the same backend."""
        return type(self)(self.backend)
