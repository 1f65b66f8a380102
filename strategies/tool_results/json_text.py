"""JSON: identifiers and single values first, long arrays and strings cut with a count, and the text still JSON.

What is kept is copied out of the text, white space included: pieces of it with markers in between, numbers as they were written.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

from attrs import define, field

from contextport.strategies.head_and_tail import grapheme_cut
from contextport.strategies.text_markers import (
    REPEAT_CALL,
    characters_missing,
    is_marker,
    left_out,
    spare_marker,
    units_missing,
)

from .json_spans import JsonNode, json_tree

__all__ = ["shrink_json"]

_MARK_KEY = "…"
_SHORT = 64  # characters of a string that is an identifier, a name, a date or a path, and no prose
_BRIEF = 24  # characters of a string where little room is
_FLAT = 4  # below this measure no object or array within an object is opened
_FIELDS_PER_STEP = 2  # fields of an object, and
_CHARS_PER_STEP = 16  # characters of a string, for each step of the measure
_IDENTIFIER = re.compile(
    r'"(?:\w*[_-])?(?:id|ids|key|name|number|no|code|uuid|sku|status|errors?|message|result|url|path)"|"\w+I[dD]s?"'
)
_UNIT = re.compile(r"\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|\\u\w{4}|\\.|[^\\]+", re.DOTALL)  # one escape, or characters without
_REACH = 128  # characters around a cut that tell whether it is a legal one


def shrink_json(text: str, fits: Callable[[str], bool]) -> str | None:
    """The largest shortened form of a text that is JSON which fits and is JSON; None if not even a JSON string with a mark fits.

    One measure decides how much stays: half as many entries of each array, twice as many fields of each object, with the
    identifiers and single values first, and 16 times as many characters of each string. Below measure 4 no object or array
    within an object is opened.
    """
    root = json_tree(text)
    hows = (REPEAT_CALL, "")  # without room for both, some of what it says is worth more than how to see the rest
    if root is not None:
        for how in hows:
            found = _largest(text, root, how, fits)
            if found is not None:
                return found
    marks = [_quoted(left_out(len(text), "character", how)) for how in hows]
    return next((mark for mark in marks if fits(mark)), None)


def _largest(text: str, root: JsonNode, how: str, fits: Callable[[str], bool]) -> str | None:
    """The form of the largest measure that fits, found by doubling and halving."""
    best: str | None = None
    low, high, measure = 1, _longest(root), 1
    doubling = True
    while low <= high:
        candidate = _Writer(text, measure, how).written(root)
        if fits(candidate):
            best, low = candidate, measure + 1
        else:
            high, doubling = measure - 1, False
        measure = min(high, measure * 2) if doubling else (low + high) // 2
    return best


def _longest(root: JsonNode) -> int:
    """The measure from which on nothing is left out."""
    longest, nodes = _FLAT, [root]
    while nodes:
        node = nodes.pop()
        longest = max(longest, 2 * len(node.items) if node.items else (node.stop - node.start) // _CHARS_PER_STEP + 1)
        nodes.extend(node.items)
    return longest


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@define
class _Writer:
    """Writes a tree at one measure. The first mark says how to see what is missing."""

    text: str
    measure: int
    how: str
    within_object: bool = False
    out: list[str] = field(factory=list[str])

    def written(self, root: JsonNode) -> str:
        self._write(root)
        return self.text[: root.start] + "".join(self.out) + self.text[root.stop :]

    def _mark(self, count: int, unit: str) -> str:
        how, self.how = self.how, ""
        return left_out(count, unit, how)

    def _write(self, node: JsonNode) -> None:
        if not node.items:
            self._leaf(node)
        elif self.within_object and self.measure < _FLAT:
            self._closed(node)
        else:
            outside, self.within_object = self.within_object, self.within_object or node.kind == "object"
            self._entries(node, self._kept(node))
            self.within_object = outside

    def _closed(self, node: JsonNode) -> None:
        """A mark in place of an object or array, unless that is shorter."""
        written, how = self.text[node.start : node.stop], self.how
        mark = _quoted(self._mark(self._missing(node, range(len(node.items))), "entry"))
        mark = mark if node.kind == "object" else f"[{mark}]"
        if len(written) <= len(mark):
            self.how = how
        self.out.append(min(mark, written, key=len))

    def _leaf(self, node: JsonNode) -> None:
        written = self.text[node.start : node.stop]
        limit = max(_BRIEF if self.measure < _FLAT else _SHORT, self.measure * _CHARS_PER_STEP)
        if node.kind != "string" or len(written) <= limit + 2 or is_marker(written):
            self.out.append(written)
            return
        content = written[1:-1]
        kept = spare_marker(content, _cut(content, limit), -1)
        missing = characters_missing(content, kept, len(content))
        if len(content) - kept <= len(left_out(missing, "character", self.how)):
            self.out.append(written)
        else:
            self.out.append(f'"{content[:kept]}{self._mark(missing, "character")}"')

    def _kept(self, node: JsonNode) -> list[int]:
        """Indices of the entries that stay, in order: all of them if a mark for the others would be longer than these."""
        items = node.items
        count = (self.measure + 1) // 2 if node.kind == "array" else self.measure * _FIELDS_PER_STEP
        order = range(len(items)) if node.kind == "array" else sorted(range(len(items)), key=lambda n: (self._rank(node, n), n))
        missing = order[count:]
        marker = left_out(self._missing(node, missing), "entry", self.how)
        if sum(items[n].stop - items[n].begin for n in missing) <= len(marker):
            return list(range(len(items)))
        return sorted(order[:count])

    def _missing(self, node: JsonNode, indices: Iterable[int]) -> int:
        """How many entries are left out with these, of which one may be the mark of earlier ones."""
        items, text = node.items, self.text
        return sum(units_missing(text[items[n].start : items[n].stop]) if self._is_mark(node, n) else 1 for n in indices)

    def _is_mark(self, node: JsonNode, n: int) -> bool:
        """Whether entry n stands where the mark of an earlier cut does: last in an array, under a key of its own in an object."""
        one = node.items[n]
        if one.kind != "string" or one.key is None:
            return one.kind == "string" and n == len(node.items) - 1
        return self.text[one.key[0] : one.key[1]] == _quoted(_MARK_KEY)

    def _rank(self, holder: JsonNode, n: int) -> int:
        """Which fields of an object stay first: identifiers, other single values, prose, objects and arrays, an earlier mark."""
        node = holder.items[n]
        if self._is_mark(holder, n):
            return 4
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
        if len(kept) < len(items):
            missing = self._missing(node, set(range(len(items))).difference(kept))
            self.out.append(text[items[0].stop : items[1].begin])
            mark = _quoted(self._mark(missing, "entry"))
            self.out.append(f"{_quoted(_MARK_KEY)}: {mark}" if node.kind == "object" else mark)
        self.out.append(text[items[-1].stop : node.stop])


def _cut(content: str, limit: int) -> int:
    """Where the content of a JSON string may be cut, at `limit` or before: outside escapes, between grapheme clusters."""
    if "\\" not in content[: limit + _REACH]:
        return grapheme_cut(content, limit)
    characters: list[str] = []
    starts: list[int] = []
    for unit in _UNIT.finditer(content):
        if unit.start() >= limit + _REACH:
            break
        if unit[0][0] == "\\":
            if unit.end() > limit - _REACH:
                characters.append(json.loads(f'"{unit[0]}"'))
                starts.append(unit.start())
        else:
            near = range(max(unit.start(), limit - _REACH), min(unit.end(), limit + _REACH))
            characters.extend(content[near.start : near.stop])
            starts.extend(near)
    return starts[grapheme_cut("".join(characters), bisect_right(starts, limit) - 1)]
