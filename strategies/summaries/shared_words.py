"""Whether a summary speaks of what it was made of, by the words that both have: refusals and small talk have few of them.

Lists of phrases end where a language or a model is not in them; this asks for no phrase. The shares were set below those of
true summaries in English and Chinese, of which the lowest had half and three eighths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from contextport.strategies.facts.words import content_words

__all__ = ["topic_words", "unrelated"]

_LEAST_SHARE = 0.4
_LEAST_SHARE_OF_PAIRS = 0.3  # of signs in scripts without spaces
_LEAST_SHARED = 2
_ENOUGH = 20  # words of a source, below which a true summary may have none of them
_FEW = 5  # words of a summary, below which their share means nothing: `recap of the garden` is poor, and may be true
_NOTHING = frozenset(
    {"yes", "no", "none", "null", "nil", "n/a", "na", "ok", "okay", "sure", "done", "noted", "empty"}
    | {"是", "否", "好", "好的", "无", "没有", "是的", "不", "对", "はい", "いいえ", "네"}
)
_PREFIX = 5  # letters by which two forms of a word are taken as the same
_TAG = re.compile(r"^\s*\[\w+\]", re.MULTILINE)
_WIDE_FROM = "\u2e80"
_LATIN_BEFORE = "\u0250"
_SPEAKERS = frozenset(["user", "assi", "assis", "tool", "用户", "助手", "summa", "conve"])


def topic_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that say what the texts are about, by their first letters, and pairs of signs of scripts without spaces."""
    words = frozenset().union(*map(content_words, texts))
    return frozenset(word[:_PREFIX] if word.isalpha() else word for word in words) - _SPEAKERS


def unrelated(summary: str, source: frozenset[str]) -> str:
    """Why a summary says nothing of a source with these topic words, in numbers; empty if it may be about it."""
    if len(source) < _ENOUGH:
        return ""
    words = topic_words([_TAG.sub("", summary)])
    shared = len(words & source)
    if not words:
        return "it has no words that say what it is about"
    if len(words) < _FEW and not shared:
        said = summary.strip(" \t\r\n.!?\u3002\uff01\uff1f\"'").casefold()
        return f"{said!r} is about nothing" if said in _NOTHING else ""
    if len(words) < _FEW:
        return ""
    script = _script_of(words)
    share = _LEAST_SHARE_OF_PAIRS if script == "wide" else _LEAST_SHARE
    least = max(_LEAST_SHARED, share * len(words)) if script == _script_of(source) else _LEAST_SHARED
    return f"{shared} of its {len(words)} words are in the source" if shared < least else ""


def _script_of(words: frozenset[str]) -> str:
    """The kind of script that most words are in; numbers are in none."""
    letters = [word for word in words if word.isalpha()]
    wide = sum(word >= _WIDE_FROM for word in letters)
    latin = sum(word < _LATIN_BEFORE for word in letters)
    return max((wide, "wide"), (latin, "latin"), (len(letters) - wide - latin, "other"))[1]
