"""Messages in OpenAI chat form as LangChain's, calls and results paired."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["theirs"]


def theirs(chat: dict[str, Any], id: str) -> BaseMessage:
    text = chat.get("content") or ""
    match chat["role"]:
        case "system":
            return SystemMessage(text, id=id)
        case "user":
            return HumanMessage(text, id=id)
        case "tool":
            return ToolMessage(text, tool_call_id=chat["tool_call_id"], id=id)
        case _:
            calls = [
                {"id": call["id"], "name": call["function"]["name"], "args": arguments(call)}
                for call in chat.get("tool_calls") or ()
            ]
            return AIMessage(text, tool_calls=calls, id=id)


def arguments(call: dict[str, Any]) -> dict[str, Any]:
    try:
        value = json.loads(call["function"]["arguments"])
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
