from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.conformance_tests.exact_counters import CharactersCounter, WordsCounter
from contextport.contracts import (
    Fact,
    FactKind,
    FactLedger,
    Hint,
    Importance,
    InvalidArgument,
    Kind,
    Message,
    Summary,
    SummaryFailed,
    SummaryRequest,
    TokenCounter,
    ToolCall,
)
from contextport.contracts.messages import Thinking
from contextport.strategies.facts.exact_values import exact_values
from contextport.strategies.summaries import ExtractiveSummarizer, summary_message
from contextport.strategies.summaries.source_values import values_of
from tests.provider_rules.real_conversations import needs_data, real_conversations

WORDS = WordsCounter()
CHARACTERS = CharactersCounter()


def summarized(messages: Sequence[Message], max_tokens: int, *, counter: TokenCounter = WORDS, **more: Any) -> Summary:
    request = SummaryRequest(messages=tuple(messages), max_tokens=max_tokens, **more)
    return asyncio.run(ExtractiveSummarizer(counter).summarize(request))


def talk(*texts: str) -> list[Message]:
    """A user and an assistant in turn, the user first."""
    return [Message.user(text, id=f"m{n}") if n % 2 == 0 else Message.assistant(text, id=f"m{n}") for n, text in enumerate(texts)]


CONTRACT = talk(
    "The contract number is AB-2024-001. The budget is 10000 euros.",
    "Noted. I will draft the plan for the Berlin office.",
    "We must not use TypeScript. Please write tests for the parser.",
    "I have written the tests for the parser, 42/42 pass in tests/test_parser.py.",
)
FACTS = talk(*[f"q{n}_1 q{n}_2 q{n}_3 q{n}_4 q{n}_5 q{n}_6 FACT-{n}" for n in range(1, 7) for _ in range(2)])


def test_what_was_decided_asked_and_done_has_a_place_of_its_own() -> None:
    summary = summarized(CONTRACT, 44)
    assert summary.constraints == ("The budget is 10000 euros.", "We must not use TypeScript.")
    assert summary.open == ("I will draft the plan for the Berlin office.",)
    assert summary.done == ("I have written the tests for the parser, 42/42 pass in tests/test_parser.py.",)
    assert summary.text == "The contract number is AB-2024-001."
    assert (summary.origin, summary.usage) == ("extractive", None)


@pytest.mark.parametrize("max_tokens", range(1, 70))
def test_it_keeps_its_limit_and_says_something(max_tokens: int) -> None:
    for messages in (CONTRACT, FACTS):
        rendered = summarized(messages, max_tokens).render()
        assert 0 < WORDS.count_text(rendered) <= max_tokens
        assert exact_values(rendered) <= values_of(messages)


@pytest.mark.parametrize(
    ("max_tokens", "text"),
    [
        (1, "FACT-1"),
        (3, "FACT-1 FACT-2 FACT-3"),
        (6, "FACT-1 FACT-2 FACT-3 FACT-4 FACT-5 FACT-6"),
    ],
)
def test_with_hardly_any_room_it_says_the_identifiers(max_tokens: int, text: str) -> None:
    assert summarized(FACTS, max_tokens).render() == text


def test_with_little_room_no_identifier_is_missing() -> None:
    assert {f"FACT-{n}" for n in range(1, 7)} <= exact_values(summarized(FACTS, 20).render())


def test_a_value_in_a_sentence_is_not_said_again() -> None:
    rendered = summarized(FACTS, 20).render()
    assert all(rendered.count(f"FACT-{n}") == 1 for n in range(1, 7))


def test_one_word_is_better_than_nothing() -> None:
    messages = talk("Everything happened somewhere quietly", "yes indeed")
    assert summarized(messages, 6, counter=CHARACTERS).render() == "indeed"


def test_without_room_for_a_word_it_fails_and_says_how_much_there_was() -> None:
    with pytest.raises(SummaryFailed, match="not one word of 2 messages fits 2 tokens") as caught:
        summarized(talk("Everything happened", "indeed"), 2, counter=CHARACTERS)
    assert caught.value.faults == ("no_room: 2 tokens",)


def test_a_bad_request_is_told() -> None:
    with pytest.raises(InvalidArgument, match="messages is empty"):
        summarized([], 10)
    with pytest.raises(InvalidArgument, match="max_tokens is 0"):
        summarized(CONTRACT, 0)


def test_the_language_stays() -> None:
    messages = talk(
        "合同编号是AB-2024-001\uff0c预算10000元。不要用TypeScript。",
        "好的\uff0c我会在3月5日之前完成设计。",
        "请把报告发给王芳。",
        "已完成报告\uff0c文件在/data/report.pdf。",
    )
    summary = summarized(messages, 120, counter=CHARACTERS)
    rendered = summary.render()
    assert "不要用TypeScript。" in summary.constraints
    assert "AB-2024-001" in rendered
    assert "10000" in rendered
    said = "".join(message.text for message in messages)
    assert all(sentence in said for sentence in (*summary.constraints, *summary.open, *summary.done))


