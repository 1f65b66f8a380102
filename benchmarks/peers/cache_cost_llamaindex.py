"""LlamaIndex: `ChatMemoryBuffer`, asked before every request."""

from __future__ import annotations

from cache_cost_runs import Given, answer, enough, sent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import SimpleChatStore
from prefix_cache import Piece


def buffer(given: Given) -> dict[str, list[int]]:
    """It counts the texts alone, so the share of tokens to the character is that of all messages with their calls."""
    share = sum(given.tokens) / sum(len(chat["content"]) for chat in given.chats)
    messages = [ChatMessage(role=chat["role"], content=chat["content"]) for chat in given.chats]
    places = {id(message): n for n, message in enumerate(messages)}
    store = SimpleChatStore()
    memory = ChatMemoryBuffer.from_defaults(
        token_limit=given.limit, tokenizer_fn=lambda text: range(int(len(text) * share)), chat_store=store
    )

    def window(end: int) -> list[Piece]:
        store.store[memory.chat_store_key] = messages[enough(given, end) : end]
        kept = memory.get(initial_token_count=given.tokens[0])
        return [given.pieces[0], *(given.pieces[places[id(message)]] for message in kept)]

    return sent(given, window)


if __name__ == "__main__":
    answer({"LlamaIndex ChatMemoryBuffer": buffer})
