"""All that an extractive summary could say, each piece with the field it belongs to and what it is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from contextport.contracts import Fact, FactKind, FactLedger, FactState, Importance, Message, Summary
from contextport.strategies.facts.extract import extract_facts
from contextport.strategies.facts.found_values import FoundValue, found_values
from contextport.strategies.facts.ledger import merged
from contextport.strategies.facts.statements import MARKS_END

from .passages import Passage, passages_of, quoted

__all__ = ["Candidate", "ExactValues", "candidates_of"]

_BATCH = 64  # messages whose facts are extracted between two looks at whether to go on


@frozen(kw_only=True)
class Candidate:
    """A piece of the conversation. `slot` is the field of the summary, or `pinned`, `text` or `value`: all three are prose.

    `worth` weighs what it says (R100): what the user decided above what was found out, that above how.
    """

    text: str
    slot: str
    worth: float = 1.0
    place: int = 0
    speaker: str = "user"
    turn: int = 0


_SLOTS = {FactKind.DECISION: "decisions", FactKind.CONSTRAINT: "constraints", FactKind.CONCLUSION: "conclusions"}
_KINDS = {"decisions": FactKind.DECISION, "constraints": FactKind.CONSTRAINT, "conclusions": FactKind.CONCLUSION}
_WORTH = {"decisions": 3.0, "constraints": 3.0, "open": 1.2, "conclusions": 1.2, "done": 1.0}
_BY_OTHERS = 0.5  # a wish that the user did not speak
_IMPORTANCE = {
    Importance.DECISION: 5.0,
    Importance.REQUIREMENT: 4.0,
    Importance.CONCLUSION: 3.0,
    Importance.NORMAL: 1.0,
    Importance.PROCESS: 0.6,
    Importance.REFETCHABLE: 0.3,
}
_SPEAKERS = {"user": 1.0, "assistant": 0.9, "tool": 0.5}
_CALL = 0.4
_WORD_LENGTH = 12  # characters; in scripts without spaces a run of letters may be a sentence
_BARE = 0.02  # so little that in prose a value alone comes after all sentences
_STRONG = 2.0
_BARE_CALL = re.compile(r"[\w.-]{1,80}:(?: \w{1,40}: (?:-?[0-9.]{1,40}|true|false|null),?)+")


def candidates_of(messages: Sequence[Message], earlier: Summary | None, go_on: Callable[[], None]) -> list[Candidate]:
    """The items of the conversation and of the earlier summary, then all passages, in the order in which they were said.

    `go_on` is called between pieces of work and may raise to end it.
    """
    facts = _stated(messages, earlier, go_on)
    replaced = {text for fact in facts for text in fact.earlier} | {fact.text for fact in facts if _is_ended(fact)}
    found = [item for place, fact in enumerate(facts) for item in _items(fact, place, 1 + place / len(facts))]
    for passage in passages_of(messages, earlier.text if earlier else ""):
        if not passage.place % _BATCH:
            go_on()
        if passage.text not in replaced and not _is_one_word(passage.text) and not _is_bare_call(passage):
            found.append(_prose(passage))
    return found


@frozen
class ExactValues:
    """The exact values of each of some candidates, which of them all are names (identifiers and paths), how each is written."""

    of_each: list[frozenset[str]]
    names: frozenset[str]
    written: dict[str, FoundValue]

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> ExactValues:
        """The values of the candidates. A number alone says nothing: it is not among those that are `written`."""
        each: list[frozenset[str]] = []
        names: set[str] = set()
        written: dict[str, FoundValue] = {}
        for candidate in candidates:
            values = found_values(candidate.text)
            each.append(frozenset([form for value in values for form in value.forms]))
            for value in values:
                if value.kind is not FactKind.NUMBER:
                    written.setdefault(candidate.text[value.start : value.end], value)
                if value.kind in (FactKind.IDENTIFIER, FactKind.PATH):
                    names.add(value.forms[0])
        return cls(each, frozenset(names), written)

    def alone(self, known: frozenset[str]) -> tuple[list[Candidate], list[frozenset[str]]]:
        """Each value that is not known as a candidate of its own, for where no sentence with it has room."""
        left = [(text, value) for text, value in self.written.items() if value.forms[0] not in known]
        candidates = [_bare(text, value.kind, place) for place, (text, value) in enumerate(left)]
        return candidates, [frozenset(value.forms) for _, value in left]


def _bare(text: str, kind: FactKind, place: int) -> Candidate:
    worth = _strength(text, kind)
    return Candidate(text=text, slot="value" if worth >= _STRONG else "weak value", worth=worth * _BARE, place=place)


def _strength(text: str, kind: FactKind) -> float:
    """How surely a value names one thing: `AB-2024-001` more than `x_1`."""
    if kind is not FactKind.IDENTIFIER:
        return _STRONG
    return 1.5 + (0.0 if "_" in text else 0.5) + any(sign.isupper() for sign in text)


def _is_one_word(text: str) -> bool:
    """Whether it is no more than a "Noted." """
    return (
        len(text) < (_WORD_LENGTH if text.isascii() else _WORD_LENGTH // 3)
        and text.rstrip(".!?\u2026\u3002\uff01\uff1f ").isalpha()
    )


def _is_bare_call(passage: Passage) -> bool:
    """Whether it is a call that was given only numbers, such as a page: no more than a step of the process."""
    return passage.is_call and _BARE_CALL.fullmatch(passage.text) is not None


def _prose(passage: Passage) -> Candidate:
    slot = "pinned" if passage.importance >= Importance.REQUIREMENT else "text"
    worth = _IMPORTANCE[passage.importance] * (_CALL if passage.is_call else _SPEAKERS.get(passage.speaker, 1.0))
    return Candidate(text=passage.text, slot=slot, worth=worth, place=passage.place, speaker=passage.speaker, turn=passage.turn)


def _stated(messages: Sequence[Message], earlier: Summary | None, go_on: Callable[[], None]) -> tuple[Fact, ...]:
    """What was decided, asked, done and found, as it stands now: a changed decision and a done task take the earlier's place."""
    ledger = FactLedger(tuple(_facts_of(earlier)) if earlier else ())
    for batch in _batches([message for message in messages if quoted(message)]):
        go_on()
        ledger = merged(ledger, [fact for fact in extract_facts(batch) if _slot(fact)])
    return ledger.facts


