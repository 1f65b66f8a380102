"""The benchmark of recall: what it reads, what it counts as present, and that windows of every system are judged alike."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from recall_chinese import kdconv
from recall_conversations import Conversation, Question, every, locomo
from recall_scores import Shown, figures, judged, tables

_TURNS = {
    "session_10_date_time": "1:56 pm on 8 May, 2023",
    "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "I moved to Rome.\nIt is warm."}],
    "session_2_date_time": "some day",
    "session_2": [
        {"speaker": "Ann", "dia_id": "D2:1", "text": "I have a dog."},
        {"speaker": "Bob", "dia_id": "D2:2", "text": "What is it called?"},
    ],
    "speaker_a": "Ann",
}
_ASKED: list[dict[str, Any]] = [
    {"question": "Where does Ann live?", "answer": "Rome", "evidence": ["D10:1", "D2:1; D2:2"], "category": 1},
    {"question": "What year?", "answer": 2023, "evidence": ["D10:1", "D2:1", "D2:1"], "category": 2},
    {"question": "Nothing?", "answer": "x", "evidence": ["D99:1"], "category": 4},
    {"question": "Which cat?", "adversarial_answer": "Tom", "evidence": ["D2:2"], "category": 5},
]


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([{"conversation": _TURNS, "qa": _ASKED}]), "utf-8")
    [read] = locomo(file)
    return read


def test_turns_come_in_the_order_of_their_sessions_with_their_time(conversation: Conversation) -> None:
    assert [turn.id for turn in conversation.turns] == ["D2:1", "D2:2", "D10:1"]
    assert [turn.at for turn in conversation.turns] == [None, None, 1683554160.0]


def test_malformed_evidence_is_skipped_and_told(conversation: Conversation) -> None:
    assert [question.evidence for question in conversation.questions] == [("D10:1",), ("D10:1", "D2:1"), ("D2:2",)]
    assert [question.answer for question in conversation.questions] == ["Rome", "2023", "Tom"]
    assert conversation.malformed == ("D2:1; D2:2", "D99:1")
    assert conversation.without == 1


def test_each_nth_question_is_taken_over_all_conversations(conversation: Conversation) -> None:
    both = every([conversation, conversation], 2)
    assert [[question.text for question in questions] for _, questions in both] == [
        ["Where does Ann live?", "Which cat?"],
        ["What year?"],
    ]


def words(text: str) -> int:
    return len(text.split())


def shown(*texts: str, name: str = "") -> Shown:
    return Shown(messages=[("user", name, text) for text in texts])


def test_a_turn_is_present_as_a_whole_before_the_question(conversation: Conversation) -> None:
    question = conversation.questions[1]
    windows = {
        ("I moved to Rome. It is", "Q"): 0.0,
        ("[x]\nAnn: I moved to Rome.\n  It is warm.\nBob: I have a dog.", "Q"): 1.0,
        ("I have a dog.", "I moved to Rome. It is warm."): 0.5,
    }
    for texts, recall in windows.items():
        assert judged("a", 1, conversation, question, shown(*texts), words).recall == recall


def test_answers_and_tokens_are_of_the_window(conversation: Conversation) -> None:
    outcome = judged("a", 10, conversation, conversation.questions[0], shown("in rome", "Where is Rome?", name="Ann"), words)
    assert outcome.has_answer
    assert outcome.tokens == (4 + 2 + 2) + (4 + 3 + 2)
    without = [judged("a", 10, conversation, question, shown("in Oslo", "Rome?"), words) for question in conversation.questions]
    assert [outcome.has_answer for outcome in without] == [False, None, None]  # nobody says 2023 or Tom


def test_means_leave_out_the_adversarial(conversation: Conversation) -> None:
    given = [judged("a", 20, conversation, question, shown("I have a dog.", "Q"), words) for question in conversation.questions]
    rows = {row["category"]: row for row in figures(given)}
    assert {category: row["evidence_recall"] for category, row in rows.items()} == {"1": 0, "2": 0.5, "1-4": 0.25, "5": 0}
    assert (rows["1-4"]["questions"], rows["1-4"]["full_recall"], rows["1-4"]["over_budget"]) == (2, 0, 0)
    assert "| a | 2 | 0.250 | 0.000 | 0.000 | 13 / 0.0% |" in tables(figures(given))


def test_chinese_questions_need_the_turns_that_say_the_value(tmp_path: Path) -> None:
    def carries(text: str, value: str) -> dict[str, Any]:
        return {"message": text, "attrs": [{"name": "龙猫（电影）", "attrname": "上映时间", "attrvalue": value}]}  # noqa: RUF001

    talk = [
        {"message": "看过龙猫吗"},
        carries("是1988年的吗", "1988年"),
        carries("好看", "1988年"),
        carries("对, 1988年", "1988年"),
    ]
    (tmp_path / "film_test.json").write_text(json.dumps([{"messages": talk}, {"messages": [{"message": "你好"}]}]), "utf-8")
    [session] = kdconv(tmp_path)
    assert [turn.speaker for turn in session.turns] == ["甲", "乙", "甲", "乙", "甲"]
    assert session.questions == (
        Question(text="龙猫的上映时间是什么？", answer="1988年", evidence=("0:1", "0:3"), category="film"),  # noqa: RUF001
    )
