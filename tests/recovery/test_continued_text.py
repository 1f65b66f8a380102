"""An answer that is cut anywhere is whole in the end: nothing of it twice, and nothing missing."""

import asyncio

import pytest

from contextport.contracts import (
    Kind,
    Message,
)
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.provider_rules import PROFILES as PROFILES_BY_NAME
from contextport.strategies.provider_rules import check, repair
from contextport.strategies.recovery import (
    ContinuationPolicy,
    complete_output,
)
from tests.recovery.continued import CUT_CALL, FLAG, PROFILES, TEXT, WAYS, collect, text_of, whole
from tests.recovery.scripted_model import ScriptedModel, StreamingModel, Writer, call, cut, said


@pytest.mark.parametrize(("profile", "repeats"), WAYS)
def test_an_answer_cut_anywhere_is_whole(profile: ProviderProfile | None, repeats: int) -> None:
    least = 4 if repeats else 1  # what is begun anew is told from three letters on
    for at in range(least, len(TEXT)):
        for anchor_chars in (60, 2_000):
            policy = ContinuationPolicy(anchor_chars=anchor_chars)
            output = whole(ScriptedModel(Writer(TEXT, [at], repeats)), profile=profile, policy=policy)
            assert (text_of(output), output.truncated, output.model_calls) == (TEXT, False, 2), at


@pytest.mark.parametrize(("profile", "repeats"), WAYS)
def test_a_stream_cut_three_times_is_seamless(profile: ProviderProfile | None, repeats: int) -> None:
    for first in range(4, 140, 7):
        for piece in (1, 5, 400):
            model = StreamingModel(Writer(TEXT, [first, 60, 41], repeats), piece)
            text, output = collect(model, profile=profile)
            assert text == text_of(output) == TEXT, first
            assert (output.model_calls, output.truncated) == (4, False)
            assert model.closed == 4


def test_the_request_for_the_rest_shows_the_end_alone() -> None:
    long = " ".join(f"word{n}" for n in range(4_000))
    model = ScriptedModel(Writer(long, [20_000]))
    assert text_of(whole(model)) == long
    (first, _), (second, _) = model.asked
    assert second[: len(first)] == first
    shown, told = second[len(first) :]
    assert (shown.role, told.role, told.kind) == ("assistant", "user", Kind.INTERRUPT)
    assert shown.text == f"[…18000 characters left out…]{long[18_000:20_000]}"
    assert sum(len(m.text) for m in (shown, told)) < 0.2 * 20_000
    for told_not_to in ("apologise", "repeat", "sum it up"):
        assert told_not_to in told.text


def test_the_anchor_begins_with_a_whole_grapheme() -> None:
    woman = "👩‍💻"
    model = ScriptedModel([cut(woman * 10), said("!")])
    whole(model, policy=ContinuationPolicy(anchor_chars=len(woman) * 2 - 1))
    shown = model.asked[1][0][-2].text
    assert shown.partition("]")[2] == woman * 2


def test_inside_a_code_block_the_model_is_told_so() -> None:
    model = ScriptedModel([cut("```\nx = "), said("1\n```"), cut("x = "), said("1")])
    assert text_of(whole(model)) == "```\nx = 1\n```"
    assert "code block" in model.asked[1][0][-1].text
    whole(model)
    assert "code block" not in model.asked[3][0][-1].text


@pytest.mark.parametrize("profile", PROFILES, ids=["user turn", "prefill", "flag"])
def test_white_space_at_the_cut_is_kept_and_no_prefill_ends_in_it(profile: ProviderProfile | None) -> None:
    model = ScriptedModel([cut("The total is "), cut("42 euros\n"), said("and tax")])
    assert text_of(whole(model, profile=profile)) == "The total is 42 euros\nand tax"
    for messages, _ in model.asked:
        if messages[-1].role == "assistant":
            assert messages[-1].text == messages[-1].text.rstrip() != ""


def test_a_flagged_prefill_is_marked_on_the_wire() -> None:
    model = ScriptedModel([cut("Half "), said("whole")])
    whole(model, profile=FLAG)
    last = model.asked[1][0][-1]
    assert last.native is not None
    assert last.native.raw == {"role": "assistant", "content": "Half", "prefix": True}


@pytest.mark.parametrize("name", sorted(PROFILES_BY_NAME))
@pytest.mark.parametrize("need", ["rest", "call", "first call"])
def test_what_asks_for_the_rest_is_valid_for_the_provider(name: str, need: str) -> None:
    profile = PROFILES_BY_NAME[name]
    steps = {"rest": cut("Half "), "call": cut("I save.", CUT_CALL), "first call": cut("", CUT_CALL)}
    done = [Message.user("Go"), Message.assistant("", call()), Message.tool("c1", "saved")]
    for asked in ([Message.user("Go")], done):
        valid = repair(asked, profile).messages
        model = ScriptedModel([steps[need], said("done")])
        asyncio.run(complete_output(model, valid, profile=profile))
        messages = model.asked[1][0]
        if messages[-1].role == "user":
            assert check(messages, profile) == ()
        else:
            assert (need, profile.prefill != "no") == ("rest", True)
