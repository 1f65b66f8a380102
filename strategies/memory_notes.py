"""What of a message is worth keeping beyond its session."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.contracts import Entry, MemoryNote

__all__ = ["notes_for"]


def notes_for(entries: Sequence[Entry], *, session_id: str) -> tuple[MemoryNote, ...]:
    """One note for each message."""
    return tuple(
        [MemoryNote(session_id=session_id, epoch=e.epoch, message_id=e.message.id, at=e.at) for e in entries]
    )
