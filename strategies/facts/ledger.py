"""Facts taken into a ledger: said again, changed, done, and given up where there are too many."""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs
from attrs import define, field

from contextport.contracts.facts import Fact, FactKind, FactLedger, FactState

from .found_values import found_values
from .labels import GAP, owner_in, role_in
from .names import names_in
from .statements import MARKS_CHANGE, MARKS_END
from .words import content_words

__all__ = ["RULES", "STATEMENTS", "merged", "rank_of", "was_argument"]

STATEMENTS = frozenset([FactKind.DECISION, FactKind.CONSTRAINT, FactKind.TASK, FactKind.CONCLUSION, FactKind.STATEMENT])
RULES = frozenset([FactKind.DECISION, FactKind.CONSTRAINT])
_MOST_SOURCES = 16  # the first ones; an identifier of a long run is in every message
_MOST_EARLIER = 16
_RECENT = 64  # facts among which the request is that a promise answers
_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{3}(?<!的)(?<!的.)")
_Key = tuple[str, str, str]


def merged(ledger: FactLedger, new: Iterable[Fact], *, max_facts: int = 4096) -> FactLedger:
    """The ledger with new facts taken up, in the order in which they were said first.

    - What is said again adds its sources, up to 16; merging the same facts twice changes nothing.
    - A number that a user gave a name (`budget`), or that stands in JSON below an identifier, takes the place of the earlier one.
    - A date of one role of one thing (`PO-7 delivery date`) takes the place of the earlier one.
    - What the user cancels ends decisions and open tasks about it: their state is done.
    - A decision or constraint of the user that says that it changes something takes the place of the one it shares words with.
    - A promise in the words of a request is the same task. A task that is done is no longer open: it takes the words of what
      says so. Asked for again, it is open again.
    - Old texts are kept in `earlier`. Identifiers, other dates, paths and names are never replaced.
    - Beyond `max_facts`, facts of the lowest `rank_of` go, oldest first: what the user said besides, then values out of tool
      results, before anything else; decisions and constraints of the user last (W9).
    """
    known = _Known()
    for fact in ledger.facts:
        known.put(fact)
    for fact in new:
        known.take(fact)
    return FactLedger(_most_worth(tuple(known.facts), max_facts))


def was_argument(fact: Fact) -> bool:
    """Whether it is a value that a tool was called with."""
    return fact.role == "assistant" and bool(fact.label) and not fact.label.endswith(GAP) and fact.kind not in STATEMENTS


def rank_of(fact: Fact) -> int:
    """How late a fact is given up, from 0 to 7."""
    if fact.kind is FactKind.STATEMENT:
        return 0
    if fact.role == "user" and fact.kind in RULES and fact.state is FactState.CURRENT:
        return 7
    if fact.kind in STATEMENTS:
        return 6 if fact.state is FactState.CURRENT and fact.role != "tool" else 2
    if fact.role == "user" or was_argument(fact):
        return 5
    if fact.kind in (FactKind.IDENTIFIER, FactKind.PATH):
        return 4
    return 3 if fact.role == "assistant" else 1


def _most_worth(facts: tuple[Fact, ...], most: int) -> tuple[Fact, ...]:
    if len(facts) <= most:
        return facts
    by_worth = sorted(range(len(facts)), key=lambda n: (-rank_of(facts[n]), -n))
    return tuple([facts[n] for n in sorted(by_worth[:most])])


def _key(fact: Fact, text: str) -> _Key:
    """What a fact is known by: two facts of one key are the same fact."""
    if fact.kind in STATEMENTS:
        said = "said" if fact.kind is FactKind.STATEMENT else "statement"
        return said, "", " ".join(text.lower().split())
    if _is_named_number(fact):
        return "number", fact.role, fact.label
    if _is_dated(fact):
        return "dated", "", fact.label
    return (
        fact.kind,
        owner_in(fact.label) if fact.label.endswith(GAP) else f"{was_argument(fact)} {fact.label}".removeprefix("False "),
        text,
    )


def _is_dated(fact: Fact) -> bool:
    """Whether the label says which date it is and of what, so that there is one at a time."""
    return fact.kind is FactKind.DATE and not fact.label.endswith(GAP) and bool(role_in(fact.label)) and fact.role != "tool"


def _is_same(text: str, other: str) -> bool:
    """Whether two dates are the same day, with the year or without."""
    one, two = [next((value.forms[0] for value in found_values(said)), said) for said in (text, other)]
    return one.endswith(two) or two.endswith(one)


def _is_named_number(fact: Fact) -> bool:
    """Whether the label says what the number is of, so that there is one of it at a time."""
    if fact.kind is not FactKind.NUMBER or not fact.label or fact.label.endswith(GAP):
        return False
    if fact.role == "user":
        return True
    return fact.role == "tool" and any(sign in "0123456789" for sign in fact.label)


