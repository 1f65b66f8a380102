"""A session is answered in spite of limits: bounded, each request another one, the answer stored once."""

import asyncio
from collections.abc import Sequence

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.contracts import (
    AnswerNotStored,
    Budget,
    BudgetTooSmall,
    Completion,
    ContextOverflow,
    Json,
    Limits,
    Message,
    MessageConflict,
    ModelCallFailed,
    RequestTooLarge,
    StopReason,
    StoreUnavailable,
    Usage,
)
from contextport.strategies import KeepRecentTokens
from contextport.strategies.recovery import ContinuationPolicy
from tests.cases.words_counter import WordsCounter
from tests.recovery.scripted_model import (
    OTHERS,
    ScriptedModel,
    StreamingModel,
    Writer,
    body_error,
    call,
    cut,
    failed,
    overflow,
    said,
)
from tests.recovery.sessions import SESSION, LimitedModel, answered, engine, filled, kinds, responder, sizes, streamed, words

# --- too large ------------------------------------------------------------------------------------------------------------


def test_without_trouble_there_is_one_request_and_one_message() -> None:
    model = LimitedModel(1_000)
    answer, stored = answered(model)
    assert (answer.tried, answer.truncated) == ((202,), False)
    assert answer.stored == answer.message
    assert stored[-2:] == ["Go on", "Done"]


@pytest.mark.parametrize("wording", ["none", "numbers", "limit", "shared"])
@pytest.mark.parametrize("limit", [60, 120, 190])
@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.9])
def test_an_overflow_is_answered_with_smaller_windows(wording: str, limit: int, ratio: float) -> None:
    """Also where our own count said that it fits: the manager's budget is 1 000 words (W12)."""
    model = LimitedModel(limit, wording, ratio)
    answer, stored = answered(model, max_tries=4)
    assert len(model.asked) == len(answer.tried) <= 4
    assert sizes(model) == sorted(set(sizes(model)), reverse=True)
    assert model.size(model.asked[-1][0]) <= limit
    assert all(messages[-1].text == "Go on" for messages, _ in model.asked)
    assert stored[-2:] == ["Go on", "Done"]
    if wording in ("numbers", "shared"):
        assert len(model.asked) <= 2
        assert model.size(model.asked[-1][0]) > 0.4 * limit


def test_tries_are_bounded_and_the_error_says_what_was_tried() -> None:
    first = overflow("Your input exceeds the context window of this model.")
    model = ScriptedModel([first, overflow(), overflow(), said("never reached")])
    sink = CollectingEventSink()
    with pytest.raises(ContextOverflow) as raised:
        answered(model, sink=sink)
    assert raised.value.tried == tuple(sizes(model))
    assert len(model.asked) == 3
    assert raised.value.__cause__ is first
    assert kinds(sink) == ["context_recovered", "context_recovered", "recovery_failed"]


def test_a_failed_answer_changes_nothing_stored() -> None:
    async def run() -> tuple[list[Message], list[Message]]:
        manager = await filled(engine())
        before = (await manager.get_context(SESSION)).messages
        with pytest.raises(ContextOverflow):
            await responder(manager, ScriptedModel(lambda *_: overflow())).answer(SESSION)
        return list(before), list((await manager.get_context(SESSION)).messages)

    before, after = asyncio.run(run())
    assert before == after


def test_the_same_request_is_never_sent_twice() -> None:
    async def run() -> ScriptedModel:
        manager = engine(20)
        await manager.set_system_prompt(SESSION, words(15))
        await manager.add_message(SESSION, Message.user("Hi"))
        model = LimitedModel(10)
        with pytest.raises(ContextOverflow):
            await responder(manager, model).answer(SESSION)
        return model

    model = asyncio.run(run())
    assert len(model.asked) <= 3
    assert len({(str(messages), limit) for messages, limit in model.asked}) == len(model.asked)


def test_where_nothing_smaller_is_left_a_lower_output_limit_is_tried_once() -> None:
    model = ScriptedModel([overflow(), said("Done")])
    answer, _ = answered(model, engine(100), turns=0)
    assert [limit for _, limit in model.asked] == [None, 98]
    assert not answer.truncated
    model = ScriptedModel(lambda *_: overflow())
    with pytest.raises(ContextOverflow):
        answered(model, engine(100), turns=0, max_tries=9)
    assert len(model.asked) == 2


