"""Long histories to search in, and questions about them, the same on every run.

Synthetic ones have English words as often as English has them (the n-th word once for every n times of the first), among words
that every sentence has. Those of a file of the LoCoMo form repeat its turns until there are enough: each time around other words
stand in for a fifth of the rarer ones, so that no two are equal.
"""

from __future__ import annotations

import json
import random
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["History", "from_file", "synthetic"]

_SEED = 5
_CHANGED = 0.2
_PLAIN = "the of and to a in that is was for it with as on be at by this had not are but from or have they you all her we"
_ASKED = ("What did we say about {}?", "When was it that {} came up?", "Do you remember {}?", "Who told me about {}?")
_WORD = re.compile(r"[A-Za-z]{4,}")


@frozen
class History:
    """Texts of a conversation in order, said by two in turn, and questions that each name words of one of them."""

    texts: tuple[str, ...]
    questions: tuple[str, ...]


def synthetic(words: Sequence[str], count: int, questions: int) -> History:
    """`count` messages of 8 to 40 words, out of `words` by falling frequency."""
    draw = random.Random(_SEED)
    plain = _PLAIN.split()
    shares = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))

    def word() -> str:
        rare = words[bisect(shares, draw.random() * shares[-1])]
        return draw.choice(plain) if draw.random() < 0.5 else rare

    texts = tuple(f"{' '.join(word() for _ in range(draw.randint(8, 40))).capitalize()}." for _ in range(count))
    return History(texts, _questions(texts, questions))


def from_file(path: Path, count: int, questions: int) -> History:
    """`count` messages out of the conversations of a file."""
    turns = [turn["text"] for conversation in json.loads(path.read_text("utf-8")) for turn in _turns(conversation)]
    texts = tuple(islice(_repeated(turns), count))
    return History(texts, _questions(texts, questions))


def _turns(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    sessions = {name: turns for name, turns in conversation["conversation"].items() if isinstance(turns, list)}
    for name in sorted(sessions, key=lambda one: int(one.split("_")[1])):
        yield from sessions[name]


def _repeated(turns: Sequence[str]) -> Iterator[str]:
    draw = random.Random(_SEED)
    vocabulary = sorted({word for turn in turns for word in _WORD.findall(turn)})

    def changed(found: re.Match[str]) -> str:
        return draw.choice(vocabulary) if draw.random() < _CHANGED else found[0]

    yield from turns
    while True:
        for turn in turns:
            yield _WORD.sub(changed, turn)


def _questions(texts: Sequence[str], count: int) -> tuple[str, ...]:
    """Each of the three rarest words of a message, in its order."""
    draw = random.Random(_SEED)
    often = Counter(word.lower() for text in texts for word in _WORD.findall(text))

    def about(text: str) -> str:
        own = list(dict.fromkeys(_WORD.findall(text)))
        rarest = set(sorted(own, key=lambda word: often[word.lower()])[:3])
        return " ".join(word for word in own if word in rarest)

    long_enough = [text for text in texts if len(_WORD.findall(text)) >= 4]
    return tuple(draw.choice(_ASKED).format(about(text)) for text in draw.sample(long_enough, count))
