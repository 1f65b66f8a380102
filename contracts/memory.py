"""What outlives a conversation: the port of long-term memories."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Sequence
from enum import StrEnum

from attrs import frozen

from .errors import InvalidArgument
from .facts import Fact
from .port import Port

__all__ = [
    "LongTermMemory",
    "MemoryKind",
    "MemoryNote",
    "MemoryOrigin",
    "MemoryScope",
    "MemoryStatus",
    "PersistentMemory",
    "Remembered",
    "normal_form",
]


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


class MemoryKind(StrEnum):
    """What something remembered is for a later conversation."""

    PROFILE = "profile"  # who the subject is: name, home, work
    PREFERENCE = "preference"  # what the subject likes, and what always or never holds: standing instructions
    FACT = "fact"  # what was settled, found or named
    TASK = "task"  # what is to be done


class MemoryOrigin(StrEnum):
    """Whose word it is."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    HOST = "host"  # the program around the conversation, such as a page of settings


class MemoryStatus(StrEnum):
    """Whether it still holds. What is forgotten has no status: it is gone."""

    ACTIVE = "active"
    DONE = "done"  # a task that is finished or was dropped
    SUPERSEDED = "superseded"  # something later took its place


@frozen(kw_only=True)
class Remembered:
    """A fact as it is kept for later conversations.

    `about` says what it tells of, such as `profile home`, where there is one answer at a time: a later one takes its place. If it
    is empty, nothing does. `id` is the memory's own name for it, unique in the scope and never used again; empty before it is
    stored.
    """

    fact: Fact
    kind: MemoryKind = MemoryKind.FACT
    origin: MemoryOrigin = MemoryOrigin.USER
    about: str = ""
    status: MemoryStatus = MemoryStatus.ACTIVE
    id: str = ""

    @property
    def text(self) -> str:
        """The words of the fact."""
        return self.fact.text


@frozen(kw_only=True)
class MemoryNote:
    """What one message told for good. `at` is when it was said, in seconds since 1970.

    `session_id`, `epoch` and `message_id` together say which message it was; a note may have no facts. `done` and `replaced` are
    the ids of what the message ends among that which the memory has: tasks that are done, and what no longer holds.
    """

    session_id: str
    epoch: int
    message_id: str
    at: float
    facts: tuple[Remembered, ...] = ()
    done: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        names_a_message = isinstance(self.session_id, str) and isinstance(self.epoch, int) and isinstance(self.message_id, str)
        if not names_a_message or not isinstance(self.at, int | float) or not math.isfinite(self.at):
            raise InvalidArgument(
                f"a note of message {self.message_id!r}, epoch {self.epoch!r} of session {self.session_id!r}, at {self.at!r}: "
                "ids are strings, the epoch is an integer, the time is a finite number of seconds",
                name="note",
            )


_SIGNS = ".,;:!?\"'()\\[\\]\u2018\u2019\u201a-\u201e\u2026\u00ab\u00bb\u3001\u3002\u300a-\u300f\u00bf\u00a1"
_BESIDE_WORDS = re.compile(rf"(?<![0-9a-z])[{_SIGNS}]+|[{_SIGNS}]+(?![0-9a-z])")


