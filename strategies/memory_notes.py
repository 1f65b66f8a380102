"""Which facts of messages are worth remembering beyond the session, and what they end of what is remembered (R153): pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field

from contextport.contracts.facts import Fact, FactKind, FactLedger, FactState
from contextport.contracts.memory import MemoryKind, MemoryNote, MemoryStatus, Remembered
from contextport.contracts.messages import Message
from contextport.contracts.store import Entry

from .facts.extract import extract_facts
from .facts.found_values import found_values
from .facts.ledger import RULES, STATEMENTS, merged
from .facts.statements import is_question, sentences, statement_in
from .facts.words import content_words
from .memory_kinds import about_of, is_lasting, kind_of, origin_of, tells_of_self, tells_of_user
from .memory_statements import handed_over, own_statements, parted

__all__ = ["notes_for"]

_SETTLED = frozenset([FactKind.CONSTRAINT, FactKind.DECISION, FactKind.CONCLUSION])
_NAMES = frozenset([FactKind.IDENTIFIER, FactKind.PATH, FactKind.ENTITY])
_MOST_NAMES = 64  # of one message: what has more was pasted, and is data
_FEWEST_WORDS = 8  # of an answer that is more than an acknowledgement
_READ = 4_000  # characters of an answer


def notes_for(entries: Sequence[Entry], *, session_id: str, standing: Sequence[MemoryNote] = ()) -> tuple[MemoryNote, ...]:
    """One note per entry, in their order, with what the message told for good; the time is the entry's.

    Kept are what users say of themselves, of their life and of what they like, constraints, decisions, conclusions, tasks, and
    what a user named: identifiers, paths, proper names. Numbers and dates are kept in the sentence that needs them. A sentence
    that tells of two things, such as a name and a home, is two facts. What a tool wrote is never kept: it is no word of the
    user's, and whoever can write a web page could write the memory. A fact that is said several times is in the first note that
    has it. What is done or replaced at the end of the entries is kept as that.

    `standing` is what the memory has as active. Of that, notes name what is done or replaced by what their message says.
    """
    told = _told(entries)
    known = [note for note in standing if note.facts and _may_end(note.facts[0].fact, note.facts[0].kind)]
    said = [fact for facts in told.values() for fact in facts if fact.role != "tool" and _may_end(fact, kind_of(fact))]
    ledger = FactLedger(tuple([note.facts[0].fact for note in known]))
    after = merged(ledger, said, max_facts=len(known) + len(said)).facts
    ended = _Ended.of(known, after[: len(known)], list(told))
    batch = _Batch(after=_statuses(after), answered=_answered(entries))
    return tuple(
        [
            MemoryNote(
                session_id=session_id,
                epoch=entry.epoch,
                message_id=entry.message.id,
                at=entry.at,
                facts=batch.durable(told[entry.message.id]),
                done=tuple(ended.done.get(entry.message.id, ())),
                replaced=tuple(ended.replaced.get(entry.message.id, ())),
            )
            for entry in entries
        ]
    )


def _told(entries: Sequence[Entry]) -> Mapping[str, list[Fact]]:
    """The facts of each message, by its id."""
    messages = [entry.message for entry in entries]
    told: dict[str, list[Fact]] = {message.id: [] for message in messages}
    for fact in extract_facts(messages):
        told[fact.sources[0]] += parted(fact)
    for message in messages:
        own = list(own_statements(message))
        said = _without_what_is_told(told[message.id], own, handed_over(message))
        known = {fact.text for fact in said if fact.state is FactState.CURRENT}
        told[message.id] = said + [fact for fact in own if fact.text not in known]
    return told


def _without_what_is_told(facts: Sequence[Fact], own: Sequence[Fact], handed: str) -> list[Fact]:
    """Without decisions that rather tell of the user, as `own` does, and what a text that was handed over tells of somebody."""
    of_user = {fact.text for fact in own if kind_of(fact) is not MemoryKind.FACT and tells_of_self(fact.text)}
    said = [fact for fact in facts if fact.kind is not FactKind.DECISION or fact.text not in of_user]
    return [fact for fact in said if fact.kind not in STATEMENTS or fact.text not in handed or not tells_of_self(fact.text)]


def _may_end(fact: Fact, kind: MemoryKind) -> bool:
    """Whether another message may end it, or it may end another."""
    return kind is MemoryKind.TASK or (fact.kind in RULES and fact.role == "user")


@define
class _Ended:
    """The ids of what no longer stands, by the message that ended it."""

    done: dict[str, list[str]] = field(factory=dict[str, list[str]])
    replaced: dict[str, list[str]] = field(factory=dict[str, list[str]])

    @classmethod
    def of(cls, known: Sequence[MemoryNote], after: Sequence[Fact], messages: Sequence[str]) -> _Ended:
        """`after` are the facts of `known` as the `messages` left them."""
        ended = cls()
        for note, fact in zip(known, after, strict=True):
            one = note.facts[0]
            if fact.text == one.text and fact.state is one.fact.state:
                continue
            here = [id for id in messages if id in fact.sources]
            by = here[-1] if here else messages[-1]
            where = ended.done if one.kind is MemoryKind.TASK else ended.replaced
            where.setdefault(by, []).append(one.id)
        return ended


def _statuses(facts: Iterable[Fact]) -> dict[tuple[bool, str], MemoryStatus]:
    """What became of each text, of tasks and of others."""
    found: dict[tuple[bool, str], MemoryStatus] = {}
    for fact in facts:
        is_task = fact.kind is FactKind.TASK
        is_done = fact.state is FactState.DONE
        if not is_task or is_done:  # the earlier words of an open task are those of a promise to do it
            gone = MemoryStatus.DONE if is_task else MemoryStatus.SUPERSEDED
            found |= {(is_task, text): gone for text in fact.earlier}
        ended = MemoryStatus.DONE if is_task else MemoryStatus.SUPERSEDED
        found[is_task, fact.text] = ended if is_done else MemoryStatus.ACTIVE
    return found


@define(kw_only=True)
class _Batch:
    """What is known of all entries. `said` are the facts that are in a note already."""

    after: Mapping[tuple[bool, str], MemoryStatus]
    answered: frozenset[str]
    said: set[tuple[FactKind, str]] = field(factory=set[tuple[FactKind, str]])

    def durable(self, facts: Sequence[Fact]) -> tuple[Remembered, ...]:
        """Those to be kept of a message."""
        kept: list[Remembered] = []
        names = 0
        for fact in facts:
            kind = kind_of(fact)
            status = self._status(fact, kind)
            what = fact.kind, fact.text.casefold()
            if status is None or what in self.said or not _is_durable(fact, kind):
                continue
            if fact.kind in _NAMES:
                names += 1
                if names > _MOST_NAMES:
                    continue
            self.said.add(what)
            about = about_of(fact, facts)
            kept.append(Remembered(fact=fact, kind=kind, origin=origin_of(fact), about=about, status=status))
        return tuple(kept)

    def _status(self, fact: Fact, kind: MemoryKind) -> MemoryStatus | None:
        """None for a report of what is done, and for a promise to do what was asked."""
        if kind is not MemoryKind.TASK:
            return self.after.get((False, fact.text), MemoryStatus.ACTIVE)
        if fact.state is FactState.DONE:
            return None
        status = self.after.get((True, fact.text))
        is_answered = fact.role == "user" and fact.sources[0] in self.answered and not is_lasting(fact.text)
        return MemoryStatus.DONE if status is MemoryStatus.ACTIVE and is_answered else status


def _is_durable(fact: Fact, kind: MemoryKind) -> bool:
    if fact.role == "tool":
        return False
    if kind is MemoryKind.TASK:
        return len(content_words(fact.text)) > 1  # "help me with that" says nothing by itself
    if kind is not MemoryKind.FACT:
        return True
    if fact.kind in _SETTLED:
        return True
    return fact.role == "user" and (fact.kind in _NAMES or (fact.kind is FactKind.STATEMENT and tells_of_user(fact.text)))


def _answered(entries: Sequence[Entry]) -> frozenset[str]:
    """The ids of the users' messages whose requests are fulfilled by the last answer before the next one, as far as can be told.

    Where the answer asks back, that of the next turn may fulfil them.
    """
    answered: set[str] = set()
    pending: list[Message] = []
    answer: Message | None = None
    for message in [*(entry.message for entry in entries), None]:
        if message is not None and not message.opens_turn:
            answer = message if message.role == "assistant" else answer
            continue
        if answer is not None and not is_question(answer.text[-_READ:]):
            answered.update([asked.id for asked in pending if _fulfils(answer, asked)])
            pending = []
        answer = None
        if message is not None:
            pending.append(message)
    return frozenset(answered)


def _fulfils(answer: Message, asked: Message) -> bool:
    """Whether it promises nothing, and says that something is done, or says enough to be what was asked for.

    What is done with another thing than was asked about is no answer: identifiers tell.
    """
    text = answer.text[:_READ]
    told = [(text[start:end].strip(), statement_in(text[start:end].strip(), "assistant")) for start, end in sentences(text)]
    tasks = [(said, what.state) for said, what in told if what is not None and what.kind is FactKind.TASK]
    if answer.tool_calls or any(state is FactState.CURRENT for _, state in tasks):
        return False
    if not tasks:
        return len(content_words(text)) >= _FEWEST_WORDS
    return any(_identifiers(said) <= _identifiers(asked.text) for said, _ in tasks)


def _identifiers(text: str) -> frozenset[str]:
    return frozenset([value.forms[0] for value in found_values(text) if value.kind in (FactKind.IDENTIFIER, FactKind.PATH)])
