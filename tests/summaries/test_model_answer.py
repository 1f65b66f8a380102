"""Answers of models in every form that they come in."""

from __future__ import annotations

import json

import pytest

from contextport.contracts import Message, Summary
from contextport.strategies.summaries.model_answer import UnreadableAnswer, facts_in, read_answer

FORM = {"decisions": ["用 React, 不用 TypeScript"], "open": ["测试"], "text": "合同 AB-2024-001。"}
READ = Summary(decisions=("用 React, 不用 TypeScript",), open=("测试",), text="合同 AB-2024-001。")
JSON = json.dumps(FORM, ensure_ascii=False)


@pytest.mark.parametrize(
    "answer",
    [
        JSON,
        json.dumps(FORM, indent=2),
        f"```json\n{JSON}\n```",
        f"```\n{JSON}\n```\nI hope this helps!",
        f"{JSON}\n\nLet me know if you need more.",
        f"Here is the summary:\n{JSON}",
        f"以下是摘要:\n\n```json\n{JSON}\n```\n希望有帮助。",
        f'<think>Maybe {{"text": "no"}}?</think>\n{JSON}',
        f"The prompt began my thoughts.</think>{JSON}",
        f"<scratchpad>\nfirst\n</scratchpad>\n<summary>\n{JSON}\n</summary>\nDone.",
        "[Conversation summary]\n[decided] 用 React, 不用 TypeScript\n[open] 测试\n合同 AB-2024-001。",
        "- [decided] 用 React, 不用 TypeScript\n- [open] 测试\n\n合同 AB-2024-001。",
        "```text\n[decided] 用 React, 不用 TypeScript\n[open] 测试\n合同 AB-2024-001。\n```",
        READ.render(),
    ],
)
def test_every_form_is_read_the_same(answer: str) -> None:
    assert read_answer(answer) == READ


@pytest.mark.parametrize(
    "text",
    [
        "Der Nutzer will React.",
        "## 决定\n用 React。\n\n## 未完成\n测试。",
        'The config is {not json} and {"port": 5433}.',
        'The server answered\n{"port": 5433}\nand closed.',
        "Use a < b and b > c.",
        "The page has the tags <analysis> and <section>.",
        "It said [open] once.",
        "[1] first\n[2] second",
    ],
)
def test_all_else_is_prose_in_its_own_words(text: str) -> None:
    assert read_answer(f"  {text}\n") == Summary(text=text)


def test_items_of_any_shape_become_lines() -> None:
    value = {
        "decisions": "one item",
        "constraints": None,
        "open": [{"task": "write tests", "owner": "Ann"}, ["nested", 7], "", "  two\n lines "],
        "done": ["same", "same"],
        "conclusions": [],
        "text": ["first", "second"],
        "extra": "not a field",
    }
    assert read_answer(json.dumps(value)) == Summary(
        decisions=("one item",),
        open=("task: write tests; owner: Ann", "nested", "7", "two lines"),
        done=("same",),
        text="first\nsecond",
    )


def test_line_ends_inside_of_strings_are_read() -> None:
    assert read_answer('{"text": "one\ntwo"}') == Summary(text="one two")


@pytest.mark.parametrize("answer", ['{"decisions": ["We use', '```json\n{"text": "half\n```', '{"open": [1,, 2]}'])
def test_a_broken_form_is_no_summary(answer: str) -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n",
        "<think>only thoughts",
        "<think>thoughts on a <scratchpad> of mine",
        "<think>only</think>",
        "{}\n",
        '{"text": "  ", "open": []}',
        "[open] ",
    ],
)
def test_nothing_said_is_empty_or_told_as_it_is(answer: str) -> None:
    read = read_answer(answer)
    assert read.is_empty or read.text == "{}"


def test_facts_are_kept_if_a_message_says_them_word_for_word() -> None:
    messages = [
        Message.assistant("Ann Lee asked for it.", id="a"),
        Message.user("Ann Lee, from 上海.", id="b"),
        Message.system("Bob", id="s"),
    ]
    named = [
        {"kind": "entity", "text": "Ann Lee"},
        {"kind": "entity", "text": "上海"},
        {"kind": "entity", "text": "Bob"},
        {"kind": "entity", "text": "Ann  Lee"},
        {"kind": "entity"},
        {"kind": "entity", "text": "Ann Lee"},
        7,
    ]
    facts = facts_in(json.dumps({"text": "x", "facts": named}), messages)
    assert [(fact.text, fact.role, fact.sources) for fact in facts] == [
        ("Ann Lee", "assistant", ("a", "b")),
        ("上海", "user", ("b",)),
    ]
    assert facts_in("prose", messages) == ()
    assert facts_in(json.dumps({"text": "x", "facts": "Ann Lee"}), messages) == ()


def test_long_and_hostile_answers_are_read_in_no_time() -> None:
    for text in (
        "<think>" * 20_000,
        "<think" * 20_000,
        "x</think>" * 20_000,
        "{" * 20_000,
        "\n{" * 5_000,
        "```\n" * 5_000,
        "<summary>" * 20_000,
        "[open] x\n" * 20_000,
    ):
        try:
            read_answer(text)
        except UnreadableAnswer:
            continue


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"summary": FORM}, ensure_ascii=False),
        json.dumps({"Decisions": FORM["decisions"], "OPEN": FORM["open"], "Text": FORM["text"]}),
        json.dumps({"name": "write_summary", "arguments": FORM}),
        json.dumps({"name": "write_summary", "arguments": JSON}),
        json.dumps({**FORM, "open": [{"text": "测试"}]}),
        f"\ufeff{JSON}",
        f"> {JSON}",
        "> [decided]: 用 React, 不用 TypeScript\n> [Open]: 测试\n> 合同 AB-2024-001。",
        f"Here is the summary of the talk:\n\n{READ.render()}",
        f"好的\uff0c以下是摘要\uff1a\n{READ.render()}",
    ],
)
def test_wrapped_forms_are_read_the_same(answer: str) -> None:
    assert read_answer(answer) == READ


@pytest.mark.parametrize(
    "wrapped", [{"summary": "They met."}, {"summary": ["They met."]}, {"name": "x", "input": {"text": "They met."}}]
)
def test_wrapped_prose_is_read(wrapped: object) -> None:
    assert read_answer(json.dumps(wrapped)) == Summary(text="They met.")


@pytest.mark.parametrize(
    "answer",
    [
        '{"error": {"message": "overloaded"}}',
        '```json\n{"refusal": "I cannot"}\n```',
        '{"entscheidungen": ["a"]}',
        '[{"type": "note"}]',
        '{"summary": {"note": 1}}',
    ],
)
def test_json_of_another_form_is_no_summary(answer: str) -> None:
    with pytest.raises(UnreadableAnswer, match="without the fields of a summary"):
        read_answer(answer)


def test_words_that_announce_a_summary_are_no_part_of_it() -> None:
    assert read_answer("Let me summarise: they met in Rome.") == Summary(text="they met in Rome.")
    assert read_answer("Sure! Here's a short recap of the call:\nThey met.") == Summary(text="They met.")
    assert read_answer("Here is the summary:") == Summary(text="Here is the summary:")
    assert read_answer("Here is Rome: they met.") == Summary(text="Here is Rome: they met.")
