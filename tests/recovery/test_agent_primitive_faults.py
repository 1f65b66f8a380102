"""What goes wrong with texts and messages in an agent loop, and must not: odd JSON, refusing models, messages in many parts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from contextport.contracts import Message, StopReason, Text, ToolResult, from_chat, to_chat
from contextport.strategies.agent_loop import compact_text, fit_text, prepare
from tests.cases.words_counter import WordsCounter
from tests.recovery.scripted_model import ScriptedModel, said

FILLER = ',"filler":"' + "x" * 300 + '"}'


@pytest.mark.parametrize(
    "number", ["1e400", "-1E+999", "0.1000000000000000055511151231257827", "12345678901234567890.123", "1.0", "1E2", "7" * 40]
)
def test_a_number_stays_as_it_was_written(number: str) -> None:
    fitted = fit_text('{"n":' + number + FILLER, 200, "json")
    assert f'{{"n":{number},' in fitted
    assert "characters left out" in fitted


def test_a_number_of_very_many_digits_is_json_too() -> None:
    fitted = fit_text('{"rows":["' + "x" * 300 + '"],"n":' + "9" * 5_000 + "}", 5_200, "json")
    assert "9" * 5_000 in fitted
    assert fitted.endswith("}")


def test_half_a_surrogate_pair_stays_escaped() -> None:
    fitted = fit_text('{"a":"\\ud83d 漢字 é","k\\udc00":1' + FILLER, 200, "json")
    assert fitted.startswith('{"a":"\\ud83d 漢字 é","k\\udc00":1,')
    fitted.encode()
    assert json.loads(fitted)["a"] == "\ud83d 漢字 é"


def test_what_python_writes_for_no_number_stays_as_well() -> None:
    assert fit_text('{"n":NaN,"m":-Infinity' + FILLER, 200, "json").startswith('{"n":NaN,"m":-Infinity,')


def test_deep_json_is_marked_where_it_is_left_out() -> None:
    fitted = fit_text("[" * 400 + "1" + "]" * 400, 700, "json")
    assert "entries left out" in fitted
    depth, value = 0, json.loads(fitted)
    while isinstance(value, list):
        depth, value = depth + 1, value[0]
    assert depth == 201


@pytest.mark.parametrize("value", [[1, 2], {"a": [1, 2, 3], "b": "x" * 500}, [[1, 2, 3]] * 3, {"log": "y" * 90, "ok": True}])
def test_short_entries_are_not_replaced_by_longer_marks(value: Any) -> None:
    text = json.dumps(value)
    fitted = fit_text(text, min(len(text), 90), "json")
    if isinstance(value, dict) and "a" in value:
        assert json.loads(fitted)["a"] == [1, 2, 3]
    else:
        json.loads(fitted)
        assert len(fitted) >= min(len(text), 90) // 2


def test_a_large_json_costs_about_as_much_as_it_takes_to_read() -> None:
    text = json.dumps([{"id": n, "text": "word " * 10, "list": [1, 2, 3]} for n in range(4_000)])
    counted: list[int] = []

    def size(candidate: str) -> int:
        counted.append(len(candidate))
        return len(candidate)

    assert len(fit_text(text, 4_000, "json", size=size)) > 3_000
    assert sum(counted) < 4 * len(text)


# --- rewriting ------------------------------------------------------------------------------------------------------------

TEXT = "A long text of many words. " * 50


@pytest.mark.parametrize("stop", [reason for reason in StopReason if reason not in ("end", "stop_sequence", "unknown")])
def test_what_a_model_did_not_finish_is_no_rewriting(stop: StopReason) -> None:
    made = asyncio.run(compact_text(TEXT, "general", 200, ScriptedModel([said("I cannot help with that.", stop)])))
    assert made.how == "cut"
    assert made.text.startswith("A long text")
    assert made.reason


@pytest.mark.parametrize("stop", [StopReason.END, StopReason.STOP_SEQUENCE, StopReason.UNKNOWN])
def test_what_it_finished_is(stop: StopReason) -> None:
    made = asyncio.run(compact_text(TEXT, "general", 200, ScriptedModel([said("Many words.", stop)])))
    assert (made.how, made.text) == ("rewritten", "Many words.")


# --- messages in parts ----------------------------------------------------------------------------------------------------


def prepared(messages: list[Message], budget: int, most: int) -> Any:
    return asyncio.run(prepare(messages, budget, counter=WordsCounter(), max_message_chars=most))


def words(n: int) -> str:
    return "word " * n


def test_texts_in_parts_are_cut_as_one() -> None:
    parts = [{"type": "text", "text": text} for text in (words(10), words(600), words(600))]
    old = from_chat({"id": "old", "role": "user", "content": parts})
    result = prepared([old, Message.assistant("Ok"), Message.user("And now?")], 500, 1_000)
    cut = result.messages[0]
    texts = [part.text for part in cut.parts if isinstance(part, Text)]
    assert texts[0] == words(10)
    assert sum(map(len, texts)) <= 1_000
    assert all(text.endswith("[Truncated]") for text in texts[1:])
    assert [(one.message_id, one.chars_before > one.chars_after) for one in result.truncated] == [("old", True)]
    assert len(json.dumps(to_chat([cut]))) < 1_500  # what is sent is what was cut


def test_results_in_parts_are_cut_as_one() -> None:
    call = from_chat(
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
    )
    result = Message(
        role="tool", parts=(ToolResult(call_id="c", parts=(Text(words(400)), Text(words(400)), Text(words(400)))),), id="result"
    )
    made = prepared([Message.user("Go"), call, result], 400, 900)
    assert [one.message_id for one in made.truncated] == ["result"]
    assert made.tokens <= 400
    assert sum(len(text) for text in made.messages[-1].text.split("\n")) <= 900


def test_many_tiny_parts_are_within_the_measure() -> None:
    old = Message(role="user", parts=tuple(Text("words and words ") for _ in range(200)))
    result = prepared([old, Message.assistant("Ok"), Message.user("And now?")], 300, 100)
    assert sum(len(part.text) for part in result.messages[0].parts if isinstance(part, Text)) <= 100
