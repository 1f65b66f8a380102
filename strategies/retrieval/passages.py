"""Long texts cut into passages that are searched, scored and quoted by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["LONGEST_PASSAGE", "MOST_PASSAGES", "passages_of"]

LONGEST_PASSAGE = 800
"""Bytes of UTF-8: about 180 tokens of English and of Chinese, which most embedding models read whole."""
MOST_PASSAGES = 1_000
"""Passages of a text: what is longer is cut into longer ones."""

_LEAST_SHARE = 0.5  # of a passage, before a boundary is taken: passages of a few words say nothing
_BOUNDARIES = (
    re.compile(r"\n\s*\n"),  # paragraphs
    re.compile(r"\n|[.!?…]['\"”’)]*\s|[。！？]"),  # noqa: RUF001  # lines and sentences
    re.compile(r"[;:,]\s|[；：，、]"),  # noqa: RUF001  # clauses
    re.compile(r"\s"),
    re.compile(r"[^\w\s]"),  # signs, in texts without spaces such as JSON
)


def passages_of(text: str) -> list[str]:
    """The text in passages of at most `LONGEST_PASSAGE` bytes, each word for word, without blanks at its ends.

    A short text is one passage. A longer one is cut where a paragraph, a sentence, a clause or a word ends, whichever comes first
    in this order, and in the middle of a word only if nothing ends in half a passage. A blank text has none.
    """
    size = _bytes(text)
    if size <= LONGEST_PASSAGE:
        whole = text.strip()
        return [whole] if whole else []
    return [passage for passage in _cut(text, max(LONGEST_PASSAGE, -(-2 * size // MOST_PASSAGES))) if passage]


def _cut(text: str, longest: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _end(text, start, longest)
        yield text[start:end].strip()
        start = end


def _end(text: str, start: int, longest: int) -> int:
    """Where the passage ends that begins at `start`."""
    window = text[start : start + longest]
    most = _fitting(window, longest)
    if start + most >= len(text):
        return len(text)
    least = int(most * _LEAST_SHARE)
    for boundary in _BOUNDARIES:
        ends = [found.end() for found in boundary.finditer(window, least, most)]
        if ends:
            return start + ends[-1]
    return start + most


def _fitting(window: str, longest: int) -> int:
    """How many characters of the window take at most so many bytes; at least one."""
    if window.isascii():
        return len(window)
    whole = window.encode("utf-8", "surrogatepass")[:longest]
    return max(1, len(whole.decode("utf-8", "ignore")) if _is_clean(window) else longest // 4)


def _is_clean(window: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in window)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
