"""Directory listings (ls, find, tree, paths of a search): totals and the first entries, the others counted."""

from __future__ import annotations

import re
from collections.abc import Callable

from .line_choice import chosen_lines, lines_of, ranked

__all__ = ["is_listing", "shrink_listing"]

_LEAST_LINES = 6
_ENTRY_SHARE = 0.9
_SAMPLE = 200  # lines that are looked at
_LONG_ENTRY = re.compile(r"^\s*\d*\s*[bcdlps-](?:[r-][w-][xsStT-]){3}[.+@]?\s+\d+\s")  # ls -l
_TREE_ENTRY = re.compile(r"^[\s│|]*(?:├──|└──|\|--|`--|\+---)")
_PATH_ENTRY = re.compile(r"^[\w.@+#~%$=\[\](){},/\\:*-]+$")
_PATH_SIGN = re.compile(r"[/\\]|\.\w{1,8}$|^\.$")
_TOTAL = re.compile(r"^total \d|^\d+ director(?:y|ies)\b|^\d+ files?\b|^\S*[/\\]?\S+:\s*$")


def is_listing(text: str) -> bool:
    """Whether nearly every line is an entry: of `ls -l` or `tree`, or a path."""
    lines = [line for line in text.split("\n", _SAMPLE)[:_SAMPLE] if line.strip()]
    if len(lines) < _LEAST_LINES:
        return False
    return max(_share(lines, _is_long_entry), _share(lines, _is_path)) >= _ENTRY_SHARE


def _share(lines: list[str], is_entry: Callable[[str], bool]) -> float:
    return sum(is_entry(line) for line in lines) / len(lines)


def _is_long_entry(line: str) -> bool:
    return bool(_LONG_ENTRY.match(line) or _TREE_ENTRY.match(line) or _TOTAL.match(line))


def _is_path(line: str) -> bool:
    stripped = line[:500].strip()
    return bool(_TREE_ENTRY.match(line) or (_PATH_SIGN.search(stripped) and _PATH_ENTRY.match(stripped)))


def shrink_listing(text: str, fits: Callable[[str], bool]) -> str | None:
    """Totals and names of directories, then the first entries; None when no line fits."""
    lines = lines_of(text)
    totals = [n for n, line in enumerate(lines) if _TOTAL.match(line[:500])]
    return chosen_lines(lines, ranked(len(lines), totals, range(len(lines))), fits, unit="entry")
