"""Unified diffs: files first, then hunks, then changed lines; what is missing is counted as added and removed lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate

from .line_choice import chosen_lines, lines_of, ranked

__all__ = ["is_diff", "shrink_diff"]

_FILES = re.compile(r"^(?:diff --git |--- \S.*\n\+\+\+ \S)", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)


def is_diff(text: str) -> bool:
    """Whether the text has the head of a file and of a hunk of a unified diff."""
    return _FILES.search(text) is not None and _HUNK.search(text) is not None


def shrink_diff(text: str, fits: Callable[[str], bool]) -> str | None:
    """File names, hunk heads, changed lines, context, as far as they fit; None when no line fits."""
    lines = lines_of(text)
    files, hunks, added, removed = [list[int]() for _ in range(4)]
    for n, line in enumerate(lines):
        if line.startswith("diff --git ") or _names_file(lines, n):
            files.append(n)
        elif _HUNK.match(line):
            hunks.append(n)
        elif line.startswith("+"):
            added.append(n)
        elif line.startswith("-"):
            removed.append(n)
    plus, minus = _counts(len(lines), added), _counts(len(lines), removed)

    def note(start: int, stop: int) -> str:
        return f"+{plus[stop] - plus[start]} -{minus[stop] - minus[start]}"

    order = ranked(len(lines), _names_first(lines, files), hunks, sorted([*added, *removed]))
    return chosen_lines(lines, order, fits, note=note)


def _names_file(lines: list[str], n: int) -> bool:
    """Whether line n is one of the two that name the old and the new file."""
    if lines[n].startswith("--- "):
        return n + 1 < len(lines) and lines[n + 1].startswith("+++ ")
    return lines[n].startswith("+++ ") and n > 0 and lines[n - 1].startswith("--- ")


def _names_first(lines: list[str], files: list[int]) -> list[int]:
    """One line per file that names it, then the other lines of its head."""
    git = any(lines[n].startswith("diff --git ") for n in files)
    return sorted(files, key=lambda n: not lines[n].startswith("diff --git " if git else "+++ "))


def _counts(length: int, indices: list[int]) -> list[int]:
    """counts[n] is how many of the indices are below n."""
    marks = [0] * (length + 1)
    for n in indices:
        marks[n + 1] = 1
    return list(accumulate(marks))
