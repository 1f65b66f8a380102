"""A JSON text as a tree of places in it, so that what is kept can be copied out exactly as it was written."""

from __future__ import annotations

import json
import re
from typing import Literal

from attrs import define, field

__all__ = ["JsonNode", "is_json", "json_tree"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_OUTSIDE = re.compile(r"\S")
_DEEPEST = 60  # levels; of a deeper text nothing but a mark is made


@define
class JsonNode:
    """The value at text[start:stop]. `key` is where its key begins and ends, for a value in an object."""

    kind: Literal["object", "array", "string", "scalar"]
    start: int
    stop: int
    key: tuple[int, int] | None = None
    items: list[JsonNode] = field(factory=list["JsonNode"])

    @property
    def begin(self) -> int:
        """Where the entry begins, its key included."""
        return self.start if self.key is None else self.key[0]


def is_json(text: str) -> bool:
    """Whether the text is a JSON object or array."""
    first = _OUTSIDE.search(text)
    if first is None or first[0] not in "{[":
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def json_tree(text: str) -> JsonNode | None:
    """The tree of a text that is JSON by `is_json`; None if it is nested deeper than 60 levels."""
    open_nodes: list[JsonNode] = []
    key: tuple[int, int] | None = None
    last: tuple[int, int] = (0, 0)
    root: JsonNode | None = None
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in ("}", "]"):
            open_nodes.pop().stop = token.end()
        elif sign == ":":
            key = last
            open_nodes[-1].items.pop()  # what was taken for a value is a key
        elif sign != ",":
            node = JsonNode(_kind(sign), token.start(), token.end(), key)
            key, last = None, (token.start(), token.end())
            if open_nodes:
                open_nodes[-1].items.append(node)
            root = root or node
            if sign in ("{", "["):
                open_nodes.append(node)
                if len(open_nodes) > _DEEPEST:
                    return None
    return root


def _kind(sign: str) -> Literal["object", "array", "string", "scalar"]:
    if sign == "{":
        return "object"
    if sign == "[":
        return "array"
    return "string" if sign[0] == '"' else "scalar"
