"""Whether a text is made of pieces of another one and a marker, told from the two texts alone."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any, cast

from .evidence import Dict

_LONGEST_MARKER = 200


def content_text(wire: Dict) -> str:
    """The text of a message's content, its parts joined by line feeds."""
    content = wire.get("content")
    if isinstance(content, str):
        return content
    parts = cast(list[Any], content) if isinstance(content, list) else []
    return "\n".join(part if isinstance(part, str) else str(part.get("text", "")) for part in parts)


def marker_of(shortened: str, original: str) -> str | None:
    """What of `shortened` is not from `original`: the marker. None when that is too long to be a marker, so foreign text."""
    head = _common(shortened, original)
    rest, source = shortened[head:], original[head:]
    tail = _common(rest[::-1], source[::-1])
    middle = rest[: len(rest) - tail]
    if len(middle) <= _LONGEST_MARKER:
        return middle.strip()
    return _marker_by_words(shortened.split(), original.split())


def _common(one: str, other: str) -> int:
    length = min(len(one), len(other))
    return next((n for n in range(length) if one[n] != other[n]), length)


def _marker_by_words(shortened: list[str], original: list[str]) -> str | None:
    """For texts with several cuts: the runs of words that do not occur in the original, in order."""
    runs: list[str] = []
    at = 0
    for block in SequenceMatcher(None, shortened, original, autojunk=False).get_matching_blocks():
        if block.a > at:
            runs.append(" ".join(shortened[at : block.a]))
        at = block.a + block.size
    return " ".join(runs) if all(len(run) <= _LONGEST_MARKER for run in runs) else None


def shortening_problem(out: Dict, given: Dict, marker_needed: bool) -> str | None:
    """What is wrong with `out` as a shortened form of `given`, apart from which only content may differ."""
    shortened, original = content_text(out), content_text(given)
    other_keys = {key for key in {*out, *given} if key != "content" and out.get(key) != given.get(key)}
    if other_keys:
        return f"the keys {sorted(other_keys)} were changed"
    if shortened == original:
        return "it is not shortened" if marker_needed else None
    if len(shortened) >= len(original):
        return f"it has {len(shortened)} characters, the original has {len(original)}"
    marker = marker_of(shortened, original)
    if marker is None:
        return "it has text that is not a piece of the original"
    if marker_needed and not marker:
        return "there is no visible marker at the cut"
    if marker and marker in original:
        return f"the marker {marker!r} cannot be told from the text"
    return None
