"""LangChain messages, dumped as dicts, as neutral parts: content blocks of v0 and v1, and those of providers within them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import attrs

from contextport.contracts import (
    InvalidMessage,
    Json,
    JsonPart,
    Media,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_json,
)
from contextport.contracts.image_header import image_size

from .foreign import split_data_url
from .media_types import as_base64

__all__ = ["API", "decode_block", "decode_parts", "role_of"]

API = "langchain.messages"
_Dict = dict[str, Any]
_ROLES: dict[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_CHAT_ROLES: dict[Any, Role] = {"assistant": "assistant", "ai": "assistant", "model": "assistant", "system": "system"}


def role_of(raw: _Dict, path: str) -> Role:
    """The role of a dumped message. A chat message of a made-up role is the user's."""
    kind = _kind(raw)
    if kind == "chat":
        return _CHAT_ROLES.get(raw.get("role"), "user")
    if kind == "system" and raw.get("additional_kwargs", {}).get("__openai_role__") == "developer":
        return "developer"
    role = _ROLES.get(kind)
    if role is None:
        raise InvalidMessage(f"{path} is of type {raw.get('type')!r}; it must be one of {', '.join(_ROLES)}", path=f"{path}.type")
    return role


def _kind(raw: _Dict) -> str:
    kind = str(raw.get("type"))
    return _CHUNKS.get(kind, kind)


_CHUNKS = {
    "AIMessageChunk": "ai",
    "HumanMessageChunk": "human",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
    "FunctionMessageChunk": "function",
    "ChatMessageChunk": "chat",
}


def decode_parts(raw: _Dict, role: Role, path: str) -> tuple[Part, ...]:
    """The parts of a dumped message."""
    if role == "tool":
        return (_tool_message(raw, path),)
    calls = _calls(raw, path) if role == "assistant" else []
    parts: list[Part] = []
    beside = raw.get("additional_kwargs", {})
    if isinstance(beside.get("reasoning_content"), str) and beside["reasoning_content"]:
        parts.append(Thinking(text=beside["reasoning_content"], origin=(API, "")))
    content = raw.get("content")
    for block in [content] if isinstance(content, str) and content else cast(list[Json], content or []):
        part = decode_block(block)
        if isinstance(part, ToolCall):  # said twice: in its place, and among the calls
            known = next((call for call in calls if call.call_id == part.call_id), None)
            if known is not None:
                calls.remove(known)
                part = attrs.evolve(part, name=known.name, arguments=known.arguments, complete=known.complete)
        parts.append(part)
    if isinstance(beside.get("refusal"), str) and beside["refusal"]:
        parts.append(Refusal(beside["refusal"]))
    return (*parts, *calls)


def _tool_message(raw: _Dict, path: str) -> ToolResult:
    name = raw.get("name")
    call_id = raw.get("tool_call_id", f"function:{name}")
    if not isinstance(call_id, str) or not call_id:
        raise InvalidMessage(f"{path}.tool_call_id is {call_id!r}; it must name a call", path=f"{path}.tool_call_id")
    content = raw.get("content")
    blocks: list[Json] = [content] if isinstance(content, str) and content else cast(list[Json], content or [])
    return ToolResult(
        call_id=call_id,
        parts=tuple(_inside(block) for block in blocks),
        status="error" if raw.get("status") == "error" else "ok" if raw.get("status") == "success" else None,
        name=name if isinstance(name, str) else None,
    )


def _inside(block: Json) -> Text | Media | JsonPart | Opaque:
    part = decode_block(block)
    if isinstance(part, Text | Media | Opaque):
        return part
    return Opaque(api=API, type=str(block.get("type")), raw=block)


def _calls(raw: _Dict, path: str) -> list[ToolCall]:
    """The calls of a model, with the exact argument strings where a provider's own form is still beside them."""
    beside = raw.get("additional_kwargs", {})
    exact: dict[str | None, str] = {}
    for call in map(_dict, _list(beside.get("tool_calls"))):
        arguments = _string(_dict(call.get("function")), "arguments")
        if arguments is not None:
            exact[_string(call, "id")] = arguments
    calls: list[ToolCall] = []
    for n, one in enumerate(cast(list[_Dict], raw.get("tool_calls") or [])):
        calls.append(
            ToolCall(
                call_id=one.get("id") or f"{path}.tool_calls[{n}]",
                name=one["name"],
                arguments=_arguments(one["args"], exact.get(one.get("id"))),
                raw=one,
            )
        )
    for n, one in enumerate(cast(list[_Dict], raw.get("invalid_tool_calls") or [])):
        call_id = one.get("id") or f"{path}.invalid_tool_calls[{n}]"
        name, arguments = one.get("name") or "", one.get("args") or ""
        calls.append(ToolCall(call_id=call_id, name=name, arguments=arguments, complete=False, raw=one))
    legacy = _dict(beside.get("function_call"))
    if legacy and not calls:
        name = _string(legacy, "name") or ""
        calls.append(ToolCall(call_id=f"function:{name}", name=name, arguments=_string(legacy, "arguments") or ""))
    return calls


def _arguments(value: Json, exact: str | None) -> str:
    """The provider's own string, as long as it says the same: who changes a call in place may forget about it."""
    if exact is not None:
        try:
            if json.loads(exact or "{}") == value:
                return exact
        except ValueError:
            pass
    return dump_json(value)


# --- blocks -----------------------------------------------------------------------------------------------------------


