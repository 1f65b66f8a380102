"""The plainest long-term memory that keeps every rule: what broken memories are made from."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence

import attrs
from attrs import define, field

from contextport.contracts import MemoryUnavailable, implements
from contextport.contracts.facts import Fact
from contextport.contracts.memory import (
    LongTermMemory,
    MemoryKind,
    MemoryNote,
    MemoryOrigin,
    MemoryScope,
    MemoryStatus,
    PersistentMemory,
    Remembered,
    normal_form,
)

__all__ = ["Backend", "ReferenceMemory", "Stored"]

_ACTIVE = MemoryStatus.ACTIVE


@define
class Stored:
    """One scope: the messages that were flushed, whatever became of their facts, and the facts as notes of one fact.

    `forgotten` has the normal forms of what is not to be learnt again; `made` is how many ids were given out.
    """

    flushed: set[tuple[str, int, str]] = field(factory=set[tuple[str, int, str]])
    facts: list[MemoryNote] = field(factory=list[MemoryNote])
    forgotten: set[str] = field(factory=set[str])
    made: int = 0


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
            return self.backend.find(self.named(scope))
        except ConnectionError as error:
            raise MemoryUnavailable("the backend does not answer") from error

    def named(self, scope: MemoryScope) -> MemoryScope:
        """What a scope is kept under."""
        return scope

    # --- flush --------------------------------------------------------------------------------------------------------

    def message_of(self, note: MemoryNote) -> tuple[str, int, str]:
        """Which message a note is of."""
        return note.session_id, note.epoch, note.message_id

    def new_among(self, notes: Sequence[MemoryNote], stored: Stored) -> list[MemoryNote]:
        """The notes of messages that were not flushed before."""
        return [note for note in notes if self.message_of(note) not in stored.flushed]

    def singly(self, note: MemoryNote) -> list[MemoryNote]:
        """Notes of one fact each, with copies of the facts."""
        return [attrs.evolve(note, facts=(self.copied(one),), done=(), replaced=()) for one in note.facts]

    def copied(self, one: Remembered) -> Remembered:
        """The fact as it is stored."""
        return attrs.evolve(one, fact=Fact.from_json(one.fact.as_json()))

    def write(self, stored: Stored, notes: Sequence[MemoryNote]) -> None:
        """Store new notes; raises before anything is stored."""
        facts = [self.singly(note) for note in notes]
        stored.flushed.update(self.message_of(note) for note in notes)
        for note, singles in zip(notes, facts, strict=True):
            self.end(stored, note)
            for single in singles:
                if self.is_wanted(stored, single.facts[0]):
                    self.put(stored, single)

    def is_wanted(self, stored: Stored, one: Remembered) -> bool:
        """Whether it may be learnt."""
        return one.origin is MemoryOrigin.HOST or normal_form(one.text) not in stored.forgotten

    def end(self, stored: Stored, note: MemoryNote) -> None:
        """Change what the note says is done or replaced."""
        for place, one in enumerate(stored.facts):
            if one.facts[0].status is _ACTIVE and one.facts[0].id in (*note.done, *note.replaced):
                status = MemoryStatus.DONE if one.facts[0].id in note.done else MemoryStatus.SUPERSEDED
                stored.facts[place] = self.with_status(one, status)

    def put(self, stored: Stored, single: MemoryNote) -> None:
        """Store a fact under an id of its own, and settle which of those about the same is active."""
        stored.made += 1
        single = attrs.evolve(single, facts=(attrs.evolve(single.facts[0], id=str(stored.made)),))
        rivals = [place for place, one in enumerate(stored.facts) if self.is_rival(one.facts[0], single.facts[0])]
        if any(stored.facts[place].at > single.at for place in rivals):
            single = self.with_status(single, MemoryStatus.SUPERSEDED)
        else:
            for place in rivals:
                stored.facts[place] = self.with_status(stored.facts[place], MemoryStatus.SUPERSEDED)
        stored.facts.append(single)

    def is_rival(self, old: Remembered, new: Remembered) -> bool:
        """Whether only one of the two can be active."""
        return new.about != "" and old.about == new.about and old.status is new.status is _ACTIVE

    def with_status(self, note: MemoryNote, status: MemoryStatus) -> MemoryNote:
        """A note of one fact with another status of it."""
        return attrs.evolve(note, facts=(attrs.evolve(note.facts[0], status=status),))

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        with self.backend.lock:
            stored = self.find(scope) or Stored()
            new = self.new_among(notes, stored)
            self.write(stored, new)
            if new:
                self.backend.scopes[self.named(scope)] = stored
            return len(new)

    # --- recall -------------------------------------------------------------------------------------------------------

    def words_in(self, one: Remembered, words: Sequence[str]) -> set[str]:
        """The words that the fact's text has."""
        return {word.casefold() for word in words} & set(one.text.casefold().split())

    async def recall(
        self,
        scope: MemoryScope,
        words: Sequence[str] = (),
        *,
        kinds: Collection[MemoryKind] | None = None,
        statuses: Collection[MemoryStatus] = (_ACTIVE,),
        limit: int = 64,
    ) -> tuple[MemoryNote, ...]:
        return self.found(scope, words, frozenset(MemoryKind) if kinds is None else kinds, statuses, limit)

    def found(
        self,
        scope: MemoryScope,
        words: Sequence[str],
        kinds: Collection[MemoryKind],
        statuses: Collection[MemoryStatus],
        limit: int,
    ) -> tuple[MemoryNote, ...]:
        """What is recalled."""
        stored = self.find(scope)
        if stored is None:
            return ()
        asked = [note for note in stored.facts if self.is_asked_for(note.facts[0], kinds, statuses)]
        return tuple(self.best(asked, words, limit))

    def is_asked_for(self, one: Remembered, kinds: Collection[MemoryKind], statuses: Collection[MemoryStatus]) -> bool:
        """Whether it is of the kinds and statuses."""
        return one.kind in kinds and one.status in statuses

    def best(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        """The facts with one of the words, those with more of them first, the newest of equals first."""
        found = [note for note in facts if not words or self.words_in(note.facts[0], words)]
        return sorted(found, key=lambda note: (len(self.words_in(note.facts[0], words)), note.at), reverse=True)[:limit]

    # --- forget -------------------------------------------------------------------------------------------------------

    async def forget(
        self, scope: MemoryScope, *, session_id: str | None = None, message_id: str | None = None, id: str | None = None
    ) -> int:
        with self.backend.lock:
            stored = self.find(scope)
            return 0 if stored is None else self.remove(stored, {"session_id": session_id, "message_id": message_id, "id": id})

    def remove(self, stored: Stored, asked: Mapping[str, str | None]) -> int:
        """Remove facts of a scope; how many there were."""
        gone = [note for note in stored.facts if self.is_named(note, asked)]
        if asked["message_id"] is not None or asked["id"] is not None:
            gone = self.with_what_says_the_same(stored, gone)
        stored.facts = [note for note in stored.facts if note not in gone]
        return len(gone)

    def is_named(self, note: MemoryNote, asked: Mapping[str, str | None]) -> bool:
        """Whether it is of all that is named."""
        own = {"session_id": note.session_id, "message_id": note.message_id, "id": note.facts[0].id}
        return all(name is None or own[what] == name for what, name in asked.items())

    def with_what_says_the_same(self, stored: Stored, gone: Sequence[MemoryNote]) -> list[MemoryNote]:
        """These and all that says the same; none of it is learnt again."""
        said = {normal_form(note.facts[0].text) for note in gone}
        stored.forgotten |= said
        return [note for note in stored.facts if normal_form(note.facts[0].text) in said]

    async def close(self) -> None:
        self.closed = True

    def second(self) -> ReferenceMemory:
        """Another memory over the same backend."""
        return type(self)(self.backend)
