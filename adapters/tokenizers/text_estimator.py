"""Token estimate of a text without its tokenizer: cheap, linear, standard library only.

A tokenizer's vocabulary decides how many tokens a text is, but the kinds of its characters already say most
of it. A letter after a letter seldom starts a token; a digit after a letter, or a capital after a small
letter, nearly always does. That is what makes base64, hex and logs so much dearer than prose. Which small letters
follow each other tells the languages a vocabulary knows well from those it does not. The estimate is therefore a
sum of weights per character, all fitted to real tokenizers (see :mod:`.script_weights`):

* **kind pair**: from the kind of the character and that of the one before it. There are 16 kinds:
  common and rare letters, capitals, digits, spaces, sorts of punctuation, and so on.
* **letter pair**: the same with 16 groups of small letters, those that behave alike in the languages of the fit.
* **block**, for characters outside Latin-1: from the script (32 groups) and the part of the Unicode block (8).
* **letter**, in three scripts that serve many languages with letters of their own (Cyrillic, Arabic, extended Latin):
  from four neighbouring characters. Uyghur and Persian share a block, but few of these.

Two digits of hexadecimal make a pair. So the pairs of a text are its classes written as such digits and read as
bytes, once from the first digit and once from the second; a table translates the bytes into weights. Every
step is one call into C per 16 384 characters: nothing in a text can make it slow.
"""

from __future__ import annotations

import zlib
from binascii import unhexlify
from collections.abc import Iterable
from typing import Final, Literal

from .script_weights import BLOCK_UNIT, BLOCK_WEIGHTS, LETTER_PAIR_WEIGHTS, LETTER_WEIGHTS, PAIR_WEIGHTS, UNITS_PER_TOKEN

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

LETTER_GROUPS: Final = ("", " ([{<)]}>\"'`", "aq", "e", "di", "o", "u", "nv", "r", "t", "bgpx", "jms", "kz", "fw", "hy", "cl")
"""Members of each group of small letters, in the order of a table of letter pairs; the first has all other characters."""

SCRIPT_GROUPS: Final = (
    (0x00,), (0x01,), (0x02,), (0x03,), (0x04,), (0x05,), (0x06,), (0x07, 0x08), (0x09,), (0x0A,), (0x0B,), (0x0C,),
    (0x0D,), (0x0E,), (0x0F,), (0x10,), (0x11, 0x12, 0x13), (0x17,),
    (0x14, 0x15, 0x16, *range(0x18, 0x1E), *range(0x2C, 0x30), *range(0xA0, 0xAC)),  # scripts that few texts use
    (0x1E,), (0x1F,), (0x20,), tuple(range(0x21, 0x25)), (0x25,), tuple(range(0x26, 0x2C)), (0x30,),
    tuple(range(0x31, 0x4E)), tuple(range(0x4E, 0xA0)), tuple(range(0xAC, 0xD8)),
    tuple(range(0xD8, 0xDC)), tuple(range(0xDC, 0xE0)), tuple(range(0xE0, 0x100)),
)  # fmt: skip
"""High bytes of the UTF-16 units of each of the 32 groups of scripts."""

