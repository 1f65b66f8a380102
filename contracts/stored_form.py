"""How a message is written down: one line of JSON, equal for equal messages, complete, and readable by later versions.

A message that still has its wire form is stored as that form, its keys in their order; its parts are decoded again on the way in.
Stores compare this text by `same_message` to tell a repeated append from a conflicting one.
"""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any, cast

import attrs

from . import messages as m
from .chat_format import API, decode, decode_plain
from .errors import StoreCorrupt
from .json_values import dump_json
from .messages import Importance, Kind, Message, Native, Part

__all__ = ["dump_message", "load_message", "same_message"]

_VERSION = 1
_PARTS: dict[str, type[Any]] = {
    c.__name__: c
    for c in (
        m.Text,
        m.Media,
        m.ToolCall,
        m.ToolResult,
        m.JsonPart,
        m.Thinking,
        m.Refusal,
        m.CacheMark,
        m.Opaque,
    )
}
_DEFAULTS: dict[str, Any] = {
    "kind": Kind.CHAT,
    "name": None,
    "pinned": False,
    "importance": Importance.NORMAL,
    "phase": None,
    "status": None,
    "created_at": None,
}
_USUAL = tuple(_DEFAULTS.values())
_own_values = attrgetter(*_DEFAULTS)
_decode_json = json.JSONDecoder().raw_decode


def dump_message(message: Message) -> str:
    """The stored form of a message: about its wire size plus its id."""
    native, own = message.native, _own_values(message)
    raw = native.raw if native is not None and native.api == API and native.parts is message.parts else None
    if raw is not None and own == _USUAL and message.metadata == raw.get("metadata", {}):  # most messages
        return f'{{"v":{_VERSION},"id":{dump_json(message.id)},"chat":{dump_json(raw)}}}'
    value: dict[str, Any] = {"v": _VERSION, "id": message.id}
    if own != _USUAL:
        value.update((key, one) for (key, usual), one in zip(_DEFAULTS.items(), own, strict=True) if one != usual)
    if raw is not None:
        value["chat"] = raw
        if message.metadata != raw.get("metadata", {}):
            value["metadata"] = message.metadata
    else:
        value["role"] = message.role
        value["parts"] = [_dump_part(part) for part in message.parts]
        if message.metadata:
            value["metadata"] = message.metadata
        if native is not None:
            value["native"] = {
                "api": native.api,
                "raw": native.raw,
                "edited": native.parts is not message.parts,
            }
            if native.group is not None:
                value["native"]["group"] = native.group
    return dump_json(value)


def load_message(text: str) -> Message:
    """The message written by `dump_message`. Raises `StoreCorrupt` when the text is not one."""
    try:
        value: dict[str, Any]
        value, end = _decode_json(text)
        if end != len(text):
            raise ValueError(f"it ends at character {end} of {len(text)}")
        version = value["v"]
        if version != _VERSION:
            raise StoreCorrupt(
                f"a stored message has form {version}; this version reads form {_VERSION}: upgrade contextport",
                version=version,
            )
        if len(value) == 3 and "chat" in value:  # most messages
            return decode_plain(value["chat"], value["id"]) or decode(value["chat"], id=value["id"])
        fields = {key: value[key] for key in value if key in _DEFAULTS}
        if "kind" in fields:
            fields["kind"] = Kind(fields["kind"])
        if "importance" in fields:
            fields["importance"] = Importance(fields["importance"])
        if "metadata" in value:
            fields["metadata"] = value["metadata"]
        if "chat" in value:
            return decode(value["chat"], id=value["id"], **fields)
        parts = tuple(_load_part(part) for part in value["parts"])
        native = value.get("native")
        if native is not None:
            edited = native["edited"]
            fields["native"] = Native(
                api=native["api"], raw=native["raw"], parts=None if edited else parts, group=native.get("group")
            )
        return Message(id=value["id"], role=value["role"], parts=parts, **fields)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreCorrupt(f"a stored message cannot be read: {type(error).__name__}: {error}") from error


def same_message(stored: str, given: str) -> bool:
    """Whether two texts of `dump_message` say the same as JSON, the order of keys aside; 1, 1.0 and true are three values."""
    return stored == given or _in_order(stored) == _in_order(given)


def _in_order(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def _dump_part(part: Part) -> dict[str, Any]:
    value: dict[str, Any] = {"part": type(part).__name__}
    for attribute in attrs.fields(type(part)):
        own = getattr(part, attribute.name)
        if own == attribute.default:
            continue
        if attribute.name == "parts":
            own = [_dump_part(inner) for inner in own]
        value[attribute.name] = own
    return value


def _load_part(value: dict[str, Any]) -> Part:
    given = dict(value)
    kind = _PARTS[given.pop("part")]
    for key in ("citations", "summary", "size_px", "origin"):
        if key in given:
            given[key] = tuple(given[key])
    if "parts" in given:
        given["parts"] = tuple(_load_part(inner) for inner in given["parts"])
    return cast(Part, kind(**given))
