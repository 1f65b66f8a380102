"""JSON values at the border: copied so that nothing is aliased, checked so that everything can be stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from .errors import InvalidMessage

__all__ = ["copy_json", "dump_json", "encodable"]

_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ESCAPED = json.JSONEncoder(separators=(",", ":"))
_MAX_DEPTH = 200  # far above real messages, far below the interpreter's own limit
_TOO_LARGE = 10**4300  # Python writes and reads integers of up to 4300 digits


def copy_json(value: Any, path: str = "", depth: int = 0) -> Any:
    """A deep copy made of dict, list, str, int, float, bool and None only; tuples become lists.

    Raises `InvalidMessage` with the path of the first value that JSON cannot hold.
    """
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is int:
        if -_TOO_LARGE < value < _TOO_LARGE:
            return value
        raise InvalidMessage(f"{path or 'the value'} is an integer of over 4300 digits; send it as a string", path=path)
    if kind is float:
        if value - value == 0:  # false for NaN and for both infinities
            return value
        raise InvalidMessage(f"{path or 'the value'} is {value}; JSON has no such number", path=path)
    if depth > _MAX_DEPTH:
        raise InvalidMessage(f"{path[:80]}... is nested deeper than {_MAX_DEPTH} levels", path=path[:80])
    if kind is dict or isinstance(value, Mapping):
        return _copy_mapping(value, path, depth)
    if isinstance(value, list | tuple):
        return [copy_json(item, f"{path}[{n}]", depth + 1) for n, item in enumerate(cast(list[Any], value))]
    if isinstance(value, str):  # an enum or another subclass: keep its plain value
        return str.__str__(value)
    if isinstance(value, int):
        return copy_json(int(value), path, depth)
    if isinstance(value, float):
        return copy_json(float(value), path, depth)
    remedy = "; hand in what its model_dump(exclude_unset=True) gives" if hasattr(kind, "model_dump") else ""
    raise InvalidMessage(f"{path or 'the value'} is a {kind.__name__}, which JSON cannot hold{remedy}", path=path)


def _copy_mapping(value: Mapping[Any, Any], path: str, depth: int) -> dict[str, Any]:
    copied: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidMessage(f"{path or 'the object'} has the key {key!r}; JSON keys are strings", path=path)
        kind = type(item)
        if kind is str or item is None:
            copied[key] = item
        else:
            copied[key] = copy_json(item, f"{path}.{key}" if path else key, depth + 1)
    return copied


def dump_json(value: Any) -> str:
    """Compact JSON that any UTF-8 backend holds: U+0000 and lone surrogates are written as escapes and load back unchanged."""
    text = (_strings(value) if type(value) is dict else None) or _PLAIN.encode(value)
    return text if _utf8(text) else _ESCAPED.encode(value)


def _strings(value: dict[Any, Any]) -> str | None:
    """The JSON of an object of strings, as most messages are, in half the time; None for any other."""
    pairs: list[str] = []
    for key, item in value.items():
        if type(item) is not str or type(key) is not str:
            return None
        pairs.append(f"{_PLAIN.encode(key)}:{_PLAIN.encode(item)}")
    return f"{{{','.join(pairs)}}}"


def encodable(value: Any) -> Any:
    """The value with each lone surrogate replaced by U+FFFD; the same object where there is none."""
    if isinstance(value, str):
        return value if _utf8(value) else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [encodable(item) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in cast(dict[str, Any], value).items()}
    return value


def _utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
