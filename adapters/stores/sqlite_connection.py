"""A connection that remembers where sessions stand, so that neither an append nor a head has to look it up each time."""

from __future__ import annotations

import sqlite3
from typing import Any

from contextport.contracts import Head

__all__ = ["LogConnection"]

_REMEMBERED = 256  # sessions; the others are looked up, which takes three times as long


class LogConnection(sqlite3.Connection):
    """SQLite's connection with a small memory, which is good until another connection writes or a transaction fails.

    `heads` are those remembered, by session id.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heads: dict[str, Head] = {}
        self._data_version = 0
        self._others_wrote = True

    def begin(self) -> None:
        """Open a transaction for writing, and look whether another connection has written."""
        self.execute("BEGIN IMMEDIATE")
        self._look()

    def known_head(self, session_id: str) -> Head | None:
        """The head as it is in the transaction that is open, or else in the file; None if it has to be looked up."""
        if not self.in_transaction:
            self._look()
        return self.heads.get(session_id)

    def believed_head(self, session_id: str) -> Head | None:
        """The head at the last look; None if it is not known, or if others had written then, as they may again."""
        return None if self._others_wrote else self.heads.get(session_id)

    def forget(self) -> None:
        """After a transaction that came to nothing."""
        self.heads.clear()

    def _look(self) -> None:
        version: int = self.execute("PRAGMA data_version").fetchone()[0]
        self._others_wrote = version != self._data_version
        if self._others_wrote or len(self.heads) >= _REMEMBERED:
            self.heads.clear()
            self._data_version = version
