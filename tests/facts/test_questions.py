"""Questions find the facts they are about, and the passage these stand in; other questions find nothing."""

from __future__ import annotations

import json

import pytest

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts.facts import Fact, FactKind, FactLedger
from contextport.contracts.messages import JsonPart, Message, Refusal, ToolCall, ToolResult
from contextport.strategies.facts import extract_facts, facts_asked, fragment_of, merged

COUNTER = HeuristicTokenCounter()
TALK = [
    Message.user("The contract number is AB-2024-001. The hotel costs 300 a night. Anna Smith signs on 5 March 2024.", id="a"),
    Message.user("我叫王小明。合同编号HT-2023-77。项目预算是10000元。不要用TypeScript。", id="b"),
    Message.tool("c", json.dumps({"reservation": {"id": "NO6JO3", "cabin": "economy", "total": 255}}), id="c"),
    Message.user("Let's go with Postgres for the database. Never deploy on Fridays.", id="d"),
]
LEDGER = merged(FactLedger(), extract_facts(TALK))


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What was the contract number again?", "AB-2024-001"),
        ("What did we say about AB-2024-001?", "AB-2024-001"),
        ("how much are the hotels?", "300"),
        ("Who is Anna Smith?", "Anna Smith"),
        ("What happens on March 5, 2024?", "5 March 2024"),
        ("Which database did we choose?", "Let's go with Postgres for the database."),
        ("When must we not deploy?", "Never deploy on Fridays."),
        ("What is the total of the reservation?", "255"),
        ("Which cabin is it?", "economy"),
        ("合同编号是多少?", "HT-2023-77"),
        ("HT-2023-77是什么?", "HT-2023-77"),
        ("项目的预算呢?", "10000元"),
        ("王小明是谁?", "王小明"),
    ],
)
def test_a_question_finds_its_fact(question: str, best: str) -> None:
    asked = facts_asked(LEDGER, Message.user(question))
    assert best in [fact.text for fact in asked][:2]


@pytest.mark.parametrize(
    "question",
    [
        *(
            "How are you?",
            "What is it that you have done?",
            "Can you tell me more about this?",
            "",
            "???",
            "你好吗?",
            "这是什么?",
        ),
        *("今天天气怎么样?", "What is the weather in Paris?", "Write a poem about the sea.", "42", "Order AB-2024-002?"),
        *("Yes, please, go ahead.", "Yes, please sign the contract now.", "好的,请把项目合同发过来。"),
    ],
)
def test_a_question_about_something_else_finds_nothing(question: str) -> None:
    assert facts_asked(LEDGER, Message.user(question)) == ()


def test_at_most_sixteen_facts_and_the_newest_first() -> None:
    rows = [Message.user(f"Order ZX-{n} was late.", id=f"m{n}") for n in range(40)]
    asked = facts_asked(merged(FactLedger(), extract_facts(rows)), Message.user("Which order was late?"))
    assert [fact.text for fact in asked] == [f"Order ZX-{n} was late." for n in range(39, 23, -1)]


def fact(text: str, **more: str) -> Fact:
    return Fact(kind=FactKind.IDENTIFIER, text=text, **more)  # type: ignore[arg-type]


def test_a_short_message_comes_back_whole() -> None:
    assert fragment_of(TALK[0], fact("AB-2024-001"), COUNTER, 200) == TALK[0].text


def test_a_long_text_is_cut_to_its_sentence() -> None:
    text = "Nothing here. " * 300 + "The contract AB-2024-001 is signed. " + "Nothing there. " * 300
    assert fragment_of(Message.user(text), fact("AB-2024-001"), COUNTER, 16) == "…The contract AB-2024-001 is signed.…"
    assert (
        fragment_of(Message.user("没有。" * 900 + "合同AB-1已签。" + "没有。" * 900), fact("AB-1"), COUNTER, 12)
        == "…合同AB-1已签。…"
    )


def test_json_is_cut_to_its_object() -> None:
    rows = [{"id": f"row_{n}", "price": n} for n in range(400)]
    text = json.dumps({"rows": rows})
    fragment = fragment_of(Message.tool("c", text), fact("row_200"), COUNTER, 24)
    assert '{"id": "row_200", "price": 200}' in fragment
    assert fragment.strip("…").strip() in text


