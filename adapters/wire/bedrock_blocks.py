"""Content blocks of Bedrock Converse as neutral parts. Bytes are in their held form (`wire_bytes`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

from contextport.contracts import (
    CacheMark,
    InvalidMessage,
    Json,
    JsonPart,
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
from .wire_bytes import held_base64

__all__ = ["API", "FORMATS", "decode_block", "decode_blocks"]

API = "bedrock.converse"
_ORIGIN = (API, "")  # a request does not say which model thought
_MediaKind = Literal["image", "document", "video", "audio"]
_OFFICE = "application/vnd.openxmlformats-officedocument."

#: The MIME types of the formats that Converse names, for each kind of media.
FORMATS: dict[str, dict[str, str]] = {
    "image": {name: f"image/{name}" for name in ("png", "jpeg", "gif", "webp")},
    "document": {
        "pdf": "application/pdf",
        "csv": "text/csv",
        "doc": "application/msword",
        "docx": f"{_OFFICE}wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": f"{_OFFICE}spreadsheetml.sheet",
        "html": "text/html",
        "txt": "text/plain",
        "md": "text/markdown",
    },
    "video": {
        "mp4": "video/mp4",
        "mov": "video/quicktime",
        "mkv": "video/x-matroska",
        "webm": "video/webm",
        "flv": "video/x-flv",
        "mpeg": "video/mpeg",
        "wmv": "video/x-ms-wmv",
        "three_gp": "video/3gpp",
    },
    "audio": {
        "mp3": "audio/mpeg",
        "wav": "audio/wav",
        "aac": "audio/aac",
        "ogg": "audio/ogg",
        "opus": "audio/opus",
        "mp4": "audio/mp4",
        "webm": "audio/webm",
    },
}


def decode_blocks(content: Json, path: str) -> list[tuple[dict[str, Any], tuple[Part, ...]]]:
    """Each block with its part. Raises `InvalidMessage` where it is no list of blocks."""
    if not isinstance(content, list):
        raise InvalidMessage(f"{path} is a {type(content).__name__}; it must be a list of blocks", path=path)
    return [(block, (decode_block(block, f"{path}[{n}]"),)) for n, block in enumerate(cast(list[Any], content))]


def decode_block(block: Json, path: str) -> Part:
    """One block, an object with one key that says what it is, as a part. A kind unknown here becomes `Opaque`.

    Raises `InvalidMessage` for what is no block, and for a text, call, result or reasoning without what makes it one.
    """
    if not isinstance(block, dict) or not block:
        raise InvalidMessage(f"{path} is a {type(block).__name__}; it must be a block, such as {{'text': ...}}", path=path)
    raw = cast(dict[str, Any], block)
    kind = next((key for key in raw if key in _DECODERS), next(iter(raw)))
    decode = _DECODERS.get(kind)
    part = None if decode is None else decode(raw, raw[kind], f"{path}.{kind}")
    return Opaque(api=API, type=kind, raw=raw) if part is None else part


def _object(value: Json, path: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    raise InvalidMessage(f"{path} is a {type(value).__name__}; it must be an object", path=path)


def _string(holder: dict[str, Any], key: str, path: str) -> str:
    value = holder.get(key)
    if isinstance(value, str):
        return value
    raise InvalidMessage(f"{path}.{key} is a {type(value).__name__}; it must be a string", path=f"{path}.{key}")


def _text(raw: dict[str, Any], value: Json, path: str) -> Part:
    if isinstance(value, str):
        return Text(value, raw=raw)
    raise InvalidMessage(f"{path} is a {type(value).__name__}; it must be a string", path=path)


def _guarded(raw: dict[str, Any], value: Json, path: str) -> Part | None:
    """What a guardrail is to look at: its text is text as any other."""
    held = _object(value, path).get("text")
    text = cast(dict[str, Any], held).get("text") if isinstance(held, dict) else None
    return Text(text, raw=raw) if isinstance(text, str) else None


def _cited(raw: dict[str, Any], value: Json, path: str) -> Part | None:
    """Text that the model wrote with the sources of it."""
    held = _object(value, path)
    content, citations = held.get("content") or [], held.get("citations") or []
    if not isinstance(content, list) or not isinstance(citations, list):
        return None
    texts = [cast(dict[str, Any], one).get("text") if isinstance(one, dict) else None for one in cast(list[Any], content)]
    if not all(isinstance(text, str) for text in texts):
        return None
    return Text("".join(cast(list[str], texts)), citations=tuple(cast(list[Any], citations)), raw=raw)


def _call(raw: dict[str, Any], value: Json, path: str) -> Part:
    held = _object(value, path)
    return ToolCall(
        call_id=_string(held, "toolUseId", path),
        name=_string(held, "name", path),
        arguments=dump_json(held.get("input", {})),
        executor="server" if held.get("type") is not None else "client",
        raw=raw,
    )


def _result(raw: dict[str, Any], value: Json, path: str) -> Part:
    held = _object(value, path)
    inner = decode_blocks(held.get("content"), f"{path}.content")
    return ToolResult(
        call_id=_string(held, "toolUseId", path),
        parts=tuple([_inside(block, parts[0]) for block, parts in inner]),
        status={"success": "ok", "error": "error"}.get(str(held.get("status"))),  # type: ignore[arg-type]
        executor="server" if held.get("type") is not None else "client",
        raw=raw,
    )


def _inside(block: dict[str, Any], part: Part) -> Text | Media | JsonPart | Opaque:
    if "json" in block:
        return JsonPart(block["json"])
    return part if isinstance(part, Text | Media | Opaque) else Opaque(api=API, type=next(iter(block)), raw=block)


def _reasoning(raw: dict[str, Any], value: Json, path: str) -> Part | None:
    held = _object(value, path)
    redacted = held_base64(held.get("redactedContent"))
    if redacted is not None:
        return Thinking(encrypted=redacted, redacted=True, binding="turn", origin=_ORIGIN, raw=raw)
    if "reasoningText" not in held:
        return None
    text = _object(held["reasoningText"], f"{path}.reasoningText")
    signature = text.get("signature")
    return Thinking(
        text=_string(text, "text", f"{path}.reasoningText"),
        signature=signature if isinstance(signature, str) else None,
        binding="turn",
        origin=_ORIGIN,
        raw=raw,
    )


def _cache_point(raw: dict[str, Any], value: Json, path: str) -> Part | None:
    """A cache point of the known form is a mark and nothing else."""
    held = _object(value, path)
    ttl = held.get("ttl")
    known = held.get("type") == "default" and held.keys() <= {"type", "ttl"} and len(raw) == 1
    return CacheMark(ttl) if known and (ttl is None or isinstance(ttl, str)) else None


def _media(kind: _MediaKind) -> Callable[[dict[str, Any], Json, str], Part | None]:
    def decode(raw: dict[str, Any], value: Json, path: str) -> Part | None:
        held = _object(value, path)
        source = held.get("source")
        if not isinstance(source, dict):
            return None
        data, url = _place(cast(dict[str, Any], source))
        if data is None and url is None:
            return None
        name = held.get("name")
        return Media(
            media=kind,
            data=data,
            url=url,
            mime=FORMATS[kind].get(str(held.get("format", "txt" if "text" in source else ""))),
            name=name if isinstance(name, str) else None,
            size_px=image_size(data) if kind == "image" and data is not None else None,
            raw=raw,
        )

    return decode


def _place(source: dict[str, Any]) -> tuple[str | None, str | None]:
    """(base64, URL) of what a source holds; a text source is the bytes of its text."""
    if "bytes" in source:
        return held_base64(source["bytes"]), None
    if isinstance(source.get("text"), str):
        return as_base64(source["text"]), None
    location = source.get("s3Location")
    uri = cast(dict[str, Any], location).get("uri") if isinstance(location, dict) else None
    return None, uri if isinstance(uri, str) else None


_DECODERS: dict[str, Callable[[dict[str, Any], Any, str], Part | None]] = {
    "text": _text,
    "guardContent": _guarded,
    "citationsContent": _cited,
    "image": _media("image"),
    "document": _media("document"),
    "video": _media("video"),
    "audio": _media("audio"),
    "toolUse": _call,
    "toolResult": _result,
    "reasoningContent": _reasoning,
    "cachePoint": _cache_point,
}
