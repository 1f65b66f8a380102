"""Whether what was planted is still there: the same rule for every system.

An identifier, number, date or path is there if it stands verbatim in a text, spelling of digits, case and spaces aside, and is
not part of a longer word or number. A decision or constraint is there if all its key words stand close together in one text: in
at most three times the room of the sentence. Words may be inflected; their order does not matter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from retention_planting import EXACT, Plant

__all__ = ["is_there", "normalised"]

_ROOM = 3
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SPACES = re.compile(r"\s+")


def is_there(plant: Plant, texts: Sequence[str]) -> bool:
    """Whether one of the texts, each `normalised`, holds what was planted."""
    if plant.kind in EXACT:
        value = _value(plant.text)
        return any(value.search(text) for text in texts)
    return any(_close(plant, text) for text in texts)


def normalised(text: str) -> str:
    """The text with one spelling of digits, letters and spaces; full-width forms become ASCII, `1,200` becomes `1200`."""
    return _SPACES.sub(" ", _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold()))


@cache
def _value(text: str) -> re.Pattern[str]:
    value = normalised(text)
    return re.compile(_edge(value[0], "(?<![a-z0-9])") + re.escape(value) + _edge(value[-1], "(?![a-z0-9])"))


def _edge(character: str, rule: str) -> str:
    return rule if character.isascii() and character.isalnum() else ""


@cache
def _key(key: str) -> re.Pattern[str]:
    """A word, or its beginning; a short one only as a whole."""
    word = normalised(key)
    end = _edge(word[-1], "(?![a-z0-9])") if len(word) < 4 else ""
    return re.compile(_edge(word[0], "(?<![a-z0-9])") + re.escape(word) + end)


def _close(plant: Plant, text: str) -> bool:
    """Whether a stretch of the text has all key words."""
    found = sorted((hit.start(), hit.end(), key) for key in plant.keys for hit in _key(key).finditer(text))
    room, wanted = _ROOM * len(plant.text), len(set(plant.keys))
    last: dict[str, int] = {}
    for start, end, key in found:
        last[key] = start
        if len(last) == wanted and end - min(last.values()) <= room:
            return True
    return False
