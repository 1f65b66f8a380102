"""Signals that read a turn by its words, by the ledger and by what a search found: no model, the same answer everywhere."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from contextport.contracts.messages import Media, Message
from contextport.contracts.modes import ModeSignal, Sensed, SensedTurn
from contextport.contracts.port import implements
from contextport.strategies.arguments import check_share
from contextport.strategies.facts.words import content_words

from .wording import wording

__all__ = ["AsksAboutEarlyDetails", "BeginsNewTask", "NeedsKnowledge"]

_READ: Final = 2_000  # characters of a message that are read at its beginning, and as many at its end
_OPENING: Final = 300  # characters in which a message says that it begins something new
_MOST_ACKNOWLEDGED: Final = 6  # words such as `ok, thanks, great` before that
_MOST_SENTENCES: Final = 3  # the first ones, which may say that something new begins
_COMPARED: Final = 12  # newest messages that a question's words are looked for in
_HALF_A_DAY: Final = 12 * 3600.0
_HINT: Final = 0.2  # three of them are 0.488, four 0.5904
_FEW_WORDS: Final = 4  # with fewer words than this, how many are new says nothing

_SPACES = re.compile(r"\s+")
#: What may stand between words. No quotation marks: what is in them is somebody else's.
_LOOSE = " \t,.!;:-*#~\u3001\u3002\uff0c\uff01\u2026"
_SENTENCE_END = re.compile(r"[.!?\u3002]\s*|(?<=[\u4e00-\u9fff]),")
_QUOTES = re.compile(r"[:\"\u201c\u201e\u00ab\u300c\u300e`]|(?:^|\s)'")
_Evidence = tuple[float, str]


def _read(message: Message) -> str:
    """The text in small letters, plain apostrophes and single spaces; of a long one the beginning and the end."""
    text = message.text
    if len(text) > 2 * _READ:
        text = f"{text[:_READ]}\n{text[-_READ:]}"
    plain = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").replace("\u2018", "'").replace("*", "")
    return _SPACES.sub(" ", plain).strip()


def _together(found: Iterator[_Evidence]) -> Sensed:
    """Pieces of evidence, taken as independent: the chance that not all of them mislead. `reason` begins with the strongest."""
    strongest = sorted(found, key=lambda one: (-one[0], one[1]))
    score = 1.0 - math.prod([1.0 - weight for weight, _ in strongest])
    return Sensed(score=round(score, 6), reason="+".join([word for _, word in strongest]))


def _new_words(turn: SensedTurn, text: str) -> tuple[int, float]:
    """How many words with a meaning a question has, and the share of them that was not said in the messages before it."""
    words = content_words(text)
    if not words:
        return 0, 0.0
    said = frozenset[str]().union(
        *[content_words(_read(message)) for message in turn.before[-_COMPARED:] if message.in_conversation]
    )
    return len(words), len(words - said) / len(words)


@implements(ModeSignal)
@frozen(kw_only=True)
class AsksAboutEarlyDetails:
    """Whether a question is about what was said and is not in the window any more.

    Evidence, with what each weighs by itself: the ledger has a fact that it names (0.8, `ledger`); it says so, as in `you said`,
    `remind me`, `我们之前说的` (0.7, `wording`); a search found one place that is better than the rest by at least `margin`, as a
    share of its score (0.5 for a question, else 0.3, `search`); words such as `earlier` and `上周` (0.3, `time`).

    Raises `InvalidArgument` for a margin that is not from 0 to 1.
    """

    margin: float = 0.25

    def __attrs_post_init__(self) -> None:
        check_share("margin", self.margin, zero=True)

    def sense(self, turn: SensedTurn) -> Sensed:
        return _together(self._evidence(turn, _read(turn.question)))

    def _evidence(self, turn: SensedTurn, text: str) -> Iterator[_Evidence]:
        if turn.known_facts > 0:
            yield 0.8, "ledger"
        if wording("reaches_back").search(text):
            yield 0.7, "wording"
        elif wording("may_reach_back").search(text):
            yield 0.3, "time"
        if self._stands_out(turn.found or ()):
            yield (0.5 if wording("asks").search(text) else 0.3), "search"

    def _stands_out(self, found: tuple[float, ...]) -> bool:
        """Whether the best is clearly better than the others on average: one alone has nothing to be compared with."""
        if len(found) < 2 or not found[0] > 0:
            return False
        rest = sum(found[1:]) / (len(found) - 1)
        return (found[0] - rest) / found[0] >= self.margin


@implements(ModeSignal)
@frozen(kw_only=True)
class BeginsNewTask:
    """Whether the question begins a task for which what was said before does not matter.

    It has to say so: the message opens with words such as `new task:`, `let's start over`, `换个话题`, or is a command such as
    `/new` (0.9, `said`). There are four hints, of 0.2 each, which reset only all together: a document that comes with it
    (`document`), words such as `another question` (`another`), half a day of silence (`pause`), and that next to none of its
    words was said lately (`words`).
    """

    def sense(self, turn: SensedTurn) -> Sensed:
        return _together(self._evidence(turn, _read(turn.question)))

    def _evidence(self, turn: SensedTurn, text: str) -> Iterator[_Evidence]:
        if wording("commands").fullmatch(text.strip(_LOOSE)) or _opens_with(wording("new_task"), text):
            yield 0.9, "said"
            return
        if wording("reaches_back").search(text):
            return
        if any(isinstance(part, Media) and part.media == "document" for part in turn.question.parts):
            yield _HINT, "document"
        if _opens_with(wording("may_be_new"), text):
            yield _HINT, "another"
        if turn.seconds_since is not None and turn.seconds_since >= _HALF_A_DAY:
            yield _HINT, "pause"
        count, new = _new_words(turn, text)
        if turn.before and count >= _FEW_WORDS and new >= 0.9:
            yield _HINT, "words"


def _opens_with(wanted: re.Pattern[str], text: str) -> bool:
    """Whether one of the first sentences begins with one of the wordings, apart from words such as `ok, thanks`."""
    return any(_begins_with(wanted, sentence) for sentence in _first_sentences(text[:_OPENING]))


def _first_sentences(opening: str) -> Iterator[str]:
    """What may say that something new begins: not what stands behind a colon or in quotation marks, which is quoted."""
    yield opening
    for end in list(_SENTENCE_END.finditer(opening))[: _MOST_SENTENCES - 1]:
        before = opening[: end.end()]
        if _QUOTES.search(before):
            return
        yield opening[end.end() :]


def _begins_with(wanted: re.Pattern[str], sentence: str) -> bool:
    for _ in range(_MOST_ACKNOWLEDGED):
        sentence = sentence.lstrip(_LOOSE)
        if wanted.match(sentence):
            return True
        said = wording("acknowledges").match(sentence)
        if said is None or not said.end():
            return False
        sentence = sentence[said.end() :]
    return False


@implements(ModeSignal)
@frozen(kw_only=True)
class NeedsKnowledge:
    """Whether a question is about what texts of the host say, rather than about the conversation.

    It names them, as in `according to the handbook`, `what is our refund policy`, `根据手册` (0.8, `wording`); or it asks for
    something of which most words were not said lately (0.5, `question`). What was said is not looked up elsewhere.
    """

    def sense(self, turn: SensedTurn) -> Sensed:
        return _together(self._evidence(turn, _read(turn.question)))

    def _evidence(self, turn: SensedTurn, text: str) -> Iterator[_Evidence]:
        if wording("from_outside").search(text):
            yield 0.8, "wording"
        if wording("reaches_back").search(text) or not wording("asks").search(text):
            return
        count, new = _new_words(turn, text)
        if count >= 2 and new >= 0.75:
            yield 0.5, "question"
