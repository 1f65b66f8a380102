"""How much of a text a model's tokenizer knows: words that it keeps together, against words that it spells letter by letter."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Iterator
from typing import Any

from contextport.contracts.json_values import encodable

__all__ = ["TokenizerCoverage"]

_READ = 2_000  # characters that are looked at: their share speaks for the rest
_IDEOGRAPHS = range(0x4E00, 0xA000)  # CJK Unified Ideographs
_RARE_IDEOGRAPHS = (range(0x3400, 0x4DC0), range(0xF900, 0xFB00), range(0x20000, 0x32400))  # extensions, compatibility
_HANGUL = range(0xAC00, 0xD7A4)  # Korean syllables, each a block of two or three letters
_READER = 2_136  # ideographs that ordinary Japanese needs, by the list of 2010 of jōyō kanji; Chinese needs more
_FIRST_ALONE = chr(0x3400)
_COMBINING = ("Mn", "Mc")
_MARKS = "\u2581\u0120 "  # what tokenizers write for a space


class TokenizerCoverage:
    """Judges texts by the fast tokenizer of a model: an object of the library `tokenizers`, of which a copy is kept.

    A model learns words, not letters. So of each word the share of neighbouring letters counts that stay together in a token: 1
    for a word of one token, 0 for one that is spelt. A Korean syllable counts if no token has only a part of it. So does an
    ideograph, by how many of the ideographs of an ordinary reader the vocabulary has. A text without letters has coverage 1.

    Means over messages with the English vocabulary of all-MiniLM-L6-v2: English chats 0.99, German 0.71, Turkish 0.53, Chinese
    chats 0.04, Japanese 0.11, Korean, Thai and Hebrew 0.00, Arabic 0.02, Russian 0.05. With the multilingual one of
    multilingual-e5-small: English 0.97, Chinese and Korean 1.00, Russian 0.86, Arabic 0.92, Japanese 0.78, Thai 0.74. So below
    0.3 a text is in a script that the model has not learnt.
    """

    def __init__(self, tokenizer: Any, unknown: int | None) -> None:
        self._tokenizer = copy.deepcopy(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._unknown = unknown
        self._ideographs = min(1.0, self._known_ideographs() / _READER)

    @property
    def tokenizer_form(self) -> str:
        """The tokenizer, whole, as JSON."""
        return str(self._tokenizer.to_str())

    def of(self, text: str) -> float:
        """The share of the letters that are in known words, from 0 to 1."""
        read = encodable(text[:_READ])
        tokens, joined = self._tokens(read)
        known = whole = 0.0
        for start, end in _words(read):
            whole += end - start
            known += self._known(read, start, end, tokens, joined)
        return known / whole if whole else 1.0

    def _known(self, text: str, start: int, end: int, tokens: list[int], joined: list[bool]) -> float:
        if end - start > 1:
            return (end - start) * sum(joined[start : end - 1]) / (end - 1 - start)
        single = float(tokens[start] == 1)
        return single * self._ideographs if _is_ideograph(text[start]) else single

    def _tokens(self, text: str) -> tuple[list[int], list[bool]]:
        """For each character, of how many known tokens it is a part, and whether one of them has the next character too."""
        tokens, joined = [0] * len(text), [False] * len(text)
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        for number, token, (start, end) in zip(encoded.ids, encoded.tokens, encoded.offsets, strict=True):
            if number == self._unknown or not token.strip(_MARKS):
                continue
            for place in range(start, end):
                tokens[place] += 1
                joined[place] = joined[place] or place + 1 < end
        return tokens, joined

    def _known_ideographs(self) -> int:
        tokens, _ = self._tokens("".join(map(chr, _IDEOGRAPHS)))
        return tokens.count(1)


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Where words start and end: runs of letters with their marks, and each ideograph and Korean syllable by itself."""
    start: int | None = None
    for place, sign in enumerate(text):
        letter = sign.isalpha() or unicodedata.category(sign) in _COMBINING
        alone = letter and _stands_alone(sign)
        if start is not None and (alone or not letter):
            yield start, place
            start = None
        if alone:
            yield place, place + 1
        elif letter and start is None:
            start = place
    if start is not None:
        yield start, len(text)


def _stands_alone(sign: str) -> bool:
    return sign >= _FIRST_ALONE and (ord(sign) in _HANGUL or _is_ideograph(sign))


def _is_ideograph(sign: str) -> bool:
    number = ord(sign)
    return number in _IDEOGRAPHS or any(number in one for one in _RARE_IDEOGRAPHS)