def test_numbers_that_leave_no_doubt_end_it_at_once() -> None:
    model = LimitedModel(1, "numbers")
    with pytest.raises(ContextOverflow) as raised:
        answered(model, turns=0)
    assert len(model.asked) == 1
    assert raised.value.limit == 1


def test_a_learning_counter_is_told_what_the_provider_counts() -> None:
    counter = CalibratedTokenCounter(WordsCounter(), margin=1.0)
    manager = engine(counter=counter, model="m")
    answered(LimitedModel(300, "numbers", 2.0), manager, counter=counter, learns_as="m")
    assert counter.token_ratio("m") > 1.1
    usage = Usage(input_tokens=202)
    answered(ScriptedModel([said("Done", usage=usage)]), engine(counter=counter, model="n"), counter=counter, learns_as="n")
    assert counter.token_ratio("n") == 1.0


# --- output and input together ----------------------------------------------------------------------------------------------


def test_the_output_limit_is_lowered_before_anything_is_left_out() -> None:
    model = LimitedModel(300, "shared")
    sink = CollectingEventSink()
    answered(model, limits=Limits(max_output=200), min_output=50, sink=sink)
    assert sizes(model) == [202, 202]
    assert [limit for _, limit in model.asked] == [200, 98]
    assert kinds(sink) == ["output_limit_lowered"]


def test_an_answer_that_would_be_too_short_makes_the_window_smaller() -> None:
    model = LimitedModel(300, "shared")
    answered(model, limits=Limits(max_output=200), min_output=150)
    assert sizes(model)[1] <= 150
    assert model.asked[1][1] == 200 if sizes(model)[1] <= 100 else len(model.asked) == 3


def test_an_output_cap_lowers_the_limit_and_nothing_else() -> None:
    said_cap = failed("max_tokens is too large: 20000. This model supports at most 8192 completion tokens.", code="invalid_value")
    model = ScriptedModel([said_cap, said("Done")])
    answer, _ = answered(model, limits=Limits(max_output=20_000))
    assert [limit for _, limit in model.asked] == [20_000, 8_192]
    assert sizes(model) == [202, 202]
    assert not answer.truncated


@pytest.mark.parametrize("asked", [100, 101, 500, 60_000])
def test_an_output_limit_above_all_of_the_window_is_lowered_to_what_the_input_leaves(asked: int) -> None:
    model = LimitedModel(100, "shared")
    _, stored = answered(model, turns=2, limits=Limits(max_output=asked))
    assert [(model.size(messages), limit) for messages, limit in model.asked] == [(42, asked), (42, 58)]
    assert stored[-1] == "Done"
    model = LimitedModel(100, "shared")
    answered(model, turns=10, limits=Limits(max_output=asked), min_output=20)
    assert all(model.size(messages) <= 80 for messages, _ in model.asked[1:])


def test_an_output_cap_that_nobody_asked_for_is_raised() -> None:
    said_cap = failed("max_tokens is too large: 20000. This model supports at most 8192 completion tokens.", code="invalid_value")
    with pytest.raises(ModelCallFailed):
        answered(ScriptedModel([said_cap] * 3), limits=Limits(max_output=5))


def test_a_window_that_leaves_no_room_is_made_smaller_before_any_request() -> None:
    model = LimitedModel(250, "shared")
    answered(model, limits=Limits(window=250, max_output=4_000), min_output=80)
    [(_, limit)] = model.asked
    assert limit is not None
    assert limit >= 80
    assert sizes(model)[0] + limit <= 250


def test_tools_and_extra_messages_leave_less_room() -> None:
    tools: list[Json] = [{"type": "function", "function": {"name": "t", "description": words(40)}}]
    tool_tokens = WordsCounter().count_tools(tools)
    model = ScriptedModel([said("Done")])
    extra = [Message.user(words(30, "x"))]
    limits = Limits(window=250, max_output=4_000)
    answer, stored = answered(model, engine(tools=tools), limits=limits, min_output=60, tools=tools, extra=extra)
    [(messages, limit)] = model.asked
    assert messages[-1] is extra[0]
    assert limit is not None
    assert 60 <= limit == 250 - sizes(model)[0] - tool_tokens
    assert extra[0].text not in stored
    assert answer.context.tokens == sizes(model)[0] - 30


def test_extra_messages_fit_the_managers_own_limit() -> None:
    model = ScriptedModel([said("Done")])
    answered(model, engine(210), extra=[Message.user(words(30, "x"))])
    assert sizes(model)[0] <= 210


