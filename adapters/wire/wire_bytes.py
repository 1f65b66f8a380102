"""Bytes in a request, which JSON does not have: held as `{"$bytes": "<base64>"}` where they stood, and given back as bytes.

Such an object stands nowhere else: under keys whose values are free JSON (`input` of a call and the like) there are no bytes, and
objects are left as they are.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, cast

from contextport.contracts import InvalidMessage, Json, copy_json
from contextport.contracts.json_values import encodable

__all__ = ["copy_wire", "held_base64", "tagged", "to_wire"]

_TAG = "$bytes"
_MAX_DEPTH = 200


def tagged(data: str) -> dict[str, str]:
    """The held form of bytes given as base64."""
    return {_TAG: data}


def held_base64(value: Json) -> str | None:
    """The base64 text of held bytes, or of a string, which is base64 already as HTTP bodies have it."""
    if isinstance(value, dict):
        value = cast(dict[str, Any], value).get(_TAG)
    return value if isinstance(value, str) else None


def copy_wire(value: Any, path: str, *, free: frozenset[str], depth: int = 0) -> Any:
    """As `copy_json`, with bytes in their held form; values under the keys `free` are JSON and nothing else.

    Raises `InvalidMessage` for what is neither, and for an object that could be taken for held bytes.
    """
    kind = type(value)
    if kind is str or value is None:
        return value
    if depth < _MAX_DEPTH:
        if kind is dict or isinstance(value, Mapping):
            return _copy_object(cast(Mapping[Any, Any], value), path, free, depth)
        if kind is list or kind is tuple:
            items = enumerate(cast(list[Any], value))
            return [copy_wire(item, f"{path}[{n}]", free=free, depth=depth + 1) for n, item in items]
        if kind is bytes or kind is bytearray:
            return tagged(base64.b64encode(value).decode("ascii"))
    return copy_json(value, path, depth)


def _copy_object(value: Mapping[Any, Any], path: str, free: frozenset[str], depth: int) -> dict[str, Any]:
    if _TAG in value:
        raise InvalidMessage(f"{path} has the key {_TAG!r}, which stands for bytes here: give the bytes themselves", path=path)
    copied: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidMessage(f"{path} has the key {key!r}; JSON keys are strings", path=path)
        if type(item) is str or item is None or item is True:
            copied[key] = item
        elif key in free:
            copied[key] = copy_json(item, f"{path}.{key}", depth + 1)
        else:
            copied[key] = copy_wire(item, f"{path}.{key}", free=free, depth=depth + 1)
    return copied


def to_wire(value: Any, *, free: frozenset[str], as_bytes: bool = True) -> Any:
    """A copy for the request: held bytes as bytes, or as base64 text, and lone surrogates as U+FFFD."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else encodable(value)
    if kind is dict:
        held = cast(dict[str, Any], value)
        if len(held) == 1 and type(held.get(_TAG)) is str:
            return base64.b64decode(held[_TAG]) if as_bytes else held[_TAG]
        return {
            encodable(key): encodable(item) if key in free else to_wire(item, free=free, as_bytes=as_bytes)
            for key, item in held.items()
        }
    if kind is list:
        return [to_wire(item, free=free, as_bytes=as_bytes) for item in cast(list[Any], value)]
    return value
