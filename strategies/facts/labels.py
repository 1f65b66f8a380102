"""What a value in running text is of: a name, the thing it belongs to, or the words before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from contextport.contracts.facts import FactKind

from .found_values import FoundValue
from .words import STOP_WORDS

__all__ = ["GAP", "REACH", "label_of", "owner_in", "owner_of", "role_in", "roles_said", "with_unit"]

#: Stands for the value in a label made of the words next to it.
GAP = "…"

#: How many values before one are looked at for what it belongs to.
REACH = 8

_REMEMBERED = 8_192  # labels: those of one ledger are those of the next but for a few

_COUNTED = re.compile(r"(?: [a-z]+(?:-[a-z]+)?){0,2}? [a-z]{2,}(?<!s)s\b")  # words after a number up to the first plural
_MONEY = "$€£¥₹\uffe5"
_BEFORE = 48  # characters in which the words next to a value are looked for
_SENTENCE = 160  # characters in which the thing it belongs to is looked for
_CLAUSE = re.compile(r"[.!?;,\n\u3002\uff01\uff1f\uff1b\uff0c(\[{|](?!\d)")
_WORD = re.compile(r"(?<![\w-])[^\W\d_\u3040-\u9fff]+(?:['-][^\W\d_\u3040-\u9fff]+)*(?![\d_-])|[\u3400-\u9fff]{1,12}")
_NAMED = re.compile(
    r"(?<![\w-])([^\W\d_\u3040-\u9fff](?:[^\W\d\u3040-\u9fff]|-){2,30})"
    r"\s*(?:\s(?:is now|is|are|was|will be|becomes|to)\s|[:=\uff1a])\s*(?:about |around |only |now )?\Z"
    r"|([\u3400-\u9fff]{2,6}?)(?:改成|改为|提高到|降到|调到|增加到|是|为|[:=\uff1a])\s*(?:了|约|大约)?\Z"
)
_OF_A_PLACE = re.compile(r"(.{3,}?) (?:at|in|on) (?:the |our |my )?[\w ]{2,24} (?:is|are|was) \Z")
_ENDS = re.compile(r"[.!?](?=\s)|[\n\u3002\uff01\uff1f]")
_ROLES = (
    (re.compile(r"\b(?:deliver(?:y|ed|s|ies)?|arriv(?:e|es|ed|al|ing))\b", re.IGNORECASE), "delivery date"),
    (re.compile(r"\b(?:deadline|due)\b", re.IGNORECASE), "deadline"),
    (re.compile(r"交货|送货|到货|交付|送达"), "交货日期"),
    (re.compile(r"截止|期限"), "截止日期"),
)
_MOVES = re.compile(
    r"\b(?:moves?|moved|postponed|shifted|rescheduled|changed|delayed|now)\b|改到|改为|改成|推迟|延期|提前", re.IGNORECASE
)


def with_unit(text: str, value: FoundValue) -> tuple[int, str]:
    """Where a number without a unit begins and how it is written, with what it counts: `24 standing desks`; a code: `5590#`."""
    start, end = value.start, value.end
    if text[end : end + 1] == "#" and not text[end + 1 : end + 2].isalnum():
        return start, text[start : end + 1]
    counted = _COUNTED.match(text, end)
    if counted and not STOP_WORDS.intersection(counted[0].split()):
        end = counted.end()
    return start, text[start:end]


def owner_of(text: str, value: FoundValue, before: Sequence[FoundValue]) -> str:
    """The nearest identifier before the value in its sentence, which is what it is said of; empty if there is none."""
    for other in reversed(before[-REACH:]):
        if other.end > value.start or value.start - other.end > _SENTENCE or _ENDS.search(text, other.end, value.start):
            return ""
        if other.kind is FactKind.IDENTIFIER and any(sign in "0123456789" for sign in other.forms[0]):
            return text[other.start : other.end]
    return ""


def label_of(text: str, value: FoundValue, role: str, owner: str) -> str:
    """The name of a number that a user set; of a date of something its role; else up to three words before it and a gap."""
    before = text[max(0, value.start - _BEFORE) : value.start].rstrip(_MONEY)
    if value.kind is FactKind.DATE and role != "tool" and (dated := _dated(text, value, owner)):
        return dated
    if value.kind is FactKind.NUMBER and role == "user" and (named := _NAMED.search(before)):
        return (named[1] or named[2]).lower()
    clause = _CLAUSE.split(before)[-1].rsplit(owner, 1)[-1] if owner else _CLAUSE.split(before)[-1]
    of_place = _OF_A_PLACE.fullmatch(clause)
    words = [word for word in _WORD.findall(of_place[1] if of_place else clause) if word.lower() not in STOP_WORDS]
    words = [word.removesuffix("是").removesuffix("为") for word in words[-3:]]
    if owner and value.kind in (FactKind.NUMBER, FactKind.DATE):
        words = [owner, *words[-1:]]
    return " ".join([*words, GAP]) if words else ""


@lru_cache(_REMEMBERED)
def owner_in(label: str) -> str:
    """The identifier that a label of running text begins with; empty if it begins with a word."""
    first, space, _ = label.partition(" ")
    return first if space and any(sign in "0123456789" for sign in first) else ""


@lru_cache(_REMEMBERED)
def role_in(label: str) -> str:
    """The role of a date in a label of running text, such as `delivery date`; empty if it has none."""
    bare = label.removesuffix(GAP).strip()
    return next((name for _, name in _ROLES if bare == name or bare.endswith(f" {name}")), "")


def _dated(text: str, value: FoundValue, owner: str) -> str:
    """`PO-7 delivery date`; without the thing only where it is said to move, so that dates of two things stay apart."""
    begin = max([0, *[end.end() for end in _ENDS.finditer(text, max(0, value.start - _SENTENCE), value.start)]], default=0)
    begin = max(begin, value.start - _SENTENCE)
    said = text[begin : value.start]
    for pattern, name in _ROLES:
        if pattern.search(said):
            return f"{owner} {name}" if owner else name if _MOVES.search(said) else f"{name} {GAP}"
    return ""


def roles_said(text: str) -> frozenset[str]:
    """The roles of dates that a text speaks of."""
    return frozenset([name for pattern, name in _ROLES if pattern.search(text)])
