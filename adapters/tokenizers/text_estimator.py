"""Token estimate of a text without its tokenizer: cheap, linear, standard library only.

A tokenizer's vocabulary decides how many tokens a text is, but the kinds of its characters already say most
of it. A letter after a letter seldom starts a token; a digit after a letter, or a capital after a small
letter, nearly always does. That is what makes base64, hex and logs so much dearer than prose. The estimate
is therefore a sum of two weights per character, both fitted to real tokenizers (see
:mod:`.script_weights`):

* **pair weight**: from the class of the character and that of the one before it. There are 16 classes:
  common and rare letters, capitals, digits, spaces, kinds of punctuation, and so on.
* **block weight**, for characters outside Latin-1: from the Unicode block (32 groups of scripts) and the
  part of the block (8 groups), which keeps for example Russian apart from Ukrainian.

Two small numbers that fit in one byte make a pair. So the pairs of a whole text are one integer, the classes
of all characters or-ed with themselves shifted by 12 bits; a table translates its bytes into weights. Every
step is one call into C per 16 384 characters: nothing in a text can make it slow.
"""

from __future__ import annotations

import zlib
from typing import Final, Literal

from .script_weights import BLOCK_UNIT, BLOCK_WEIGHTS, PAIR_WEIGHTS, UNITS_PER_TOKEN

Profile = Literal["mean", "upper"]

FAMILIES: Final = tuple(PAIR_WEIGHTS)
"""Tokenizer families with a weight table; ``default`` is for a model whose tokenizer is not known."""

PAIR_CLASSES: Final = {
    "line end": "\n",
    "vowel": "aeiou",
    "frequent consonant": "dhlnrst",
    "other consonant": "bcfgmpvwy",
    "rare consonant": "jkqxz",
    "capital": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "digit": "0123456789",
    "space": " \t",
    "stop": ".,;:!",
    "rule": "-=*#_~",
    "bracket": "()[]{}<>",
    "quote": "\"'`",
    "slash": "/\\",
    "not Latin-1": "?",  # what the encoder puts for such a character; a real "?" is read as "!"
    "Latin-1 letter": "".join(map(chr, range(0xC0, 0x100))),
    "other": "",
}
"""Name and members of each character class, in the order of the rows and columns of a pair table."""

BLOCK_STARTS: Final = (
    *(0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10),
    *(0x13, 0x1E, 0x1F, 0x20, 0x21, 0x25, 0x26, 0x30, 0x31, 0x34, 0x4E, 0x70, 0xA0, 0xD8, 0xE0, 0xFF),
)
"""High byte of the UTF-16 unit at which each of the 32 groups of scripts starts."""

BLOCK_PARTS: Final = (0, 1, 1, 2, 2, 0, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
"""Part of the block for each upper half of the low byte. In Cyrillic, part 0 has the non-Russian letters."""

_CHUNK: Final = 16_384
_SUM_CHUNK: Final = 256  # 256 * 255 < 65521, the modulus of adler32: its low half is the plain sum


def _class_table() -> bytes:
    table = bytearray([len(PAIR_CLASSES) - 1]) * 256
    for index, members in enumerate(PAIR_CLASSES.values()):
        for char in members:
            table[ord(char)] = index
    return bytes(table)


def _block_table() -> bytes:
    return bytes(8 * (sum(start <= high for start in BLOCK_STARTS) - 1) for high in range(256))


_CLASS_OF: Final = _class_table()
_BLOCK_OF: Final = _block_table()
_PART_OF: Final = bytes(BLOCK_PARTS[low >> 4] for low in range(256))


def pair_codes(text: str) -> bytes:
    """One byte per character: 16 times the class of the character before, plus its own class.

    The first character counts as the first of a line, and a line end of two characters as one.
    """
    classes = text.replace("\r\n", "\n").replace("?", "!").encode("latin-1", "replace").translate(_CLASS_OF)
    packed = int.from_bytes(classes, "little")
    return (packed | packed << 12).to_bytes(len(classes) + 2, "little")[: len(classes)]


def block_codes(text: str) -> bytes:
    """One byte per UTF-16 unit: 8 times its group of scripts, plus its part of the block; 0 to 7 for Latin-1.

    A lone surrogate counts as Latin-1.
    """
    try:
        units = text.encode("utf-16-le")
    except UnicodeEncodeError:  # the UTF-8 codec replaces surrogates 50 times faster than UTF-16 passes them
        units = text.encode("utf-8", "replace").decode().encode("utf-16-le")
    blocks = int.from_bytes(units[1::2].translate(_BLOCK_OF), "little")
    parts = int.from_bytes(units[::2].translate(_PART_OF), "little")
    return (blocks | parts).to_bytes(len(units) // 2, "little")


def _byte_sum(data: bytes) -> int:
    if len(data) <= _SUM_CHUNK:
        return zlib.adler32(data, 0) & 0xFFFF
    view = memoryview(data)
    return sum([zlib.adler32(view[at : at + _SUM_CHUNK], 0) & 0xFFFF for at in range(0, len(data), _SUM_CHUNK)])


class TextEstimator:
    """Estimates how many tokens a text is, for one tokenizer family.

    ``family`` is one of :data:`FAMILIES`. ``profile`` is ``mean`` for the most likely count, or ``upper``
    for one that real text seldom exceeds; ``upper`` is never below ``mean``. How far each is off, per
    kind of text: ``python benchmarks/estimator_error.py``. In every table a character of Chinese, Japanese or
    Korean text counts 0.6 tokens or more, which is too much for usual text where a vocabulary has long phrases.

    Raises ``ValueError`` for an unknown family or profile. Immutable, safe to share between threads.
    """

    __slots__ = ("_block_weights", "_pair_weights", "family", "profile")

    def __init__(self, family: str = "o200k", profile: Profile = "mean") -> None:
        if family not in PAIR_WEIGHTS:
            raise ValueError(f"unknown tokenizer family {family!r}; known: {', '.join(FAMILIES)}")
        if profile not in PAIR_WEIGHTS[family]:
            raise ValueError(f"unknown profile {profile!r}; known: mean, upper")
        self.family = family
        self.profile = profile
        self._pair_weights = bytes(PAIR_WEIGHTS[family][profile])
        self._block_weights = bytes(BLOCK_WEIGHTS[family][profile])

    def estimate(self, text: str) -> int:
        """Tokens of ``text``: 0 for the empty text, at least 1 for any other.

        Any ``str`` is accepted, lone surrogates included. Time is proportional to the length.
        """
        if not text:
            return 0
        if len(text) <= _CHUNK:
            units = self._units(text)
        else:
            units = sum([self._units(text[at : at + _CHUNK]) for at in range(0, len(text), _CHUNK)])
        return max(1, (units + UNITS_PER_TOKEN // 2) // UNITS_PER_TOKEN)

    def _units(self, text: str) -> int:
        units = _byte_sum(pair_codes(text).translate(self._pair_weights))
        if not text.isascii():
            units += BLOCK_UNIT * _byte_sum(block_codes(text).translate(self._block_weights))
        return units
