"""What outlives a conversation: the port of long-term memories."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import frozen

from .errors import InvalidArgument
from .facts import Fact
from .port import Port

__all__ = ["LongTermMemory", "MemoryNote", "MemoryScope", "PersistentMemory"]


@frozen(kw_only=True)
class MemoryScope:
    """Whose memory it is: a subject, such as a user, of a tenant. Nothing is read or written across scopes."""

    subject: str
    tenant: str = ""

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.subject, str) or not self.subject or not isinstance(self.tenant, str):
            raise InvalidArgument(
                f"the scope is {self.tenant!r} / {self.subject!r}; the subject must be a non-empty string, the tenant a string",
                name="scope",
            )


@frozen(kw_only=True)
class MemoryNote:
    """What one message told for good: its facts. `at` is when it was said, in seconds since 1970.

    `session_id`, `epoch` and `message_id` together say which message it was; a note may have no facts.
    """

    session_id: str
    epoch: int
    message_id: str
    at: float
    facts: tuple[Fact, ...] = ()

    def __attrs_post_init__(self) -> None:
        names_a_message = isinstance(self.session_id, str) and isinstance(self.epoch, int) and isinstance(self.message_id, str)
        if not names_a_message or not isinstance(self.at, int | float) or not math.isfinite(self.at):
            raise InvalidArgument(
                f"a note of message {self.message_id!r}, epoch {self.epoch!r} of session {self.session_id!r}, at {self.at!r}: "
                "ids are strings, the epoch is an integer, the time is a finite number of seconds",
                name="note",
            )


class LongTermMemory(Port):
    """Keeps what was said for good, beyond the session it was said in (R153 to R156).

    Obligations
        MEMORY-1  `flush` stores the facts of each note once: a note of a message that was flushed before, whatever facts it
                  has now, changes nothing. It returns how many notes were new. The same message id in another session or
                  epoch is another message.
        MEMORY-2  `flush` is atomic: all notes of a call are stored, or none is.
        MEMORY-3  `recall` returns the stored facts of the scope, those of the latest `at` first, at most `limit`: with words,
                  only facts whose text has one of them, in upper or lower case; without, all.
        MEMORY-4  A fact comes back as it was flushed, with the note's session, epoch, message and time: text of any script,
                  U+0000 and lone surrogates.
        MEMORY-5  Scopes are separate, whatever characters tenant and subject have.
        MEMORY-6  `forget` removes what was flushed of a scope, or of one session of it, and returns how many facts there were;
                  flushed again, the same message adds nothing: what was forgotten is not learnt again.
        MEMORY-7  Flushes by many tasks at once are all stored, once.
        MEMORY-8  A backend that fails raises `MemoryUnavailable` with the foreign error as its cause; so does every call after
                  `close`, which may be repeated.
        MEMORY-9  A call that is cancelled has stored all of its notes or none, and the memory goes on working.
        MEMORY-10 A scope that was never written reads as empty; reading creates nothing.

    Caller guarantees
        Notes of one call are of different messages. `limit` is at least 1.
    Errors
        `MemoryUnavailable`. After an error nothing of the call is stored.
    Concurrency
        Any number of tasks; threads that each run their own event loop.
    Lifetime
        From construction to `close`.
    Latitude
        What a word is, beyond what stands between spaces; whether labels and earlier texts are looked through too; and how
        facts of equal time are ordered. A memory may outlive its process (`PersistentMemory`).
    """

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        """Store what messages told. Returns how many of the notes were new."""
        ...

    async def recall(self, scope: MemoryScope, words: Sequence[str] = (), *, limit: int = 64) -> tuple[MemoryNote, ...]:
        """Stored facts, as notes of one fact each, the newest first."""
        ...

    async def forget(self, scope: MemoryScope, *, session_id: str | None = None) -> int:
        """Remove facts for good. Returns how many there were."""
        ...

    async def close(self) -> None:
        """Release the backend."""
        ...


class PersistentMemory(Port):
    """A memory that outlives its process, on a backend that several processes may use at once.

    Obligations
        MEMORY-11 After `close` and after the end of the process, a memory opened on the same backend recalls the same facts and
                  takes no message twice, also of what was forgotten.
        MEMORY-12 Two memories on one backend see each other's acknowledged flushes; of the same messages, flushed in both at
                  once, each is stored once.

    Caller guarantees: none. Errors: as `LongTermMemory`. Concurrency: any number of processes. Lifetime: as `LongTermMemory`.
    Latitude: how long a call waits for another process before `MemoryUnavailable`.
    """

    @property
    def shared_backend(self) -> str:
        """Where the shared data is, for people: a path or an address without credentials."""
        ...
