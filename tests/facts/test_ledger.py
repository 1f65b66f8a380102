"""What becomes of facts that are said again, changed, done, or too many."""

from __future__ import annotations

import random

import pytest

from contextport.contracts.facts import Fact, FactKind, FactLedger, FactState
from contextport.contracts.messages import Message, ToolCall
from contextport.strategies.facts import extract_facts, merged


def told(*messages: Message) -> FactLedger:
    return merged(FactLedger(), extract_facts(messages))


def user(id: str, text: str) -> Message:
    return Message.user(text, id=id)


def assistant(id: str, text: str) -> Message:
    return Message.assistant(text, id=id)


def of_kind(ledger: FactLedger, *kinds: FactKind) -> list[Fact]:
    return [fact for fact in ledger.facts if fact.kind in kinds]


def the(ledger: FactLedger, kind: FactKind) -> Fact:
    (fact,) = of_kind(ledger, kind)
    return fact


@pytest.mark.parametrize(
    ("first", "then", "text", "earlier"),
    [
        (
            "Let's go with React.",
            "Actually, use Vue instead of React.",
            "Actually, use Vue instead of React.",
            "Let's go with React.",
        ),
        ("就用React吧。", "改用Vue,不用React了。", "改用Vue,不用React了。", "就用React吧。"),
        ("Never deploy on Fridays.", "Never deploy on Fridays.", "Never deploy on Fridays.", None),
    ],
)
def test_a_changed_decision_takes_the_place_of_the_earlier(first: str, then: str, text: str, earlier: str | None) -> None:
    ledger = told(user("a", first), user("b", "My name is Anna Smith."), user("c", then))
    rules = of_kind(ledger, FactKind.DECISION, FactKind.CONSTRAINT)
    assert [(rule.text, rule.earlier, rule.sources) for rule in rules] == [(text, (earlier,) if earlier else (), ("a", "c"))]
    assert ledger.facts.index(rules[0]) < 2


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Never book a middle seat.", "Actually, make my seat an aisle one instead."),
        ("Let's go with React.", "Let's go with Postgres."),
        ("The report must be in English.", "Change the colour to blue, and only that."),
        ("报告必须用中文。", "颜色改成蓝色,以后都这样。"),
    ],
)
def test_what_is_about_something_else_stays(first: str, then: str) -> None:
    rules = of_kind(told(user("a", first), user("b", then)), FactKind.DECISION, FactKind.CONSTRAINT)
    assert [rule.text for rule in rules] == [first, then]
    assert all(not rule.earlier for rule in rules)


@pytest.mark.parametrize(
    ("first", "then", "old", "new"),
    [
        ("The budget is 10,000 yuan.", "The budget is 12,000 yuan.", "10,000 yuan", "12,000 yuan"),
        ("预算是10000元。", "预算改成12000元。", "10000元", "12000元"),
    ],
)
def test_a_named_number_has_one_value_at_a_time(first: str, then: str, old: str, new: str) -> None:
    number = the(told(user("a", first), user("b", then)), FactKind.NUMBER)
    assert (number.text, number.earlier, number.sources) == (new, (old,), ("a", "b"))


def test_a_number_below_an_identifier_has_one_value_at_a_time() -> None:
    ledger = told(
        Message.tool("c", '{"gift_card_1": {"amount": 250}}', id="a"),
        Message.tool("d", '{"gift_card_1": {"amount": 90}}', id="b"),
    )
    number = the(ledger, FactKind.NUMBER)
    assert (number.text, number.earlier) == ("90", ("250",))


def test_other_numbers_identifiers_dates_and_names_are_never_replaced() -> None:
    ledger = told(
        Message.tool("c", '{"flights": [{"price": 90, "id": "HAT1", "date": "2024-05-20"}]}', id="a"),
        Message.tool("d", '{"flights": [{"price": 80, "id": "HAT2", "date": "2024-05-21"}]}', id="b"),
        assistant("e", "The total is 90. The total is 80."),
    )
    values = [fact.text for fact in ledger.facts if fact.kind is not FactKind.CONCLUSION]
    assert values == ["90", "HAT1", "2024-05-20", "80", "HAT2", "2024-05-21", "90", "80"]
    assert all(not fact.earlier for fact in ledger.facts)


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        ("Could you cancel reservation NO6JO3?", "I've cancelled reservation NO6JO3."),
        ("Please fix the login page.", "The login page has been fixed."),
        ("请帮我订《三体》。", "已订好《三体》。"),
        ("请修复登录页面。", "登录页面已修复。"),
    ],
)
def test_a_done_task_is_no_longer_open(asked: str, done: str) -> None:
    task = the(told(user("a", asked), assistant("b", done)), FactKind.TASK)
    assert (task.state, task.text, task.earlier, task.sources, task.role) == (FactState.DONE, done, (asked,), ("a", "b"), "user")


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        ("Please cancel reservation NO6JO3.", "I've cancelled reservation AIXC49."),
        ("Please fix the login page.", "I've written the report."),
        ("Please fix the login page.", "Done."),
        ("请修复登录页面。", "报告已完成。"),
    ],
)
def test_another_task_stays_open(asked: str, done: str) -> None:
    tasks = of_kind(told(user("a", asked), assistant("b", done)), FactKind.TASK)
    assert (tasks[0].text, tasks[0].state) == (asked, FactState.CURRENT)