def test_no_room_at_all_is_told_before_any_request() -> None:
    model = ScriptedModel([])
    with pytest.raises(BudgetTooSmall):
        answered(model, engine(1_000), limits=Limits(window=20), min_output=19)
    assert model.asked == []


# --- not an overflow ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", OTHERS, ids=lambda failure: str(failure)[:40])
def test_what_compaction_does_not_help_is_raised_at_once(failure: ModelCallFailed) -> None:
    model = ScriptedModel([failure])
    with pytest.raises(ModelCallFailed) as raised:
        answered(model)
    assert raised.value is failure
    assert len(model.asked) == 1


def test_an_overflow_and_then_a_rate_limit() -> None:
    first = overflow()
    model = ScriptedModel([first, OTHERS[0]])
    with pytest.raises(ModelCallFailed) as raised:
        answered(model)
    assert raised.value is OTHERS[0]
    assert len(model.asked) == 2


def test_a_host_that_tries_again_has_each_message_once() -> None:
    async def run() -> list[tuple[str, str]]:
        manager = engine(100)
        await manager.add_message(SESSION, Message.user("Please answer"))
        model = StreamingModel([overflow(), OTHERS[5], said("Full answer")], breaks=["", "Half an"])
        used = responder(manager, model)
        with pytest.raises(ModelCallFailed):
            async for _ in used.stream(SESSION):
                pass
        async for _ in used.stream(SESSION):
            pass
        return [(message.role, message.text) for message in (await manager.get_context(SESSION)).messages]

    assert asyncio.run(run()) == [("user", "Please answer"), ("assistant", "Full answer")]


# --- bytes ------------------------------------------------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_made_smaller_twice_at_most() -> None:
    model = ScriptedModel([body_error(), said("Done")])
    answered(model)
    assert sizes(model)[1] <= sizes(model)[0] // 4
    model = ScriptedModel([body_error(), body_error(), said("Done")])
    answered(model)
    assert sizes(model)[0] > sizes(model)[1] > sizes(model)[2] == 2  # the question alone
    for tries in (3, 9):
        model = ScriptedModel([body_error(), body_error(), body_error(), said("never reached")])
        with pytest.raises(RequestTooLarge) as raised:
            answered(model, max_tries=tries)
        assert len(model.asked) == 3
        assert raised.value.__cause__ is not None


def test_a_newest_message_that_is_too_large_is_named() -> None:
    async def run() -> None:
        manager = engine(100_000)
        for message in (Message.user("Hi"), Message.assistant("Hello"), Message.user("x" * 5_000, id="huge")):
            await manager.add_message(SESSION, message)
        await responder(manager, ScriptedModel([body_error()])).answer(SESSION)

    with pytest.raises(RequestTooLarge) as raised:
        asyncio.run(run())
    assert raised.value.message_id == "huge"


# --- cut answers ------------------------------------------------------------------------------------------------------------


def test_a_full_window_begins_the_answer_again_in_a_smaller_one() -> None:
    model = StreamingModel([said("Half of an ans", StopReason.WINDOW_LIMIT), said("Whole answer")])
    text, answer = streamed(model)
    assert text == "Whole answer"
    assert answer.message is not None
    assert answer.message.text == "Whole answer"
    assert sizes(model)[1] < sizes(model)[0]


def test_a_full_window_with_nothing_left_to_try_keeps_what_was_written() -> None:
    model = StreamingModel(lambda *_: said("Half of an ans", StopReason.WINDOW_LIMIT))
    text, answer = streamed(model)
    assert answer.truncated
    assert answer.stored is None
    assert text == "Half of an ans"
    assert len(model.asked) == 3


def test_a_cut_answer_is_stored_as_one_message() -> None:
    text = words(60)
    usage = Usage(input_tokens=5, output_tokens=2)
    writer = Writer(text, [40, 70])
    model = ScriptedModel(lambda messages, limit: writer_step(writer, messages, limit, usage))
    answer, stored = answered(model)
    assert stored[-1] == text
    assert stored.count(text) == 1
    assert answer.usage == usage + usage + usage
    assert answer.output.model_calls == 3
    assert answer.tried == (202,)


def writer_step(writer: Writer, messages: Sequence[Message], limit: int | None, usage: Usage) -> Completion:
    step = writer(messages, limit)
    return said(step.message.text, step.stop, usage=usage)


