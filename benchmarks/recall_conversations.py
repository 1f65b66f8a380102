"""Conversations with questions that need certain turns: any file of the LoCoMo form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["CATEGORIES", "Conversation", "Question", "Turn", "every", "locomo", "plain"]

#: What the numbers of LoCoMo's categories stand for. In the last, the answer is not in the conversation as asked.
CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open domain", "4": "single hop", "5": "adversarial"}
_SESSION = re.compile(r"session_(\d+)")


@frozen(kw_only=True)
class Turn:
    """What somebody said. `at` is in seconds since 1970."""

    id: str
    speaker: str
    text: str
    at: float | None = None


@frozen(kw_only=True)
class Question:
    """A question, its answer as a text, and the turns that are needed for it."""

    text: str
    answer: str
    evidence: tuple[str, ...]
    category: str


@frozen(kw_only=True)
class Conversation:
    """Turns in order, and questions at their end. `malformed` are ids of evidence that name no turn, `without` how many
    questions have no evidence left: these are not asked.
    """

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    malformed: tuple[str, ...] = ()
    without: int = 0

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """What each turn says, white space apart."""
        return {turn.id: plain(turn.text) for turn in self.turns}

    @cached_property
    def said(self) -> str:
        """All of it, in small letters."""
        return "\n".join(self.texts.values()).casefold()


def plain(text: str) -> str:
    """The text with all white space as single blanks: a quotation may break lines elsewhere."""
    return " ".join(text.split())


def every(conversations: Sequence[Conversation], nth: int) -> list[tuple[Conversation, list[Question]]]:
    """Each n-th question of all, by its conversation."""
    number = 0
    chosen: list[tuple[Conversation, list[Question]]] = []
    for conversation in conversations:
        asked: list[Question] = []
        for question in conversation.questions:
            if number % nth == 0:
                asked.append(question)
            number += 1
        if asked:
            chosen.append((conversation, asked))
    return chosen


def locomo(path: Path) -> list[Conversation]:
    """The conversations of a file: a list of `conversation` (session_1, session_1_date_time, ...) and `qa`."""
    return [_conversation(raw, f"conversation {n}") for n, raw in enumerate(json.loads(path.read_text("utf-8")))]


def _conversation(raw: Mapping[str, Any], name: str) -> Conversation:
    turns = tuple(_turns(raw["conversation"]))
    known = {turn.id for turn in turns if turn.text.strip()}
    questions: list[Question] = []
    malformed: list[str] = []
    without = 0
    for asked in raw["qa"]:
        named = [str(one) for one in asked.get("evidence") or ()]
        evidence = tuple(dict.fromkeys([one for one in named if one in known]))
        malformed += [one for one in named if one not in known]
        if not evidence:
            without += 1
            continue
        answer = asked.get("answer", asked.get("adversarial_answer", ""))
        questions.append(Question(text=asked["question"], answer=str(answer), evidence=evidence, category=str(asked["category"])))
    return Conversation(
        name=str(raw.get("sample_id", name)),
        turns=turns,
        questions=tuple(questions),
        malformed=tuple(malformed),
        without=without,
    )


def _turns(raw: Mapping[str, Any]) -> Iterator[Turn]:
    sessions = sorted(int(found[1]) for key in raw if (found := _SESSION.fullmatch(key)))
    for number in sessions:
        at = _time(raw.get(f"session_{number}_date_time", ""))
        for turn in raw[f"session_{number}"] or ():
            yield Turn(id=turn["dia_id"], speaker=turn["speaker"], text=turn.get("text") or "", at=at)


def _time(written: str) -> float | None:
    """The time of a session, such as `1:56 pm on 8 May, 2023`, taken as UTC; None where it is in another form."""
    try:
        return datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
