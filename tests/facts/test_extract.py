"""Facts found in messages, checked by hand, in English and Chinese; every one stands in its message word for word."""

from __future__ import annotations

import json
import random

import pytest

from contextport.contracts.facts import Fact, FactKind, FactState
from contextport.contracts.messages import Json, JsonPart, Kind, Message, Text, Thinking, ToolCall, ToolResult
from contextport.strategies.facts import extract_facts

RESERVATION = {
    "reservation": {"id": "NO6JO3", "user_id": "mia_li_3668", "cabin": "economy", "total": 255.50},
    "flights": [{"flight_number": "HAT136", "date": "2024-05-20"}, {"flight_number": "HAT039", "date": "2024-05-21"}],
    "cards": {"credit_card_4421486": {"last_four": "7447", "balance": 90}},
    "codes": ["AQLBTL", "OI5L9G"],
    "insured": True,
    "note": None,
}


def found(message: Message) -> set[tuple[str, str]]:
    return {(str(fact.kind), fact.text) for fact in extract_facts([message])}


def labels(message: Message) -> dict[str, str]:
    return {fact.text: fact.label for fact in extract_facts([message])}


def call(name: str, arguments: str) -> Message:
    return Message.assistant("", ToolCall(call_id="c", name=name, arguments=arguments), id="m")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "I'd like to fly from Denver to New York on May 27. My budget is $1,200.",
            {("entity", "Denver"), ("entity", "New York"), ("date", "May 27"), ("number", "$1,200")}
            | {("task", "I'd like to fly from Denver to New York on May 27."), ("constraint", "My budget is $1,200.")},
        ),
        (
            "我叫王小明。合同编号AB-2024-001,预算10000元。不要用TypeScript。",
            {("entity", "王小明"), ("identifier", "AB-2024-001"), ("number", "10000元"), ("identifier", "TypeScript")}
            | {("constraint", "合同编号AB-2024-001,预算10000元。"), ("constraint", "不要用TypeScript。")}
            | {("statement", "我叫王小明。")},
        ),
        ("Let's go with React.", {("entity", "React"), ("decision", "Let's go with React.")}),
        ("就用Postgres吧。", {("entity", "Postgres"), ("decision", "就用Postgres吧。")}),
        ("请帮我订《三体》。", {("entity", "三体"), ("task", "请帮我订《三体》。")}),
        (
            "Never touch `conf/db.yaml`.",
            {("path", "conf/db.yaml"), ("constraint", "Never touch `conf/db.yaml`.")},
        ),
        ("I don't remember the reservation, sorry.", {("statement", "I don't remember the reservation, sorry.")}),
        ("Thanks! That is great.", set[tuple[str, str]]()),
        ("一只猫。", set[tuple[str, str]]()),
    ],
)
def test_what_a_user_says(text: str, facts: set[tuple[str, str]]) -> None:
    assert found(Message.user(text, id="m")) == facts


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("I'll book the flight HAT136 next.", FactState.CURRENT),
        ("接下来我会修复登录页面。", FactState.CURRENT),
        ("I've cancelled reservation NO6JO3.", FactState.DONE),
        ("The login page has been fixed.", FactState.DONE),
        ("已订好《三体》。", FactState.DONE),
        ("登录页面修好了。", FactState.DONE),
    ],
)
def test_tasks_have_a_state(text: str, state: FactState) -> None:
    tasks = [fact for fact in extract_facts([Message.assistant(text, id="m")]) if fact.kind is FactKind.TASK]
    assert [(task.text, task.state) for task in tasks] == [(text, state)]


@pytest.mark.parametrize(
    "text",
    ["I haven't finished the report.", "Would you like me to cancel it?", "报告还没完成。", "Once it is done, I call you."],
)
def test_what_is_not_done_is_no_done_task(text: str) -> None:
    assert not [fact for fact in extract_facts([Message.assistant(text, id="m")]) if fact.state is FactState.DONE]


def test_numbers_have_the_name_a_user_gave_them_or_the_words_before() -> None:
    assert labels(Message.user("The budget is 10,000 yuan and hotel rooms cost about 300 a night.", id="m")) == {
        "10,000 yuan": "budget",
        "300": "hotel rooms cost …",
        "The budget is 10,000 yuan and hotel rooms cost about 300 a night.": "",
    }
    assert labels(Message.user("预算是10000元", id="m"))["10000元"] == "预算"
    assert labels(Message.assistant("The total is 90.", id="m"))["90"] == "total …"


def test_arguments_are_labelled_with_tool_and_path() -> None:
    message = call("book", json.dumps({"user_id": "mia_li_3668", "flights": [{"number": "HAT136"}], "bags": 3}))
    facts = extract_facts([message])
    assert [(fact.label, fact.text, fact.kind) for fact in facts] == [
        ("book.user_id", "mia_li_3668", FactKind.IDENTIFIER),
        ("book.flights.number", "HAT136", FactKind.IDENTIFIER),
        ("book.bags", "3", FactKind.NUMBER),
    ]
    assert {(fact.role, fact.sources) for fact in facts} == {("assistant", ("m",))}


