"""Plain dicts in the OpenAI chat form: what hosts hand in, and what they get back unchanged where nothing was edited.

Content may be a string, null, missing or a list of parts; tool calls may be parallel; the legacy `function` role is understood.
Part types of other providers (`thinking`, `tool_use`, `input_image` ...) are understood where they occur inside the content list,
and unknown ones are carried as `Opaque`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from .errors import InvalidMessage
from .image_header import image_size
from .json_values import copy_json, dump_json
from .messages import (
    Json,
    JsonPart,
    Kind,
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    make_message,
    make_native,
    make_text,
    make_tool_call,
    make_tool_result,
    new_id,
)

__all__ = ["API", "BESIDE", "REASONING_KEYS", "decode", "decode_plain", "from_chat", "keys_beside"]

API = "openai.chat"
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",  # legacy
}
_CHAT = Kind.CHAT  # looking a member up in its class takes as long as a function call
_SAID_BY = frozenset({"system", "developer", "user", "assistant"})  # in a message of role and text
REASONING_KEYS = ("reasoning_content", "reasoning")
BESIDE = "openai.chat.message"  # api of an opaque part that stands beside the content, under a key of its own
_INSIDE_RESULTS = (Text, Media, JsonPart, Opaque)
_SAYS_NOTHING = frozenset({"content", "tool_calls", "function_call", "metadata", "annotations", "usage", "audio"})


class _UnknownShape(Exception):
    """A part of a known type that is not put together as that type is."""


def from_chat(value: Mapping[str, Json], *, kind: Kind = Kind.CHAT, pinned: bool = False) -> Message:
    """Decode one chat dict. An `id` and a `metadata` object in it become the message's own.

    Raises `InvalidMessage` with the path of what is wrong: not a mapping, unknown role, a value that is not JSON.
    """
    if type(value) is dict and len(value) < 4 and type(value.get("content")) is str and kind is _CHAT and not pinned:
        message = decode_plain(value.copy(), new_id())
        if message is not None:
            return message
    if not isinstance(value, Mapping):
        remedy = "; hand in what its model_dump(exclude_unset=True) gives" if hasattr(value, "model_dump") else ""
        raise InvalidMessage(f"a message must be a mapping with a role, not {type(value).__name__}{remedy}", path="")
    return decode(copy_json(value), kind=kind, pinned=pinned)


def decode_plain(raw: dict[str, Any], id: str) -> Message | None:
    """Decode a chat dict, the caller's to give away, that has a role and a text, or answers a call with a text, and nothing else.

    Returns None for any other. Most messages are such, and need no more checks than these.
    """
    role, content = raw.get("role"), raw.get("content")
    if type(content) is not str or type(role) is not str:
        return None
    parts: tuple[Part, ...]
    parts = text = (make_text(content),) if content else ()
    if role == "tool":
        call_id = raw.get("tool_call_id")
        if type(call_id) is not str or not call_id or len(raw) != 3:
            return None
        parts = (make_tool_result(call_id=call_id, parts=text),)
    elif role not in _SAID_BY or len(raw) != 2:
        return None
    native = make_native(api=API, raw=raw, parts=parts)
    return make_message(role=_ROLES[role], parts=parts, id=id, native=native)


def decode(raw: dict[str, Any], **fields: Any) -> Message:
    """Decode a chat dict that is the caller's to give away, checked JSON already; `fields` override what it says."""
    given = raw.get("role")
    role = _ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        raise InvalidMessage(f"role is {given!r}; it must be one of {', '.join(_ROLES)}", path="role")
    parts = _message_parts(role, raw)
    native = make_native(api=API, raw=raw, parts=parts)
    if len(raw) > 2:
        name, metadata = raw.get("name"), raw.get("metadata")
        if isinstance(name, str):
            fields.setdefault("name", name)
        if isinstance(metadata, dict):
            fields.setdefault("metadata", metadata)
    if "id" not in fields:
        fields["id"] = _id(raw)
    return make_message(role=role, parts=parts, native=native, **fields)


def _id(raw: dict[str, Any]) -> str:
    given = raw.get("id")
    if given is None:
        return new_id()
    if not isinstance(given, str) or not given:
        raise InvalidMessage(f"id is {given!r}; it must be a non-empty string or absent", path="id")
    return given


def _message_parts(role: Role, raw: dict[str, Any]) -> tuple[Part, ...]:
    content = raw.get("content")
    if role == "tool":
        return (_tool_message_result(raw, content),)
    if type(content) is str and len(raw) == 2:  # the common case: nothing but role and content
        return (Text(content),) if content else ()
    parts: list[Part] = []
    for key in REASONING_KEYS:
        if key in raw and isinstance(raw[key], str) and raw[key]:
            parts.append(Thinking(text=raw[key]))
    if content is not None:
        parts.extend(_content_parts(content, "content"))
    if "refusal" in raw and isinstance(raw["refusal"], str) and raw["refusal"]:
        parts.append(Refusal(raw["refusal"]))
    calls = raw.get("tool_calls")
    if calls:
        if not isinstance(calls, list | tuple):
            raise InvalidMessage(f"tool_calls is a {type(calls).__name__}; it must be a list", path="tool_calls")
        for n, call in enumerate(cast("list[Any]", calls)):
            parts.append(_call(call, n))
    legacy = raw.get("function_call")
    if legacy and isinstance(legacy, dict):
        function = cast(dict[str, Any], legacy)
        parts.append(
            make_tool_call(
                call_id=_legacy_id(function),
                name=_string(function, "name"),
                arguments=_string(function, "arguments"),
            )
        )
    if role == "assistant":
        for key in keys_beside(raw, alone=not parts):
            parts.append(_beside(key, raw[key]))
    return tuple(parts)


