"""The entries of a cleared epoch, packed: nobody serves them again, but they stay readable until the session is purged."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import cast

from contextport.contracts import Entry
from contextport.contracts.stored_form import dump_message, load_message

__all__ = ["CHUNK", "pack", "unpack"]

CHUNK = 64  # entries; half a millisecond of packing, and enough text for compression to pay


def pack(entries: Sequence[Entry]) -> bytes:
    """Entries of one epoch as one compressed text."""
    rows = [(e.seq, e.turn, e.at, e.tokens, e.counter, dump_message(e.message)) for e in entries]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), level=1)


def unpack(packed: bytes, epoch: int) -> tuple[Entry, ...]:
    """The entries that were packed."""
    rows = cast(list[tuple[int, int, float, int, str, str]], json.loads(zlib.decompress(packed)))
    return tuple(_entry(epoch, *row) for row in rows)


def _entry(epoch: int, seq: int, turn: int, at: float, tokens: int, counter: str, stored: str) -> Entry:
    message = load_message(stored)
    return Entry(seq=seq, epoch=epoch, turn=turn, at=at, tokens=tokens, counter=counter, message=message)
