"""Messages as plain dicts in the OpenAI chat form, on the way out: as they came in, or built from their parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from .chat_format import API, BESIDE, REASONING_KEYS, keys_beside
from .json_values import copy_json, dump_json, encodable
from .messages import (
    CacheMark,
    Json,
    JsonPart,
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

__all__ = ["to_chat"]

_AUDIO = {"audio/mp3": "mp3", "audio/mpeg": "mp3"}  # all else is sent as wav


def to_chat(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Encode messages as chat dicts. Lone surrogates, which no wire can hold, become U+FFFD."""
    dicts: list[dict[str, Any]] = []
    for message in messages:
        dicts.extend(encodable(value) for value in _encode(message))
    return dicts


def _encode(message: Message) -> list[dict[str, Any]]:
    native = message.native
    if native is not None and native.api == API:
        if native.parts is message.parts:
            return [copy_json(native.raw)]
        return [_edited(message, copy_json(native.raw))]
    if message.role == "tool":
        return [_tool_dict(result) for result in message.parts if isinstance(result, ToolResult)]
    value: dict[str, Any] = {"role": message.role, "content": _content(message.parts)}
    if message.name is not None:
        value["name"] = message.name
    calls = [_call_dict(part) for part in message.parts if isinstance(part, ToolCall)]
    if calls:
        value["tool_calls"] = calls
    value.update(_values_beside(message.parts))
    return [value]


def _edited(message: Message, value: dict[str, Any]) -> dict[str, Any]:
    """The original dict with new content: keys unknown to us stay, in their places."""
    parts = message.parts
    if message.role == "tool" and len(parts) == 1 and isinstance(parts[0], ToolResult):
        value["content"] = _content(parts[0].parts)
        return value
    if isinstance(value.get("refusal"), str) and value["refusal"]:  # said beside the content, so not in it as well
        refused = Refusal(value["refusal"])
        value["refusal"] = refused.text if refused in parts else None
        parts = tuple(part for part in parts if part != refused)
    value["content"] = _content(parts)
    calls = [_call_dict(part) for part in parts if isinstance(part, ToolCall) and not _inside_content(part)]
    if "tool_calls" in value:
        value["tool_calls"] = calls
        if not calls:
            del value["tool_calls"]
    kept = {part.text for part in parts if isinstance(part, Thinking)}
    for key in REASONING_KEYS:
        if key in value and value[key] not in kept:
            del value[key]
    beside = _values_beside(parts)
    for key in keys_beside(value, alone=False):
        if key not in beside:
            del value[key]
    return {**value, **beside}


def _values_beside(parts: tuple[Part, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in parts:
        if isinstance(part, Opaque) and part.api == BESIDE:
            values.update(copy_json(part.raw))
    return values


def _inside_content(part: Part) -> bool:
    """Whether a part stands in the content list itself, as other providers place tool calls."""
    raw = getattr(part, "raw", None)
    return isinstance(raw, dict) and cast(dict[str, Any], raw).get("type") in ("tool_use", "server_tool_use")


def _tool_dict(result: ToolResult) -> dict[str, Any]:
    value: dict[str, Any] = {
        "role": "tool",
        "tool_call_id": result.call_id,
        "content": _content(result.parts) or "",
    }
    if result.name is not None:
        value["name"] = result.name
    return value


def _call_dict(call: ToolCall) -> dict[str, Any]:
    raw = call.raw
    if isinstance(raw, dict):
        value: dict[str, Any] = copy_json(cast(dict[str, Any], raw))
        body = value.get("function")
        if isinstance(body, dict) and cast(dict[str, Any], body).get("arguments") == call.arguments:
            return value
        if "custom" in value:
            return value
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _content(parts: tuple[Part, ...]) -> Json:
    """Parts as chat content: null when there are none, a string when they are one plain text, a list otherwise."""
    encoded = [value for part in parts if (value := _content_part(part)) is not None]
    if not encoded:
        return None
    first = next(part for part in parts if _content_part(part) is not None)
    if len(encoded) == 1 and isinstance(first, Text) and first.raw is None:
        return first.text
    return encoded


def _content_part(part: Part) -> Json:
    raw = getattr(part, "raw", None)
    match part:
        case ToolCall():
            return copy_json(raw) if _inside_content(part) else None
        case Text():
            if isinstance(raw, str):  # a plain string inside a content list
                return part.text
            if isinstance(raw, dict) and cast(dict[str, Any], raw).get("text") != part.text:
                return {**copy_json(cast(dict[str, Any], raw)), "text": part.text}
            return copy_json(raw) if isinstance(raw, dict) else {"type": "text", "text": part.text}
        case Thinking():
            return copy_json(raw) if raw is not None else None
        case Refusal():
            return {"type": "refusal", "refusal": part.text}
        case JsonPart():
            return {"type": "text", "text": dump_json(part.value)}
        case CacheMark():
            return None
        case ToolResult():
            return _result_part(part)
        case Media():
            return copy_json(raw) if raw is not None else _media_part(part)
        case Opaque():
            return None if part.api == BESIDE else copy_json(raw)


def _result_part(result: ToolResult) -> Json:
    if isinstance(result.raw, dict):
        return {**copy_json(cast(dict[str, Any], result.raw)), "content": _content(result.parts)}
    return {"type": "tool_result", "tool_use_id": result.call_id, "content": _content(result.parts)}


def _media_part(media: Media) -> Json:
    url = media.url or (f"data:{media.mime or 'application/octet-stream'};base64,{media.data}" if media.data else None)
    if media.media == "image" and url:
        image: dict[str, Any] = {"url": url}
        if media.detail is not None:
            image["detail"] = media.detail
        return {"type": "image_url", "image_url": image}
    if media.media == "audio" and media.data:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": _AUDIO.get(media.mime or "", "wav")}}
    held = {"file_id": media.file_id, "file_data": url if media.data else None, "filename": media.name}
    return {"type": "file", "file": {key: value for key, value in held.items() if value is not None}}