def keys_beside(raw: dict[str, Any], *, alone: bool) -> list[str]:
    """The keys that hold something said beside the content: `audio`, and where nothing else is said, any with a filled value."""
    keys = ["audio"] if raw.get("audio") else []
    if alone:
        keys += [key for key, value in raw.items() if value and isinstance(value, dict | list) and key not in _SAYS_NOTHING]
        if not keys and raw.get("function_call"):
            keys.append("function_call")
    return keys


def _beside(key: str, value: Json) -> Part:
    return Opaque(api=BESIDE, type=key, raw={key: value})


def _tool_message_result(raw: dict[str, Any], content: Json) -> ToolResult:
    call_id = raw.get("tool_call_id")
    if call_id is None and raw["role"] == "function":
        call_id = _legacy_id(raw)
    if not isinstance(call_id, str) or not call_id:
        raise InvalidMessage(
            f"a tool message needs the tool_call_id of the call it answers; it has {call_id!r}",
            path="tool_call_id",
        )
    name, is_error = raw.get("name"), raw.get("is_error")
    return make_tool_result(
        call_id=call_id,
        parts=_result_parts(content, "content"),
        name=name if isinstance(name, str) else None,
        status=None if not isinstance(is_error, bool) else "error" if is_error else "ok",
    )


def _legacy_id(function: dict[str, Any]) -> str:
    return f"function:{function.get('name')}"


def _content_parts(content: Json, path: str) -> tuple[Part, ...]:
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise InvalidMessage(f"content is a {type(content).__name__}; it must be a string, null or a list of parts", path=path)
    return tuple(_part(part, f"{path}[{n}]") for n, part in enumerate(cast(list[Any], content)))


def _result_parts(content: Json, path: str) -> tuple[Text | Media | JsonPart | Opaque, ...]:
    """The content of a tool result. A part that has no place in one is carried as it is."""
    if isinstance(content, str):  # most results
        return (Text(content),) if content else ()
    parts = _content_parts(content, path)
    return tuple(
        part if isinstance(part, _INSIDE_RESULTS) else Opaque(api=API, type=str(content[n].get("type")), raw=content[n])
        for n, part in enumerate(parts)
    )


def _part(part: Json, path: str) -> Part:
    if isinstance(part, str):
        return Text(part, raw=part)
    if not isinstance(part, dict):
        raise InvalidMessage(f"a content part is a {type(part).__name__}; it must be an object with a type", path=path)
    raw = cast(dict[str, Any], part)
    kind = raw.get("type")
    decode = _PART_DECODERS.get(kind) if isinstance(kind, str) else _untyped(raw) if kind is None else None
    if decode is not None:
        try:
            return decode(raw, path)
        except _UnknownShape:
            pass
    return Opaque(api=API, type=str(kind), raw=raw)


def _untyped(raw: dict[str, Any]) -> Callable[[dict[str, Any], str], Part] | None:
    """The decoder of a part whose only key names what it is, as in Gemini's and Bedrock's forms."""
    return _UNTYPED_DECODERS.get(next(iter(raw))) if len(raw) == 1 else None


def _string_or_none(value: Json) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _UnknownShape


def _object(value: Json) -> dict[str, Any]:
    """The object, empty for null."""
    if value is None:
        return {}
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    raise _UnknownShape


def _refusal(raw: dict[str, Any], path: str) -> Part:
    refusal = raw.get("refusal")
    if not isinstance(refusal, str):
        raise _UnknownShape
    return Refusal(refusal)


def _text(raw: dict[str, Any], path: str) -> Part:
    text = raw.get("text")
    if not isinstance(text, str):
        raise _UnknownShape
    citations = raw.get("citations") or raw.get("annotations")
    return Text(text, citations=tuple(cast(list[Any], citations)) if isinstance(citations, list) else (), raw=raw)


def _thinking(raw: dict[str, Any], path: str) -> Part:
    summary = raw.get("summary")
    texts = [_object(item).get("text") for item in cast(list[Any], summary)] if isinstance(summary, list) else []
    return Thinking(
        text=_string_or_none(raw.get("thinking", raw.get("text"))),
        summary=tuple(text for text in map(_string_or_none, texts) if text is not None),
        signature=_string_or_none(raw.get("signature")),
        encrypted=_string_or_none(raw.get("encrypted_content", raw.get("encrypted", raw.get("data")))),
        redacted=raw["type"] == "redacted_thinking",
        binding="item" if raw["type"] == "reasoning" else "turn",
        item_id=_string_or_none(raw.get("id")),
        raw=raw,
    )


