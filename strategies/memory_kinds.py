"""What a fact is for a later conversation, whose word it is, and what it is about: by its kind, its role and its wording.

Wordings of English and Chinese, and the commonest ones of German, French, Spanish, Portuguese, Italian, Russian, Japanese and
Korean. What is not worded so stays in its session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryKind, MemoryOrigin, normal_form

from .facts.labels import GAP
from .facts.ledger import STATEMENTS
from .facts.words import content_words
from .memory_life import HANDED_OVER, HEALTH, HOUSEHOLD, NOT_SO, PASSING, is_of_life
from .memory_wordings import FAVOURITE, KIN_NAMED, LASTING, LIKES, OF_ONE_MATTER, PROFILE, SETTLED, STANDING, TOLD

__all__ = ["about_of", "is_lasting", "kind_of", "origin_of", "settles", "tells_of_self", "tells_of_user"]

_ORIGINS = {"user": MemoryOrigin.USER, "assistant": MemoryOrigin.ASSISTANT, "tool": MemoryOrigin.TOOL}
_QUOTED = re.compile(
    r"\"[^\"]* [^\"]*\"|\u201c[^\u201d]*[ \u4e00-\u9fff]{4}[^\u201d]*\u201d|(?<=\s)'[^']* (?:[^']|'(?=\w))*'(?=\W|\Z)"
)
_REMEMBERED = 4_096  # sentences: each is asked about several times, one after the other
_VALUES = (FactKind.NUMBER, FactKind.DATE)
_NAMED = frozenset([FactKind.IDENTIFIER, FactKind.PATH, FactKind.ENTITY])


def origin_of(fact: Fact) -> MemoryOrigin:
    """Whose word it is, by the role; of none of a conversation's, the host's."""
    return _ORIGINS.get(fact.role, MemoryOrigin.HOST)


def kind_of(fact: Fact) -> MemoryKind:
    """What it is for a later conversation. Only what a user says themselves is profile or preference."""
    if fact.role == "user" and fact.kind in STATEMENTS and fact.kind not in (FactKind.DECISION, FactKind.CONCLUSION):
        slots = _slots(fact.text)
        if fact.kind is FactKind.TASK:  # a request, unless it is one about how to be spoken to
            slots = tuple([slot for slot in slots if slot[0] is MemoryKind.PREFERENCE or slot[1] == "name"])
        if slots:
            return slots[0][0]
        if fact.kind is not FactKind.TASK:
            return _told_openly(fact)
    return MemoryKind.TASK if fact.kind is FactKind.TASK else MemoryKind.FACT


def _told_openly(fact: Fact) -> MemoryKind:
    """The kind of a sentence about which there may be many like it."""
    plain = _plain(fact.text)
    if _is_so(plain):
        if HOUSEHOLD.search(plain):
            return MemoryKind.PROFILE
        if LIKES.search(plain) or (HEALTH.search(plain) and not PASSING.search(plain)):
            return MemoryKind.PREFERENCE
    is_rule = fact.kind is FactKind.CONSTRAINT and STANDING.search(plain) is not None
    return MemoryKind.PREFERENCE if is_rule or TOLD.search(plain) else MemoryKind.FACT


def _plain(text: str) -> str:
    """With the apostrophe that the wordings are written with, and without sentences that are quoted."""
    return _QUOTED.sub("", text.replace("\u2019", "'"))


@lru_cache(_REMEMBERED)
def _is_so(plain: str) -> bool:
    """Whether a sentence of the user's can be a telling: no condition, wish, story or text to be worked on."""
    return not NOT_SO.search(plain) and not HANDED_OVER.search(plain)


@lru_cache(_REMEMBERED)
def _slots(text: str) -> tuple[tuple[MemoryKind, str], ...]:
    """What a sentence settles of which there is one answer at a time."""
    plain = _plain(text)
    if not _is_so(plain):
        return ()
    found = [(MemoryKind.PROFILE, name) for name, wording in PROFILE if wording.search(plain)]
    found += [(MemoryKind.PROFILE, kin[1] or kin[2]) for kin in KIN_NAMED.finditer(plain)]
    if not OF_ONE_MATTER.search(plain):
        found += [(MemoryKind.PREFERENCE, name) for name, wording in SETTLED if wording.search(plain)]
    found += [(MemoryKind.PREFERENCE, f"favourite {what[1] or what[2]}") for what in FAVOURITE.finditer(plain)]
    return tuple(found)


def settles(text: str) -> frozenset[str]:
    """The names of what a user's sentence settles, such as `home`."""
    return frozenset([name for _, name in _slots(text)])


def tells_of_self(text: str) -> bool:
    """Whether a user says by it who they are, what they like, or what is so in their life."""
    plain = _plain(text)
    return bool(_slots(text)) or tells_of_user(text) or (_is_so(plain) and LIKES.search(plain) is not None)


@lru_cache(_REMEMBERED)
def tells_of_user(text: str) -> bool:
    """Whether a user says by it what is so in their life: their health, their family, what they own, their money, their days."""
    plain = _plain(text)
    if not _is_so(plain) or PASSING.search(plain):
        return False
    return HEALTH.search(plain) is not None or HOUSEHOLD.search(plain) is not None or is_of_life(plain)


def about_of(fact: Fact, beside: Iterable[Fact]) -> str:
    """What it is about, so that a later one takes its place; `beside` are the facts of the same message.

    A profile or a preference tells one thing, such as `profile home`; a sentence with a named number or date what is left of it
    without these; a name itself, below its label. Any other sentence takes the place of none but its own repetitions.
    """
    if fact.kind in _NAMED:
        return f"{fact.label}={fact.text}"
    slots = _slots(fact.text) if fact.role == "user" else ()
    if len(slots) == 1 and kind_of(fact) is slots[0][0]:
        return f"{slots[0][0]} {slots[0][1].lower()}"
    named = [one for one in beside if one.kind in _VALUES and one.label and not one.label.endswith(GAP) and one.text in fact.text]
    if fact.kind is not FactKind.TASK and named:
        rest = fact.text
        for one in sorted(named, key=lambda one: -len(one.text)):
            rest = rest.replace(one.text, " ")
        words = sorted(word for word in content_words(rest) if not word.isdigit())
        if words:
            return f"value of {' '.join(words)}"
    return normal_form(fact.text)


def is_lasting(text: str) -> bool:
    """Whether a request is for later, so that it stays open though it was answered."""
    return LASTING.search(text) is not None