BLOCK_PARTS: Final = (0, 1, 1, 2, 2, 0, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
"""Part of the block for each upper half of the low byte. In Cyrillic, part 0 has the non-Russian letters."""

LETTER_SCRIPTS: Final = ((0x04,), (0x06,), (0x01, 0x1E))
"""High bytes of the scripts with letter weights: Cyrillic, Arabic, and extended Latin."""

_CHUNK: Final = 16_384
_SUM_CHUNK: Final = 256  # 256 * 255 < 65521, the modulus of adler32: its low half is the plain sum
_DIGITS: Final = b"0123456789abcdef"


def _digit_table(classes: Iterable[str], others: int) -> bytes:
    table = bytearray([_DIGITS[others]]) * 256
    for index, members in enumerate(classes):
        for char in members:
            table[ord(char)] = _DIGITS[index]
    return bytes(table)


def _high_byte_table(groups: Iterable[Iterable[int]], shift: int, first: int) -> bytes:
    table = bytearray(256)
    for index, high_bytes in enumerate(groups, first):
        for high in high_bytes:
            table[high] = index << shift
    return bytes(table)


_KIND_DIGIT: Final = _digit_table(PAIR_CLASSES.values(), len(PAIR_CLASSES) - 1)
_LETTER_DIGIT: Final = _digit_table(LETTER_GROUPS, 0)
_GROUP_OF: Final = _high_byte_table(SCRIPT_GROUPS, 3, 0)
_PART_OF: Final = bytes(BLOCK_PARTS[low >> 4] for low in range(256))
_LETTER_SCRIPT_OF: Final = _high_byte_table(LETTER_SCRIPTS, 6, 1)
_LETTER_OF: Final = bytes(low >> 2 for low in range(256))


def latin_bytes(text: str) -> bytes:
    """One byte per character; a character outside Latin-1 is ``?``, a real ``?`` is ``!``, and a line end one byte."""
    return text.replace("\r\n", "\n").replace("?", "!").encode("latin-1", "replace")


def _pair_codes(digits: bytes) -> bytes:
    if len(digits) % 2:
        return unhexlify(digits[:-1]) + unhexlify(digits[1:])
    return unhexlify(digits) + unhexlify(digits[1:-1])


def kind_pair_codes(latin: bytes) -> bytes:
    """One byte per character, in any order: 16 times the kind of the character before, plus its own kind.

    The first character counts as the first of a line.
    """
    return _pair_codes(b"0" + latin.translate(_KIND_DIGIT))


def letter_pair_codes(latin: bytes) -> bytes:
    """One byte per character, in any order: 16 times the letter group of the character before, plus its own."""
    return _pair_codes(b"1" + latin.translate(_LETTER_DIGIT))


def utf16_halves(text: str) -> tuple[bytes, bytes]:
    """High and low bytes of the UTF-16 units; a lone surrogate becomes ``?``."""
    try:
        units = text.encode("utf-16-le")
    except UnicodeEncodeError:  # the UTF-8 codec replaces surrogates 50 times faster than UTF-16 passes them
        units = text.encode("utf-8", "replace").decode().encode("utf-16-le")
    return units[1::2], units[::2]


def _joined(high: bytes, low: bytes) -> bytes:
    return (int.from_bytes(high, "little") | int.from_bytes(low, "little")).to_bytes(len(high), "little")


def block_codes(high: bytes, low: bytes) -> bytes:
    """One byte per UTF-16 unit: 8 times its group of scripts, plus its part of the block; 0 to 7 for Latin-1."""
    return _joined(high.translate(_GROUP_OF), low.translate(_PART_OF))


def letter_codes(high: bytes, low: bytes) -> bytes:
    """One byte per UTF-16 unit: 64 times its letter script, plus a quarter of its low byte; 0 to 63 for other scripts.

    No bytes at all for a text without letter scripts.
    """
    scripts = high.translate(_LETTER_SCRIPT_OF)
    return _joined(scripts, low.translate(_LETTER_OF)) if scripts.strip(b"\0") else b""


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

    __slots__ = ("_block_weights", "_letter_pair_weights", "_letter_weights", "_pair_weights", "family", "profile")

    def __init__(self, family: str = "o200k", profile: Profile = "mean") -> None:
        if family not in PAIR_WEIGHTS:
            raise ValueError(f"unknown tokenizer family {family!r}; known: {', '.join(FAMILIES)}")
        if profile not in PAIR_WEIGHTS[family]:
            raise ValueError(f"unknown profile {profile!r}; known: mean, upper")
        self.family = family
        self.profile = profile
        self._pair_weights = bytes(PAIR_WEIGHTS[family][profile])
        self._letter_pair_weights = bytes(LETTER_PAIR_WEIGHTS[family][profile])
        self._block_weights = bytes(BLOCK_WEIGHTS[family][profile])
        self._letter_weights = bytes(LETTER_WEIGHTS[family][profile])

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
        latin = latin_bytes(text)
        units = _byte_sum(kind_pair_codes(latin).translate(self._pair_weights))
        units += _byte_sum(letter_pair_codes(latin).translate(self._letter_pair_weights))
        if not text.isascii():
            high, low = utf16_halves(text)
            units += BLOCK_UNIT * _byte_sum(block_codes(high, low).translate(self._block_weights))
            units += BLOCK_UNIT * _byte_sum(letter_codes(high, low).translate(self._letter_weights))
        return units
