"""Which facts of messages are worth remembering beyond the session (R153): pure, by the facts' kinds and by who said them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextport.contracts.facts import Fact, FactKind, FactLedger, FactState
from contextport.contracts.memory import MemoryNote
from contextport.contracts.store import Entry

from .facts.extract import extract_facts
from .facts.ledger import merged

__all__ = ["notes_for"]

_SETTLED = frozenset([FactKind.CONSTRAINT, FactKind.DECISION, FactKind.CONCLUSION])
_NAMES = frozenset([FactKind.IDENTIFIER, FactKind.PATH, FactKind.ENTITY])
_MOST_NAMES = 64  # of one message: what has more was pasted, and is data


def notes_for(entries: Sequence[Entry], *, session_id: str) -> tuple[MemoryNote, ...]:
    """One note per entry, in their order, with what the message told for good; the time is the entry's.

    Kept are constraints (preferences among them), decisions, conclusions, tasks that are open at the end of the entries, and
    what a user named: identifiers, paths, proper names. Numbers and dates are kept in the sentence that needs them. What a
    tool wrote is never kept: it is no word of the user's, and whoever can write a web page could write the memory. A fact
    that is said several times is in the first note that has it.
    """
    told = [extract_facts([entry.message]) for entry in entries]
    open_tasks = _open_tasks(fact for facts in told for fact in facts)
    known: set[tuple[FactKind, str]] = set()
    return tuple(
        [
            MemoryNote(
                session_id=session_id,
                epoch=entry.epoch,
                message_id=entry.message.id,
                at=entry.at,
                facts=_durable(facts, open_tasks, known),
            )
            for entry, facts in zip(entries, told, strict=True)
        ]
    )


def _open_tasks(facts: Iterable[Fact]) -> frozenset[str]:
    """The texts of the tasks that none of the facts says to be done."""
    tasks = [fact for fact in facts if fact.kind is FactKind.TASK and fact.role != "tool"]
    ledger = merged(FactLedger(), tasks, max_facts=len(tasks))
    return frozenset([fact.text for fact in ledger.facts if fact.state is FactState.CURRENT])


def _durable(facts: Iterable[Fact], open_tasks: frozenset[str], known: set[tuple[FactKind, str]]) -> tuple[Fact, ...]:
    """Those to be kept; `known` takes up what they are."""
    kept: list[Fact] = []
    names = 0
    for fact in facts:
        what = fact.kind, fact.text.casefold()
        if what in known or not _is_durable(fact, open_tasks):
            continue
        if fact.kind in _NAMES:
            names += 1
            if names > _MOST_NAMES:
                continue
        known.add(what)
        kept.append(fact)
    return tuple(kept)


def _is_durable(fact: Fact, open_tasks: frozenset[str]) -> bool:
    if fact.role == "tool":
        return False
    if fact.kind is FactKind.TASK:
        return fact.state is FactState.CURRENT and fact.text in open_tasks
    return fact.kind in _SETTLED or (fact.role == "user" and fact.kind in _NAMES)
