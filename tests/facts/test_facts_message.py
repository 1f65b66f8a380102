"""The ledger as a message: within its size, without what can be read beside it, the most needed first."""

from __future__ import annotations

import json
import random

import pytest

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts.facts import Fact, FactKind, FactLedger
from contextport.contracts.fold import ledger_of
from contextport.contracts.messages import JsonPart, Kind, Message, ToolCall, ToolResult
from contextport.strategies.facts import extract_facts, facts_message, merged

COUNTER = HeuristicTokenCounter()
PROFILE = {
    "user_id": "mia_li_3668",
    "cards": {"credit_card_4421486": {"id": "credit_card_4421486", "amount": 157}},
    "reservations": ["NO6JO3", "AIXC49", "OI5L9G"],
}
TALK = [
    Message.user("My budget is 1200 dollars. Never book basic economy.", id="a"),
    Message.assistant("", ToolCall(call_id="c", name="get_user", arguments='{"user_id": "mia_li_3668"}'), id="b"),
    Message.tool("c", json.dumps(PROFILE), id="c"),
    Message.assistant("", ToolCall(call_id="d", name="get_reservation", arguments='{"reservation_id": "AIXC49"}'), id="d"),
    Message.tool("d", '{"reservation_id": "AIXC49", "flights": [{"flight_number": "HAT136"}]}', id="e"),
    Message.user("Please cancel it. 预算以后都不超过800元。", id="f"),
]
LEDGER = merged(FactLedger(), extract_facts(TALK))


def shown(max_tokens: int, *beside: Message) -> str:
    message = facts_message(LEDGER, COUNTER, max_tokens, beside=beside, id="facts")
    assert message is not None
    return message.text


def test_rules_first_then_values_grouped_by_name() -> None:
    assert shown(400).splitlines() == [
        "[Facts]",
        "must: My budget is 1200 dollars.",
        "must: Never book basic economy.",
        "must: 预算以后都不超过800元。",
        "reservation_id: AIXC49",
        "user_id: mia_li_3668",
        "reservations: NO6JO3, OI5L9G",
        "flight_number: HAT136",
        "id: credit_card_4421486",
        "credit_card_4421486.amount: 157",
    ]


def test_the_message_carries_the_whole_ledger() -> None:
    message = facts_message(LEDGER, COUNTER, 400, id="facts")
    assert message is not None
    assert (message.id, message.kind, message.role) == ("facts", Kind.FACTS, "user")
    assert ledger_of(message) == LEDGER


def test_a_tight_budget_keeps_rules_and_what_calls_need() -> None:
    lines = shown(60).splitlines()
    assert lines[1].startswith("must: ")
    assert "reservation_id: AIXC49" in lines
    assert "157" not in "\n".join(lines)


@pytest.mark.parametrize(
    "beside",
    [
        Message.assistant("Flight HAT136 of AIXC49, and Never book basic economy."),
        Message.assistant("", ToolCall(call_id="c", name="f", arguments='["HAT136", "AIXC49", "Never book basic economy."]')),
        Message.tool("c", "HAT136 AIXC49 Never book basic economy."),
        Message(
            role="tool",
            parts=(ToolResult(call_id="c", parts=(JsonPart({"a": ["HAT136", "AIXC49"], "b": "Never book basic economy."}),)),),
        ),
    ],
)
def test_what_can_be_read_beside_it_is_left_out(beside: Message) -> None:
    text = shown(400, beside)
    assert not any(visible in text for visible in ("HAT136", "AIXC49", "basic economy"))
    assert "NO6JO3" in text


def test_without_room_only_the_heading_is_left_and_below_that_nothing() -> None:
    least = COUNTER.count_message(Message.user("[Facts]", id="facts"))
    assert shown(least) == "[Facts]"
    assert facts_message(LEDGER, COUNTER, least - 1, id="facts") is None
    assert facts_message(FactLedger(), COUNTER, 400, id="facts") is None


def test_it_is_never_larger_than_allowed_and_grows_with_the_room() -> None:
    sizes: list[int] = []
    for most in range(10, 260, 7):
        message = facts_message(LEDGER, COUNTER, most, id="facts")
        assert message is not None
        assert COUNTER.count_message(message) <= most
        sizes.append(len(message.text))
    assert sizes[0] < 60 < 200 < sizes[-1]


def test_the_rest_of_a_list_that_calls_work_through_comes_first() -> None:
    """One reservation of the list was looked up, so the others are likely to be next, before newer identifiers."""
    lines = shown(400).splitlines()
    assert lines.index("reservations: NO6JO3, OI5L9G") < lines.index("flight_number: HAT136")