def test_a_task_asked_for_again_is_open_again() -> None:
    ask, done = "Please restart server web-1.", "I've restarted server web-1."
    ledger = told(user("a", ask), assistant("b", done), user("c", ask))
    task = the(ledger, FactKind.TASK)
    assert (task.text, task.state, task.sources) == (ask, FactState.CURRENT, ("a", "b", "c"))
    assert the(merged(ledger, extract_facts([assistant("d", done)])), FactKind.TASK).state is FactState.DONE


def test_a_promise_is_closed_with_the_request() -> None:
    ledger = told(
        user("a", "Please cancel NO6JO3."), assistant("b", "I'll cancel NO6JO3 now."), assistant("c", "I have cancelled NO6JO3.")
    )
    task = the(ledger, FactKind.TASK)
    assert (task.state, task.text, task.sources) == (FactState.DONE, "I have cancelled NO6JO3.", ("a", "b", "c"))


def test_what_is_said_again_adds_its_sources() -> None:
    ledger = told(user("a", "Order AB-2024-001"), assistant("b", "About AB-2024-001"), user("c", "Yes, AB-2024-001"))
    fact = the(ledger, FactKind.IDENTIFIER)
    assert (fact.sources, fact.label, fact.role) == (("a", "b", "c"), "Order …", "user")


def test_sources_are_bounded() -> None:
    ledger = told(*(user(f"m{n}", "Order AB-2024-001") for n in range(100)))
    assert the(ledger, FactKind.IDENTIFIER).sources == tuple(f"m{n}" for n in range(16))


def test_an_argument_is_told_apart_from_a_result() -> None:
    call = Message.assistant("", ToolCall(call_id="c", name="get", arguments='{"id": "NO6JO3"}'), id="a")
    ledger = told(call, Message.tool("c", '{"id": "NO6JO3"}', id="b"))
    assert [(fact.label, fact.role) for fact in ledger.facts] == [("get.id", "assistant"), ("id", "tool")]


def test_too_many_facts_go_by_worth_and_user_constraints_never_first() -> None:
    rules = ["Never call me before 9am.", "Always use metric units.", "Let's go with Postgres."]
    said = [user(f"r{n}", rule) for n, rule in enumerate(rules)]
    listing = [Message.tool("c", f'{{"rows": [{{"id": "row_{n}", "size": {n}}}]}}', id=f"t{n}") for n in range(100)]
    told_all = extract_facts([*said, user("u", "My order is AB-2024-001."), *listing])
    ledger = merged(FactLedger(), told_all, max_facts=20)
    assert len(ledger.facts) == 20
    kept = [fact.text for fact in ledger.facts]
    assert [text for text in kept if text in rules] == rules
    assert "AB-2024-001" in kept
    assert "row_99" in kept
    assert "row_0" not in kept
    assert not of_kind(ledger, FactKind.NUMBER)
    assert [fact.text for fact in merged(ledger, (), max_facts=3).facts] == rules


def test_merging_the_same_facts_twice_changes_nothing() -> None:
    """Conversations put together at random; also through JSON, and in parts."""
    lines = [
        "The budget is 10,000 yuan.",
        "The budget is 12,000 yuan.",
        "Let's go with React.",
        "Actually, use Vue instead of React.",
    ]
    lines += [
        "Please fix the login page.",
        "预算是5元。",
        "预算改成6元。",
        "就用A1吧。",
        "改用B2,不用A1了。",
        "Order AB-2024-001",
        "Never use TypeScript.",
    ]
    answers = [
        "I've fixed the login page.",
        "I'll fix the login page.",
        "The login page is fixed.",
        "The total is 5.",
        "已修复登录页面。",
    ]
    chance = random.Random(3)
    for _ in range(200):
        talk = [
            user(f"m{n}", chance.choice(lines)) if chance.random() < 0.6 else assistant(f"m{n}", chance.choice(answers))
            for n in range(12)
        ]
        facts = extract_facts(talk)
        ledger = merged(FactLedger(), facts)
        assert merged(ledger, facts) == ledger
        assert merged(FactLedger.from_json(ledger.as_json()), facts) == ledger
        assert merged(merged(FactLedger(), extract_facts(talk[:6])), extract_facts(talk[6:])) == ledger
        assert all(len(set(fact.earlier)) == len(fact.earlier) and fact.text not in fact.earlier for fact in ledger.facts)
