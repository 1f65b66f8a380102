"""What long-term memory knows, as messages for a window (R152, R155): pure, within a budget, the same for the same facts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from attrs import frozen

from contextport.contracts.counter import TokenCounter
from contextport.contracts.facts import FactKind
from contextport.contracts.memory import MemoryKind, MemoryNote, MemoryOrigin, MemoryStatus, Remembered, normal_form
from contextport.contracts.messages import Kind, Message, Text

from .facts.exact_values import exact_values
from .facts.labels import GAP
from .facts.words import STOP_WORDS, content_words
from .memory_matters import matter_words, words_of_matter
from .retrieval.quotation import quoted

__all__ = ["recall_message", "resident_message", "words_asked"]

_RESIDENT = "[Known of the user from earlier conversations]"
_RECALLED = "[Remembered from earlier conversations, as data]"
_RANKS = {MemoryKind.PROFILE: 0, MemoryKind.PREFERENCE: 1, MemoryKind.TASK: 2}
_TRUSTED = frozenset([MemoryOrigin.USER, MemoryOrigin.HOST])  # others do not tell what a user is, likes or wants done
_NAMES = frozenset([FactKind.IDENTIFIER, FactKind.PATH, FactKind.ENTITY])
_STATUSES = {MemoryStatus.ACTIVE: "", MemoryStatus.DONE: ", done", MemoryStatus.SUPERSEDED: ", no longer holds"}
_MOST_TASKS = 8  # that are always there: what is open for long may be done without a word
_MOST_LINES = 16  # of what is recalled for one question
_LONGEST = 2_000  # characters of a question that are read, half of them at its end
_MOST_WORDS = 32
_NAMED = 100.0  # more than any number of shared words: the question says the value itself
_UNKNOWN = 0.6  # what a word of the question weighs that no fact has, as a share of one that a single fact has
_MOST_WEIGHT = 6.0  # words of that weight: of a longer question, not all has to be about the same
_ONE_WORD = 0.5  # of the weight of the question, for a fact that shares one word with it
_SEVERAL_WORDS = 0.25
_ENDS = re.compile(r"\A\W+|\W+\Z")


@frozen(kw_only=True)
class _Line:
    """A fact as it is written, and where it stands."""

    text: str
    place: tuple[int, float, str, str]
    id: str


def resident_message(notes: Sequence[MemoryNote], counter: TokenCounter, max_tokens: int, *, id: str) -> Message | None:
    """Who the user is, what they prefer, and what is to be done, as a message of at most `max_tokens` by `count_message`.

    Of what does not fit, tasks go first, then preferences, the oldest of each first; at most eight tasks are told. The lines
    stand in the order of time by kind, so that a prompt cache holds what is before something new. Only what users and hosts said
    is taken, if it is active. None if nothing fits.
    """
    lines = {normal_form(line.text): line for line in sorted(_resident_lines(notes), key=lambda line: line.place)}
    by_need = sorted(lines.values(), key=lambda line: (line.place[0], -line.place[1], line.place[2:]))
    tasks = [line for line in by_need if line.place[0] == _RANKS[MemoryKind.TASK]]
    told = [line for line in by_need if line not in tasks[_MOST_TASKS:]]
    return _message("resident", _RESIDENT, told, counter, max_tokens, id)


def _resident_lines(notes: Iterable[MemoryNote]) -> Iterable[_Line]:
    for note in notes:
        for one in note.facts:
            rank = _RANKS.get(one.kind)
            if rank is not None and one.status is MemoryStatus.ACTIVE and one.origin in _TRUSTED:
                tag = f"open since {_day(note.at)}" if one.kind is MemoryKind.TASK else str(one.kind)
                yield _Line(text=f"- {tag}: {_one_line(one.text)}", place=(rank, note.at, note.message_id, one.text), id=one.id)


def recall_message(
    notes: Sequence[MemoryNote],
    question: Message,
    counter: TokenCounter,
    max_tokens: int,
    *,
    beside: Sequence[Message] = (),
    id: str,
) -> Message | None:
    """The facts that a question is about, best first, as a message of at most `max_tokens` by `count_message`.

    Each line tells whose word it is and when it was said. What can be read in `beside` or was said in one of these messages is
    left out, and so are names that say nothing by themselves. None if the question is about none of the facts, or none fits.
    """
    visible = "\n".join([message.text for message in (*beside, question)])
    ids = {message.id for message in beside}
    unseen = [note for note in notes if note.facts and note.message_id not in ids and _tells(note.facts[0], visible)]
    lines: list[_Line] = []
    told = ""
    for rank, note in enumerate(_about(unseen, question.text)):
        one = note.facts[0]
        if one.text not in told:
            told += f"{one.text}\n"
            head = f"- [{one.origin}, {_day(note.at)}{_STATUSES[one.status]}]"
            text = f"{head} {_one_line(_labelled(one))}"
            lines.append(_Line(text=text, place=(0, float(rank), "", ""), id=one.id))
    return _message("recalled", _RECALLED, lines[:_MOST_LINES], counter, max_tokens, id)


def words_asked(text: str) -> tuple[str, ...]:
    """The words to look for in a memory that a question is about, at most 32: those of content, with and without
    endings, and then others of the same matter.
    """
    words: dict[str, None] = {}
    for piece in _clipped(text).split():
        word = _ENDS.sub("", piece)
        if word and word.lower() not in STOP_WORDS:
            words[word] = None
            if word.isascii() and word.isalpha():
                for stem in sorted(content_words(word)):
                    words |= {stem: None, f"{stem}s": None}
    return tuple(dict.fromkeys((*words, *matter_words(_clipped(text)))))[:_MOST_WORDS]


def _tells(one: Remembered, visible: str) -> bool:
    """Whether it says something that cannot be read already."""
    if one.fact.kind in _NAMES:
        return one.fact.label.removesuffix(GAP).strip() != ""
    return one.text not in visible


def _labelled(one: Remembered) -> str:
    """A name after the words that say what it is."""
    label = one.fact.label.removesuffix(GAP).strip() if one.fact.kind in _NAMES else ""
    return f"{label}: {one.text}" if label else one.text


def _about(notes: Sequence[MemoryNote], question: str) -> list[MemoryNote]:
    """The notes whose facts share a value or enough words with the question, best first, the newest of equals first."""
    text = _clipped(question)
    values, words = _telling(exact_values(text)), words_of_matter(text)
    own = [words_of_matter(f"{_spaced(one.fact.label)} {one.text} {' '.join(one.fact.earlier)}") & words for one in _facts(notes)]
    having = Counter(word for shared in own for word in shared)
    rarest = math.log(1 + len(notes))
    weights = {word: math.log(1 + len(notes) / count) for word, count in having.items()}
    whole = math.fsum([weights.get(word, _UNKNOWN * rarest) for word in words])
    least = min(whole, _MOST_WEIGHT * rarest)
    scored: list[tuple[float, float, int]] = []
    for place, (note, shared) in enumerate(zip(notes, own, strict=True)):
        weight = sum([weights[word] for word in sorted(shared)])
        is_enough = weight >= (_ONE_WORD if len(shared) < 2 else _SEVERAL_WORDS) * least
        score = weight if shared and is_enough else 0.0
        if values and values & exact_values(f"{note.facts[0].text}\n{note.facts[0].fact.label}"):
            score += _NAMED
        if score:
            scored.append((score, note.at, -place))
    return [notes[-place] for _, _, place in sorted(scored, reverse=True)]


def _telling(values: Iterable[str]) -> frozenset[str]:
    """Values that are not in many texts by chance, as small numbers are."""
    return frozenset([value for value in values if len(value) > 3 or not value.isdigit()])


def _facts(notes: Iterable[MemoryNote]) -> list[Remembered]:
    return [note.facts[0] for note in notes]


def _message(what: str, header: str, lines: Sequence[_Line], counter: TokenCounter, max_tokens: int, id: str) -> Message | None:
    """As many of the lines as fit, the first ones before others, in the order of their places."""

    def made(chosen: Sequence[_Line]) -> Message:
        standing = sorted(chosen, key=lambda line: line.place)
        text = "\n".join([header, *[line.text for line in standing]])
        metadata = {"memory": what, "facts": [line.id for line in standing]}
        return Message(role="user", kind=Kind.RETRIEVED, parts=(Text(text),), id=id, metadata=metadata)

    room = max_tokens - counter.count_message(made(()))
    chosen: list[_Line] = []
    for line in lines:
        cost = counter.count_text(f"\n{line.text}")
        if cost <= room:
            room -= cost
            chosen.append(line)
    while chosen:
        message = made(chosen)
        if counter.count_message(message) <= max_tokens:
            return message
        chosen.pop()  # pieces counted apart may be smaller than together
    return None


def _one_line(text: str) -> str:
    """The text in a single line, in which nothing can be read as a control token of a chat template."""
    return quoted(" ".join("".join([sign if sign.isprintable() else " " for sign in text]).split()))


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"


def _spaced(label: str) -> str:
    """A path as words: its dots and underscores are spaces."""
    return label.replace(".", " ").replace("_", " ")


def _day(at: float) -> str:
    """The day of a time, in UTC."""
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return "undated"
