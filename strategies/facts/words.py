"""The words of a text that say what it is about, so that two texts can be compared."""

from __future__ import annotations

import re
from itertools import pairwise

from .found_values import as_ascii

__all__ = ["STOP_WORDS", "content_words"]

_STOP = """
" a about above after again all also am an and any are as at be because been before being below between both but by can could
did do does doing done down during each few for from further get go got had has have having he her here hers him his how i if
in into is it its itself just let like may me might mine more most must my new no nor not now of off on once only or other our
ours out over own please same shall she should so some such than that the their theirs them then there these they this those
through to too under until up us very want was we were what when where which while who whom why will with would yes you your
yours ll ve re don doesn didn isn aren wasn won can't don't i'm i'll i've it's let's need make sure okay ok thanks thank tell
know say said number value one two actually instead change changed
"""

STOP_WORDS = frozenset(_STOP.split())
_WORD = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:['-][^\W_\u3040-\u9fff\uac00-\ud7af]+)*")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_EMPTY_SIGNS = frozenset("的了是在我你您他她它们这那吗呢吧啊呀就都也和与及或个把被给对从到很请要会能没有多少什么怎哪几")


def content_words(text: str) -> frozenset[str]:
    """Words in small letters without endings, stop words left out; of scripts written without spaces, pairs of signs."""
    plain = as_ascii(text).lower()
    words = {_stem(word) for word in _WORD.findall(plain) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())}
    if not plain.isascii():
        for run in _HAN.findall(plain):
            words.update(pair for pair in map("".join, pairwise(run)) if not _EMPTY_SIGNS.intersection(pair))
    return frozenset(words)


def _stem(word: str) -> str:
    if len(word) > 4 and word.isalpha():
        for ending in ("ing", "ied", "ies", "ed", "es", "s", "e"):
            if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
                return _single(word[: -len(ending)])
    return word


def _single(stem: str) -> str:
    """Without the last letter where it is doubled by the ending, as in cancelled."""
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
