"""What users say in sentences of their own is kept, whatever words they use for it, and is the first to go."""

from __future__ import annotations

import json

import pytest

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts.facts import Fact, FactKind, FactLedger
from contextport.contracts.messages import Message
from contextport.strategies.facts import extract_facts, facts_asked, facts_message, fragment_of, merged

COUNTER = HeuristicTokenCounter()


def said(message: Message) -> list[str]:
    return [fact.text for fact in extract_facts([message]) if fact.kind is FactKind.STATEMENT]


@pytest.mark.parametrize(
    "text",
    [
        "The garage goes to my brother once the papers are through.",
        "Olive green won over both of us for the hallway.",
        "Anything with peanuts is off the table at this party.",
        "Room 12.",
        "客厅就刷浅绿色那一款。",
        "他们家的猫一沾花生就起疹子。",
    ],
)
def test_what_is_told(text: str) -> None:
    assert text in said(Message.user(text, id="m"))


@pytest.mark.parametrize(
    "text",
    [
        *("Where did the garage papers go?", "花生放在哪里\uff1f", "Thanks a lot!", "Good morning.", "好的。", "ok", "", "..."),
        *(
            "x = compute(total, rate);",
            "```\nthe garage goes to my brother\n```",
            "if (a && b) return the garage papers",
            "| 1 | 2 | 3 |",
        ),
        "garage " * 60,
    ],
)
def test_what_is_not(text: str) -> None:
    assert said(Message.user(text, id="m")) == []


def test_only_of_users_and_not_of_what_they_paste() -> None:
    text = "The garage goes to my brother once the papers are through."
    assert said(Message.assistant(text, id="m")) == said(Message.tool("c", text, id="m")) == []
    assert said(Message.user(f"{text}\n" * 40, id="m")) == []
    assert said(Message.user(f"{text} How is the roof? The roof leaks near the chimney.", id="m")) == [
        text,
        "The roof leaks near the chimney.",
    ]


def test_a_sentence_is_of_one_kind() -> None:
    text = "We decided to sell the garage to my brother."
    kinds = [fact.kind for fact in extract_facts([Message.user(text, id="m")]) if fact.text == text]
    assert kinds == [FactKind.DECISION]


def test_it_replaces_nothing_and_is_not_replaced() -> None:
    texts = [
        "Let's go with the red garage door.",
        "The red garage door came without handles.",
        "Actually, use the blue garage door instead of the red one.",
    ]
    ledger = merged(FactLedger(), extract_facts([Message.user(text, id=str(n)) for n, text in enumerate(texts)]))
    kept = {fact.text: fact for fact in ledger.facts}
    assert kept[texts[2]].earlier == (texts[0],)
    assert kept[texts[1]].kind is FactKind.STATEMENT
    assert kept[texts[1]].earlier == ()
    assert merged(ledger, extract_facts([Message.user(texts[1], id="1")])) == ledger


def test_it_is_the_first_to_go() -> None:
    own = Fact(kind=FactKind.STATEMENT, text="The garage goes to my brother.", sources=("b",))
    value = Fact(kind=FactKind.NUMBER, text="7", role="tool", label="x", sources=("a",))
    assert merged(FactLedger(), [value, own], max_facts=1).facts == (value,)


def test_it_is_in_the_ledger_and_not_in_the_block() -> None:
    own = Fact(kind=FactKind.STATEMENT, text="The garage goes to my brother.", sources=("a",))
    name = Fact(kind=FactKind.IDENTIFIER, text="AB-2024-001", sources=("a",))
    message = facts_message(FactLedger((own, name)), COUNTER, 200, id="f")
    assert message is not None
    assert "AB-2024-001" in message.text
    assert own.text not in message.text
    assert own.text in json.dumps(message.metadata)


def test_a_question_in_its_words_brings_it_back() -> None:
    told = Message.user("Hm. Olive green won over both of us for the hallway. Lunch was late.", id="a")
    ledger = merged(FactLedger(), extract_facts([told, Message.user("The roof leaks near the chimney.", id="b")]))
    (fact, *_) = facts_asked(ledger, Message.user("Which green was it for the hallway?"))
    assert fact.text == "Olive green won over both of us for the hallway."
    assert "Olive green" in fragment_of(told, fact, COUNTER, 30)