def _items(fact: Fact, place: int, newness: float) -> Iterator[Candidate]:
    """The fact as a candidate. Of decisions, new ones count more than old ones, and most of all those that end others."""
    slot, text = _slot(fact), " ".join(fact.text.split())
    if slot and text and not _is_ended(fact):
        worth = _WORTH[slot] * (_BY_OTHERS if slot in ("decisions", "constraints") and fact.role != "user" else 1.0)
        if slot == "decisions":
            worth *= 2 * newness if MARKS_END.search(text) else newness
        yield Candidate(text=text, slot=slot, worth=worth, place=place)


def _is_ended(fact: Fact) -> bool:
    """Whether it is a decision that the user gave up later."""
    return fact.kind is FactKind.DECISION and fact.state is FactState.DONE


def _slot(fact: Fact) -> str | None:
    if fact.kind is FactKind.TASK:
        return "done" if fact.state is FactState.DONE else "open"
    return _SLOTS.get(fact.kind)


def _facts_of(summary: Summary) -> Iterator[Fact]:
    """The items of a summary as facts, so that what was said since can close a task or change a decision."""
    for slot, kind in _KINDS.items():
        yield from (Fact(kind=kind, text=item) for item in getattr(summary, slot))
    yield from (Fact(kind=FactKind.TASK, text=item) for item in summary.open)
    yield from (Fact(kind=FactKind.TASK, text=item, state=FactState.DONE) for item in summary.done)
    yield from (fact for fact in summary.facts if _slot(fact))


def _batches(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    for start in range(0, len(messages), _BATCH):
        yield messages[start : start + _BATCH]