def _image(raw: dict[str, Any], path: str) -> Part:
    """All image forms: chat `image_url`, Responses `input_image`, Anthropic `image`."""
    holder = raw.get("image_url", raw.get("source", raw))
    inner: dict[str, Any] = {"url": holder} if isinstance(holder, str) else _object(holder)
    url, data, mime = (_string_or_none(inner.get(key)) for key in ("url", "data", "media_type"))
    if url is not None and url.startswith("data:"):
        head, _, data = url.partition(",")
        mime, url = head[5:].partition(";")[0] or None, None
    return Media(
        media="image",
        data=data,
        url=url,
        file_id=_string_or_none(raw.get("file_id", inner.get("file_id"))),
        mime=mime,
        detail=_string_or_none(inner.get("detail", raw.get("detail"))),
        size_px=_size(data),
        raw=raw,
    )


def _inline_data(raw: dict[str, Any], path: str) -> Part:
    """Media of any kind in Gemini's form: bytes with a MIME type."""
    [held] = [_object(value) for value in raw.values()]
    mime = _string_or_none(held.get("mime_type", held.get("mimeType"))) or ""
    media = cast(Any, mime.partition("/")[0] if mime.startswith(("image/", "audio/", "video/")) else "document")
    data = _string_or_none(held.get("data"))
    return Media(media=media, data=data, mime=mime or None, size_px=_size(data) if media == "image" else None, raw=raw)


def _bedrock_image(raw: dict[str, Any], path: str) -> Part:
    """An image in Bedrock's form, its bytes in base64, as in the JSON of the API."""
    held = _object(raw["image"])
    data, form = _string_or_none(_object(held.get("source")).get("bytes")), _string_or_none(held.get("format"))
    return Media(media="image", data=data, mime=f"image/{form}" if form else None, size_px=_size(data), raw=raw)


def _size(data: str | None) -> tuple[int, int] | None:
    return image_size(data) if data else None


def _audio(raw: dict[str, Any], path: str) -> Part:
    held = _object(raw.get("input_audio"))
    form = _string_or_none(held.get("format"))
    return Media(media="audio", data=_string_or_none(held.get("data")), mime=form and f"audio/{form}", raw=raw)


def _document(raw: dict[str, Any], path: str) -> Part:
    held = _object(raw.get("file", raw.get("source", raw)))
    data, mime = _string_or_none(held.get("file_data", held.get("data"))), _string_or_none(held.get("media_type"))
    if data is not None and data.startswith("data:"):
        head, _, data = data.partition(",")
        mime = head[5:].partition(";")[0] or None
    return Media(
        media="document",
        data=data,
        url=_string_or_none(held.get("url", held.get("file_url"))),
        file_id=_string_or_none(held.get("file_id")),
        name=_string_or_none(held.get("filename", raw.get("title"))),
        mime=mime,
        raw=raw,
    )


def _tool_use(raw: dict[str, Any], path: str) -> Part:
    return make_tool_call(
        call_id=_string(raw, "id"),
        name=_string(raw, "name"),
        arguments=dump_json(raw.get("input", {})),
        executor="server" if raw["type"] == "server_tool_use" else "client",
        raw=raw,
    )


def _tool_result(raw: dict[str, Any], path: str) -> Part:
    is_error = raw.get("is_error")
    return make_tool_result(
        call_id=_string(raw, "tool_use_id"),
        parts=_result_parts(raw.get("content"), f"{path}.content"),
        status=None if not isinstance(is_error, bool) else "error" if is_error else "ok",
        raw=raw,
    )


_PART_DECODERS: dict[str, Callable[[dict[str, Any], str], Part]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "refusal": _refusal,
    "thinking": _thinking,
    "redacted_thinking": _thinking,
    "reasoning": _thinking,
    "image_url": _image,
    "input_image": _image,
    "image": _image,
    "input_audio": _audio,
    "file": _document,
    "input_file": _document,
    "document": _document,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "tool_result": _tool_result,
}


_UNTYPED_DECODERS: dict[str, Callable[[dict[str, Any], str], Part]] = {
    "text": _text,
    "inline_data": _inline_data,
    "inlineData": _inline_data,
    "image": _bedrock_image,
}


def _call(call: Json, nth: int) -> ToolCall:
    if not isinstance(call, dict):
        raise InvalidMessage(f"a tool call is a {type(call).__name__}; it must be an object", path=f"tool_calls[{nth}]")
    raw = cast("dict[str, Any]", call)
    call_id, body = raw.get("id"), raw.get("function")
    if not isinstance(body, dict):
        body = raw.get("custom")
    if not isinstance(call_id, str) or not isinstance(body, dict):
        raise InvalidMessage("a tool call needs an id and a function with name and arguments", path=f"tool_calls[{nth}]")
    function = cast("dict[str, Any]", body)
    arguments = _string(function, "arguments") or _string(function, "input")
    return make_tool_call(call_id=call_id, name=_string(function, "name"), arguments=arguments, raw=raw)


def _string(raw: dict[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else "" if value is None else dump_json(value)
