"""The facts that a question is about (R132)."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from functools import lru_cache

from attrs import field, frozen

from contextport.contracts.facts import Fact, FactKind, FactLedger
from contextport.contracts.messages import Message

from .exact_values import exact_values
from .ledger import STATEMENTS
from .words import content_words

__all__ = ["FactIndex", "facts_asked"]

_MOST = 16
_READ = 16_384  # facts whose words and values are remembered: those of one ledger are those of the next but for a few
_UNKNOWN = 0.5  # what a word of the question weighs that is nowhere in the ledger: less than most that are
_NAMED = 100.0  # more than any number of shared words: the question says the value itself
_OWN_WORDS = 0.5  # of what the question's words weigh, this much has to be in a fact's
_ASKS = re.compile(
    r"[?\uff1f吗呢谁哪几]|什么|多少|怎么|为何|为什么|何时|告诉|提醒|列出|再说|"
    r"\b(?:what|which|who|whose|when|where|why|how|tell|show|remind|recall|list|repeat|give)\b",
    re.IGNORECASE,
)


@frozen(order=True)
class _Hit:
    """How well a fact answers; of equal ones the later is better."""

    score: float
    by_user: bool
    place: int


@frozen
class FactIndex:
    """A ledger made ready for questions: which facts have which words, and which exact values.

    Words are compared by their stems, Chinese by pairs of signs; the rarer a word is in the ledger, the more it weighs.
    """

    ledger: FactLedger
    _words: dict[str, list[int]] = field(init=False, repr=False, eq=False)
    _values: dict[str, list[int]] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        words: defaultdict[str, list[int]] = defaultdict(list)
        values: defaultdict[str, list[int]] = defaultdict(list)
        for place, fact in enumerate(self.ledger.facts):
            own_words, own_values = _read(fact.label, fact.text, fact.earlier)
            for word in own_words:
                words[word].append(place)
            for value in own_values:
                values[value].append(place)
        object.__setattr__(self, "_words", dict(words))
        object.__setattr__(self, "_values", dict(values))

    def asked(self, question: Message) -> tuple[Fact, ...]:
        """The facts whose value the message names, or whose words it shares if it asks something; best first, at most 16.

        A fact is a hit if it has at least half of the weight of the question's words; a sentence needs two of them. Stop words
        are no hit.
        """
        text = question.text
        values, words = exact_values(text), content_words(text)
        scores: defaultdict[int, float] = defaultdict(float)
        for value in values:
            for place in self._values.get(value, ()):
                scores[place] += _NAMED + (_NAMED if self.ledger.facts[place].text in text else 0)
        for place, score in self._sharing(words, text).items():
            scores[place] += score
        facts = self.ledger.facts
        hits = [_Hit(score, facts[place].role == "user", place) for place, score in scores.items()]
        return tuple([facts[hit.place] for hit in sorted(hits, reverse=True)[:_MOST]])

    def _sharing(self, words: frozenset[str], text: str) -> dict[int, float]:
        """The facts that share enough words with the question, or a name in full, with the weight of that."""
        found: defaultdict[int, list[str]] = defaultdict(list)
        for word in words:
            for place in self._words.get(word, ()):
                found[place].append(word)
        size = len(self.ledger.facts)
        weights = {w: 0.1 + math.log(1 + size / len(self._words[w])) for w in words if w in self._words and _ASKS.search(text)}
        least_weight = _OWN_WORDS * (sum(weights.values()) + _UNKNOWN * (len(words) - len(weights)))
        scores: dict[int, float] = {}
        for place, shared in found.items():
            fact = self.ledger.facts[place]
            score = sum([weights.get(word, 0.0) for word in shared])
            least = 2 if fact.kind in STATEMENTS and len(weights) > 1 else 1
            score = score if weights and len(shared) >= least and score >= least_weight else 0.0
            if fact.kind is FactKind.ENTITY and fact.text in text and content_words(fact.text) <= words:
                score += _NAMED
            if score:
                scores[place] = score
        return scores


def facts_asked(ledger: FactLedger, question: Message) -> tuple[Fact, ...]:
    """What `FactIndex.asked` finds, for one question."""
    return FactIndex(ledger).asked(question)


@lru_cache(maxsize=_READ)
def _read(label: str, text: str, earlier: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The words and the exact values of a fact."""
    return content_words(f"{_spaced(label)} {text} {' '.join(earlier)}"), exact_values(f"{text}\n{label}")


def _spaced(label: str) -> str:
    """A path as words: its dots and underscores are spaces."""
    return label.replace(".", " ").replace("_", " ")