def decode_block(value: Json) -> Part:
    """The part of a content block."""
    if isinstance(value, str):
        return Text(value)
    raw = cast(_Dict, value)
    kind = raw.get("type")
    decoder = _DECODERS.get(kind) if isinstance(kind, str) else None
    part = decoder(raw) if decoder is not None else None
    return Opaque(api=API, type=str(kind), raw=raw) if part is None else part


def _text(raw: _Dict) -> Part | None:
    text, cited = raw.get("text"), raw.get("annotations") or raw.get("citations")
    if not isinstance(text, str):
        return None
    return Text(text, citations=tuple(cast(list[Any], cited)) if isinstance(cited, list) else (), raw=raw)


def _refusal(raw: _Dict) -> Part | None:
    text = _string(raw, "refusal")
    return None if text is None else Refusal(text)


def _thinking(raw: _Dict) -> Part | None:
    extras = _dict(raw.get("extras"))
    summary = [_string(_dict(one), "text") for one in _list(raw.get("summary")) if isinstance(one, dict)]
    return Thinking(
        text=_string(raw, "reasoning") or _string(raw, "thinking"),
        summary=tuple(text for text in summary if text is not None),
        signature=_string(raw, "signature") or _string(extras, "signature"),
        encrypted=_string(raw, "encrypted_content") or _string(raw, "data"),
        redacted=raw["type"] == "redacted_thinking",
        binding="item" if _string(raw, "encrypted_content") else "turn",
        item_id=_string(raw, "id"),
        origin=(API, ""),
        raw=raw,
    )


def _call(raw: _Dict) -> Part | None:
    """A call in its place among the content: `tool_call`, Anthropic's `tool_use`, an item of OpenAI Responses."""
    call_id = _string(raw, "call_id") or _string(raw, "id")
    name = _string(raw, "name")
    asked = raw.get("args", raw.get("input", raw.get("arguments", {})))
    if call_id is None or name is None:
        return None
    arguments = asked if isinstance(asked, str) else dump_json(asked)
    executor: Any = "server" if raw["type"] in ("server_tool_call", "server_tool_use") else "client"
    return ToolCall(
        call_id=call_id, name=name, arguments=arguments, executor=executor, complete=raw["type"] != "invalid_tool_call", raw=raw
    )


def _server_result(raw: _Dict) -> Part | None:
    call_id = _string(raw, "tool_call_id")
    if call_id is None:
        return None
    failed = raw.get("status") == "error"
    parts = (JsonPart(raw["output"]),) if "output" in raw else ()
    return ToolResult(call_id=call_id, parts=parts, status="error" if failed else None, executor="server", raw=raw)


def _media(raw: _Dict) -> Part | None:
    """Both forms of LangChain: v1 has `base64`, `url` or `file_id`, v0 a `source_type`."""
    v0 = raw.get("source_type")
    data = _string(raw, "data") if v0 == "base64" else as_base64(str(raw.get("text"))) if v0 == "text" else _string(raw, "base64")
    url = _string(raw, "url")
    file_id = _string(raw, "id") if v0 == "id" else _string(raw, "file_id")
    if data is None and raw["type"] == "text-plain" and isinstance(raw.get("text"), str):
        data = as_base64(raw["text"])
    return _placed(raw, data=data, url=url, file_id=file_id, mime=_string(raw, "mime_type"))


def _placed(raw: _Dict, *, data: str | None, url: str | None, file_id: str | None, mime: str | None) -> Media | None:
    if data is None and url is None and file_id is None:
        return None
    held = split_data_url(url) if url is not None else None
    if held is not None:
        (mime, data), url = held, None
    kind = _MEDIA[raw["type"]]
    extras = _dict(raw.get("extras"))
    return Media(
        media=kind,
        data=data,
        url=url if data is None else None,
        file_id=file_id if data is None and url is None else None,
        mime=mime,
        name=_string(raw, "filename") or _string(extras, "filename") or _string(raw, "title"),
        detail=_string(extras, "detail") or _string(_dict(raw.get("image_url")), "detail"),
        size_px=image_size(data) if data is not None and kind == "image" else None,
        raw=raw,
    )


def _image_url(raw: _Dict) -> Part | None:
    held = raw.get("image_url")
    url = held if isinstance(held, str) else _string(_dict(held), "url")
    return _placed(raw, data=None, url=url, file_id=None, mime=None)


_MEDIA: dict[str, Any] = {
    "image": "image",
    "image_url": "image",
    "audio": "audio",
    "video": "video",
    "file": "document",
    "text-plain": "document",
}


def _string(raw: _Dict, key: str) -> str | None:
    value = raw.get(key)
    return value if isinstance(value, str) else None


def _list(value: Json) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _dict(value: Json) -> _Dict:
    return cast(_Dict, value) if isinstance(value, dict) else {}


_DECODERS: dict[str, Callable[[_Dict], Part | None]] = {
    "text": _text,
    "refusal": _refusal,
    "reasoning": _thinking,
    "thinking": _thinking,
    "redacted_thinking": _thinking,
    "tool_call": _call,
    "invalid_tool_call": _call,
    "tool_use": _call,
    "function_call": _call,
    "server_tool_call": _call,
    "server_tool_use": _call,
    "server_tool_result": _server_result,
    "image": _media,
    "audio": _media,
    "video": _media,
    "file": _media,
    "text-plain": _media,
    "image_url": _image_url,
}