@define
class _Known:
    """The facts so far, and by what each is found."""

    facts: list[Fact] = field(factory=list[Fact])
    places: dict[_Key, int] = field(factory=dict[_Key, int])
    words: dict[str, frozenset[str]] = field(factory=dict[str, frozenset[str]])

    def put(self, fact: Fact) -> None:
        self.facts.append(fact)
        self._find_by_texts(len(self.facts) - 1)

    def take(self, fact: Fact) -> None:
        place = self.places.get(_key(fact, fact.text))
        if place is None:
            self._take_new(fact)
            return
        old = self.facts[place]
        said = (old.text, *old.earlier)
        if _is_dated(fact) and _is_same(fact.text, old.text):
            fact = attrs.evolve(fact, text=old.text)
        if set(fact.sources) <= set(old.sources) and (fact.text in said or fact.kind in STATEMENTS):
            return
        if _key(old, old.text) == _key(fact, fact.text) and (fact.text == old.text or fact.kind in STATEMENTS):
            self.facts[place] = attrs.evolve(old, sources=_joined(old.sources, fact.sources), state=fact.state)
        else:
            self._replace(place, fact)

    def _take_new(self, fact: Fact) -> None:
        place = None
        if fact.kind is FactKind.DECISION and fact.role == "user" and MARKS_END.search(fact.text):
            self._end_what_was_decided(fact)
        elif fact.kind is FactKind.TASK and fact.state is FactState.DONE:
            place = self._finished(fact)
        elif fact.kind is FactKind.TASK and fact.role == "assistant" and (asked := self._asked_before(fact)) is not None:
            old = self.facts[asked]
            earlier = (*old.earlier, fact.text)[-_MOST_EARLIER:]
            self.facts[asked] = attrs.evolve(old, sources=_joined(old.sources, fact.sources), earlier=earlier)
            self._find_by_texts(asked)
            return
        elif fact.kind in RULES and fact.role == "user" and MARKS_CHANGE.search(fact.text):
            place = self._changed(fact)
        if place is None:
            self.put(fact)
        else:
            self._replace(place, fact)

    def _replace(self, place: int, fact: Fact) -> None:
        old = self.facts[place]
        earlier = tuple([text for text in (*old.earlier, old.text) if text != fact.text])
        self.facts[place] = attrs.evolve(
            old,
            kind=fact.kind,
            text=fact.text,
            label=fact.label if _is_dated(fact) else old.label,
            state=fact.state,
            sources=_joined(old.sources, fact.sources),
            earlier=tuple(dict.fromkeys(earlier))[-_MOST_EARLIER:],
        )
        self._find_by_texts(place)

    def _find_by_texts(self, place: int) -> None:
        fact = self.facts[place]
        for text in (*fact.earlier, fact.text):
            self.places[_key(fact, text)] = place
        if fact.kind is FactKind.DATE and fact.role != "tool" and fact.label == f"{role_in(fact.label)} {GAP}":
            self.places["dated", "", role_in(fact.label)] = place

    def _changed(self, fact: Fact) -> int | None:
        """The place of the rule that the new one changes: the one it shares most words with, at least half of what that has."""
        words = self._words(fact.text)
        best: tuple[int, int] | None = None
        for place, old in enumerate(self.facts):
            if old.kind in RULES and old.role == "user":
                before = [word for word in self._words(old.text) if not word.isdigit()]
                shared = len(words.intersection(before))
                if shared and 2 * shared >= len(before):
                    best = max(best or (0, 0), (shared, place))
        return best and best[1]

    def _end_what_was_decided(self, fact: Fact) -> None:
        """Earlier decisions and open tasks about what is given up no longer stand: what has all the names after the verb."""
        verb = MARKS_END.search(fact.text)
        names = _names_given_up(fact.text[verb.end() :]) if verb else []
        for place, old in enumerate(self.facts if names else ()):
            stands = old.kind in (FactKind.DECISION, FactKind.TASK) and old.state is FactState.CURRENT
            if stands and all(name in old.text for name in names) and not MARKS_END.search(old.text):
                self.facts[place] = attrs.evolve(old, state=FactState.DONE, sources=_joined(old.sources, fact.sources))

    def _asked_before(self, promise: Fact) -> int | None:
        """The place of the open task that an assistant says to do in nearly the words in which a user asked for it."""
        words = self._words(promise.text)
        for place in range(len(self.facts) - 1, max(-1, len(self.facts) - 1 - _RECENT), -1):
            old = self.facts[place]
            asked = self._words(old.text) if _is_open(old) and old.role == "user" else frozenset[str]()
            if len(asked) > 1 and 4 * len(asked & words) >= 3 * len(asked | words):
                return place
        return None

    def _finished(self, fact: Fact) -> int | None:
        """The place of the open task that is done; others about the same are closed, too."""
        closed = [place for place, old in enumerate(self.facts) if _is_open(old) and self._same_task(old.text, fact.text)]
        for place in closed[1:]:
            old = self.facts[place]
            self.facts[place] = attrs.evolve(old, state=FactState.DONE, sources=_joined(old.sources, fact.sources))
        return closed[0] if closed else None

    def _same_task(self, asked: str, done: str) -> bool:
        asked_words, done_words = self._words(asked), self._words(done)
        shared = len(asked_words & done_words)
        if shared < 2 and not (shared and min(len(asked_words), len(done_words)) == 1):
            return False
        named, finished = _identifiers(asked), _identifiers(done)
        if named and finished:
            return bool(named & finished)
        return 2 * shared >= min(len(asked_words), len(done_words))

    def _words(self, text: str) -> frozenset[str]:
        if text not in self.words:
            self.words[text] = content_words(text)
        return self.words[text]


def _names_given_up(text: str) -> list[str]:
    """The names in what follows the verb; in Chinese, where a name has no mark, the first signs of it."""
    named = [name.text for name in names_in(text) if name.kind is FactKind.ENTITY]
    han = _HAN_NAME.match(text)
    return named or ([han[0]] if han else [])


def _is_open(fact: Fact) -> bool:
    return fact.kind is FactKind.TASK and fact.state is FactState.CURRENT


def _identifiers(text: str) -> frozenset[str]:
    return frozenset([value.forms[0] for value in found_values(text) if value.kind in (FactKind.IDENTIFIER, FactKind.PATH)])


def _joined(sources: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*sources, *more)))[:_MOST_SOURCES]
