"""JSON: identifiers and single values first, long arrays and strings cut with a count, and the text still JSON.

What is kept is copied out of the text, white space included: pieces of it with markers in between, numbers as they were written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from attrs import define, field

from contextport.strategies.head_and_tail import grapheme_cut

from .json_spans import JsonNode, json_tree
from .markers import REPEAT_CALL, left_out

__all__ = ["is_json", "shrink_json"]

_MARK_KEY = "…"
_SHORT = 64  # characters of a string that is an identifier, a name, a date or a path, and no prose
_FIELDS_PER_STEP = 8  # fields of an object, and
_CHARS_PER_STEP = 64  # characters of a string, for each entry of an array
_IDENTIFIER = re.compile(
    r'"(?:\w*[_-])?(?:id|ids|key|name|number|no|code|uuid|sku|status|errors?|message|result|url|path)"|"\w+I[dD]s?"'
)
_UNIT = re.compile(r"\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|\\u\w{4}|\\.|[^\\]", re.DOTALL)  # what stands for one character
_REACH = 512  # characters after a cut that tell whether it is a legal one


def is_json(text: str) -> bool:
    """Whether the text is a JSON object or array."""
    return json_tree(text) is not None


def shrink_json(text: str, fits: Callable[[str], bool]) -> str | None:
    """The largest shortened form that fits and is JSON; None if the text is no JSON, or not even a JSON string with a mark fits.

    One measure decides how much stays: so many entries of each array, eight times as many fields of each object, with the
    identifiers and single values first, and 64 times as many characters of each string. At measure 0 an object or array within
    the outermost is a mark, and strings are short.
    """
    root = json_tree(text)
    if root is None:
        return None

    def shortened(measure: int) -> str:
        return _Writer(text, measure).written(root)

    best = shortened(0) if fits(shortened(0)) else None
    low, high, measure = 1, max(1, _longest(root)), 1
    doubling = True
    while low <= high:
        candidate = shortened(measure)
        if fits(candidate):
            best, low = candidate, measure + 1
        else:
            high, doubling = measure - 1, False
        measure = min(high, measure * 2) if doubling else (low + high) // 2
    if best is not None:
        return best
    marks = (left_out(len(text), "character", REPEAT_CALL), left_out(len(text), "character"))
    return next((mark for mark in map(_quoted, marks) if fits(mark)), None)


def _longest(root: JsonNode) -> int:
    """The measure from which on nothing is left out."""
    longest, nodes = 1, [root]
    while nodes:
        node = nodes.pop()
        longest = max(longest, len(node.items), (node.stop - node.start) // _CHARS_PER_STEP + 1 if not node.items else 1)
        nodes.extend(node.items)
    return longest


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@define
class _Writer:
    """Writes a tree at one measure. The first mark says how to see what is missing."""

    text: str
    measure: int
    hinted: bool = False
    depth: int = 0
    out: list[str] = field(factory=list[str])

    def written(self, root: JsonNode) -> str:
        self._write(root)
        return self.text[: root.start] + "".join(self.out) + self.text[root.stop :]

    def _mark(self, count: int, unit: str) -> str:
        how = "" if self.hinted else REPEAT_CALL
        self.hinted = True
        return left_out(count, unit, how)

    def _write(self, node: JsonNode) -> None:
        if not node.items:
            self._leaf(node)
        elif self.depth > 0 and self.measure == 0:
            mark = self._mark(len(node.items), "entry")
            self.out.append(_quoted(mark) if node.kind == "object" else f"[{_quoted(mark)}]")
        else:
            self.depth += 1
            self._entries(node, self._kept(node))
            self.depth -= 1

    def _leaf(self, node: JsonNode) -> None:
        written = self.text[node.start : node.stop]
        limit = max(_SHORT, self.measure * _CHARS_PER_STEP)
        if node.kind != "string" or len(written) <= limit + 2:
            self.out.append(written)
            return
        content = written[1:-1]
        kept = _cut(content, limit)
        mark = left_out(len(content) - kept, "character", "" if self.hinted else REPEAT_CALL)
        if len(content) - kept <= len(mark):
            self.out.append(written)
        else:
            self.out.append(f'"{content[:kept]}{self._mark(len(content) - kept, "character")}"')

    def _kept(self, node: JsonNode) -> list[int]:
        """Indices of the entries that stay, in order."""
        if node.kind == "array":
            return list(range(min(max(1, self.measure), len(node.items))))
        count = max(1, self.measure) * _FIELDS_PER_STEP
        if count >= len(node.items):
            return list(range(len(node.items)))
        return sorted(sorted(range(len(node.items)), key=lambda n: (self._rank(node.items[n]), n))[:count])

    def _rank(self, node: JsonNode) -> int:
        """Which fields of an object stay first: identifiers, other single values, prose, objects and arrays."""
        if node.kind in ("object", "array"):
            return 3
        if node.key is not None and _IDENTIFIER.fullmatch(self.text, *node.key):
            return 0
        return 1 if node.stop - node.start <= _SHORT else 2

    def _entries(self, node: JsonNode, kept: list[int]) -> None:
        """The kept entries with the white space and commas that stood between entries, and a mark for the others."""
        items, text = node.items, self.text
        self.out.append(text[node.start : items[0].begin])
        for nth, n in enumerate(kept):
            if nth:
                self.out.append(text[items[n - 1].stop : items[n].begin])
            self.out.append(text[items[n].begin : items[n].start])
            self._write(items[n])
        if missing := len(items) - len(kept):
            self.out.append(text[items[0].stop : items[1].begin])
            mark = _quoted(self._mark(missing, "entry"))
            self.out.append(f"{_quoted(_MARK_KEY)}: {mark}" if node.kind == "object" else mark)
        self.out.append(text[items[-1].stop : node.stop])


def _cut(content: str, limit: int) -> int:
    """Where the content of a JSON string may be cut, at `limit` or before: outside escapes, between grapheme clusters."""
    if "\\" not in content[: limit + _REACH]:
        return grapheme_cut(content, limit)
    units = list(_UNIT.finditer(content, 0, limit + _REACH))
    characters = [json.loads(f'"{unit[0]}"') if len(unit[0]) > 1 else unit[0] for unit in units]
    whole = sum(unit.end() <= limit for unit in units)
    return units[grapheme_cut("".join(characters), whole)].start()