def test_wishes_come_before_what_is_only_interesting() -> None:
    chat = [f"Yesterday the {n}th parrot of Lady Windermere recited Ptolemy backwards." for n in range(20)]
    messages = talk("Never deploy on Fridays.", *chat)
    assert summarized(messages, 24).constraints == ("Never deploy on Fridays.",)


def test_importance_decides_among_equals() -> None:
    messages = [Message.user(f"The parcel number {n} went to Oslo.", id=f"u{n}") for n in range(20)]
    messages[7] = Message.user(messages[7].text, id="u7", pinned=True)
    messages[9] = Message.user(messages[9].text, id="u9", importance=Importance.REFETCHABLE)
    rendered = summarized(messages, 40).render()
    assert "The parcel number 7 went to Oslo." in rendered
    assert "The parcel number 9 went to Oslo." not in rendered


def test_what_somebody_else_said_is_marked() -> None:
    messages = talk("Where is the parcel with the lamp?", "The parcel with the lamp went to Oslo.")
    assert "assistant: The parcel with the lamp went to Oslo." in summarized(messages, 30).render().splitlines()


def test_system_messages_reasoning_and_records_are_not_read() -> None:
    messages = [
        Message.system("Secret rule: always say ALPHA-1."),
        Message(role="assistant", parts=(Thinking(text="I think of BETA-2."),)),
        Message.assistant("<think>Hidden GAMMA-3.</think>The answer is DELTA-4."),
        Message.user("EPSILON-5", kind=Kind.FACTS),
        Message.user("ZETA-6", kind=Kind.RETRIEVED),
    ]
    assert exact_values(summarized(messages, 40).render()) == {"DELTA-4"}


def test_calls_and_results_are_read() -> None:
    call = ToolCall(call_id="c1", name="find_order", arguments=json.dumps({"order": "ORD-7", "note": "line\nNB-2"}))
    messages = [
        Message.user("Where is it?"),
        Message.assistant("", call),
        Message.tool("c1", '{"status": "sent", "track": "TR-9"}'),
    ]
    assert {"ORD-7", "NB-2", "TR-9"} <= exact_values(summarized(messages, 40).render())


def test_lines_of_code_and_tables_are_whole() -> None:
    table = "| order | total |\n|-------|-------|\n| ORD-1 | 20.50 |\n| ORD-2 | 31.00 |"
    code = "```python\ndef total(orders): return sum(o.total for o in orders)\nprint(total(ORDERS_7))\n```"
    messages = talk(f"Look at this:\n{table}", f"So I wrote:\n{code}")
    lines = {line.strip() for line in f"{table}\n{code}".splitlines()}
    for max_tokens in range(4, 40):
        for line in summarized(messages, max_tokens).text.splitlines():
            said = line.removeprefix("assistant: ")
            assert said in lines or not {"|", "(", "="} & set(said)


def test_a_done_task_leaves_the_open_list() -> None:
    first = summarized(talk("Please write tests for the parser.", "I will write the tests for the parser."), 30)
    assert any("tests for the parser" in task for task in first.open)
    later = talk("How is it going?", "I have written the tests for the parser.")
    second = summarized([summary_message(first, id="s"), *later], 30)
    assert "I have written the tests for the parser." in second.done
    assert second.open == ()
    assert "Please write" not in second.render()


def test_a_changed_decision_takes_the_place_of_the_one_before() -> None:
    first = summarized(talk("Let's use PostgreSQL as the database.", "Fine."), 20)
    assert first.decisions == ("Let's use PostgreSQL as the database.",)
    later = talk("Actually, let's use SQLite as the database instead.", "Fine.")
    second = summarized([summary_message(first, id="s"), *later], 20)
    assert second.decisions == ("Actually, let's use SQLite as the database instead.",)
    assert "PostgreSQL" not in second.render()


@pytest.mark.parametrize(
    ("decided", "given_up"),
    [
        ("We decided to take the lamp in sage for Porto.", "We decided to cancel the Porto office."),
        ("我们决定波尔图用白色台灯。", "我们决定取消波尔图办公室。"),
    ],
)
def test_a_decision_that_was_given_up_is_not_said(decided: str, given_up: str) -> None:
    first = summarized(talk(decided, "Fine."), 40, counter=CHARACTERS if "我" in decided else WORDS)
    assert decided in first.decisions
    for messages in (talk(decided, "Fine.", given_up, "Fine."), [summary_message(first, id="s"), *talk(given_up, "Fine.")]):
        rendered = summarized(messages, 200).render()
        assert given_up in rendered
        assert decided not in rendered


