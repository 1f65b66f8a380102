"""What stands where part of a text was left out: how much is missing, and how to get it back (R164).

Texts are shortened more than once. A later cut takes such a marker whole or leaves it out whole, and counts what it stood for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["REPEAT_CALL", "characters_missing", "is_marker", "left_out", "lines_missing", "spare_marker", "units_missing"]

#: How to get back what is missing. Not every call may be repeated: one that books or deletes does so again.
REPEAT_CALL = "repeat the call to see them, if it only reads"
_PLURALS = {"character": "characters", "entry": "entries", "line": "lines", "row": "rows"}
_OPENING = "[…"
_LONGEST = 300  # characters of a marker; the path in it is the longest part
_MARKER = re.compile(r"\[…([0-9]{1,12}) (characters?|entry|entries|lines?|rows?) left out[^…\n]{0,240}…\]")


def left_out(count: int, unit: str, how: str = "") -> str:
    """The marker for `count` missing units: `character`, `entry`, `line` or `row`. `how` says what to do to see them."""
    what = unit if count == 1 else _PLURALS[unit]
    return f"[…{count} {what} left out; {how}…]" if how else f"[…{count} {what} left out…]"


def is_marker(text: str) -> bool:
    """Whether the text, or the JSON string that it is, is nothing but a marker: there is nothing more to take from it."""
    return _MARKER.fullmatch(text.strip().strip('"')) is not None


def spare_marker(text: str, at: int, direction: int) -> int:
    """`at`, or where the marker that is around it begins (`direction` -1) or ends (1)."""
    begin = text.rfind(_OPENING, max(0, at - _LONGEST), at + 1)
    found = _MARKER.match(text, begin) if begin >= 0 else None
    if found is None or not begin < at < found.end():
        return at
    return begin if direction < 0 else found.end()


def characters_missing(text: str, start: int, stop: int) -> int:
    """How many characters are left out with text[start:stop]: for a marker of earlier ones as many as it stands for."""
    count = stop - start
    if text.find(_OPENING, start, stop) >= 0:
        for marker in _MARKER.finditer(text, start, stop):
            if marker[2].startswith("char"):
                count += int(marker[1]) - len(marker[0])
    return count


def units_missing(text: str) -> int:
    """What leaving out one line, row or entry leaves out: 1, or for a marker of earlier ones as many as it stands for."""
    marker = _MARKER.fullmatch(text.strip().strip('"')) if _OPENING in text[:_LONGEST] else None
    return int(marker[1]) if marker and not marker[2].startswith("char") else 1


def lines_missing(lines: Sequence[str]) -> list[int]:
    """`units_missing` of each line."""
    return [units_missing(line) if line.startswith(_OPENING) else 1 for line in lines]
