"""Pairs, steps and turns."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from contextport.contracts import Kind, Message, Text, ToolResult, from_chat, to_chat
from contextport.strategies import arrange, split
from tests.cases.words_counter import WordsCounter

from .conversations import assistant, calling, generated, result, user


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


def test_a_well_formed_conversation_is_left_as_it_is() -> None:
    for seed in range(20):
        conversation = generated(seed, 12)
        assert arrange(conversation) == [m for m in conversation if m.parts]


def test_a_late_result_goes_behind_its_call() -> None:
    arranged = arrange([user("u1"), calling("a1", "c1"), user("u2"), result("t1", "c1")])
    assert ids(arranged) == ["u1", "a1", "t1", "u2"]


def test_an_unanswered_call_gets_a_stand_in_and_its_siblings_stay() -> None:
    arranged = arrange([user("u1"), calling("a1", "c1", "c2", "c3"), result("t1", "c1"), result("t3", "c3"), user("u2")])
    assert ids(arranged) == ["u1", "a1", "t1", "t3", "a1/c2/stand-in", "u2"]
    stand_in = arranged[4]
    assert stand_in.kind is Kind.STAND_IN
    assert stand_in.tool_results[0].status == "error"
    assert not stand_in.in_conversation


def test_the_real_result_takes_the_place_of_the_stand_in() -> None:
    before = [user("u1"), calling("a1", "c1"), user("u2")]
    assert ids(arrange(before)) == ["u1", "a1", "a1/c1/stand-in", "u2"]
    assert ids(arrange([*before, result("t1", "c1")])) == ["u1", "a1", "t1", "u2"]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([result("t0", "c0"), user("u1"), assistant("a1")], ["u1", "a1"]),
        ([user("u1"), calling("a1", "c1"), result("t1", "c1"), result("t2", "c1")], ["u1", "a1", "t1"]),
        ([user("u1"), result("t1", "c1"), calling("a1", "c1")], ["u1", "a1", "a1/c1/stand-in"]),
        ([user("u1"), Message(role="assistant", parts=(), id="hollow"), user("u2")], ["u1", "u2"]),
        ([], []),
    ],
    ids=["leading orphan", "second result", "result before its call", "hollow assistant", "nothing"],
)
def test_what_no_provider_takes_is_left_out(messages: list[Message], expected: list[str]) -> None:
    assert ids(arrange(messages)) == expected


def test_ids_that_are_used_again_pair_with_the_newest_open_call() -> None:
    conversation = [
        user("u1"), calling("a1", "call"), result("t1", "call"),
        user("u2"), calling("a2", "call"), result("t2", "call"),
    ]  # fmt: skip
    assert arrange(conversation) == conversation


def test_results_inside_one_user_message_stay_with_their_calls_and_lose_only_orphan_parts() -> None:
    both = Message(
        role="user",
        id="t",
        parts=tuple(ToolResult(call_id=c, parts=(Text("r"),)) for c in ("c1", "gone", "c2")),
    )
    arranged = arrange([user("u1"), calling("a1", "c1", "c2"), both])
    assert [part.call_id for part in arranged[2].tool_results] == ["c1", "c2"]
    assert arranged[2] == attrs.evolve(both, parts=(both.parts[0], both.parts[2]))


def test_steps_hold_a_caller_with_all_its_results_and_know_the_question_of_their_turn() -> None:
    messages = [user("u1", 3), calling("a1", "c1", "c2"), result("t1", "c1"), result("t2", "c2"), assistant("a2", 5)]
    steps = split(messages, WordsCounter())
    assert [(step.start, step.stop) for step in steps.steps] == [(0, 1), (1, 4), (4, 5)]
    assert [step.head for step in steps.steps] == [0, 0, 0]
    assert [step.tokens for step in steps.steps] == [3, 12, 5]
    assert [step.offset for step in steps.steps] == [0, 3, 15]
    assert steps.suffix_tokens == (20, 17, 5, 0)


def test_a_stand_in_does_not_move_the_offsets_behind_it() -> None:
    open_call = split([user("u1", 3), calling("a1", "c1"), user("u2", 2)], WordsCounter())
    assert [s.offset for s in open_call.steps] == [0, 3, 5]


def test_what_a_user_says_beside_an_orphan_result_stays() -> None:
    orphan = ToolResult(call_id="gone", parts=(Text("r"),))
    said = Message(role="user", id="u2", parts=(orphan, Text("important")))
    arranged = arrange([user("u1"), assistant("a1"), said])
    assert ids(arranged) == ["u1", "a1", "u2"]
    assert arranged[2].parts == (Text("important"),)
    assert arranged[2].opens_turn


FUNCTION = {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("caller", "stand_in"),
    [
        ({"function_call": FUNCTION}, {"role": "function", "name": "f"}),
        ({"content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}, {"role": "user"}),
        ({"tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}, {"role": "tool", "tool_call_id": "c1"}),
    ],
    ids=["function", "tool_use", "tool_calls"],
)
def test_a_stand_in_has_the_wire_form_of_an_answer_to_its_call(caller: dict[str, Any], stand_in: dict[str, Any]) -> None:
    caller = {"role": "assistant", **caller}
    wire = to_chat(arrange([from_chat(caller)]))[1]
    assert wire.items() >= stand_in.items()
    if stand_in["role"] == "user":
        assert [(part["type"], part["tool_use_id"]) for part in wire["content"]] == [("tool_result", "t1")]
    assert arrange([from_chat({**caller, "id": "a"}), from_chat(wire)])[1].kind is Kind.CHAT, "a real answer takes its place"


def test_two_calls_with_one_id_get_two_stand_ins() -> None:
    arranged = arrange([user("u1"), calling("a1", "c1", "c1")])
    assert len(arranged) == 4
    assert len({message.id for message in arranged}) == 4
