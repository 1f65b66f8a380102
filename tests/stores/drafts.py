"""Drafts and stores for the tests of this folder, and what every log must satisfy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Entry, Message

Store: TypeAlias = MemoryContextStore | SqliteContextStore

MAKERS: dict[str, Callable[[Path], Store]] = {
    "memory": lambda directory: MemoryContextStore(),
    "sqlite-process": lambda directory: SqliteContextStore(directory / "log.db"),
    "sqlite-power": lambda directory: SqliteContextStore(directory / "log.db", durability="power"),
}


def draft(id: str, text: str = "said", **more: Any) -> Draft:
    """A user message of one text, with a size that depends on its text."""
    return Draft(message=Message.user(text, id=id, **more), tokens=len(text), counter="characters", at=12.5)


def ids(entries: Sequence[Entry]) -> list[str]:
    return [entry.message.id for entry in entries]


def assert_complete(entries: Sequence[Entry], acknowledged: dict[str, int]) -> None:
    """Seq has no holes, and of each writer exactly the messages `writer-0`, `writer-1` ... are there, in this order."""
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    found: dict[str, list[int]] = {writer: [] for writer in acknowledged}
    for entry in entries:
        writer, number = entry.message.id.rsplit("-", 1)
        found[writer].append(int(number))
    assert found == {writer: list(range(count)) for writer, count in acknowledged.items()}
