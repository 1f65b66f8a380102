"""What a word is for a memory: how the texts of facts are cut, and the words they are looked for by.

Words are compared in compatibility form and without case. What stands together, such as `AB-2024-001` or `src/app.py`, is one
word; its pieces are words as well, so that a part of it finds it, but whoever looks for the whole gets the whole.
Scripts that set no spaces, and Korean, whose particles stick to the noun, are cut into single characters and into pairs.

The words of a stored fact are found again by cutting it again: a change of the rules needs a step that fills the table anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

__all__ = ["words_of", "words_sought"]

_PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"  # Han, Hiragana, Katakana
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"  # Hangul, Han
)
# Python's \w has no combining marks: those of Latin, Hebrew, Arabic, and the vowel signs of the scripts of India.
_LETTER = rf"(?:(?![{_PAIRED}])[\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff])"
_JOINED = rf"{_LETTER}+(?:[-./:@+#&=?%~\\,]{{1,3}}{_LETTER}+)*"  # up to three signs: `https://x`, `C:\\x`
_UNIT = re.compile(rf"(?P<pairs>[{_PAIRED}]+)|(?P<joined>{_JOINED})")
_SIGNS = re.compile(rf"(?:(?!{_LETTER}).)+")


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """All words that a fact with these texts is found by."""
    found: set[str] = set()
    for unit, paired in _units(texts):
        if paired:
            found.update(unit, _pairs(unit))
        else:
            pieces = [piece for piece in _SIGNS.split(unit) if piece]
            found.update([unit], pieces, *(piece.split("_") for piece in pieces))
    return frozenset(found - {""})


def words_sought(texts: Iterable[str]) -> frozenset[str]:
    """The words that somebody looks for who writes these texts: of a name the whole, of Chinese text the pairs."""
    found: set[str] = set()
    for unit, paired in _units(texts):
        found.update(_pairs(unit) if paired and len(unit) > 1 else [unit])
    return frozenset(found)


def _units(texts: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """What stands together in the texts, and whether it is in a script that is cut into pairs."""
    for text in texts:
        for match in _UNIT.finditer(unicodedata.normalize("NFKC", text).casefold()):
            yield match[0], match.lastgroup == "pairs"


def _pairs(unit: str) -> list[str]:
    return [unit[at : at + 2] for at in range(len(unit) - 1)]
