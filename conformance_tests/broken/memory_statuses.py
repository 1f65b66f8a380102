"""Long-term memories that break one thing each about what still holds: kinds, statuses, what takes a place, what is forgotten."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from contextport.conformance_tests.reference_memory import ReferenceMemory, Stored
from contextport.contracts.memory import MemoryKind, MemoryNote, MemoryOrigin, MemoryScope, MemoryStatus, Remembered

from .registry import broken

__all__: list[str] = []


@broken("MEMORY-13")
class LooksAtKindsAfterTheLimit(ReferenceMemory):
    def found(
        self,
        scope: MemoryScope,
        words: Sequence[str],
        kinds: Collection[MemoryKind],
        statuses: Collection[MemoryStatus],
        limit: int,
    ) -> tuple[MemoryNote, ...]:
        found = super().found(scope, words, frozenset(MemoryKind), statuses, limit)
        return tuple([note for note in found if note.facts[0].kind in kinds])


@broken("MEMORY-13")
class TakesNoKindsForAll(ReferenceMemory):
    def is_asked_for(self, one: Remembered, kinds: Collection[MemoryKind], statuses: Collection[MemoryStatus]) -> bool:
        return super().is_asked_for(one, kinds or frozenset(MemoryKind), statuses)


@broken("MEMORY-13 MEMORY-14 MEMORY-15")
class RecallsWhatIsSuperseded(ReferenceMemory):
    def is_asked_for(self, one: Remembered, kinds: Collection[MemoryKind], statuses: Collection[MemoryStatus]) -> bool:
        return one.kind in kinds and (one.status in statuses or one.status is MemoryStatus.SUPERSEDED)


@broken("MEMORY-14")
class GoesByTheOrderOfFlushes(ReferenceMemory):
    def put(self, stored: Stored, single: MemoryNote) -> None:
        times = {note.facts[0].id: note.at for note in stored.facts}
        stored.facts = [attrs.evolve(note, at=min(note.at, single.at)) for note in stored.facts]
        super().put(stored, single)
        stored.facts = [attrs.evolve(note, at=times.get(note.facts[0].id, note.at)) for note in stored.facts]


@broken("MEMORY-14")
class TellsKindsApart(ReferenceMemory):
    def is_rival(self, old: Remembered, new: Remembered) -> bool:
        return super().is_rival(old, new) and old.kind is new.kind


@broken("MEMORY-4 MEMORY-13 MEMORY-14 MEMORY-15 MEMORY-16")
class RemovesWhatIsSuperseded(ReferenceMemory):
    def write(self, stored: Stored, notes: Sequence[MemoryNote]) -> None:
        super().write(stored, notes)
        stored.facts = [note for note in stored.facts if note.facts[0].status is not MemoryStatus.SUPERSEDED]


@broken("MEMORY-14")
class TakesAllThatIsAboutNothingForOne(ReferenceMemory):
    """Of the facts of one subject of conversation that is known, and of all others, one is active."""

    def is_rival(self, old: Remembered, new: Remembered) -> bool:
        both = old.status is new.status is MemoryStatus.ACTIVE
        return both and old.about == new.about and (new.about != "" or "likes" in new.text)


@broken("MEMORY-14")
class ReplacesWhateverTheStatus(ReferenceMemory):
    def is_rival(self, old: Remembered, new: Remembered) -> bool:
        return new.about != "" and old.about == new.about and old.status is MemoryStatus.ACTIVE


@broken("MEMORY-15")
class EndsNothing(ReferenceMemory):
    def end(self, stored: Stored, note: MemoryNote) -> None:
        return


@broken("MEMORY-15")
class EndsWhatWasEndedBefore(ReferenceMemory):
    def end(self, stored: Stored, note: MemoryNote) -> None:
        ended = {one.facts[0].id for one in stored.facts if one.facts[0].status is not MemoryStatus.ACTIVE}
        for place, one in enumerate(stored.facts):
            if one.facts[0].id in ended.intersection((*note.done, *note.replaced)):
                stored.facts[place] = self.with_status(one, MemoryStatus.ACTIVE)
        super().end(stored, note)


@broken("MEMORY-15")
class EndsByAMessageThatIsNotNew(ReferenceMemory):
    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        new = await super().flush(scope, notes)
        for note in notes:
            self.end(self.find(scope) or Stored(), note)
        return new


@broken("MEMORY-15")
class TakesDoneForReplaced(ReferenceMemory):
    def end(self, stored: Stored, note: MemoryNote) -> None:
        super().end(stored, attrs.evolve(note, done=(), replaced=(*note.done, *note.replaced)))


@broken("MEMORY-11 MEMORY-16")
class ForgetsTheMessageButNotWhatItSaid(ReferenceMemory):
    def with_what_says_the_same(self, stored: Stored, gone: Sequence[MemoryNote]) -> list[MemoryNote]:
        return list(gone)


@broken("MEMORY-11 MEMORY-16")
class LearnsWhatIsForgottenFromOthers(ReferenceMemory):
    def is_wanted(self, stored: Stored, one: Remembered) -> bool:
        return True


@broken("MEMORY-16")
class KnowsWhatIsForgottenByItsVeryWords(ReferenceMemory):
    def is_wanted(self, stored: Stored, one: Remembered) -> bool:
        return super().is_wanted(stored, one) or (
            one.text != one.text.casefold() and "  " not in one.text and one.text[-1] != "."
        )


@broken("MEMORY-16")
class KeepsTheHostFromRemembering(ReferenceMemory):
    def is_wanted(self, stored: Stored, one: Remembered) -> bool:
        return super().is_wanted(stored, attrs.evolve(one, origin=MemoryOrigin.USER))


@broken("MEMORY-16")
class DropsAllOfANoteThatRepeatsWhatIsForgotten(ReferenceMemory):
    def write(self, stored: Stored, notes: Sequence[MemoryNote]) -> None:
        wanted = [note for note in notes if all(self.is_wanted(stored, one) for one in note.facts)]
        stored.flushed.update(self.message_of(note) for note in notes)
        super().write(stored, wanted)


@broken("MEMORY-16")
class GivesIdsAgain(ReferenceMemory):
    def put(self, stored: Stored, single: MemoryNote) -> None:
        used = {int(note.facts[0].id) for note in stored.facts}
        stored.made = next(n for n in range(len(used) + 1) if n + 1 not in used)
        super().put(stored, single)


@broken("MEMORY-3 MEMORY-17")
class RanksByTimeAlone(ReferenceMemory):
    def best(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        found = [note for note in facts if not words or self.words_in(note.facts[0], words)]
        return super().best(found, (), limit)


@broken("MEMORY-17")
class LooksAtTheNewestOfEachWord(ReferenceMemory):
    def best(self, facts: Sequence[MemoryNote], words: Sequence[str], limit: int) -> Sequence[MemoryNote]:
        newest = [note for word in words for note in super(LooksAtTheNewestOfEachWord, self).best(facts, [word], max(limit, 64))]
        seen = {note.facts[0].id: note for note in newest} if words else {}
        counts = {id: sum([note.facts[0].id == id for note in newest]) for id in seen}
        if not words:
            return super().best(facts, words, limit)
        return sorted(seen.values(), key=lambda note: (counts[note.facts[0].id], note.at), reverse=True)[:limit]
