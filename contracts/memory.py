"""What outlives a conversation: the port of long-term memories."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from .errors import InvalidArgument
from .facts import Fact
from .port import Port

__all__ = ["LongTermMemory", "MemoryNote", "MemoryScope"]


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


class LongTermMemory(Port):
    """Keeps what was said for good, beyond the session it was said in (R153 to R156).

    Obligations
        MEMORY-1  `flush` stores the facts of each note once: a note of a message that was flushed before, whatever facts it
                  has now, changes nothing. It returns how many notes were new.
        MEMORY-2  `flush` is atomic: all notes of a call are stored, or none is.
        MEMORY-3  `recall` returns the stored facts of the scope, the newest first, at most `limit`: with words, only facts that
                  have one of them; without, all.
        MEMORY-4  A fact comes back as it was flushed, with the note's session, epoch, message and time.
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
        What a word is, and how facts of equal time are ordered.
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
