"""What users say of themselves: a piece for each thing that has one answer, so that a later answer replaces no other."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs
from attrs import field, frozen

from contextport.contracts.facts import Fact, FactKind, FactState
from contextport.contracts.memory import MemoryKind
from contextport.contracts.messages import Message, Refusal, Text

from .facts.ledger import STATEMENTS
from .facts.own_sentences import LONGEST_MESSAGE
from .facts.statements import clipped, is_question, sentences, statement_in
from .memory_kinds import kind_of, settles, tells_of_user
from .memory_life import HANDED_OVER
from .memory_people import JOBS

__all__ = ["handed_over", "own_statements", "parted", "parts_of"]

_FENCE = "```"
_BETWEEN = " ,;\uff0c\uff1b"
_WHOSE = r"i|i'm|i've|i'd|my|we|we're|our|please|always|never|call me|answer|reply|keep|don't"
_ZH_OF_ME = (
    r"(?:现在|目前|今年|也|还|又)?(?:住在|在[^\uff0c,\u3002]{1,15}(?:工作|上班)|是|叫|来自|对[^\uff0c,\u3002]{1,12}过敏|老?家在|"
    r"不[吃喝能]|喜欢|养了|有|今年)"
)
_CUT = re.compile(
    rf"(?P<own>\s?[,;\u2014]\s{{0,2}}(?:and |but |so )?(?=(?:{_WHOSE})\b)|\s(?:and|but|so) (?=(?:{_WHOSE})\b)|"
    r"[\uff0c,\uff1b;]\s*(?=(?:而且|并且|另外)?(?:我|请|以后)))|"
    rf"(?P<being>,\s*(?:and )?(?=an? (?:[\w-]+ ){{0,3}}(?:{JOBS})\b))|"
    r"(?P<at>(?<=\w) (?=(?:living |based )?(?:from|in) (?-i:[A-Z])))|"
    r"(?P<doing>,?\s{1,2}and (?=(?:live|work|speak|prefer|love|like|hate|have|can't|don't)\b))|"
    rf"(?P<of_me>[\uff0c,\uff1b;]\s*(?={_ZH_OF_ME}))",
    re.IGNORECASE,
)
_IS_BEING = re.compile(rf"\b(?:i'm|i am) (?-i:[A-Z])|\bmy name is\b|\b(?:i'm|i am) .*\b(?:{JOBS})\Z", re.IGNORECASE)
_IS_SOMEBODY = re.compile(
    rf"\b(?:i'm|i am) (?:an? (?:[\w-]+ ){{0,3}}(?:{JOBS})|(?-i:[A-Z][\w'-]*(?: [A-Z][\w'-]*){{0,3}}))\Z", re.IGNORECASE
)
_IS_DOING = re.compile(r"(?:\A|[.!,;:]\s*|\b(?:and|but|so) )(?:i|i'm|i am|i've)\b", re.IGNORECASE)
_OF_ME = re.compile(
    r"(?:\A|[\uff0c,\u3002!\uff01;\uff1b:\uff1a\s])我(?:叫|是|在|住|姓|来自|现在|目前|今年|对|不|喜欢|也|刚)[^\u3002]*\Z"
)
_AGAIN = {"being": ("I'm ", _IS_BEING), "at": ("I'm ", _IS_SOMEBODY), "doing": ("I ", _IS_DOING), "of_me": ("我", _OF_ME)}


@frozen(kw_only=True)
class _Piece:
    """From `start` to `end` of a sentence, with the subject to be said again, what it settles, and whether it tells more."""

    start: int
    end: int
    subject: str
    slots: frozenset[str]
    tells: bool = field(default=False)

    @property
    def says_nothing(self) -> bool:
        return not self.slots and not self.tells


def parts_of(sentence: str) -> tuple[str, ...]:
    """The sentence cut where it tells of another thing, each part with its subject; as it is where it tells of one."""
    if not settles(sentence):
        return (sentence,)
    parts: list[_Piece] = []
    for piece in _pieces(sentence):
        if parts and (piece.says_nothing or parts[-1].says_nothing or piece.slots == parts[-1].slots):
            before = parts[-1]
            joined = before.slots | piece.slots
            parts[-1] = attrs.evolve(before, end=piece.end, slots=joined, tells=before.tells or piece.tells)
        else:
            parts.append(piece)
    if len(parts) < 2:
        return (sentence,)
    return tuple([part.subject + sentence[part.start : part.end].rstrip(_BETWEEN) for part in parts])


def _pieces(sentence: str) -> Iterator[_Piece]:
    plain = sentence.replace("\u2019", "'")
    start, subject = 0, ""
    for cut in [*_CUT.finditer(plain), None]:
        end = cut.start() if cut else len(plain)
        again, needed = _AGAIN.get(cut.lastgroup or "", ("", None)) if cut else ("", None)
        if needed is not None and not needed.search(f"{subject}{plain[start:end]}"):
            continue
        text = f"{subject}{plain[start:end]}"
        yield _Piece(start=start, end=end, subject=subject, slots=settles(text), tells=_tells(text))
        if cut:
            start, subject = cut.end(), again


def _tells(text: str) -> bool:
    return tells_of_user(text) or statement_in(text, "user") is not None


def parted(fact: Fact) -> list[Fact]:
    """A user's sentence as a fact for each of its parts, each of the kind that it is alone."""
    if fact.role != "user" or fact.kind not in STATEMENTS or fact.state is FactState.DONE:
        return [fact]
    parts = parts_of(fact.text)
    return [fact] if len(parts) < 2 else [attrs.evolve(fact, text=text, kind=_kind(text)) for text in parts]


def _kind(text: str) -> FactKind:
    """What a sentence of a user is that reports nothing as done."""
    what = statement_in(text, "user")
    return FactKind.STATEMENT if what is None or what.state is FactState.DONE else what.kind


def handed_over(message: Message) -> str:
    """From the request on, what a user gives to be translated, corrected or the like; empty if there is no such request."""
    text = _text(message)
    if not _is_read(message, text):
        return ""
    places = (start for start, end in sentences(text) if HANDED_OVER.search(clipped(text[start:end])))
    return text[next(places, len(text)) :]


def _is_read(message: Message, text: str) -> bool:
    return message.role == "user" and 0 < len(text) <= LONGEST_MESSAGE  # what is longer was pasted


def _text(message: Message) -> str:
    return "\n".join([part.text for part in message.parts if isinstance(part, Text | Refusal)])


def own_statements(message: Message) -> Iterator[Fact]:
    """Sentences in which a user tells of themselves, of what they like or of their life; nothing of code, nor of long messages.

    What follows a request to work on a text is that text. A sentence that tells of two things is two.
    """
    text = _text(message)
    if not _is_read(message, text):
        return
    fences = 0
    for start, end in sentences(text[: len(text) - len(handed_over(message))]):
        sentence = clipped(text[start:end])
        fences += text.count(_FENCE, start, end)
        if len(sentence) < 3 or is_question(sentence) or fences % 2:
            continue
        for part in parts_of(sentence):
            fact = Fact(kind=FactKind.STATEMENT, text=part, sources=(message.id,))
            if kind_of(fact) is not MemoryKind.FACT or tells_of_user(part):
                yield fact
