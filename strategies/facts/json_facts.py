"""Facts in JSON: its values with their paths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.messages import Json

from .found_values import found_values
from .statements import clipped
from .text_facts import output_facts, text_facts
from .tool_lines import without_markers

__all__ = ["json_facts", "parsed"]

_SHORT = 80  # characters of a string that is a value, and not a text
_DEEPEST = 64
_CODE = re.compile("[A-Z]{5,16}")  # too long for an abbreviation
_TELLS = frozenset(["error", "errors", "message", "status", "detail", "reason", "result", "outcome", "错误", "状态", "结果"])


class Literal(str):
    """A number as it was written."""

    __slots__ = ()


def parsed(text: str) -> Json:
    """The JSON object or list of a text, numbers as they were written; None if it is none, or too deep to read."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text, parse_int=Literal, parse_float=Literal, parse_constant=Literal)
    except (ValueError, RecursionError):
        return None


def json_facts(value: Json, path: str, role: str, source: str) -> Iterator[Fact]:
    """Facts of a JSON value at that path. Places in lists are no part of paths."""
    for label, leaf in _leaves(value, path, 0):
        yield from _leaf_facts(leaf, label, role, source)


def _leaves(value: Json, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict) and depth < _DEEPEST:
        for key, inner in cast(dict[str, Any], value).items():
            if isinstance(inner, dict) and any(sign in "0123456789" for sign in key) and key not in inner.values():
                yield path, key
            yield from _leaves(inner, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for inner in cast(list[Any], value):
            yield from _leaves(inner, path, depth + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, json.dumps(value)


def _leaf_facts(leaf: str, label: str, role: str, source: str) -> Iterator[Fact]:
    if isinstance(leaf, Literal):
        yield Fact(kind=_number_kind(leaf, label), text=str(leaf), label=label, role=role, sources=(source,))
        return
    leaf = without_markers(leaf).strip()
    if len(leaf) > _SHORT or "\n" in leaf:
        yield from output_facts(leaf, source, label) if role == "tool" else text_facts(leaf, role, source)
    elif any(sign.isalnum() for sign in leaf):
        yield Fact(kind=_kind(leaf, label), text=clipped(leaf), label=label, role=role, sources=(source,))


def _number_kind(number: str, label: str) -> FactKind:
    return FactKind.IDENTIFIER if label.lower().endswith(("id", "_no", "number", "code", "zip")) else FactKind.NUMBER


def _kind(leaf: str, label: str) -> FactKind:
    values = found_values(leaf)
    if len(values) == 1 and len(leaf.strip()) <= values[0].end - values[0].start + 1:
        return values[0].kind
    if label.rpartition(".")[2].lower() in _TELLS and " " in leaf:
        return FactKind.CONCLUSION
    return FactKind.DATE if values and all(value.kind is FactKind.DATE for value in values) else _named(leaf, label)


def _named(leaf: str, label: str) -> FactKind:
    last = label.rpartition(".")[2].lower()
    coded = last.endswith(("id", "ids", "number", "code", "key")) and " " not in leaf
    return FactKind.IDENTIFIER if coded or _CODE.fullmatch(leaf) else FactKind.ENTITY
