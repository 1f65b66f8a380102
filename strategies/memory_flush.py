"""The way of what was said into long-term memory: the one way, whoever takes it (R153)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from contextport.contracts.memory import LongTermMemory, MemoryKind, MemoryScope
from contextport.contracts.store import Entry

from .memory_notes import notes_for

__all__ = ["flush_entries"]

# Kinds of what a message may end in other words than its own, and how many of the newest of these are shown to it.
_MAY_END = (((MemoryKind.TASK, MemoryKind.PREFERENCE), 512), ((MemoryKind.FACT,), 256))


async def flush_entries(memory: LongTermMemory, scope: MemoryScope, entries: Sequence[Entry], *, session_id: str) -> int:
    """Store what entries of a session told for good, and end what they say is done or changed. Returns how many were new.

    Raises what the memory raises; then nothing was stored.
    """
    standing = [note for kinds, most in _MAY_END for note in await memory.recall(scope, kinds=kinds, limit=most)]
    notes = await asyncio.to_thread(notes_for, entries, session_id=session_id, standing=standing)
    return await memory.flush(scope, notes)