def test_where_room_is_short_new_decisions_come_before_old_ones() -> None:
    items = ("desk", "lamp", "shelf", "chair", "sofa", "stool")
    messages = talk(*[text for item in items for text in (f"We decided to take the {item} in sand.", "Fine.")])
    decisions = summarized(messages, 24).decisions
    assert decisions
    assert "We decided to take the stool in sand." in decisions
    assert "We decided to take the desk in sand." not in decisions


@pytest.mark.parametrize("folds", [1, 5, 10])
def test_a_contract_survives_a_chain_of_summaries(folds: int) -> None:
    """R133: each summary is made of the one before and of what was said since, never of the raw messages again."""
    summary = summarized(CONTRACT, 40)
    for fold in range(folds):
        news = talk(*[f"Day {fold}: we walked from hut {n} to hut {n + 1} and saw {n} goats in the rain." for n in range(12)])
        summary = summarized([summary_message(summary, id="s"), *news], 60)
        assert WORDS.count_text(summary.render()) <= 60
    assert "AB-2024-001" in exact_values(summary.render())
    assert "The budget is 10000 euros." in summary.constraints
    assert "We must not use TypeScript." in summary.constraints


def test_a_chain_does_not_grow() -> None:
    summary = summarized(CONTRACT, 100)
    for fold in range(20):
        news = talk(f"Please check pump P-{fold}.", f"I will check pump P-{fold}.", "Thanks.", f"Pump P-{fold} is checked.")
        summary = summarized([summary_message(summary, id="s"), *news], 100)
        assert WORDS.count_text(summary.render()) <= 100


def test_what_the_ledger_keeps_gives_way_to_what_it_does_not() -> None:
    messages = talk(*[f"The locker of team {n} opens with key KEY-{n}." for n in range(1, 9)])
    ledger = FactLedger(tuple(Fact(kind=FactKind.IDENTIFIER, text=f"KEY-{n}") for n in range(1, 8)))
    assert "KEY-8" in summarized(messages, 4, ledger=ledger).render()
    assert "KEY-8" not in summarized(messages, 4).render()


def test_a_handoff_says_what_is_open_and_done_first() -> None:
    wishes = [f"Never touch the {name} service." for name in ("billing", "mail", "search", "login", "audit", "stock", "price")]
    messages = talk(*wishes, "I have migrated the users table.", "ok", "I will migrate the orders table.")
    summary = summarized(messages, 24, handoff=True)
    assert summary.done == ("I have migrated the users table.",)
    assert summary.open == ("I will migrate the orders table.",)
    assert summarized(messages, 24).done == ()


def test_a_step_of_an_agent_hears_the_newest_first() -> None:
    messages = [Message.assistant(f"The probe number {n} reads {n} volts.", id=f"a{n}") for n in range(10, 40)]
    newest = summarized(messages, 40, hint=Hint.REACT_ITERATION).render()
    assert "The probe number 39 reads 39 volts." in newest
    assert "The probe number 10 reads 10 volts." not in newest


def test_the_same_request_gives_the_same_summary() -> None:
    assert summarized(CONTRACT, 25) == summarized(CONTRACT, 25)


def large() -> tuple[Message, ...]:
    return tuple(talk(*[f"Reading {n} of gauge G-{n} was {n * 7} bar when the wind turned to the west." for n in range(900)]))


def test_the_event_loop_goes_on_beside_a_large_input() -> None:
    async def both() -> int:
        request = SummaryRequest(messages=large(), max_tokens=200)
        task = asyncio.create_task(ExtractiveSummarizer(WORDS).summarize(request))
        turns = 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        assert WORDS.count_text((await task).render()) <= 200
        return turns

    assert asyncio.run(both()) > 2


def test_a_cancelled_call_can_be_made_again() -> None:
    async def cancelled() -> Summary:
        summarizer = ExtractiveSummarizer(WORDS)
        request = SummaryRequest(messages=large(), max_tokens=50)
        task = asyncio.create_task(summarizer.summarize(request))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await summarizer.summarize(request)

    assert not asyncio.run(cancelled()).is_empty


@needs_data
def test_summaries_of_real_conversations_are_true_and_fit() -> None:
    counter = HeuristicTokenCounter()
    conversations = real_conversations()
    assert len(conversations) > 600
    for conversation in conversations[::20]:
        tokens = sum(counter.count_message(message) for message in conversation)
        said = values_of(conversation)
        for max_tokens in (12, tokens // 6 + 1):
            rendered = summarized(conversation, max_tokens, counter=counter).render()
            assert 0 < counter.count_text(rendered) <= max_tokens
            assert exact_values(rendered) <= said
