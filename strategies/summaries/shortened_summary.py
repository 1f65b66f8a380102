"""A summary within its cap, without its least valuable items (R100, R129)."""

from __future__ import annotations

import re
from typing import Any

from attrs import evolve

from contextport.contracts import TokenCounter
from contextport.contracts.summary import Summary

__all__ = ["shortened"]

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
#: What is given up first (R100): prose, what is over, what it came to, what is to be done, what must hold.
_LISTS = ("done", "conclusions", "open", "constraints", "decisions")


def shortened(summary: Summary, counter: TokenCounter, max_tokens: int) -> Summary:
    """The summary with as much of it as fits `max_tokens`: whole sentences and items are left out, from the end of each.

    Empty if nothing fits. The same summary if all of it does.
    """
    if _fits(summary, counter, max_tokens):
        return summary
    sentences = [sentence for sentence in _SENTENCE_END.split(summary.text) if sentence]
    for keep in range(len(sentences) - 1, -1, -1):
        candidate = evolve(summary, text=_beginning(summary.text, sentences[:keep]))
        if _fits(candidate, counter, max_tokens):
            return candidate
    summary = evolve(summary, text="")
    for name in _LISTS:
        while getattr(summary, name):
            left: Any = {name: getattr(summary, name)[:-1]}
            summary = evolve(summary, **left)
            if _fits(summary, counter, max_tokens):
                return summary
    return summary


def _fits(summary: Summary, counter: TokenCounter, max_tokens: int) -> bool:
    return counter.count_text(summary.render()) <= max_tokens


def _beginning(text: str, sentences: list[str]) -> str:
    """The text up to the end of the last of its first sentences, with what stands between them."""
    at = 0
    for sentence in sentences:
        at = text.index(sentence, at) + len(sentence)
    return text[:at].rstrip()
