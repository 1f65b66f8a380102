"""Words of a text, for counting how rare they are: one rule for every script."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["words_of"]

_WIDE = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_WIDE}]+|(?:(?![{_WIDE}])\w)+(?:[-'\u2019.@/:](?:(?![{_WIDE}])\w)+)*")
_IS_WIDE = re.compile(rf"[{_WIDE}]")
_PLURALS = ("'s", "\u2019s")


def words_of(text: str) -> Iterator[str]:
    """The words in lower case; pairs of neighbouring characters where a script puts no space between words."""
    for match in _WORD.finditer(text):
        word = match.group()
        if _IS_WIDE.match(word):
            if len(word) == 1:
                yield word
            for at in range(len(word) - 1):
                yield word[at : at + 2]
        else:
            word = word.lower()
            yield word[:-2] if word.endswith(_PLURALS) else word
