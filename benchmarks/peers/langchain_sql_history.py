"""LangChain: `SQLChatMessageHistory` read whole, then `trim_messages` by its approximate counter."""

from __future__ import annotations

from typing import Any

import peer_run
from langchain_community.chat_message_histories import SQLChatMessageHistory
from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_trim import theirs, trimmed
from workload import chats


async def build(stored: int, file: str) -> None:
    messages = [theirs(chat) for chat in chats(stored)]
    for name in ("s", "another"):
        history = SQLChatMessageHistory(name, connection=f"sqlite:///{file}")
        for at in range(0, stored, 1000):
            history.add_messages(messages[at : at + 1000])


async def cold_open(file: str, budget: int) -> dict[str, Any]:
    trimmed([theirs(chat) for chat in chats(3)], budget, count_tokens_approximately)  # loads what is imported late

    async def opened() -> list[BaseMessage]:
        history = SQLChatMessageHistory("s", connection=f"sqlite:///{file}")
        return trimmed(history.messages, budget, count_tokens_approximately)

    return await peer_run.cold_open(opened)


def main() -> None:
    options = peer_run.options()
    if options.action == "build":
        peer_run.answer(build(options.stored, options.file))
    else:
        peer_run.answer(cold_open(options.file, options.budget))


if __name__ == "__main__":
    main()
