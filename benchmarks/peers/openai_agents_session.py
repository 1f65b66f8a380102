"""OpenAI Agents SDK: `SQLiteSession` on a file, which counts messages, not tokens."""

from __future__ import annotations

import tempfile
from typing import Any, cast

import peer_run
from agents import SQLiteSession
from workload import Chat, chats

_LIMIT = 140  # messages of the workload in 8000 tokens


async def chat_loop(stored: int) -> dict[str, Any] | None:
    earlier, later = peer_run.conversation(stored)
    with tempfile.TemporaryDirectory() as folder:
        session = SQLiteSession("s", f"{folder}/session.db")
        await session.add_items(cast(Any, earlier))

        async def turn(chat: Chat) -> int:
            await session.add_items(cast(Any, [chat]))
            return len(await session.get_items(limit=_LIMIT))

        answer = await peer_run.chat_loop(turn, later)
        session.close()
        return answer


async def build(stored: int, file: str) -> None:
    given = chats(stored)
    for name in ("s", "another"):
        session = SQLiteSession(name, file)
        for at in range(0, stored, 1000):
            await session.add_items(cast(Any, given[at : at + 1000]))
        session.close()


async def cold_open(file: str, limit: int | None) -> dict[str, Any]:
    return await peer_run.cold_open(lambda: SQLiteSession("s", file).get_items(limit=limit))


def main() -> None:
    options = peer_run.options()
    if options.action == "chat_loop":
        peer_run.answer(chat_loop(options.stored))
    elif options.action == "build":
        peer_run.answer(build(options.stored, options.file))
    else:
        peer_run.answer(cold_open(options.file, None if options.system.endswith("all") else _LIMIT))


if __name__ == "__main__":
    main()
