"""Notes for the tests of memories."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryNote, Remembered

__all__ = ["note", "texts", "told"]


def told(text: str) -> Fact:
    """A fact with this text."""
    return Fact(kind=FactKind.DECISION, text=text)


def note(message: str, *facts: str, session: str = "s", at: float = 5.0) -> MemoryNote:
    """A note of a message, with a fact for each text."""
    kept = tuple([Remembered(fact=told(text)) for text in facts])
    return MemoryNote(session_id=session, epoch=1, message_id=message, at=at, facts=kept)


def texts(found: Sequence[MemoryNote]) -> list[str]:
    """The texts of recalled facts."""
    return [fact.text for one in found for fact in one.facts]
