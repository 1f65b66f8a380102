"""LangChain messages with what is hard to bring back unchanged."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)

__all__ = ["INVALID", "REQUESTS", "UNKNOWN_BLOCKS", "as_json"]

_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0k"


def as_json(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with each message as LangChain dumps it, whichever way it was given."""
    messages: list[Any] = []
    for value in request["messages"]:
        message = value if isinstance(value, BaseMessage) else messages_from_dict([value])[0]
        messages.append(message_to_dict(message))
    return {"messages": messages}


_TOOLS: list[AnyMessage] = [
    SystemMessage("Be brief.", additional_kwargs={"__openai_role__": "developer"}),
    HumanMessage("Weather in Oslo and Rome?", name="ann lee", id="h1", additional_kwargs={"x": {"b": 1, "a": None}}),
    AIMessage(
        content="",
        id="run-1",
        tool_calls=[
            {"name": "weather", "args": {"city": "Oslo"}, "id": "call_1"},
            {"name": "weather", "args": {}, "id": "call_2"},
        ],
        invalid_tool_calls=[{"name": "weather", "args": '{"city', "id": "call_3", "error": "no JSON"}],
        additional_kwargs={
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{ "city":"Oslo" }'}}
            ],
            "refusal": None,
        },
        response_metadata={"model_name": "m", "finish_reason": "tool_calls"},
        usage_metadata={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
    ),
    ToolMessage([{"type": "text", "text": "31 °C"}], tool_call_id="call_2", artifact={"rows": [1, 2]}, name="weather"),
    ToolMessage("", tool_call_id="call_1", status="error"),
    ToolMessage("not run", tool_call_id="call_3", status="error"),
    AIMessage(content="Rome 31 °C.", additional_kwargs={"reasoning_content": "Only Rome."}),
]
_BLOCKS: list[AnyMessage] = [
    SystemMessage([{"type": "text", "text": "You see.", "cache_control": {"type": "ephemeral"}}]),
    HumanMessage(
        [
            "What is this?",
            {"type": "image", "base64": _PNG, "mime_type": "image/png"},
            {"type": "image", "source_type": "url", "url": "https://example.org/a.png"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PNG}", "detail": "low"}},
            {"type": "file", "base64": "JVBERi0=", "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
            {"type": "text-plain", "text": "plain", "mime_type": "text/plain"},
            {"type": "audio", "source_type": "base64", "data": "UklGRg==", "mime_type": "audio/wav"},
            {"type": "video", "file_id": "file-1"},
        ]
    ),
    AIMessage(
        [
            {"type": "thinking", "thinking": "Look.", "signature": "own-1"},
            {"type": "reasoning", "reasoning": "Again.", "extras": {"signature": "own-2"}},
            {"type": "text", "text": "I look it up.", "annotations": [{"type": "citation", "url": "https://example.org"}]},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": [1, 2]}},
            {"type": "text", "text": "And more."},
            {"type": "server_tool_call", "id": "srv_1", "name": "search", "args": {}},
            {"type": "server_tool_result", "tool_call_id": "srv_1", "status": "success", "output": {"n": 1}},
            {"type": "non_standard", "value": {"beam": 1}},
        ],
        tool_calls=[{"name": "look", "args": {"at": [1, 2]}, "id": "toolu_1"}],
    ),
    ToolMessage("a cat", tool_call_id="toolu_1"),
    AIMessageChunk(content="It is ", tool_call_chunks=[{"name": "f", "args": '{"a": 1}', "id": "c1", "index": 0}]),
    ToolMessage("one", tool_call_id="c1"),
    ChatMessage(content="As a critic: fine.", role="critic"),
    AIMessage([{"type": "refusal", "refusal": "I cannot."}]),
    HumanMessage(""),
    AIMessage("", additional_kwargs={"function_call": {"name": "old", "arguments": "{}"}}),
    FunctionMessage(content="legacy", name="old"),
]

REQUESTS: tuple[dict[str, Any], ...] = (
    {"messages": _TOOLS},
    {"messages": _BLOCKS},
    {"messages": [message_to_dict(message) for message in _TOOLS]},
    {"messages": []},
)

UNKNOWN_BLOCKS: tuple[dict[str, Any], ...] = (
    {"messages": [HumanMessage([{"type": "text", "text": "look"}, {"type": "hologram", "beam": {"b": None}}]), AIMessage("yes")]},
    {
        "messages": [
            HumanMessage("go"),
            AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c"}]),
            ToolMessage([{"type": "text", "text": "is"}, {"type": "hologram", "beam": 2}], tool_call_id="c"),
        ]
    },
)

INVALID: tuple[dict[str, Any], ...] = (
    {},
    {"messages": [{"content": "neither type nor role"}]},
    {"messages": [{"type": "narrator", "content": "x"}]},
    {"messages": [{"type": "tool", "data": {"content": "no id"}}]},
    {"messages": [{"type": "human", "data": {"content": 5}}]},
    {"messages": [HumanMessage("x", additional_kwargs={"x": object()})]},
    {"messages": [ToolMessage("x", tool_call_id="c", artifact=float("nan"))]},
    {"messages": [RemoveMessage(id="x")]},
)
