"""The facts that a question is about (R132)."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from attrs import field, frozen

from contextport.contracts.facts import Fact, FactKind, FactLedger, FactState
from contextport.contracts.messages import Message

from .exact_values import exact_values
from .found_values import found_values
from .labels import owner_in, role_in, roles_said
from .ledger import RULES, STATEMENTS
from .statements import MARKS_END
from .words import content_words

__all__ = ["FactIndex", "facts_asked"]

_MOST = 16
_READ = 16_384  # facts whose words and values are remembered: those of one ledger are those of the next but for a few
_UNKNOWN = 0.5  # what a word of the question weighs that is nowhere in the ledger: less than most that are
_NAMED = 100.0  # more than any number of shared words: the question says the value itself
_OWN_WORDS = 0.5  # of what the question's words weigh, this much has to be in a fact's
_OF_LABEL = 0.3  # the same, if two of its words or more are in what a value is labelled with
_NEAR_BEST = 0.6  # of what the best has by shared words; with less it is about something else
_LABEL = 0.5  # what a word in the label adds, as a share of its weight
_SETTLED = 50.0  # beside what names the same: what the user decided about it says more than that it was named
_ENDED = 10.0  # of decisions about the same, the one that ended it
_ASKS = re.compile(
    r"[?\uff1f吗呢谁哪几]|什么|多少|怎么|为何|为什么|何时|告诉|提醒|列出|再说|"
    r"\b(?:what|whats|which|who|whose|when|where|why|how|tell|show|remind|recall|list|repeat|give)\b",
    re.IGNORECASE,
)
_NEEDS = re.compile(
    r"(?:^|[.!;,:\u2014]\s*|\b(?:please|now|then|and|to|you|let's|so)\s)(?:send|forward|cancel|check|look|find|track|pay|update|change|"
    r"refund|return|resend|print|open|call|email|e-mail|book|rebook|confirm|reopen|fix|compare|explain|use|read|get|fetch|run)\b|"
    r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should)\b|"
    r"发给|发送|取消|查一?下|查询|修改|改一下|退款|帮我|请把|请给|打开|确认一下",
    re.IGNORECASE,
)
_WHO = re.compile(r"\bwho(?:se)?\b|谁", re.IGNORECASE)


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

    _owned: dict[str, list[int]] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        owned: defaultdict[str, list[int]] = defaultdict(list)
        words: defaultdict[str, list[int]] = defaultdict(list)
        values: defaultdict[str, list[int]] = defaultdict(list)
        for place, fact in enumerate(self.ledger.facts):
            own_words, own_values = _read(fact.label, fact.text, fact.earlier)
            for word in own_words:
                words[word].append(place)
            for value in own_values:
                values[value].append(place)
            if owner := owner_in(fact.label):
                owned[owner].append(place)
        object.__setattr__(self, "_words", dict(words))
        object.__setattr__(self, "_values", dict(values))
        object.__setattr__(self, "_owned", dict(owned))

    def asked(self, question: Message) -> tuple[Fact, ...]:
        """The facts a question is about, best first, at most 16: its value is named, or enough of its words; else nothing.

        A message that asks nothing finds nothing; a request (`send the invoice of PO-7`) or a value alone finds what it names,
        not what it shares words with. A fact is a hit if it has at least half of the weight of the question's words, less where
        two of them are in its label; a sentence needs two of them. Stop words are no hit.
        """
        text = question.text
        values, words = exact_values(text), content_words(text)
        asks = _ASKS.search(text) is not None
        if not asks and not _NEEDS.search(text) and not _is_only_values(text):
            return ()
        scores: defaultdict[int, float] = defaultdict(float)
        for value in values:
            for place in self._values.get(value, ()):
                scores[place] += _NAMED + (_NAMED if self.ledger.facts[place].text in text else 0)
        for place, score in self._sharing(words, text, asks).items():
            scores[place] += score
        facts = self.ledger.facts
        if asks:
            self._add_what_belongs(scores, words, roles_said(text))
        least = _NEAR_BEST * max([score for score in scores.values() if score < _NAMED], default=0.0)
        hits = [_Hit(score, facts[place].role == "user", place) for place, score in scores.items() if score >= least]
        return tuple([facts[hit.place] for hit in sorted(hits, reverse=True)[:_MOST]])

    def _sharing(self, words: frozenset[str], text: str, asks: bool) -> dict[int, float]:
        """The facts that share enough words with the question, or a name in full, with the weight of that."""
        found: defaultdict[int, list[str]] = defaultdict(list)
        for word in words:
            for place in self._words.get(word, ()):
                found[place].append(word)
        size = len(self.ledger.facts)
        weights = {w: 0.1 + math.log(1 + size / len(self._words[w])) for w in words if w in self._words and asks}
        whole = math.fsum(weights.values()) + _UNKNOWN * (len(words) - len(weights))
        names = self._names(found, words, text)
        of_name = names.keys() if asks and not _WHO.search(text) else frozenset[str]()
        scores: dict[int, float] = {}
        for place, shared in found.items():
            fact = self.ledger.facts[place]
            score = _shared_weight(fact, shared, weights, whole)
            if fact.text in names:
                score += _NAMED
            elif fact.kind in RULES and any(name in fact.text for name in of_name):
                score += _NAMED + _SETTLED + (_ENDED if MARKS_END.search(fact.text) else 0.0)
            if score:
                scores[place] = score - (_NAMED if fact.state is FactState.DONE and score > _NAMED else 0.0)
        return scores

    def _add_what_belongs(self, scores: dict[int, float], words: frozenset[str], roles: frozenset[str]) -> None:
        """Values of the identifiers found come before these if the question has the word that they are of, or their role."""
        of = {self.ledger.facts[n].text: score for n, score in scores.items() if self.ledger.facts[n].kind is FactKind.IDENTIFIER}
        for text, score in of.items():
            for place in self._owned.get(text, ()):
                label = self.ledger.facts[place].label
                if role_in(label) in roles or words & _words_of(label.removeprefix(text)):
                    scores[place] = max(scores.get(place, 0.0), score + 1.0)

    def _names(self, places: Iterable[int], words: frozenset[str], text: str) -> dict[str, int]:
        """The names among these facts that the question says in full."""
        named = [(self.ledger.facts[place], place) for place in places]
        return {f.text: n for f, n in named if f.kind is FactKind.ENTITY and f.text in text and content_words(f.text) <= words}


def _is_only_values(text: str) -> bool:
    """Whether the message is a value and nothing else."""
    rest, end = "", 0
    for value in found_values(text):
        rest, end = rest + text[end : value.start], value.end
    return end > 0 and not any(sign.isalnum() for sign in rest + text[end:])


def _shared_weight(fact: Fact, shared: Sequence[str], weights: dict[str, float], whole: float) -> float:
    """The weight of the shared words, those in the label more, if it is enough of what all words of the question weigh."""
    weight = math.fsum([weights.get(word, 0.0) for word in shared])
    if fact.kind in STATEMENTS:
        enough = len(shared) >= (2 if len(weights) > 1 else 1) and weight >= _OWN_WORDS * whole
        return weight if enough else 0.0
    in_label = [word for word in shared if word in _words_of(_spaced(fact.label))] if fact.label else []
    least = (_OF_LABEL if len(in_label) > 1 else _OWN_WORDS) * whole
    return weight + _LABEL * math.fsum([weights.get(word, 0.0) for word in in_label]) if weight >= least else 0.0


def facts_asked(ledger: FactLedger, question: Message) -> tuple[Fact, ...]:
    """What `FactIndex.asked` finds, for one question."""
    return FactIndex(ledger).asked(question)


@lru_cache(maxsize=_READ)
def _read(label: str, text: str, earlier: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The words and the exact values of a fact."""
    return content_words(f"{_spaced(label)} {text} {' '.join(earlier)}"), exact_values(f"{text}\n{label}")


@lru_cache(maxsize=_READ)
def _words_of(text: str) -> frozenset[str]:
    return content_words(text)


def _spaced(label: str) -> str:
    """A path as words: its dots and underscores are spaces."""
    return label.replace(".", " ").replace("_", " ")
