"""Long-term memories that break one thing each."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from contextport.conformance_tests.reference_memory import Backend, ReferenceMemory, Stored
from contextport.contracts.facts import Fact, FactState
from contextport.contracts.memory import MemoryNote, MemoryScope

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


@broken("MEMORY-1 MEMORY-6 MEMORY-11")
class ForgetsMessagesWithoutFacts(ReferenceMemory):
    def write(self, stored: Stored, notes: Sequence[MemoryNote]) -> None:
        super().write(stored, [note for note in notes if note.facts])


@broken("MEMORY-1 MEMORY-12")
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


@broken("MEMORY-3 MEMORY-12")
class RecallsTheOldestFirst(ReferenceMemory):
    def newest(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        return super().newest(facts, words, 1_000_000)[::-1][:limit]


@broken("MEMORY-3")
class RecallsInTheOrderOfFlushing(ReferenceMemory):
    def newest(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        return [note for note in reversed(facts) if not words or self.has_word(note.facts[0], words)][:limit]


@broken("MEMORY-3")
class LimitsBeforeItLooksForWords(ReferenceMemory):
    def newest(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        return super().newest(super().newest(facts, (), limit), words, limit)


@broken("MEMORY-3")
class RecallsNoMoreThanAHundred(ReferenceMemory):
    def newest(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        return super().newest(facts, words, min(limit, 100))


@broken("MEMORY-3")
class MindsTheCaseOfWords(ReferenceMemory):
    def has_word(self, fact: Fact, words: Sequence[str]) -> bool:
        return any(word in fact.text.split() for word in words)


@broken("MEMORY-3")
class WantsAllWords(ReferenceMemory):
    def has_word(self, fact: Fact, words: Sequence[str]) -> bool:
        return all(super(WantsAllWords, self).has_word(fact, [word]) for word in words)


@broken("MEMORY-3")
class FindsPiecesOfWords(ReferenceMemory):
    def has_word(self, fact: Fact, words: Sequence[str]) -> bool:
        return any(word.casefold() in fact.text.casefold() for word in words if len(word) > 2) or super().has_word(fact, words)


@broken("MEMORY-4")
class LosesTheStateOfATask(ReferenceMemory):
    def copied(self, fact: Fact) -> Fact:
        return attrs.evolve(super().copied(fact), state=FactState.CURRENT)


@broken("MEMORY-4")
class LosesEarlierTexts(ReferenceMemory):
    def copied(self, fact: Fact) -> Fact:
        return attrs.evolve(super().copied(fact), earlier=())


@broken("MEMORY-4")
class ReplacesLoneSurrogates(ReferenceMemory):
    def copied(self, fact: Fact) -> Fact:
        return attrs.evolve(super().copied(fact), text=fact.text.encode("utf-8", "replace").decode())


@broken("MEMORY-4")
class CutsAtTheFirstNul(ReferenceMemory):
    def singly(self, note: MemoryNote) -> list[MemoryNote]:
        return [attrs.evolve(one, message_id=one.message_id.partition("\0")[0]) for one in super().singly(note)]


@broken("MEMORY-4")
class RoundsTimes(ReferenceMemory):
    def singly(self, note: MemoryNote) -> list[MemoryNote]:
        return [attrs.evolve(one, at=round(one.at, 2)) for one in super().singly(note)]


@broken("MEMORY-4 MEMORY-6")
class KeepsOneFactOfAMessage(ReferenceMemory):
    def singly(self, note: MemoryNote) -> list[MemoryNote]:
        return super().singly(note)[:1]


class _Renames(ReferenceMemory):
    """Looks scopes up by another name."""

    def named(self, scope: MemoryScope) -> MemoryScope:
        return scope

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        return await super().flush(self.named(scope), notes)

    async def recall(self, scope: MemoryScope, words: Sequence[str] = (), *, limit: int = 64) -> tuple[MemoryNote, ...]:
        return await super().recall(self.named(scope), words, limit=limit)

    async def forget(self, scope: MemoryScope, *, session_id: str | None = None) -> int:
        return await super().forget(self.named(scope), session_id=session_id)


@broken("MEMORY-5")
class JoinsTenantAndSubject(_Renames):
    def named(self, scope: MemoryScope) -> MemoryScope:
        return MemoryScope(subject=f"{scope.tenant}:{scope.subject}")


@broken("MEMORY-5")
class JoinsTenantAndSubjectWithNul(_Renames):
    def named(self, scope: MemoryScope) -> MemoryScope:
        return MemoryScope(subject=f"{scope.tenant}\0{scope.subject}")


@broken("MEMORY-5")
class FoldsTheCaseOfScopes(_Renames):
    def named(self, scope: MemoryScope) -> MemoryScope:
        return MemoryScope(tenant=scope.tenant.casefold(), subject=scope.subject.casefold())


@broken("MEMORY-5")
class KnowsNoTenants(_Renames):
    def named(self, scope: MemoryScope) -> MemoryScope:
        return MemoryScope(subject=scope.subject)


@broken("MEMORY-6 MEMORY-11")
class LearnsAgainWhatWasForgotten(ReferenceMemory):
    async def forget(self, scope: MemoryScope, *, session_id: str | None = None) -> int:
        forgotten = await super().forget(scope, session_id=session_id)
        stored = self.find(scope) or Stored()
        stored.flushed = {message for message in stored.flushed if session_id is not None and message[0] != session_id}
        return forgotten


@broken("MEMORY-5 MEMORY-6")
class ForgetsASubjectInAllTenants(ReferenceMemory):
    async def forget(self, scope: MemoryScope, *, session_id: str | None = None) -> int:
        for other in list(self.backend.scopes):
            if other != scope and session_id is None:
                await super().forget(other)
        return await super().forget(scope, session_id=session_id)


@broken("MEMORY-6")
class ForgetsTheWholeScope(ReferenceMemory):
    async def forget(self, scope: MemoryScope, *, session_id: str | None = None) -> int:
        there = await self.recall(scope, limit=1_000)
        known = session_id is None or any(note.session_id == session_id for note in there)
        return await super().forget(scope) if known else 0


@broken("MEMORY-6")
class FindsWhatWasForgottenByItsWords(ReferenceMemory):
    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.index: dict[MemoryScope, list[MemoryNote]] = {}

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        new = await super().flush(scope, notes)
        stored = self.find(scope) or Stored()
        self.index[scope] = list(stored.facts)
        return new

    async def recall(self, scope: MemoryScope, words: Sequence[str] = (), *, limit: int = 64) -> tuple[MemoryNote, ...]:
        found = await super().recall(scope, words, limit=limit)
        return found or tuple(self.newest(self.index.get(scope, ()), words, limit) if words else ())


@broken("MEMORY-6")
class CountsForgottenMessages(ReferenceMemory):
    async def forget(self, scope: MemoryScope, *, session_id: str | None = None) -> int:
        of_session = [note for note in await self.recall(scope, limit=1_000) if session_id in (None, note.session_id)]
        await super().forget(scope, session_id=session_id)
        return len({self.message_of(note) for note in of_session})
