"""The facts that a question is about (R132)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from attrs import frozen

from contextport.contracts.facts import Fact, FactKind, FactLedger
from contextport.contracts.messages import Message

from .exact_values import exact_values
from .found_values import as_ascii
from .ledger import STATEMENTS
from .words import content_words

__all__ = ["facts_asked"]

_MOST = 16
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


def facts_asked(ledger: FactLedger, question: Message) -> tuple[Fact, ...]:
    """The facts whose value the message names, or whose words it shares if it asks something; best first, at most 16.

    Words are compared by their stems, Chinese by pairs of signs; the rarer a word is in the ledger, the more it weighs. A fact is
    a hit if it has at least half of the weight of the question's words; a sentence needs two of them. Stop words are no hit.
    """
    text = question.text
    values, words = exact_values(text), content_words(text)
    if not values and not words:
        return ()
    said = [as_ascii(f"{_spaced(fact.label)} {fact.text} {' '.join(fact.earlier)}").lower() for fact in ledger.facts]
    weights = _weights(words, said) if _ASKS.search(text) else {}
    total = sum(weights.values()) + _UNKNOWN * (len(words) - len(weights))
    hits: list[_Hit] = []
    for place, (fact, pieces) in enumerate(zip(ledger.facts, said, strict=True)):
        score = _named(fact, pieces, values, words, text) + _shared(fact, pieces, weights, total)
        if score:
            hits.append(_Hit(score, fact.role == "user", place))
    return tuple([ledger.facts[hit.place] for hit in sorted(hits, reverse=True)[:_MOST]])


def _spaced(label: str) -> str:
    """A path as words: its dots and underscores are spaces."""
    return label.replace(".", " ").replace("_", " ")


def _weights(words: frozenset[str], said: Sequence[str]) -> dict[str, float]:
    """What each word of the question weighs; those that are nowhere in the ledger are not in it."""
    counts = {word: sum(word in pieces for pieces in said) for word in words}
    return {word: 0.1 + math.log(1 + len(said) / count) for word, count in counts.items() if count}


def _shared(fact: Fact, pieces: str, weights: dict[str, float], total: float) -> float:
    """The weight of the words that the fact shares with the question, 0 if that is too little."""
    maybe = [word for word in weights if word in pieces]
    if not maybe or sum(weights[word] for word in maybe) < _OWN_WORDS * total:
        return 0.0
    own = content_words(pieces)
    shared = [weights[word] for word in maybe if word in own]
    least = 2 if fact.kind in STATEMENTS and len(weights) > 1 else 1
    return sum(shared) if len(shared) >= least and sum(shared) >= _OWN_WORDS * total else 0.0


def _named(fact: Fact, pieces: str, values: frozenset[str], words: frozenset[str], question: str) -> float:
    """The weight of values that the question says, or of a name that it says in full."""
    if any(value.lower() in pieces for value in values):
        shared = values & exact_values(f"{fact.text}\n{fact.label}")
        if shared:
            return _NAMED * len(shared) + (_NAMED if fact.text in question else 0)
    if fact.kind is FactKind.ENTITY and fact.text in question and content_words(fact.text):
        return _NAMED if content_words(fact.text) <= words else 0.0
    return 0.0
