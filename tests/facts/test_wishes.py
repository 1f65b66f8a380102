"""What users want and settle, in their words: also where a verb is left out, and where an earlier decision is given up."""

from __future__ import annotations

import pytest

from contextport.contracts.facts import FactKind, FactLedger, FactState
from contextport.contracts.messages import Message, ToolCall
from contextport.strategies.facts import extract_facts, merged
from contextport.strategies.facts.statements import statement_in


def told(*texts: str) -> FactLedger:
    """A user and an assistant in turn, the user first."""
    said = [Message.user(text, id=f"m{n}") if n % 2 == 0 else Message.assistant(text, id=f"m{n}") for n, text in enumerate(texts)]
    return merged(FactLedger(), extract_facts(said))


def of(ledger: FactLedger, kind: FactKind) -> list[tuple[str, bool]]:
    return [(fact.text, fact.state is FactState.CURRENT) for fact in ledger.facts if fact.kind is kind]


@pytest.mark.parametrize(
    "text",
    [
        "And no leather, one of our directors is vegan.",
        "Also no shellfish please.",
        "But no calls before 9.",
        "Use React, no TypeScript.",
        "Never paint the attic in green.",
        "And never paint the attic in green.",
        "预算不能超过一万",
        "以后回答都用中文",
        "不用皮革。",
        "周五不发货。",
    ],
)
def test_a_constraint(text: str) -> None:
    statement = statement_in(text, "user")
    assert statement
    assert statement.kind is FactKind.CONSTRAINT


@pytest.mark.parametrize(
    "text",
    [
        "No problem, thanks.",
        "No, that is wrong.",
        "Never mind.",
        "I like it, no worries.",
        "It arrived, but no manual was in the box.",
        "不用谢。",
        "不用了。",
    ],
)
def test_no_constraint(text: str) -> None:
    assert statement_in(text, "user") is None


def test_each_sentence_of_a_wish_is_kept() -> None:
    text = "Please don't ship on Fridays, the dock is closed then. And no leather, one of our directors is vegan."
    assert [rule for rule, _ in of(told(text), FactKind.CONSTRAINT)] == [
        "Please don't ship on Fridays, the dock is closed then.",
        "And no leather, one of our directors is vegan.",
    ]


@pytest.mark.parametrize(
    ("decided", "other", "given_up"),
    [
        (
            "We decided to take the lamp in sage for Porto.",
            "We decided to take the lamp in sand for Lyon.",
            "We decided to cancel the Porto office.",
        ),
        ("我们决定波尔图用白色台灯。", "我们决定里昂用灰色台灯。", "我们决定取消波尔图办公室。"),
    ],
)
def test_what_is_given_up_no_longer_stands(decided: str, other: str, given_up: str) -> None:
    ledger = told(decided, "OK.", other, "OK.", given_up, "OK.")
    assert of(ledger, FactKind.DECISION) == [(decided, False), (other, True), (given_up, True)]
    again = told(decided, "OK.", given_up, "OK.", decided)
    assert of(again, FactKind.DECISION) == [(decided, True), (given_up, True)]


def test_tasks_about_what_is_given_up_are_not_open() -> None:
    ledger = told("Please call Ines about the floor plan in Porto.", "OK.", "We decided to cancel the Porto office.")
    assert of(ledger, FactKind.TASK) == [("Please call Ines about the floor plan in Porto.", False)]


@pytest.mark.parametrize(
    "complaint",
    [
        "Tomasz Nowak has been asking about it since yesterday.",
        "The dock is closed then.",
        "Two of them are damaged.",
    ],
)
def test_a_complaint_is_no_done_task(complaint: str) -> None:
    assert of(told(complaint), FactKind.TASK) == []
    assert of(told("Hi.", complaint), FactKind.TASK) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Could you quote 39 whiteboards for Graz?", "For 39 whiteboards the list price is 149.00 EUR."),
        ("请帮我报39块白板的价格好吗?", "39块白板单价149元。"),
    ],
)
def test_a_question_that_was_answered_is_no_open_task(question: str, answer: str) -> None:
    assert of(told(question, answer), FactKind.TASK) == []
    assert of(told(question), FactKind.TASK) == [(question, True)]


@pytest.mark.parametrize("answer", ["I'll send it tomorrow.", "Which colour do you want?"])
def test_a_question_that_is_not_answered_yet_is_open(answer: str) -> None:
    question = "Could you quote 39 whiteboards for Graz?"
    assert (question, True) in of(told(question, answer), FactKind.TASK)
    call = Message.assistant("Let me see.", ToolCall(call_id="c", name="quote", arguments="{}"))
    assert (question, True) in of(merged(FactLedger(), extract_facts([Message.user(question), call])), FactKind.TASK)


@pytest.mark.parametrize(
    ("request_", "promise"),
    [
        (
            "Remind me to call Priya Raman about the floor plan in Porto.",
            "Sure. I'll remind you to call Priya Raman about the Porto floor plan.",
        ),
        ("提醒我周五给王芳打电话。", "我会提醒你周五给王芳打电话。"),
    ],
)
def test_a_promise_in_the_words_of_a_request_is_one_task(request_: str, promise: str) -> None:
    assert of(told(request_, promise), FactKind.TASK) == [(request_, True)]
    assert of(told(request_, "I'll write the report for the board meeting."), FactKind.TASK) == [
        (request_, True),
        ("I'll write the report for the board meeting.", True),
    ]
