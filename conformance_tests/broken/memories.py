"""Long-term memories that break one thing each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs

from contextport.conformance_tests.reference_memory import Backend, ReferenceMemory, Stored
from contextport.contracts.facts import FactState
from contextport.contracts.memory import MemoryKind, MemoryNote, MemoryScope, MemoryStatus, Remembered

from .registry import broken

__all__: list[str] = []


@broken("MEMORY-1 MEMORY-7 MEMORY-11 MEMORY-12")
class StoresRepeats(ReferenceMemory):
    """Knows a message again only after it was forgotten."""

    def new_among(self, notes: Sequence[MemoryNote], stored: Stored) -> list[MemoryNote]:
        there = {self.message_of(note) for note in stored.facts}
        return [note for note in notes if self.message_of(note) not in stored.flushed - there]


@broken("MEMORY-1")
class CountsFactsInsteadOfNotes(ReferenceMemory):
    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        with self.backend.lock:
            before = len((self.find(scope) or Stored()).facts)
            await super().flush(scope, notes)
            return len((self.find(scope) or Stored()).facts) - before


@broken("MEMORY-1 MEMORY-6 MEMORY-11 MEMORY-15")
class ForgetsMessagesWithoutFacts(ReferenceMemory):
    def write(self, stored: Stored, notes: Sequence[MemoryNote]) -> None:
        super().write(stored, [note for note in notes if note.facts])


@broken("MEMORY-1 MEMORY-12 MEMORY-16")
class AddsWhatAMessageTellsLater(ReferenceMemory):
    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        with self.backend.lock:
            new = await super().flush(scope, notes)
            stored = self.find(scope) or Stored()
            for note in notes:
                known = [one.facts[0].text for one in stored.facts if self.message_of(one) == self.message_of(note)]
                later = [fact for fact in note.facts if known and fact.text not in known]
                stored.facts.extend(self.singly(attrs.evolve(note, facts=tuple(later))))
            return new


@broken("MEMORY-1")
class KnowsMessagesByTheirIdAlone(ReferenceMemory):
    def message_of(self, note: MemoryNote) -> tuple[str, int, str]:
        return "", 0, note.message_id


class _MakesTheScopeFirst(ReferenceMemory):
    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        with self.backend.lock:
            self.find(scope)
            self.backend.scopes.setdefault(scope, Stored())
            return await super().flush(scope, notes)


@broken("MEMORY-2")
class StoresUpToTheFailure(_MakesTheScopeFirst):
    def write(self, stored: Stored, notes: Sequence[MemoryNote]) -> None:
        for note in notes:
            super().write(stored, [note])


@broken("MEMORY-2")
class MarksMessagesBeforeItStoresThem(_MakesTheScopeFirst):
    def write(self, stored: Stored, notes: Sequence[MemoryNote]) -> None:
        stored.flushed.update(self.message_of(note) for note in notes)
        super().write(stored, notes)


@broken("MEMORY-3 MEMORY-12 MEMORY-13 MEMORY-17")
class RecallsTheOldestFirst(ReferenceMemory):
    def best(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        return super().best(facts, words, 1_000_000)[::-1][:limit]


@broken("MEMORY-3 MEMORY-13 MEMORY-17")
class RecallsInTheOrderOfFlushing(ReferenceMemory):
    def best(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        return [note for note in reversed(facts) if not words or self.words_in(note.facts[0], words)][:limit]


@broken("MEMORY-3 MEMORY-17")
class LimitsBeforeItLooksForWords(ReferenceMemory):
    def best(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        return super().best(super().best(facts, (), limit), words, limit)


@broken("MEMORY-3 MEMORY-4")
class RecallsNoMoreThanAHundred(ReferenceMemory):
    def best(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        return super().best(facts, words, min(limit, 100))


@broken("MEMORY-3 MEMORY-17")
class MindsTheCaseOfWords(ReferenceMemory):
    def words_in(self, one: Remembered, words: Sequence[str]) -> set[str]:
        return set(words) & set(one.text.split())


@broken("MEMORY-3 MEMORY-17")
class WantsAllWords(ReferenceMemory):
    def words_in(self, one: Remembered, words: Sequence[str]) -> set[str]:
        found = super().words_in(one, words)
        return found if len(found) == len(words) else set()


@broken("MEMORY-3")
class FindsPiecesOfWords(ReferenceMemory):
    def words_in(self, one: Remembered, words: Sequence[str]) -> set[str]:
        pieces = {word.casefold() for word in words if len(word) > 2 and word.casefold() in one.text.casefold()}
        return pieces | super().words_in(one, words)


@broken("MEMORY-4")
class LosesTheStateOfATask(ReferenceMemory):
    def copied(self, one: Remembered) -> Remembered:
        return attrs.evolve(one, fact=attrs.evolve(one.fact, state=FactState.CURRENT))


@broken("MEMORY-4")
class LosesEarlierTexts(ReferenceMemory):
    def copied(self, one: Remembered) -> Remembered:
        return attrs.evolve(one, fact=attrs.evolve(one.fact, earlier=()))


@broken("MEMORY-4")
class ReplacesLoneSurrogates(ReferenceMemory):
    def copied(self, one: Remembered) -> Remembered:
        return attrs.evolve(one, fact=attrs.evolve(one.fact, text=one.text.encode("utf-8", "replace").decode()))


@broken("MEMORY-4")
class CutsAtTheFirstNul(ReferenceMemory):
    def singly(self, note: MemoryNote) -> list[MemoryNote]:
        return [attrs.evolve(one, message_id=one.message_id.partition("\0")[0]) for one in super().singly(note)]


@broken("MEMORY-4")
class RoundsTimes(ReferenceMemory):
    def singly(self, note: MemoryNote) -> list[MemoryNote]:
        return [attrs.evolve(one, at=round(one.at, 2)) for one in super().singly(note)]


@broken("MEMORY-4 MEMORY-6 MEMORY-14 MEMORY-15 MEMORY-16")
class KeepsOneFactOfAMessage(ReferenceMemory):
    def singly(self, note: MemoryNote) -> list[MemoryNote]:
        return super().singly(note)[:1]


@broken("MEMORY-5")
class JoinsTenantAndSubject(ReferenceMemory):
    def named(self, scope: MemoryScope) -> MemoryScope:
        return MemoryScope(subject=f"{scope.tenant}:{scope.subject}")


@broken("MEMORY-5")
class JoinsTenantAndSubjectWithNul(ReferenceMemory):
    def named(self, scope: MemoryScope) -> MemoryScope:
        return MemoryScope(subject=f"{scope.tenant}\0{scope.subject}")


@broken("MEMORY-5")
class FoldsTheCaseOfScopes(ReferenceMemory):
    def named(self, scope: MemoryScope) -> MemoryScope:
        return MemoryScope(tenant=scope.tenant.casefold(), subject=scope.subject.casefold())


@broken("MEMORY-5 MEMORY-14 MEMORY-15 MEMORY-16")
class KnowsNoTenants(ReferenceMemory):
    def named(self, scope: MemoryScope) -> MemoryScope:
        return MemoryScope(subject=scope.subject)


@broken("MEMORY-6 MEMORY-11")
class LearnsAgainWhatWasForgotten(ReferenceMemory):
    def remove(self, stored: Stored, asked: Mapping[str, str | None]) -> int:
        forgotten = super().remove(stored, asked)
        if asked["message_id"] is asked["id"] is None:
            session = asked["session_id"]
            stored.flushed = {message for message in stored.flushed if session is not None and message[0] != session}
        return forgotten


@broken("MEMORY-5 MEMORY-6")
class ForgetsASubjectInAllTenants(ReferenceMemory):
    def remove(self, stored: Stored, asked: Mapping[str, str | None]) -> int:
        if all(name is None for name in asked.values()):
            for other in self.backend.scopes.values():
                other.facts = other.facts if other is stored else []
        return super().remove(stored, asked)


@broken("MEMORY-6 MEMORY-11 MEMORY-16")
class ForgetsTheWholeScope(ReferenceMemory):
    def remove(self, stored: Stored, asked: Mapping[str, str | None]) -> int:
        if asked["session_id"] is None or asked["session_id"] not in {note.session_id for note in stored.facts}:
            return super().remove(stored, asked)
        return super().remove(stored, {**asked, "session_id": None})


@broken("MEMORY-6 MEMORY-14 MEMORY-15 MEMORY-16")
class FindsByWordsWhatWasThereAtTheFlush(ReferenceMemory):
    """Keeps what is found by words apart, and does not change it but by a flush."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.index: dict[MemoryScope, list[MemoryNote]] = {}

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        new = await super().flush(scope, notes)
        known = {note.facts[0].id for note in self.index.get(scope, [])}
        added = [note for note in (self.find(scope) or Stored()).facts if note.facts[0].id not in known]
        self.index.setdefault(scope, []).extend(added)
        return new

    def found(
        self,
        scope: MemoryScope,
        words: Sequence[str],
        kinds: Collection[MemoryKind],
        statuses: Collection[MemoryStatus],
        limit: int,
    ) -> tuple[MemoryNote, ...]:
        found = super().found(scope, words, kinds, statuses, limit)
        if not words or scope not in self.index:
            return found
        return tuple(self.best([n for n in self.index[scope] if self.is_asked_for(n.facts[0], kinds, statuses)], words, limit))


@broken("MEMORY-6")
class CountsForgottenMessages(ReferenceMemory):
    def remove(self, stored: Stored, asked: Mapping[str, str | None]) -> int:
        if asked["message_id"] is not None or asked["id"] is not None:
            return super().remove(stored, asked)
        messages = {self.message_of(note) for note in stored.facts if self.is_named(note, asked)}
        super().remove(stored, asked)
        return len(messages)
