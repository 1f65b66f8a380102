"""Sentences in which users say something of their own, whatever it is: no question, no small talk, no code."""

from __future__ import annotations

import re

from .found_values import found_values
from .words import content_words

__all__ = ["LONGEST_MESSAGE", "tells_something"]

#: Characters of a message; what is longer was pasted.
LONGEST_MESSAGE = 2000

_LONGEST = 240
_FEWEST_WORDS = 3
_FENCE = "```"
_QUESTION = re.compile(r"[?\uff1f][\"')\]\u201d\u300d\uff09\s]*\Z|[吗呢么][\s\u3002]*\Z")
_CODE = re.compile(
    r"[{};]\s*\Z|\A\s*(?:def|class|import|from|return|function|const|let|var|#|//|/\*|>>>|\$|<|@@|[+-]{3})\s|=>|[!=]=|&&|\|\||</|\(\)"
)
_LEAST_LETTERS = 0.5  # of all signs; with fewer it is a table or data


def tells_something(text: str, start: int, end: int) -> bool:
    """Whether the sentence at `start` to `end` of a message is short and says something: three words, or an exact value."""
    sentence = text[start:end].strip()
    if not 0 < len(sentence) <= _LONGEST or len(text) > LONGEST_MESSAGE or _QUESTION.search(sentence) or _CODE.search(sentence):
        return False
    if text.count(_FENCE, 0, start) % 2 or _FENCE in sentence:
        return False
    if sum(map(str.isalpha, sentence)) < _LEAST_LETTERS * len(sentence.replace(" ", "")):
        return False
    return len(content_words(sentence)) >= _FEWEST_WORDS or bool(found_values(sentence))
