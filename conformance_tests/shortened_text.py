"""Whether a text is a shortened form of another: pieces of it in order, cut between grapheme clusters, with a visible marker."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from contextport.contracts import Message, Refusal, Text, ToolResult

__all__ = ["shortening_problem", "texts_of"]

_LEAST_PIECE = 12  # characters; a shorter agreement inside a marker may be chance
_LONGEST_MARKER = 200  # characters; what says that text is missing is not longer


def texts_of(parts: Sequence[Any]) -> Iterator[str]:
    """The texts of a message and of its tool results."""
    for part in parts:
        if isinstance(part, Text | Refusal):
            yield part.text
        elif isinstance(part, ToolResult):
            yield from texts_of(part.parts)


def shortening_problem(original: Message, shortened: Message) -> str:
    """What is wrong with a shortened message; empty when nothing is."""
    before, after = list(texts_of(original.parts)), list(texts_of(shortened.parts))
    if len(before) != len(after):
        before, after = ["\n".join(before)], ["\n".join(after)]
    for old, new in zip(before, after, strict=True):
        if old != new and (problem := _problem(old, new)):
            return problem
    return ""


def _problem(old: str, new: str) -> str:
    head = _common_prefix(old, new)
    tail = _common_suffix(old[head:], new[head:])
    middle = new[head : len(new) - tail]
    cuts = [head] if head < len(old) else []
    cuts += [len(old) - tail] if tail else []
    markers: list[str] = []
    at, source = 0, head
    marker = ""
    while at < len(middle):
        length, place = _longest_piece(middle, at, old, source, len(old) - tail)
        if length:
            markers, marker = [*markers, marker], ""
            cuts += [place, place + length]
            at, source = at + length, place + length
        else:
            marker += middle[at]
            at += 1
    markers.append(marker)
    if not any(character.isprintable() and not character.isspace() for marker in markers for character in marker):
        return f"{new!r} is {old!r} without part of it, and no visible marker says so"
    if any(len(marker) > _LONGEST_MARKER for marker in markers):
        return f"{max(markers, key=len)!r} is not from the original, and too long for a marker"
    for cut in cuts:
        if 0 < cut < len(old) and _one_cluster(old, cut):
            return f"the cut between {old[max(0, cut - 3) : cut]!a} and {old[cut : cut + 3]!a} is inside a grapheme cluster"
    return ""


def _common_prefix(a: str, b: str) -> int:
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


def _common_suffix(a: str, b: str) -> int:
    return _common_prefix(a[::-1], b[::-1])


def _longest_piece(text: str, at: int, old: str, start: int, stop: int) -> tuple[int, int]:
    """(length, place in `old`) of the longest piece of old[start:stop] that `text` has at `at`; (0, 0) for no long one."""
    place = old.find(text[at : at + _LEAST_PIECE], start, stop) if len(text) - at >= _LEAST_PIECE else -1
    if place < 0:
        return 0, 0
    return _common_prefix(text[at:], old[place:stop]), place


def _one_cluster(text: str, at: int) -> bool:
    """Whether the characters around `at` surely belong to one grapheme cluster."""
    before, after = text[at - 1], text[at]
    if (before, after) == ("\r", "\n"):
        return True
    if after == "\u200d" or (before == "\u200d" and unicodedata.category(after) == "So"):
        return True
    if unicodedata.category(after) in ("Mn", "Me") and before not in "\r\n":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    regional = _run_before(text, at)
    return "\U0001f1e6" <= after <= "\U0001f1ff" and len(regional) % 2 == 1


def _run_before(text: str, at: int) -> str:
    start = at
    while start and "\U0001f1e6" <= text[start - 1] <= "\U0001f1ff":
        start -= 1
    return text[start:at]
