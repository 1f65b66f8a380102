"""LlamaIndex: `ChatSummaryMemoryBuffer`, asked for its messages only where a fold is due."""

from __future__ import annotations

from typing import Any

from folding_run import ENCODING, Windows, run
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatSummaryMemoryBuffer
from llama_index.llms.openai_like import OpenAILike


def theirs(chat: dict[str, Any]) -> ChatMessage:
    extra = {key: chat[key] for key in ("tool_calls", "tool_call_id") if key in chat}
    return ChatMessage(role=chat["role"], content=chat["content"] or "", additional_kwargs=extra)


class Counted(OpenAILike):
    """Counts its calls."""

    calls: int = 0

    def chat(self, messages: Any, **more: Any) -> Any:
        self.calls += 1
        return super().chat(messages, **more)


def summaries(asked: dict[str, Any]) -> Windows:
    model = Counted(
        model=asked["model"],
        api_base=asked["url"],
        api_key="none",
        is_chat_model=True,
        max_tokens=asked["cap"],
        temperature=0,
        context_window=4096,
        timeout=300,
    )
    memory = ChatSummaryMemoryBuffer.from_defaults(llm=model, token_limit=asked["keep"], tokenizer_fn=ENCODING.encode_ordinary)
    windows: list[list[str]] = []
    for count, chat in enumerate(asked["chats"], 1):
        memory.put(theirs(chat))
        for _ in range(asked["places"].count(count)):
            windows.append([f"{message.content} {message.additional_kwargs or ''}" for message in memory.get()])
    return {"windows": windows, "calls": model.calls}


if __name__ == "__main__":
    run({"summaries": summaries})
