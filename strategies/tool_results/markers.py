"""What stands where part of a tool result was left out: how much is missing, and how to get it back (R164)."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["REPEAT_CALL", "is_marker", "left_out", "lines_missing"]

#: How to get back what is missing. Not every call may be repeated: one that books or deletes does so again.
REPEAT_CALL = "repeat the call to see them, if it only reads"
_PLURALS = {"character": "characters", "entry": "entries", "line": "lines", "row": "rows"}
_MARKER = re.compile(r"\[…(\d+) (characters?|entry|entries|lines?|rows?) left out[^…\n]*…\]")


def left_out(count: int, unit: str, how: str = "") -> str:
    """The marker for `count` missing units: `character`, `entry`, `line` or `row`. `how` says what to do to see them."""
    what = unit if count == 1 else _PLURALS[unit]
    return f"[…{count} {what} left out; {how}…]" if how else f"[…{count} {what} left out…]"


def is_marker(text: str) -> bool:
    """Whether the text, or the JSON string that it is, is nothing but a marker: there is nothing more to take from it."""
    return _MARKER.fullmatch(text.strip().strip('"')) is not None


def lines_missing(lines: Sequence[str]) -> list[int]:
    """For each line what leaving it out leaves out: 1, or for a marker of earlier lines as many as it stands for."""
    found = [_MARKER.fullmatch(line.strip()) if line.startswith("[…") else None for line in lines]
    return [int(marker[1]) if marker and not marker[2].startswith("char") else 1 for marker in found]
