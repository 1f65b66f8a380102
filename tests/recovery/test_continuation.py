"""When a cut answer goes on and when it ends, and what becomes of reasoning, tool calls, pauses and refusals."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import attrs
import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.contracts import (
    Completion,
    InvalidArgument,
    Message,
    ModelCallFailed,
    Native,
    Opaque,
    Refusal,
    StopReason,
    Text,
    TextDelta,
    Thinking,
    Usage,
    dump_message,
)
from contextport.strategies.recovery import (
    ContinuationPolicy,
    Need,
    complete_output,
    continue_output,
)
from tests.recovery.continued import ASKED, CUT_CALL, PREFILL, TEXT, collect, text_of, whole
from tests.recovery.scripted_model import ScriptedModel, StreamingModel, Writer, call, cut, failed, overflow, said

# --- when it ends ---------------------------------------------------------------------------------------------------------


def test_one_call_and_three_continuations_at_most() -> None:
    model = ScriptedModel(lambda messages, _: cut(f"part {len(model.asked)}. "))
    output = whole(model)
    assert (len(model.asked), output.truncated, output.stop) == (4, True, StopReason.OUTPUT_LIMIT)
    assert text_of(output) == "part 1. part 2. part 3. part 4. "


@pytest.mark.parametrize("bound", [0, 1, 5])
def test_the_bound_is_the_callers(bound: int) -> None:
    model = ScriptedModel(lambda messages, _: cut(f"part {len(model.asked)}. "))
    assert whole(model, policy=ContinuationPolicy(max_continuations=bound)).truncated
    assert len(model.asked) == 1 + bound


def test_a_truncated_answer_goes_on_later() -> None:
    first = whole(ScriptedModel(Writer(TEXT, [30, 30, 30, 30])))
    assert first.truncated
    assert first.unfinished is not None
    assert text_of(first) == TEXT[:120]
    streamed, second = collect(StreamingModel(Writer(TEXT, [50])), resume=first.unfinished)
    assert text_of(second) == TEXT
    assert streamed == TEXT[120:]
    assert second.message is not None
    assert first.message is not None
    assert second.message.id == first.message.id
    assert second.unfinished is None


@pytest.mark.parametrize(("mode", "truncated", "calls"), [("stop", True, 1), ("off", False, 1), ("continue", False, 2)])
def test_policy(mode: Any, truncated: bool, calls: int) -> None:
    model = ScriptedModel([cut("Half "), said("whole")])
    output = whole(model, policy=ContinuationPolicy(mode=mode))
    assert (output.truncated, len(model.asked)) == (truncated, calls)
    assert (output.unfinished is not None) == truncated


def test_a_continuation_that_adds_nothing_ends_the_loop() -> None:
    model = ScriptedModel(lambda *_: cut("Always the same sentence, once more."))
    output = whole(model, policy=ContinuationPolicy(max_continuations=9))
    assert (len(model.asked), output.truncated) == (2, True)
    assert text_of(output) == "Always the same sentence, once more."


def test_a_piece_of_the_answer_adds_nothing_either() -> None:
    begun = "A fairly long beginning of an answer that goes on for a while"
    model = ScriptedModel([cut(begun), cut(begun[:37]), said("never asked")])
    output = whole(model)
    assert (text_of(output), output.truncated, len(model.asked)) == (begun, True, 2)


def test_an_empty_cut_answer_is_not_an_answer() -> None:
    model = ScriptedModel(lambda *_: cut())
    output = whole(model, policy=ContinuationPolicy(max_continuations=4))
    assert (len(model.asked), output.message, output.truncated) == (1, None, True)


def test_a_finished_answer_costs_one_call_and_is_what_the_provider_sent() -> None:
    parts = (Thinking(text="hm", signature="s", binding="prefix"), Text("Done"))
    message = Message(role="assistant", parts=parts, native=Native(api="x", raw={"a": 1}, parts=parts), name="n")
    model = ScriptedModel([Completion(message=message, stop=StopReason.END)])
    output = whole(model, message_id="answer-1")
    assert output.message == attrs.evolve(message, id="answer-1")
    assert output.message is not None
    assert output.message.native is message.native
    assert output.message.native is not None
    assert output.message.parts is output.message.native.parts
    assert model.asked == [(ASKED, None)]


# --- reasoning ------------------------------------------------------------------------------------------------------------


def test_reasoning_that_used_up_the_limit_gets_a_higher_one_and_the_same_question() -> None:
    model = ScriptedModel([cut("", Thinking(text="long")), cut("", Thinking(text="longer")), said("Answer")])
    output = whole(model, max_output=1_000)
    assert [limit for _, limit in model.asked] == [1_000, 2_000, 4_000]
    assert [messages for messages, _ in model.asked] == [ASKED] * 3
    assert (text_of(output), output.truncated) == ("Answer", False)


def test_the_raised_limit_has_a_cap() -> None:
    model = ScriptedModel(lambda *_: cut("", Thinking(text="long")))
    output = whole(model, max_output=1_000, policy=ContinuationPolicy(output_cap=1_500))
    assert [limit for _, limit in model.asked] == [1_000, 1_500]
    assert output.truncated
    assert output.message is None
    assert output.unfinished is not None
    assert output.unfinished.need is Need.ROOM


def test_hidden_reasoning_shows_in_the_usage() -> None:
    model = ScriptedModel([cut(usage=Usage(input_tokens=5, output_tokens=700)), said("Answer")])
    assert text_of(whole(model)) == "Answer"
    assert [limit for _, limit in model.asked] == [None, 1_400]


def test_an_unknown_limit_is_raised_to_the_cap_once() -> None:
    model = ScriptedModel([cut("", Thinking(text="long")), said("Answer")])
    assert text_of(whole(model)) == "Answer"
    assert [limit for _, limit in model.asked] == [None, 64_000]
    model = ScriptedModel(lambda *_: cut("", Thinking(text="long")))
    assert whole(model).truncated
    assert len(model.asked) == 2


def test_reasoning_within_a_continuation_raises_the_limit_too() -> None:
    model = ScriptedModel([cut("Half an answer, "), cut("", Thinking(text="hm")), said("and the rest.")])
    output = whole(model, max_output=100)
    assert text_of(output) == "Half an answer, and the rest."
    assert [limit for _, limit in model.asked] == [100, 100, 200]


def test_a_model_that_shows_its_reasoning_gets_no_prefill() -> None:
    thinking = Completion(
        message=Message(role="assistant", parts=(Thinking(text="hm"), Text("One "))), stop=StopReason.OUTPUT_LIMIT
    )
    model = ScriptedModel([thinking, cut("two "), said("three")])
    assert text_of(whole(model, profile=PREFILL)) == "One two three"
    assert [messages[-1].role for messages, _ in model.asked] == ["user"] * 3


# --- tool calls -----------------------------------------------------------------------------------------------------------


def test_a_cut_call_is_left_out_and_a_whole_one_asked_for() -> None:
    steps = [cut("I save it.", Thinking(text="t", signature="s"), CUT_CALL), said("", StopReason.TOOL_CALLS, call())]
    model = ScriptedModel(steps)
    output = whole(model, max_output=50)
    assert output.message is not None
    assert output.message.parts == (Text("I save it."), call())
    assert not output.truncated
    second, limit = model.asked[1]
    assert limit == 100
    assert not any(message.tool_calls for message in second)
    assert "save" in second[-1].text
    assert second[-2].parts == (Text("I save it."),)


@pytest.mark.parametrize("stop", [StopReason.OUTPUT_LIMIT, StopReason.UNKNOWN, StopReason.END, StopReason.MALFORMED])
def test_no_cut_call_is_ever_in_a_result(stop: StopReason) -> None:
    for mode in ("continue", "stop", "off"):
        model = ScriptedModel(lambda *_: said("", stop, CUT_CALL))
        output = whole(model, policy=ContinuationPolicy(mode=mode))
        assert output.message is None
        assert len(model.asked) <= 2


def test_whole_calls_beside_a_cut_one_are_to_be_made() -> None:
    thought = Thinking(text="t", signature="s")
    step = Completion(
        message=Message(role="assistant", parts=(thought, call(), call('{"pa', call_id="c2"))), stop=StopReason.TOOL_CALLS
    )
    model = ScriptedModel([step])
    output = whole(model)
    assert output.message is not None
    assert output.message.parts == (thought, call())
    assert (output.truncated, len(model.asked)) == (False, 1)


def test_reasoning_stands_with_the_calls_it_belongs_to() -> None:
    first, last = Thinking(text="1", signature="a"), Thinking(text="2", signature="b")
    steps = [
        Completion(message=Message(role="assistant", parts=(first, Text("Some text, "))), stop=StopReason.OUTPUT_LIMIT),
        Completion(message=Message(role="assistant", parts=(last, Text("more."), call())), stop=StopReason.TOOL_CALLS),
    ]
    output = whole(ScriptedModel(steps))
    assert output.message is not None
    assert output.message.parts == (last, Text("Some text, more."), call())


def test_reasoning_of_a_joined_answer_is_left_out() -> None:
    last = Message.assistant("text.")
    steps = [
        Completion(message=Message(role="assistant", parts=(Thinking(text="1"), Text("Some "))), stop=StopReason.OUTPUT_LIMIT),
        Completion(message=attrs.evolve(last, native=Native(api="x", raw={"a": 1}, parts=last.parts)), stop=StopReason.END),
    ]
    output = whole(ScriptedModel(steps))
    assert output.message is not None
    assert output.message.parts == (Text("Some text."),)
    assert output.message.native is None
    assert len(output.completions) == 2


# --- other ends -----------------------------------------------------------------------------------------------------------


def test_a_pause_is_sent_back_unchanged() -> None:
    searched = Opaque(api="anthropic.messages", type="server_tool_use", raw={"id": "s"})
    paused = Completion(message=Message(role="assistant", parts=(Text("I look."), searched)), stop=StopReason.PAUSED)
    model = ScriptedModel([paused, cut("It is "), said("blue.")])
    output = whole(model)
    assert model.asked[1][0] == (*ASKED, paused.message)
    assert model.asked[2][0][:3] == (*ASKED, paused.message)
    assert output.message is not None
    assert output.message.parts == (Text("I look."), searched, Text("It is blue."))
    assert not output.truncated


def test_the_text_before_a_pause_and_after_it_is_one() -> None:
    for pieces in (
        [said("Wait ", StopReason.PAUSED), said("for it.")],
        [said("Wait ", StopReason.PAUSED), cut("for"), said(" it.")],
    ):
        text, output = collect(StreamingModel(pieces))
        assert text == text_of(output) == "Wait for it."
        assert output.message is not None
        assert output.message.parts == (Text("Wait for it."),)


def test_endless_pauses_end() -> None:
    model = ScriptedModel(lambda *_: said("more. ", StopReason.PAUSED))
    output = whole(model)
    assert len(model.asked) == 9
    assert output.truncated
    assert output.unfinished is not None
    assert output.unfinished.need is Need.TURN


@pytest.mark.parametrize("stop", [StopReason.REFUSAL, StopReason.FILTERED])
def test_what_was_refused_midway_is_dropped(stop: StopReason) -> None:
    text, output = collect(StreamingModel([said("Mix the two", stop)]))
    assert (text, output.message, output.stop, output.truncated) == ("", None, stop, False)
    text, output = collect(StreamingModel([cut("First the salt. "), said("Then mix", stop)]))
    assert text == text_of(output) == "First the salt. "
    assert (output.truncated, output.unfinished) == (True, None)


def test_a_refusal_in_words_is_an_answer() -> None:
    output = whole(ScriptedModel([said("Half", StopReason.REFUSAL, Refusal("I would rather not."))]))
    assert output.message is not None
    assert output.message.parts == (Refusal("I would rather not."),)
    assert not output.truncated


def test_a_full_window_is_not_continued_here() -> None:
    model = ScriptedModel([said("Half", StopReason.WINDOW_LIMIT)])
    output = whole(model)
    assert (len(model.asked), output.truncated, output.stop) == (1, True, StopReason.WINDOW_LIMIT)
    assert output.unfinished is not None


def test_a_failing_first_call_fails() -> None:
    with pytest.raises(ModelCallFailed):
        whole(ScriptedModel([overflow()]))


@pytest.mark.parametrize("broken_off", ["", "and a rest that breaks off somewhere in the middle"])
def test_a_failing_continuation_loses_nothing(broken_off: str) -> None:
    model = StreamingModel([cut("A beginning, "), failed("overloaded", 529)], breaks=["", broken_off])
    text, output = collect(model)
    assert text == text_of(output) == "A beginning, " + broken_off[: len(text) - 13]
    assert output.truncated
    assert output.failure is not None
    assert output.unfinished is not None
    _, rest = collect(StreamingModel(lambda messages, _: said(" - the end.")), resume=output.unfinished)
    assert text_of(rest) == text + " - the end."


def test_citations_of_all_pieces_stay() -> None:
    steps = [
        Completion(message=Message(role="assistant", parts=(Text("One ", citations=({"n": 1},)),)), stop=StopReason.OUTPUT_LIMIT),
        Completion(message=Message(role="assistant", parts=(Text("two", citations=({"n": 2},)),)), stop=StopReason.END),
    ]
    output = whole(ScriptedModel(steps))
    assert output.message is not None
    assert output.message.parts == (Text("One two", citations=({"n": 1}, {"n": 2})),)


def test_a_stream_without_an_end_is_a_failure() -> None:
    class Endless(StreamingModel):
        async def stream(
            self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Any] = ()
        ) -> AsyncGenerator[TextDelta | Completion]:
            yield TextDelta("Half")

    with pytest.raises(ModelCallFailed, match="without a completion"):
        collect(Endless([]))


def test_usage_is_summed_over_the_calls() -> None:
    one = Usage(input_tokens=100, output_tokens=10, cache_read_tokens=60)
    model = ScriptedModel([cut("One ", usage=one), cut("two "), said("three", usage=one)])
    assert whole(model).usage == one + one
    assert whole(ScriptedModel([said("x")])).usage is None


def test_every_decision_is_an_event() -> None:
    sink = CollectingEventSink()
    model = ScriptedModel(lambda messages, _: cut(f"part {len(model.asked)}. "))
    whole(model, sink=sink, session_id="s")
    assert [event.kind for event in sink.events] == ["output_continued"] * 3 + ["output_truncated"]
    assert "part" not in json.dumps([dict(event.data) for event in sink.events])


def test_the_callers_messages_are_not_changed() -> None:
    messages = [Message.user("Go"), Message.assistant("Wait \n"), Message.user("Well?")]
    before = [dump_message(message) for message in messages]
    model = ScriptedModel([cut("The total is "), said("42")])
    asyncio.run(complete_output(model, messages, profile=PREFILL))
    assert [dump_message(message) for message in messages] == before
    assert model.asked[1][0][:3] == tuple(messages)


def test_leaving_a_stream_early_closes_the_models() -> None:
    model = StreamingModel([said("a long answer in many pieces")])

    async def leave() -> None:
        async with aclosing(continue_output(model, ASKED)) as pieces:
            async for _ in pieces:
                break

    asyncio.run(leave())
    assert model.closed == 1


def test_a_cancelled_answer_leaves_nothing_running() -> None:
    waiting = asyncio.Event()

    class Hangs(ScriptedModel):
        async def complete(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Any = ()) -> Completion:
            waiting.set()
            await asyncio.Event().wait()
            raise AssertionError

    async def run() -> int:
        task = asyncio.create_task(complete_output(Hangs([]), ASKED))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks())

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize(
    "wrong",
    [{"mode": "often"}, {"max_continuations": -1}, {"anchor_chars": 0}, {"raise_factor": 1.0}, {"output_cap": 0}],
)
def test_wrong_policies_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        ContinuationPolicy(**wrong)


@pytest.mark.parametrize("limit", [0, -5])
def test_an_output_limit_below_one_is_never_sent(limit: int) -> None:
    model = ScriptedModel([said("x")])
    with pytest.raises(InvalidArgument):
        whole(model, max_output=limit)
    assert model.asked == []
