"""Choosing what is worth its room: each choice adds the most new rare words and exact values per token."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence

from .candidates import Candidate
from .emphasis import Emphasis
from .words import words_of

__all__ = ["Choice"]

_NAME = 2.5  # of an identifier or a path, beside a number or a date
_KNOWN = 0.3  # what a value is still worth that the ledger holds anyway
_QUESTION = 0.6  # what a question is worth beside a statement with the same words
_BATCH = 256  # candidates looked at between two looks at whether to go on


class Choice:
    """The order in which candidates are best taken. It can be made once.

    A word weighs log(1 + n / f) where f of n sentences have it, and nothing once it was said. An exact value weighs as much as a
    word that one sentence has, times `emphasis.values`; one in `names` more, one in `known` less. The sum, times the candidate's
    worth, counts per token of `costs`, and one for being a piece of its own: greedy choice under a budget, of a sum with
    diminishing returns. Candidates with values that are not in `allowed` are never taken. `go_on` is called between pieces of
    work and may raise to end it.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        costs: Sequence[int],
        values: Sequence[frozenset[str]],
        emphasis: Emphasis,
        *,
        allowed: frozenset[str],
        known: frozenset[str],
        names: frozenset[str],
        go_on: Callable[[], None],
    ) -> None:
        self._said: set[str] = set()
        self._candidates, self._costs, self._emphasis = candidates, costs, emphasis
        self._values = values
        self._value_weights = {**dict.fromkeys(names, _NAME), **dict.fromkeys(known, _KNOWN)}
        self._words: list[frozenset[str]] = []
        for at, candidate in enumerate(candidates):
            if not at % _BATCH:
                go_on()
            self._words.append(frozenset(words_of(candidate.text)))
        sentences = [words for words, one in zip(self._words, candidates, strict=True) if "value" not in one.slot]
        counts = Counter([word for words in sentences for word in words])
        self._weights = {word: math.log1p(len(sentences) / count) for word, count in counts.items()}
        self._value_weight = math.log1p(len(sentences)) * emphasis.values
        self._said_words: set[str] = set()
        self._left = [said <= allowed for said in values]
        newest = max((candidate.place for candidate in candidates), default=0) or 1
        self._worth = [
            one.worth * (1 + emphasis.recency * one.place / newest) * (_QUESTION if one.text.endswith(("?", "\uff1f")) else 1.0)
            for one in candidates
        ]

    def order(self, room: float) -> Iterator[int]:
        """Numbers of candidates, best first: those of each share in its room, then all others in what is left of `room`."""
        for slots, share in self._emphasis.shares:
            of_share = [at for at, candidate in enumerate(self._candidates) if candidate.slot in slots]
            room -= yield from self._take(of_share, room * share, first=room / 2 if share < 1 else room)
        yield from self._take(range(len(self._candidates)), room, first=room)

    def weight(self, word: str) -> float:
        """How rare a word is."""
        return self._weights.get(word, 0.0)

    def _take(self, numbers: Sequence[int], room: float, first: float) -> Generator[int, None, float]:
        """Numbers in the order of what they add per token, as long as there is room; returns the tokens they take.

        The first may take as much as `first`, so that a share is not empty because everything is larger than it.
        """
        taken = 0.0
        heap = [(-self._density(at), at) for at in numbers if self._left[at]]
        heapq.heapify(heap)
        while heap:
            before, at = heapq.heappop(heap)
            if taken + self._costs[at] > (room if taken else max(room, first)):
                continue
            density = self._density(at)  # what it added before others were taken may be said by now
            if density <= 0:
                continue
            if density < -before and heap and density < -heap[0][0]:
                heapq.heappush(heap, (-density, at))
                continue
            taken += self._costs[at]
            self._left[at] = False
            self._said_words |= self._words[at]
            self._said |= self._values[at]
            yield at
        return taken

    def _density(self, at: int) -> float:
        # Exact sums: they do not depend on the order of a set, which is another in each process.
        words = math.fsum([self._weights.get(word, 0.0) for word in self._words[at] if word not in self._said_words])
        values = math.fsum([self._value_weights.get(value, 1.0) for value in self._values[at] if value not in self._said])
        return self._worth[at] * (words + self._value_weight * values) / (self._costs[at] + 1)