def normal_form(text: str) -> str:
    """What two texts share that say the same: compatible characters, no case, single spaces, no marks at the ends of words."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_BESIDE_WORDS.sub(" ", plain).split()) or plain


class LongTermMemory(Port):
    """Keeps what was said for good, beyond the session it was said in (R152 to R156).

    Obligations
        MEMORY-1  `flush` stores the facts of each note once: a note of a message that was flushed before, whatever it has now,
                  changes nothing. It returns how many notes were new. The same message id in another session or epoch is another
                  message.
        MEMORY-2  `flush` is atomic: all notes of a call are stored, or none is.
        MEMORY-3  `recall` returns the stored facts of the scope, at most `limit`, those of the latest `at` first: with words,
                  only facts whose text has one of them, in upper or lower case, the latest first of those that have the same
                  ones; without, all.
        MEMORY-4  A fact comes back as it was flushed, with the note's session, epoch, message and time: text of any script,
                  U+0000 and lone surrogates. Its `id` is its own, and the same each time.
        MEMORY-5  Scopes are separate, whatever characters tenant and subject have.
        MEMORY-6  `forget` removes what was flushed of a scope, or of one session of it, and returns how many facts there were;
                  flushed again, the same message adds nothing: what was forgotten is not learnt again.
        MEMORY-7  Flushes by many tasks at once are all stored, once.
        MEMORY-8  A backend that fails raises `MemoryUnavailable` with the foreign error as its cause; so does every call after
                  `close`, which may be repeated.
        MEMORY-9  A call that is cancelled has stored all of its notes or none, and the memory goes on working.
        MEMORY-10 A scope that was never written reads as empty; reading creates nothing.
        MEMORY-13 `recall` returns facts of the `kinds` and `statuses` that are asked for alone: without them, of all kinds, and
                  only those that are active. The limit counts these.
        MEMORY-14 Of active facts of a scope with the same `about`, that of the latest `at` stays active, the last flushed of
                  equal ones; the others are superseded. An empty `about` is like no other.
        MEMORY-15 A new note makes the active facts whose ids it has in `done` done, and those in `replaced` superseded. Other
                  ids, such as those of another scope, change nothing.
        MEMORY-16 `forget` with `message_id` or `id` removes the facts of such a message, or the one with that id, and all of the
                  scope that says the same, by `normal_form`. Nothing that says the same is learnt again, from any message, unless
                  its origin is the host.
        MEMORY-17 With several words, a fact that has all the words of another, and more, comes before it, whatever their times.

    Caller guarantees
        Notes of one call are of different messages. `limit` is at least 1.
    Errors
        `MemoryUnavailable`. After an error nothing of the call is stored.
    Concurrency
        Any number of tasks; threads that each run their own event loop.
    Lifetime
        From construction to `close`.
    Latitude
        What a word is, beyond what stands between spaces; whether labels and earlier texts are looked through too; how facts
        with different words are ordered, such as by how rare these are, and which of thousands of facts with a common word
        are looked at; how facts of equal time are ordered. A memory may outlive its process (`PersistentMemory`).
    """

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        """Store what messages told. Returns how many of the notes were new."""
        ...

    async def recall(
        self,
        scope: MemoryScope,
        words: Sequence[str] = (),
        *,
        kinds: Collection[MemoryKind] | None = None,
        statuses: Collection[MemoryStatus] = (MemoryStatus.ACTIVE,),
        limit: int = 64,
    ) -> tuple[MemoryNote, ...]:
        """Stored facts, as notes of one fact each: with words the best first, else the newest."""
        ...

    async def forget(
        self, scope: MemoryScope, *, session_id: str | None = None, message_id: str | None = None, id: str | None = None
    ) -> int:
        """Remove facts for good: those that are of all that is named, or else all. Returns how many there were."""
        ...

    async def close(self) -> None:
        """Release the backend."""
        ...


class PersistentMemory(Port):
    """A memory that outlives its process, on a backend that several processes may use at once.

    Obligations
        MEMORY-11 After `close` and after the end of the process, a memory opened on the same backend recalls the same facts and
                  takes no message twice, nor what was forgotten.
        MEMORY-12 Two memories on one backend see each other's acknowledged flushes; of the same messages, flushed in both at
                  once, each is stored once.

    Caller guarantees: none. Errors: as `LongTermMemory`. Concurrency: any number of processes. Lifetime: as `LongTermMemory`.
    Latitude: how long a call waits for another process before `MemoryUnavailable`.
    """

    @property
    def shared_backend(self) -> str:
        """Where the shared data is, for people: a path or an address without credentials."""
        ...
