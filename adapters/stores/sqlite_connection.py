"""A connection that remembers where sessions stand, so that neither an append nor a head has to look it up each time."""

from __future__ import annotations

import sqlite3
from typing import Any

from attrs import define

__all__ = ["LogConnection", "Session"]

_REMEMBERED = 256  # sessions; the others are looked up, which takes three times as long


@define
class Session:
    """Where a session stands; `key` is None for one that was never written."""

    key: int | None = None
    epoch: int = 1
    last_seq: int = 0
    turn: int = 0
    messages: int = 0
    tokens: int = 0
    state_version: int = 0
    state: str = ""


class LogConnection(sqlite3.Connection):
    """SQLite's connection with a small memory, which is good until another connection writes or a transaction fails."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sessions: dict[str, Session] = {}
        self._data_version = 0
        self._others_wrote = True

    def begin(self) -> None:
        """Open a transaction for writing, and look whether another connection has written."""
        self.execute("BEGIN IMMEDIATE")
        self._look()

    def remembered(self) -> dict[str, Session]:
        """Sessions by id, as they are in the transaction that is open, or else in the file."""
        if not self.in_transaction:
            self._look()
        return self._sessions

    def believed(self, session_id: str) -> Session | None:
        """Where a session stood at the last look; None if it is not known, or if others had written then, as they may again."""
        return None if self._others_wrote else self._sessions.get(session_id)

    def forget(self) -> None:
        """After a transaction that came to nothing."""
        self._sessions.clear()

    def _look(self) -> None:
        version: int = self.execute("PRAGMA data_version").fetchone()[0]
        self._others_wrote = version != self._data_version
        if self._others_wrote or len(self._sessions) >= _REMEMBERED:
            self._sessions.clear()
            self._data_version = version
