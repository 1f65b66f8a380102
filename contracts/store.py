"""The log: an append-only record per session, and the port of the stores that keep it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import field, frozen

from .constructors import constructor_of
from .messages import Message
from .port import Port

__all__ = [
    "ContextStore",
    "Draft",
    "Durable",
    "Entry",
    "Head",
    "ListsSessions",
    "SharedAcrossProcesses",
    "make_draft",
    "make_entry",
    "make_head",
]


@frozen(kw_only=True)
class Draft:
    """A message on its way into the log: with its size by the named counter, and the host's time in seconds since 1970."""

    message: Message
    tokens: int
    counter: str
    at: float


@frozen(kw_only=True)
class Entry:
    """A message in the log.

    `seq` counts from 1 per session without holes, over all epochs. `turn` is the seq of the entry that opened the turn it is
    in (its own, if it opens one), 0 before the first.
    """

    seq: int
    epoch: int
    turn: int
    at: float
    tokens: int
    counter: str
    message: Message


@frozen(kw_only=True)
class Head:
    """The state of a session, read in one step. A session that was never written has the defaults.

    `last_seq` is the newest entry of any epoch. `messages` and `tokens` sum the entries of the current epoch that are
    `in_conversation`. `turn` is the newest entry of the epoch that opens a turn, or 0. `state` is the manager's own text,
    `state_version` counts its changes. `incarnation` tells a session from one of the same id that was purged before it.
    """

    session_id: str
    epoch: int = 1
    last_seq: int = 0
    messages: int = 0
    tokens: int = 0
    turn: int = 0
    state: str = ""
    state_version: int = 0
    incarnation: str = field(default="", eq=False)


make_draft, make_entry, make_head = constructor_of(Draft), constructor_of(Entry), constructor_of(Head)


class ContextStore(Port):
    """Keeps the log of each session: what was said, in order, for good.

    Obligations
        STORE-1   `append` gives the entries consecutive seq numbers that continue the session's, in the order of the drafts.
        STORE-2   `append` is atomic: all drafts of a call are stored, next to one another, or none is.
        STORE-3   A draft whose id is in the current epoch with an equal stored form is not stored again; its entry is returned.
                  Equal is equal as JSON (`same_message`): the order of keys makes no difference.
        STORE-4   A draft whose id is in the current epoch with another stored form raises `MessageConflict`; nothing is stored.
        STORE-5   `read` returns entries of one epoch in rising seq: of those with after < seq < before, the newest `limit`.
        STORE-6   `read(marked=True)` returns only entries whose message is `marked`.
        STORE-7   A message comes back equal to what was appended: text of any script, U+0000 and lone surrogates, metadata,
                  wire form, and the draft's tokens, counter and time.
        STORE-8   `head` agrees with the log: last_seq, epoch, messages, tokens, turn. Messages and tokens are of the entries
                  whose message is `in_conversation`.
        STORE-9   `put_state` stores state and drafts in one atomic step and raises the version by one, if `expected` is the
                  stored version; otherwise it raises `StateConflict` and stores nothing.
        STORE-10  `append` never conflicts with `put_state` and leaves state and version as they are.
        STORE-11  `clear` begins a new epoch: counts are zero, older entries are read only by naming their epoch, ids may be
                  used again, seq goes on, state is kept.
        STORE-12  `purge` removes the session's entries and head and returns how many entries there were; others are untouched.
                  Written again, the session has another `incarnation`.
        STORE-13  Sessions are separate: no operation on one shows in another, whatever characters their ids have.
        STORE-14  A session that was never written reads as an empty head and no entries; reading creates nothing.
        STORE-15  Appends by many tasks at once are all stored, once, each caller's in its own order.
        STORE-16  `Entry.turn` is the seq of the newest entry of the epoch, up to itself, that opens a turn, or 0.
        STORE-17  A backend that fails raises `StoreUnavailable` or `StoreCorrupt` with the foreign error as `__cause__`. After
                  `close`, which may be repeated, every call raises `StoreUnavailable`.
        STORE-18  Two stores over different backends share nothing.
        STORE-19  A call that is cancelled has stored all of its drafts or none, and the store goes on working.

    Caller guarantees
        Session ids are non-empty strings. `limit` is at least 1. Drafts are well-formed; an empty list of drafts is a no-op.
    Errors
        `MessageConflict`, `StateConflict`, `StoreUnavailable`, `StoreCorrupt`. After an error nothing of the call is stored.
    Concurrency
        Any method may be called by any number of tasks, and by threads that each run their own event loop.
    Lifetime
        Usable from construction to `close`, which is idempotent; a later call raises `StoreUnavailable`.
    Latitude
        A store decides how it orders sessions internally, batches writes and caches. It may outlive its process or not
        (`Durable`), be shared by several (`SharedAcrossProcesses`), and list its sessions (`ListsSessions`).
    """

    async def head(self, session_id: str) -> Head:
        """The session's head, in time independent of the log's length."""
        ...

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        """Append a group of messages. Returns one entry per draft."""
        ...

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
        """A bounded part of one epoch (the current one, unless named), counted from its end."""
        ...

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        """Compare-and-set of the state, with log entries that belong to the change. Returns the new head."""
        ...

    async def clear(self, session_id: str) -> Head:
        """Begin a new epoch. Returns the new head."""
        ...

    async def purge(self, session_id: str) -> int:
        """Remove the session for good. Returns the number of entries removed."""
        ...

    async def close(self) -> None:
        """Release the backend. Everything acknowledged before is kept as the store promises."""
        ...


class ListsSessions(Port):
    """A store that can say which sessions it has.

    Obligations
        STORE-20  `sessions` returns the heads of sessions with id > `after` in rising id, at most `limit`, each once.

    Caller guarantees: `limit` is at least 1. Errors: as `ContextStore`. Concurrency: as `ContextStore`.
    Lifetime: as `ContextStore`. Latitude: ids are compared by code point.
    """

    async def sessions(self, *, after: str = "", limit: int = 100) -> tuple[Head, ...]:
        """One page of heads."""
        ...


class Durable(Port):
    """A store whose acknowledged writes outlive the process.

    Obligations
        STORE-21  After `close` and after the end of the process, a store opened on the same backend reads the same log.

    Caller guarantees: none. Errors: none. Concurrency: as `ContextStore`. Lifetime: `durability` never changes.
    Latitude: `process` means that a crash of the process loses nothing acknowledged; `power` also a loss of power.
    """

    @property
    def durability(self) -> Literal["process", "power"]:
        """What an acknowledged write survives."""
        ...


class SharedAcrossProcesses(Port):
    """A store whose backend several processes may use at once.

    Obligations
        STORE-22  Two stores on one backend see each other's acknowledged writes, and writers in both lose and repeat nothing.

    Caller guarantees: none. Errors: as `ContextStore`. Concurrency: any number of processes. Lifetime: as `ContextStore`.
    Latitude: how long a writer waits for another before `StoreUnavailable`.
    """

    @property
    def shared_backend(self) -> str:
        """Where the shared data is, for people: a path or an address without credentials."""
        ...
