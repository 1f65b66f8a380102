"""The plainest long-term memory that keeps every rule: what broken memories are made from."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import attrs
from attrs import define, field

from contextport.contracts import MemoryUnavailable, implements
from contextport.contracts.facts import Fact
from contextport.contracts.memory import LongTermMemory, MemoryNote, MemoryScope, PersistentMemory

__all__ = ["Backend", "ReferenceMemory", "Stored"]


@define
class Stored:
    """One scope: the messages that were flushed, whatever became of their facts, and the facts as notes of one fact."""

    flushed: set[tuple[str, int, str]] = field(factory=set[tuple[str, int, str]])
    facts: list[MemoryNote] = field(factory=list[MemoryNote])


@define
class Backend:
    """What memories of one backend share. `down` makes each access fail."""

    scopes: dict[MemoryScope, Stored] = field(factory=dict[MemoryScope, Stored])
    down: bool = False
    lock: threading.RLock = field(factory=threading.RLock)  # event loops of several threads may share the backend

    def find(self, scope: MemoryScope) -> Stored | None:
        """What is stored of a scope, if it was ever written."""
        if self.down:
            raise ConnectionError("the backend is down")
        return self.scopes.get(scope)


@implements(LongTermMemory, PersistentMemory)
class ReferenceMemory:
    """Keeps facts in lists and looks through them. No call waits, so no two calls mix."""

    shared_backend = "an object of this process"

    def __init__(self, backend: Backend | None = None) -> None:
        self.backend = backend if backend is not None else Backend()
        self.closed = False

    def find(self, scope: MemoryScope) -> Stored | None:
        """What is stored of a scope, with the backend's errors mapped."""
        if self.closed:
            raise MemoryUnavailable("the memory is closed")
        try:
            return self.backend.find(scope)
        except ConnectionError as error:
            raise MemoryUnavailable("the backend does not answer") from error

    def message_of(self, note: MemoryNote) -> tuple[str, int, str]:
        """Which message a note is of."""
        return note.session_id, note.epoch, note.message_id

    def new_among(self, notes: Sequence[MemoryNote], stored: Stored) -> list[MemoryNote]:
        """The notes of messages that were not flushed before."""
        return [note for note in notes if self.message_of(note) not in stored.flushed]

    def singly(self, note: MemoryNote) -> list[MemoryNote]:
        """Notes of one fact each, with copies of the facts."""
        return [attrs.evolve(note, facts=(self.copied(fact),)) for fact in note.facts]

    def copied(self, fact: Fact) -> Fact:
        """The fact as it is stored."""
        return Fact.from_json(fact.as_json())

    def write(self, stored: Stored, notes: Sequence[MemoryNote]) -> None:
        """Store new notes; raises before anything is stored."""
        facts = [single for note in notes for single in self.singly(note)]
        stored.flushed.update(self.message_of(note) for note in notes)
        stored.facts.extend(facts)

    def has_word(self, fact: Fact, words: Sequence[str]) -> bool:
        """Whether the fact's text has one of the words."""
        own = fact.text.casefold().split()
        return any(word.casefold() in own for word in words)

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        with self.backend.lock:
            stored = self.find(scope) or Stored()
            new = self.new_among(notes, stored)
            self.write(stored, new)
            if new:
                self.backend.scopes[scope] = stored
            return len(new)

    async def recall(self, scope: MemoryScope, words: Sequence[str] = (), *, limit: int = 64) -> tuple[MemoryNote, ...]:
        stored = self.find(scope)
        return tuple(self.newest(stored.facts, words, limit)) if stored else ()

    def newest(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        """The facts with one of the words, the newest first."""
        found = [note for note in facts if not words or self.has_word(note.facts[0], words)]
        return sorted(found, key=lambda note: note.at, reverse=True)[:limit]

    async def forget(self, scope: MemoryScope, *, session_id: str | None = None) -> int:
        with self.backend.lock:
            stored = self.find(scope)
            if stored is None:
                return 0
            kept = [note for note in stored.facts if session_id is not None and note.session_id != session_id]
            forgotten = len(stored.facts) - len(kept)
            stored.facts = kept
            return forgotten

    async def close(self) -> None:
        self.closed = True

    def second(self) -> ReferenceMemory:
        """Another memory over the same backend."""
        return type(self)(self.backend)