def test_a_truncated_answer_is_not_stored_and_goes_on() -> None:
    text = words(60)

    async def run() -> None:
        manager = await filled(engine())
        policy = ContinuationPolicy(max_continuations=1)
        used = responder(manager, ScriptedModel(Writer(text, [40, 40])), continuation=policy)
        first = await used.answer(SESSION, message_id="answer")
        assert (first.truncated, first.stored) == (True, None)
        assert (await manager.get_context(SESSION)).messages[-1].text == "Go on"
        second = await used.answer(SESSION, resume=first.output.unfinished)
        assert second.stored is not None
        assert (second.stored.text, second.stored.id) == (text, "answer")
        assert (await manager.get_context(SESSION)).messages[-1].text == text

    asyncio.run(run())


def test_an_overflow_in_a_continuation_keeps_what_was_written() -> None:
    text = words(200)
    writer = Writer(text, [600])

    def step(messages: Sequence[Message], limit: int | None) -> Completion | Exception:
        size = sum(len(message.text.split()) for message in messages)
        return failed(f"prompt is too long: {size} tokens > 300 maximum") if size > 300 else writer(messages, limit)

    model = StreamingModel(step)
    joined, answer = streamed(model, engine(strategy=KeepRecentTokens(WordsCounter(), target_share=1.0)))
    assert answer.message is not None
    assert joined == answer.message.text == text
    first, refused, last = sizes(model)
    assert (first, refused > 300) == (202, True)
    assert 200 < last <= 300
    assert not answer.truncated


def test_a_rate_limit_in_a_continuation_leaves_an_answer_that_goes_on() -> None:
    model = StreamingModel([cut("A beginning, "), OTHERS[0]])
    text, answer = streamed(model)
    assert text == "A beginning, "
    assert answer.output.failure is OTHERS[0]
    assert answer.output.unfinished is not None
    assert answer.stored is None


def test_a_raised_limit_above_the_models_cap_comes_down_again() -> None:
    cap = failed("max_tokens is too large: 200. This model supports at most 150 completion tokens.", code="invalid_value")
    model = ScriptedModel([cut(usage=Usage(input_tokens=3, output_tokens=100)), cap, said("Done")])
    answer, stored = answered(model, limits=Limits(max_output=100))
    assert [limit for _, limit in model.asked] == [100, 200, 150]
    assert stored[-1] == "Done"
    assert not answer.truncated


def test_a_cut_call_is_not_stored() -> None:
    model = ScriptedModel([said("", StopReason.UNKNOWN, call('{"path":"a')), said("Finished")])
    answer, stored = answered(model)
    assert stored[-1] == "Finished"
    assert answer.message is not None
    assert answer.message.tool_calls == ()


def test_an_empty_answer_is_not_stored() -> None:
    answer, stored = answered(ScriptedModel([said("")]))
    assert (answer.message, answer.stored) == (None, None)
    assert stored[-1] == "Go on"


def test_an_answer_is_not_lost_when_the_store_fails() -> None:
    class StoreGoesAway(ScriptedModel):
        async def complete(
            self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
        ) -> Completion:
            await store.close()
            return await super().complete(messages, max_output=max_output, tools=tools)

    store = MemoryContextStore()

    async def run() -> AnswerNotStored:
        manager = ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(1_000))
        await manager.add_message(SESSION, Message.user("Well?"))
        with pytest.raises(AnswerNotStored) as failure:
            await responder(manager, StoreGoesAway([said("Done")])).answer(SESSION)
        return failure.value

    error = asyncio.run(run())
    assert isinstance(error.__cause__, StoreUnavailable)
    assert error.answer.message.text == "Done"
    assert "Done" not in f"{error} {error.details}"


def test_adding_is_the_callers_choice_and_idempotent() -> None:
    answer, stored = answered(ScriptedModel([said("Done")]), add=False, message_id="answer")
    assert answer.message is not None
    assert (answer.message.id, answer.stored, stored[-1]) == ("answer", None, "Go on")

    async def twice() -> list[str]:
        manager = await filled(engine())
        used = responder(manager, ScriptedModel([said("Done"), said("Done"), said("Other")]))
        await used.answer(SESSION, message_id="answer")
        await used.answer(SESSION, message_id="answer")
        with pytest.raises(AnswerNotStored) as failure:
            await used.answer(SESSION, message_id="answer")
        assert isinstance(failure.value.__cause__, MessageConflict)
        assert failure.value.answer.message.text == "Other"
        return [message.text for message in (await manager.get_context(SESSION)).messages]

    assert asyncio.run(twice()).count("Done") == 1