@pytest.mark.parametrize("most", [8, 20, 60, 200, 1000])
def test_a_fragment_is_within_its_size_and_verbatim(most: int) -> None:
    texts = [
        "word " * 2000 + "AB-1" + " word" * 2000,
        "x" * 5000 + " AB-1 " + "y" * 5000,
        "行\n" * 2000 + "AB-1\n" + "行\n" * 2000,
    ]
    texts += ["[" * 9000 + '"AB-1"' + "]" * 9000, '{"a":"' + "字" * 5000 + "AB-1" + "字" * 5000 + '"}']
    for text in texts:
        fragment = fragment_of(Message.tool("c", text), fact("AB-1"), COUNTER, most)
        assert COUNTER.count_text(fragment) <= most
        assert "AB-1" in fragment
        assert fragment.removeprefix("…").removesuffix("…") in text


def test_more_room_gives_more_of_the_passage() -> None:
    message = Message.user("A sentence of some words. " * 100 + "It is AB-1. " + "A sentence of some words. " * 100)
    sizes = [len(fragment_of(message, fact("AB-1"), COUNTER, most)) for most in (8, 40, 120, 5000)]
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize(
    "message",
    [
        Message.assistant("", ToolCall(call_id="c", name="f", arguments='{"id": "AB-1"}')),
        Message(role="tool", parts=(ToolResult(call_id="c", parts=(JsonPart({"id": "AB-1"}),)),)),
        Message(role="assistant", parts=(Refusal("No AB-1 for you."),)),
    ],
)
def test_it_is_found_in_every_kind_of_part(message: Message) -> None:
    assert "AB-1" in fragment_of(message, fact("AB-1"), COUNTER, 50)


def test_values_with_escapes_and_earlier_texts_are_found() -> None:
    assert "\\u9884" in fragment_of(Message.tool("c", json.dumps({"a": "预算"})), fact("预算"), COUNTER, 50)
    changed = Fact(kind=FactKind.NUMBER, text="12", earlier=("10 yuan",))
    assert fragment_of(Message.user("Budget 10 yuan"), changed, COUNTER, 50) == "Budget 10 yuan"


def test_no_passage_where_the_fact_is_not_or_nothing_fits() -> None:
    assert fragment_of(Message.user("Nothing here."), fact("AB-1"), COUNTER, 50) == ""
    assert fragment_of(Message.user("It is AB-1."), fact("AB-1"), COUNTER, 0) == ""


OFFICE = [
    "The opening order is PO-48213-B: 24 standing desks at 467.20 EUR each, delivery by 2027-03-14.",
    "The freight elevator code at the site is 5590#. We ship with DHL Freight. The site in Graz is open.",
    "We decided to take the lamp in sage for Porto.",
    "We decided to cancel the Porto office.",
    "The delivery of PO-48213-B moves to 2027-03-21.",
    "订单HT-9的货梯密码是7788#。我们决定取消波尔图办公室。",
]
OFFICE_LEDGER = merged(FactLedger(), extract_facts([Message.user(text, id=f"m{n}") for n, text in enumerate(OFFICE)]))


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What's the freight elevator code at the site?", "5590#"),
        ("whats the elevator code", "5590#"),
        ("货梯密码是多少?", "7788#"),
        ("Is Porto still on?", "We decided to cancel the Porto office."),
        ("When will the opening order be delivered?", "2027-03-21"),
        ("What was the price per desk in PO-48213-B?", "467.20 EUR"),
        ("send the invoice of PO-48213-B", "PO-48213-B"),
        ("PO-48213-B", "PO-48213-B"),
        ("把PO-48213-B的发票发给我,帮我", "PO-48213-B"),
    ],
)
def test_the_best_fact_comes_first(question: str, first: str) -> None:
    assert facts_asked(OFFICE_LEDGER, Message.user(question))[0].text == first


def test_what_shares_much_less_than_the_best_is_no_hit() -> None:
    talk = [
        "The opening order is PO-48213-B, with delivery by 2027-03-14.",
        "I opened claim RMA-3099.",
        "I opened claim RMA-4596.",
    ]
    ledger = merged(FactLedger(), extract_facts([Message.user(text, id=f"m{n}") for n, text in enumerate(talk)]))
    asked = facts_asked(ledger, Message.user("When will the opening order be delivered?"))
    assert asked[0].text == "2027-03-14"
    assert not any("RMA" in fact.text for fact in asked)


@pytest.mark.parametrize(
    "statement",
    [
        "We like PO-48213-B.",
        "PO-48213-B arrived this morning.",
        "The elevator code 5590# works.",
        "PO-48213-B收到了。",
        "Porto is a nice town.",
    ],
)
def test_a_statement_brings_nothing_back(statement: str) -> None:
    assert facts_asked(OFFICE_LEDGER, Message.user(statement)) == ()
