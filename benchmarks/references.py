"""What the machine allows: the same work in a few lines of plain Python, without ids, checks, pins, pairs or receipts.

Each keeps the newest messages that fit a budget. A goal is a ratio to one of these, measured in the same run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any, Literal

from workload import Chat

from contextport.contracts import TokenCounter, from_chat

__all__ = ["Count", "IncrementalReference", "SqlReference", "WalkReference", "quarter", "raw_tables", "raw_tail", "sized_by"]

Count = Callable[[Chat], int]


def quarter(chat: Chat) -> int:
    """The usual rule of thumb, four characters to the token: the cheapest counter there is."""
    return len(chat.get("content") or "") // 4 + 4


def sized_by(counter: TokenCounter) -> Count:
    """Our counter for the references, so that they differ from us in nothing but what is measured."""
    return lambda chat: (
        counter.count_message(from_chat(chat)) if "tool_calls" in chat else counter.count_text(chat["content"]) + 4
    )


class WalkReference:
    """`ref_walk`: counts kept beside the messages; each turn walks back from the end until the budget is spent."""

    def __init__(self, count: Count, budget: int) -> None:
        self.count, self.budget = count, budget
        self.messages: list[Chat] = []
        self.sizes: list[int] = []

    def turn(self, chat: Chat) -> list[Chat]:
        self.messages.append(chat)
        self.sizes.append(self.count(chat))
        return self.newest()

    def newest(self) -> list[Chat]:
        start, left = len(self.sizes), self.budget
        while start and self.sizes[start - 1] <= left:
            start -= 1
            left -= self.sizes[start]
        return self.messages[start:]


class IncrementalReference(WalkReference):
    """`ref_inc`: a start that only moves forward, with a running total."""

    start = total = 0

    def newest(self) -> list[Chat]:
        self.total += self.sizes[-1]
        while self.total > self.budget:
            self.total -= self.sizes[self.start]
            self.start += 1
        return self.messages[self.start :]


def raw_tables(path: str, synchronous: Literal["NORMAL", "FULL"]) -> sqlite3.Connection:
    """A file with one table of messages, indexed by session."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(f"PRAGMA synchronous = {synchronous}")
    database.execute("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, session TEXT, size INTEGER, data TEXT)")
    database.execute("CREATE INDEX IF NOT EXISTS by_session ON messages (session, id)")
    return database


class SqlReference(WalkReference):
    """`ref_sql_cached`: each message committed to SQLite on its own, the window walked in memory."""

    def __init__(self, count: Count, budget: int, path: str, synchronous: Literal["NORMAL", "FULL"]) -> None:
        super().__init__(count, budget)
        self.database = raw_tables(path, synchronous)

    def turn(self, chat: Chat) -> list[Chat]:
        size = self.count(chat)
        row = ("s", size, json.dumps(chat, ensure_ascii=False))
        self.database.execute("INSERT INTO messages (session, size, data) VALUES (?, ?, ?)", row)
        self.messages.append(chat)
        self.sizes.append(size)
        return self.newest()


def raw_tail(path: str, session: str, budget: int) -> list[Any]:
    """`raw`: open the file, read back from the end of a session until the budget is spent, decode what was read."""
    database = sqlite3.connect(path)
    rows = database.execute("SELECT size, data FROM messages WHERE session = ? ORDER BY id DESC", (session,))
    newest: list[Any] = []
    for size, data in rows:
        budget -= size
        if budget < 0:
            break
        newest.append(json.loads(data))
    database.close()
    return newest[::-1]