def test_a_changed_rule_tells_what_it_was() -> None:
    talk = [Message.user("Let's go with React."), Message.user("Actually, use Vue instead of React.")]
    message = facts_message(merged(FactLedger(), extract_facts(talk)), COUNTER, 100, id="facts")
    assert message is not None
    assert "decided: Actually, use Vue instead of React. (before: Let's go with React.)" in message.text.splitlines()


def test_done_tasks_and_tool_lines_are_not_shown() -> None:
    talk = [
        Message.user("Please fix the login page.", id="a"),
        Message.assistant("The login page has been fixed.", id="b"),
        Message.tool("c", "42 tests passed", id="c"),
    ]
    message = facts_message(merged(FactLedger(), extract_facts(talk)), COUNTER, 100, id="facts")
    assert message is not None
    assert "login" not in message.text
    assert "passed" not in message.text


def test_newer_identifiers_come_before_older_ones() -> None:
    rows = [Message.tool("c", f'{{"order": "ZX-{n:03}"}}', id=f"m{n}") for n in range(300)]
    message = facts_message(merged(FactLedger(), extract_facts(rows)), COUNTER, 60, id="facts")
    assert message is not None
    assert message.text.splitlines()[1].startswith("order: ZX-299, ZX-298, ")


def test_any_ledger_makes_a_message_within_its_room() -> None:
    chance = random.Random(5)
    texts = ["a", "AB-1", "x" * 50, "预算", "line\nbreak", "…", "…", "\ud800", "word " * 30, "1"]
    for _ in range(200):
        facts = tuple(
            Fact(
                kind=chance.choice(list(FactKind)),
                text=chance.choice(texts),
                label=chance.choice(["", "a.b", "a …", "…", ".", "x1.y"]),
                role=chance.choice(["user", "assistant", "tool"]),
                sources=tuple(chance.sample("abcdef", chance.randint(0, 4))),
            )
            for _ in range(chance.randint(1, 12))
        )
        most = chance.randint(10, 120)
        message = facts_message(FactLedger(facts), COUNTER, most, id="f")
        assert message is None or COUNTER.count_message(message) <= most


def block(max_tokens: int, *texts: str) -> list[str]:
    said = [Message.user(text, id=f"m{n}") for n, text in enumerate(texts)]
    message = facts_message(merged(FactLedger(), extract_facts(said)), COUNTER, max_tokens, id="facts")
    assert message is not None
    return message.text.splitlines()


COLOURS = [
    f"We decided to take the {item} in sand for the {room}." for item in ("desk", "lamp", "shelf") for room in ("hall", "den")
]


def test_where_room_is_short_new_decisions_come_before_old_ones_and_constraints_stay() -> None:
    lines = block(70, "Never deploy on Fridays.", *COLOURS)
    assert lines[1] == "must: Never deploy on Fridays."
    assert f"decided: {COLOURS[-1]}" in lines
    assert f"decided: {COLOURS[0]}" not in lines


def test_what_gave_up_an_earlier_decision_comes_before_newer_decisions() -> None:
    lines = block(100, "We decided to take the desk in oak for Porto.", "We decided to cancel the Porto office.", *COLOURS)
    assert "decided: We decided to cancel the Porto office." in lines
    assert not any("oak" in line for line in lines)


def test_numbers_that_say_nothing_by_themselves_are_left_out() -> None:
    text = "\n".join(block(400, "OK, order 18, and quote 39. We have 24 chairs."))
    assert "24 chairs" in text
    assert "order: 18" not in text
    assert "39\n" not in text.replace("quote 39", "")


def test_values_of_an_order_stand_beside_it_and_a_moved_date_tells_what_it_was() -> None:
    lines = block(
        400,
        "The opening order is PO-48213-B: 24 standing desks, delivery by 2027-03-14.",
        "The delivery of PO-48213-B moves to 2027-03-21.",
    )
    assert "opening order: PO-48213-B" in lines
    assert "PO-48213-B: delivery date 2027-03-21 (before: 2027-03-14), 24 standing desks" in lines


def test_of_one_long_list_not_all_is_shown() -> None:
    rows = json.dumps([{"customer": f"C{n}"} for n in range(400)])
    message = facts_message(merged(FactLedger(), extract_facts([Message.tool("c", rows)])), COUNTER, 4000, id="facts")
    assert message is not None
    assert message.text.count("C") == 48
