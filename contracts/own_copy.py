"""Messages made by hand, on their way in: every field checked, and everything that could be changed from outside copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from .chat_format import API, decode
from .errors import InvalidMessage
from .json_values import copy_json
from .messages import (
    CacheMark,
    Importance,
    JsonPart,
    Kind,
    Media,
    Message,
    Native,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

__all__ = ["own_copy"]

#: The value as it may be kept. Raises `InvalidMessage` with the path.
_Check: TypeAlias = Callable[[Any, str], Any]


def own_copy(message: Message) -> Message:
    """A message equal to the given one that shares nothing with it that can be changed.

    Where its parts are those of its chat form, they are decoded anew from a copy of that. Raises `InvalidMessage` with the path
    of the first field whose value is not of its type, or not JSON.
    """
    fields = {name: check(getattr(message, name), name) for name, check in _MESSAGE_FIELDS.items()}
    native = message.native
    if native is None:
        return Message(parts=_parts(message.parts, "parts"), **fields)
    if not isinstance(native, Native):
        raise _wrong(native, "native", "the wire form of a decoded message, or None")
    raw, api = copy_json(native.raw, "native.raw"), _string(native.api, "native.api")
    unedited = native.parts is message.parts
    if unedited and api == API:
        del fields["role"]
        if fields["name"] is None:
            del fields["name"]
        return decode(_object(raw, "native.raw"), **fields)
    parts = _parts(message.parts, "parts")
    group = _string_or_none(native.group, "native.group")
    return Message(parts=parts, native=Native(api=api, raw=raw, parts=parts if unedited else None, group=group), **fields)


def _wrong(value: Any, path: str, wanted: str) -> InvalidMessage:
    return InvalidMessage(f"{path} is a {type(value).__name__}; it must be {wanted}", path=path)


def _shown(value: Any) -> str:
    """The value where it is short and can be written, else its type."""
    short = isinstance(value, str) or (isinstance(value, int) and abs(value) < 1_000_000)
    return f"{value!r:.80}" if short else f"a {type(value).__name__}"


def _string(value: Any, path: str) -> str:
    if type(value) is str:
        return value
    if isinstance(value, str):  # an enum or another subclass: keep its plain value
        return str.__str__(value)
    raise _wrong(value, path, "a string")


def _arguments(value: Any, path: str) -> str:
    if isinstance(value, str):
        return _string(value, path)
    raise _wrong(value, path, "a string, the JSON text that the model wrote: use dump_json for an object")


def _string_or_none(value: Any, path: str) -> str | None:
    return None if value is None else _string(value, path)


def _flag(value: Any, path: str) -> bool:
    if isinstance(value, bool):
        return value
    raise _wrong(value, path, "True or False")


def _one_of(*known: str | None) -> _Check:
    def check(value: Any, path: str) -> str | None:
        if (value is None or isinstance(value, str)) and value in known:
            return None if value is None else _string(value, path)
        raise InvalidMessage(f"{path} is {_shown(value)}; it must be one of {', '.join(map(str, known))}", path=path)

    return check


def _time(value: Any, path: str) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return cast("float | None", copy_json(value, path))
    raise _wrong(value, path, "seconds since 1970, or None")


def _kind(value: Any, path: str) -> Kind:
    if isinstance(value, Kind):
        return value
    raise _wrong(value, path, "a Kind, such as Kind.CHAT")


def _importance(value: Any, path: str) -> Importance:
    if isinstance(value, int) and not isinstance(value, bool) and value in tuple(Importance):
        return Importance(value)
    known = ", ".join(f"Importance.{one.name}" for one in Importance)
    raise InvalidMessage(f"{path} is {_shown(value)}; it must be one of {known}", path=path)


def _tuple(value: Any, path: str, check: _Check, length: int | None = None) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise _wrong(value, path, "a tuple")
    items = cast(tuple[Any, ...], value)
    if length is not None and len(items) != length:
        raise InvalidMessage(f"{path} has {len(items)} items; it must have {length}", path=path)
    return tuple([check(item, f"{path}[{n}]") for n, item in enumerate(items)])


def _strings(value: Any, path: str) -> tuple[str, ...]:
    return _tuple(value, path, _string)


def _json_tuple(value: Any, path: str) -> tuple[Any, ...]:
    return _tuple(value, path, copy_json)


def _origin(value: Any, path: str) -> tuple[Any, ...] | None:
    return None if value is None else _tuple(value, path, _string, length=2)


def _size(value: Any, path: str) -> tuple[Any, ...] | None:
    return None if value is None else _tuple(value, path, _pixels, length=2)


def _pixels(value: Any, path: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return cast(int, copy_json(value, path))
    raise InvalidMessage(f"{path} must be a whole number of pixels, 0 or more", path=path)


def _object(value: Any, path: str) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return cast(dict[str, Any], copy_json(value, path))
    raise _wrong(value, path, "a mapping")


def _parts(value: Any, path: str) -> tuple[Part, ...]:
    return _tuple(value, path, _part)


def _part(value: Any, path: str) -> Part:
    known = _PART_FIELDS.get(type(value))
    if known is None:
        raise _wrong(value, path, f"a part: {', '.join(kind.__name__ for kind in _PART_FIELDS)}")
    return cast(Part, type(value)(**{name: check(getattr(value, name), f"{path}.{name}") for name, check in known.items()}))


def _inner_parts(value: Any, path: str) -> tuple[Any, ...]:
    return _tuple(value, path, _inner_part)


def _inner_part(value: Any, path: str) -> Part:
    if type(value) in (Text, Media, JsonPart, Opaque):
        return _part(value, path)
    raise _wrong(value, path, "a part of a tool result: Text, Media, JsonPart, Opaque")


_EXECUTOR = _one_of("client", "server")
_MESSAGE_FIELDS: dict[str, _Check] = {
    "role": _string,
    "id": _string,
    "kind": _kind,
    "name": _string_or_none,
    "pinned": _flag,
    "importance": _importance,
    "phase": _string_or_none,
    "status": _string_or_none,
    "created_at": _time,
    "metadata": _object,
}
_PART_FIELDS: dict[type[Any], dict[str, _Check]] = {
    Text: {"text": _string, "citations": _json_tuple, "raw": copy_json},
    Media: {
        "media": _one_of("image", "audio", "video", "document"),
        **dict.fromkeys(("data", "url", "file_id", "mime", "name", "detail"), _string_or_none),
        "size_px": _size,
        "raw": copy_json,
    },
    ToolCall: {
        "call_id": _string,
        "name": _string,
        "arguments": _arguments,
        "item_id": _string_or_none,
        "namespace": _string_or_none,
        "executor": _EXECUTOR,
        "complete": _flag,
        "raw": copy_json,
    },
    ToolResult: {
        "call_id": _string,
        "parts": _inner_parts,
        "status": _one_of(None, "ok", "error"),
        "name": _string_or_none,
        "executor": _EXECUTOR,
        "raw": copy_json,
    },
    Thinking: {
        "text": _string_or_none,
        "summary": _strings,
        "signature": _string_or_none,
        "encrypted": _string_or_none,
        "redacted": _flag,
        "binding": _one_of("none", "turn", "prefix", "item"),
        "item_id": _string_or_none,
        "origin": _origin,
        "raw": copy_json,
    },
    Refusal: {"text": _string},
    CacheMark: {"ttl": _string_or_none},
    Opaque: {"api": _string, "type": _string, "raw": copy_json, "pair_id": _string_or_none},
    JsonPart: {"value": copy_json},
}