@pytest.mark.parametrize("structured", [True, False])
def test_results_are_labelled_with_the_path(structured: bool) -> None:
    part = JsonPart(RESERVATION) if structured else Text(json.dumps(RESERVATION))
    facts = extract_facts([Message(role="tool", parts=(ToolResult(call_id="c", parts=(part,)),), id="m")])
    assert [(fact.label, fact.text, str(fact.kind)) for fact in facts] == [
        ("reservation.id", "NO6JO3", "identifier"),
        ("reservation.user_id", "mia_li_3668", "identifier"),
        ("reservation.cabin", "economy", "entity"),
        ("reservation.total", "255.5", "number"),
        ("flights.flight_number", "HAT136", "identifier"),
        ("flights.date", "2024-05-20", "date"),
        ("flights.flight_number", "HAT039", "identifier"),
        ("flights.date", "2024-05-21", "date"),
        ("cards", "credit_card_4421486", "identifier"),
        ("cards.credit_card_4421486.last_four", "7447", "number"),
        ("cards.credit_card_4421486.balance", "90", "number"),
        ("codes", "AQLBTL", "identifier"),
        ("codes", "OI5L9G", "identifier"),
    ]


def test_numbers_of_json_are_as_written() -> None:
    assert labels(Message.tool("c", '{"a": 255.50, "b": 1e3}', id="m")) == {"255.50": "a", "1e3": "b"}


def test_output_that_is_no_json() -> None:
    message = Message.tool(
        "c", "collected 42 items\n42/42 tests passed in src/app_test.py\nTraceback: boom\n已创建文件 a1.txt", id="m"
    )
    assert {("conclusion", line) for line in message.text.splitlines()[1:]} <= found(message)
    assert {("path", "src/app_test.py"), ("path", "a1.txt"), ("number", "42")} <= found(message)


def test_long_texts_in_json_are_read_as_texts() -> None:
    note = "The parser failed on line 7.\nError: unexpected token in src/parse_args.py, please look at issue PX-204 first."
    assert {("path", "src/parse_args.py"), ("identifier", "PX-204"), ("conclusion", "The parser failed on line 7.")} <= found(
        Message.tool("c", json.dumps({"log": note}), id="m")
    )


def test_what_is_not_read() -> None:
    unread = [
        Message.system("Order AB-2024-001 must stay."),
        Message(role="developer", parts=(Text("Order AB-2024-002"),)),
        Message(role="assistant", parts=(Thinking(text="Order AB-2024-003"),)),
        Message.user("Order AB-2024-004", kind=Kind.SUMMARY),
        Message.user("Order AB-2024-005", kind=Kind.RETRIEVED),
    ]
    assert extract_facts(unread) == ()


def test_broken_arguments_are_read_as_text() -> None:
    assert "mia_li_3668" in labels(call("book", '{"user_id": "mia_li_3668", "fl'))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        "{" * 9 + '"',
        '{"a": NaN}',
        "\ud800 AB-1",
        "[[[]]]",
        '{"": {"1": {"": "AB-1"}}}',
        "`" * 9999,
    ],
)
def test_hostile_results_are_read(text: str) -> None:
    assert len(extract_facts([Message.tool("c", text, id="m"), call("f", text)])) < 10


def test_a_large_listing_gives_a_bounded_number_of_facts() -> None:
    rows: list[Json] = [{"id": f"row_{n}"} for n in range(5000)]
    assert len(extract_facts([Message.tool("c", json.dumps(rows), id="m")])) == 1000


def test_every_fact_stands_in_its_message() -> None:
    """Texts put together at random from pieces that matter."""
    pieces = [
        "AB-2024-001",
        "10,000",
        "$5",
        "预算",
        "是",
        "must",
        "never",
        "please",
        "已完成",
        "《三体》",
        "Anna Smith",
        "。",
        ". ",
        "\n",
        ", ",
    ]
    pieces += [
        "2024年3月5日",
        "3pm",
        "/a/b.txt",
        "`x_1`",
        "\uff11\uff12",
        "error:",
        "let's go with",
        "I've fixed",
        "不要",
        "5%",
        "周五",
        "…",
        "(",
        " ",
    ]
    chance = random.Random(7)
    for _ in range(400):
        text = "".join(chance.choices(pieces, k=12))
        for message in (Message.user(text), Message.assistant(text), Message.tool("c", text)):
            for fact in extract_facts([message]):
                assert fact.text in message.text
                assert fact.text.strip()
                assert fact.sources == (message.id,)
                assert Fact.from_json(json.loads(json.dumps(fact.as_json()))) == fact


def test_the_same_messages_have_the_same_facts() -> None:
    messages = [Message.user("Order AB-2024-001 of Anna Smith, by 5 March.", id="m"), call("f", '{"a": "x_1"}')]
    assert extract_facts(messages) == extract_facts(messages) == extract_facts(messages[:1]) + extract_facts(messages[1:])
