"""Content blocks of Anthropic Messages as neutral parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from contextport.contracts import (
    CacheMark,
    InvalidMessage,
    Json,
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_json,
)
from contextport.contracts.image_header import image_size

from .media_types import as_base64

__all__ = ["API", "cache_mark", "decode_block", "decode_blocks"]

API = "anthropic.messages"
_ORIGIN = (API, "")  # a request does not say which model thought


def decode_blocks(content: Json, path: str) -> list[tuple[dict[str, Any], tuple[Part, ...]]]:
    """Each block with its part; the part of a block with `cache_control` is followed by a `CacheMark`.

    Raises `InvalidMessage` where it is no list of blocks.
    """
    if not isinstance(content, list):
        raise InvalidMessage(f"{path} is a {type(content).__name__}; it must be a string or a list of blocks", path=path)
    found: list[tuple[dict[str, Any], tuple[Part, ...]]] = []
    for n, block in enumerate(cast(list[Any], content)):
        part, mark = decode_block(block, f"{path}[{n}]"), cache_mark(block)
        found.append((block, (part,) if mark is None else (part, mark)))
    return found


def cache_mark(block: dict[str, Any]) -> CacheMark | None:
    """The cache breakpoint that a block carries."""
    control = block.get("cache_control")
    if not isinstance(control, dict):
        return None
    ttl = cast(dict[str, Any], control).get("ttl")
    return CacheMark(ttl if isinstance(ttl, str) else None)


def decode_block(block: Json, path: str) -> Part:
    """One block as a part, its own cache mark aside. A type unknown here becomes `Opaque`.

    Raises `InvalidMessage` for what is no block, and for a text, call, result or thinking block without what makes it one.
    """
    if not isinstance(block, dict):
        raise InvalidMessage(f"{path} is a {type(block).__name__}; it must be a block with a type", path=path)
    raw = cast(dict[str, Any], block)
    kind = raw.get("type")
    if not isinstance(kind, str):
        raise InvalidMessage(f"{path}.type is {kind!r}; it must be the name of a block type", path=f"{path}.type")
    decode = _DECODERS.get(kind)
    part = None if decode is None else decode(raw, path)
    return _opaque(raw) if part is None else part


def _opaque(raw: dict[str, Any]) -> Opaque:
    """A block of a type that is carried as it is; the result of a server's tool names its call."""
    pair = raw.get("tool_use_id") if raw["type"].endswith("_tool_result") else None
    return Opaque(api=API, type=raw["type"], raw=raw, pair_id=pair if isinstance(pair, str) else None)


def _string(raw: dict[str, Any], key: str, path: str) -> str:
    value = raw.get(key)
    if isinstance(value, str):
        return value
    raise InvalidMessage(f"{path}.{key} is a {type(value).__name__}; it must be a string", path=f"{path}.{key}")


def _text(raw: dict[str, Any], path: str) -> Part:
    citations = raw.get("citations")
    cited = tuple(cast(list[Any], citations)) if isinstance(citations, list) else ()
    return Text(_string(raw, "text", path), citations=cited, raw=raw)


def _thinking(raw: dict[str, Any], path: str) -> Part:
    signature = raw.get("signature")
    return Thinking(
        text=_string(raw, "thinking", path),
        signature=signature if isinstance(signature, str) else None,
        binding="turn",
        origin=_ORIGIN,
        raw=raw,
    )


def _redacted_thinking(raw: dict[str, Any], path: str) -> Part:
    return Thinking(encrypted=_string(raw, "data", path), redacted=True, binding="turn", origin=_ORIGIN, raw=raw)


def _call(raw: dict[str, Any], path: str) -> Part:
    namespace = raw.get("toolset_name")
    return ToolCall(
        call_id=_string(raw, "id", path),
        name=_string(raw, "name", path),
        arguments=dump_json(raw.get("input", {})),
        namespace=namespace if isinstance(namespace, str) else None,
        executor="client" if raw["type"] == "tool_use" else "server",
        raw=raw,
    )


def _result(raw: dict[str, Any], path: str) -> Part:
    is_error = raw.get("is_error")
    return ToolResult(
        call_id=_string(raw, "tool_use_id", path),
        parts=_result_parts(raw.get("content"), f"{path}.content"),
        status=None if not isinstance(is_error, bool) else "error" if is_error else "ok",
        executor="client" if raw["type"] == "tool_result" else "server",
        raw=raw,
    )


def _result_parts(content: Json, path: str) -> tuple[Text | Media | Opaque, ...]:
    """What a result says. A cache mark inside a result stays in its block's `raw`: only whole blocks have a `CacheMark`."""
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise InvalidMessage(f"{path} is a {type(content).__name__}; it must be a string or a list of blocks", path=path)
    inner = (decode_block(block, f"{path}[{n}]") for n, block in enumerate(cast(list[Any], content)))
    return tuple([part if isinstance(part, Text | Media | Opaque) else _opaque(cast(Any, part).raw) for part in inner])


def _media(raw: dict[str, Any], path: str) -> Part | None:
    """An image or document, or None for a source that is none of bytes, a URL, a file, and plain text."""
    source = raw.get("source")
    if not isinstance(source, dict):
        return None
    held = cast(dict[str, Any], source)
    key = {"base64": "data", "text": "data", "url": "url", "file": "file_id"}.get(str(held.get("type")))
    value = held.get(key) if key is not None else None
    if key is None or not isinstance(value, str):
        return None
    if held["type"] == "text":
        value = as_base64(value)
    mime, title = held.get("media_type"), raw.get("title")
    image = raw["type"] == "image"
    return Media(
        media="image" if image else "document",
        data=value if key == "data" else None,
        url=value if key == "url" else None,
        file_id=value if key == "file_id" else None,
        mime=mime if isinstance(mime, str) else None,
        name=title if isinstance(title, str) else None,
        size_px=image_size(value) if image and key == "data" else None,
        raw=raw,
    )


_DECODERS: dict[str, Callable[[dict[str, Any], str], Part | None]] = {
    "text": _text,
    "image": _media,
    "document": _media,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "tool_use": _call,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_result": _result,
    "mcp_tool_result": _result,
}
