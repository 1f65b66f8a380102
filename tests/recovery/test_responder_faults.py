"""Faults in any order, cancellation, and parts that do not fit: an answer ends, and nothing is lost."""

import asyncio
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import (
    Budget,
    CapabilityNotSupported,
    ContextManager,
    ContextOverflow,
    ContextStats,
    InvalidArgument,
    Kind,
    Limits,
    Message,
    ModelCallFailed,
    PortMismatch,
    RequestTooLarge,
    StopReason,
    Text,
    TextDelta,
    implements,
)
from contextport.contracts.context import Context
from contextport.strategies.agent_loop import interrupt
from contextport.strategies.provider_rules import check, profile_for
from contextport.strategies.recovery import Answer, Discarded, Need, Responder, Unfinished
from tests.cases.words_counter import WordsCounter
from tests.recovery.scripted_model import (
    OTHERS,
    ScriptedModel,
    StreamingModel,
    body_error,
    call,
    cut,
    failed,
    overflow,
    said,
)
from tests.recovery.sessions import SESSION, answered, engine, filled, responder, sizes, streamed


def test_a_stream_that_overflows_midway_is_begun_again() -> None:
    model = StreamingModel([overflow(), said("Whole answer")], breaks=["Half of"])
    assert streamed(model)[0] == "Whole answer"


def test_a_stream_that_breaks_before_a_beginning_of_the_host_is_begun_again() -> None:
    model = StreamingModel([overflow(), said("Whole answer")], breaks=["Half of"])

    async def run() -> str:
        text = ""
        async for piece in responder(await filled(engine()), model).stream(SESSION, resume=Unfinished(max_output=70)):
            if isinstance(piece, TextDelta):
                text += piece.text
            elif isinstance(piece, Discarded):
                text = text[: len(text) - piece.chars]
        return text

    assert asyncio.run(run()) == "Whole answer"
    assert [limit for _, limit in model.asked] == [70, 70]


def test_a_window_that_is_full_after_a_continuation_loses_nothing() -> None:
    first, second = "The beginning of a long answer, ", "its middle, "
    model = StreamingModel([cut(first), said(second, StopReason.WINDOW_LIMIT), said("and its end.")])
    text, answer = streamed(model)
    assert text == first + second + "and its end."
    assert answer.stored is not None
    assert answer.stored.text == text
    assert sum(map(len, [message.text for message in model.asked[2][0]])) < sum(map(len, [m.text for m in model.asked[0][0]]))


@pytest.mark.parametrize(
    "name", ["bedrock/anthropic.claude-opus-4-8", "mistral-large", "gemini-2.5-pro", "claude-opus-4-1", "gpt-4.1"]
)
@pytest.mark.parametrize(
    "extra", [[interrupt("Be careful.")], [interrupt("One."), interrupt("Two.")], [Message.assistant("So far.")]]
)
def test_extra_messages_are_sent_as_the_provider_takes_them(name: str, extra: list[Message]) -> None:
    profile = profile_for(name)
    model = ScriptedModel([overflow(), cut("A first piece, "), said("and the rest.")])

    async def run() -> Answer:
        return await responder(await filled(engine()), model, profile=profile).answer(SESSION, extra=extra)

    assert asyncio.run(run()).stored is not None
    for messages, _ in model.asked:
        assert all(message.text in "\n".join(one.text for one in messages) for message in extra)
        last_is_prefill = messages[-1].role == "assistant"
        assert check(messages[:-1] if last_is_prefill else messages, profile) == ()


@pytest.mark.parametrize("errors", [1, 2])
def test_an_extra_message_that_makes_the_body_too_large_is_named(errors: int) -> None:
    large = Message.user("x" * (50_000 if errors == 1 else 1_000), kind=Kind.INTERRUPT, id="large")
    model = ScriptedModel([body_error()] * errors)

    async def run() -> None:
        await responder(await filled(engine()), model).answer(SESSION, extra=[large])

    with pytest.raises(RequestTooLarge) as raised:
        asyncio.run(run())
    assert (raised.value.message_id, len(model.asked)) == ("large", errors)


@pytest.mark.parametrize("limits", [Limits(window=60, output_shares_window=False), Limits(window=500, max_input=60)])
def test_no_request_is_larger_than_the_known_limits_of_the_input(limits: Limits) -> None:
    model = ScriptedModel([said("Done")])
    answered(model, limits=limits)
    assert 40 < sizes(model)[0] <= 60


@pytest.mark.parametrize("profile", [None, profile_for("claude-opus-4-1")])
@pytest.mark.parametrize(("budget", "window"), [(300, None), (1_000, 300), (300, 300)])
def test_the_end_of_an_answer_that_is_gone_on_with_is_part_of_the_request(budget: int, window: int | None, profile: Any) -> None:
    written = " ".join(f"written{n}" for n in range(150))
    model = ScriptedModel([said("the end.")])
    resume = Unfinished(need=Need.REST, parts=(Text(written),))
    more: dict[str, Any] = {"resume": resume, "profile": profile, "limits": Limits(window=window), "min_output": 20}
    answer, _ = answered(model, engine(budget), turns=20, **more)
    assert answer.message is not None
    assert 150 < sizes(model)[0] <= (300 if window is None else 280)
    assert len(model.asked) == 1


STEPS = [
    overflow(),
    said("Half of an ans", StopReason.WINDOW_LIMIT),
    cut("A piece of text. "),
    said("", StopReason.UNKNOWN, call('{"pa')),
    body_error(),
    failed("max_tokens is too large: 900. This model supports at most 800 completion tokens.", code="invalid_value"),
    OTHERS[0],
    said("Done."),
]


@pytest.mark.parametrize("first", range(len(STEPS)))
@pytest.mark.parametrize("second", range(len(STEPS)))
def test_faults_in_any_order_end_and_lose_nothing(first: int, second: int) -> None:
    for third in range(len(STEPS)):
        steps = [STEPS[first], STEPS[second], STEPS[third]]
        model = StreamingModel(lambda *_, steps=steps, asked=[0]: next_of(steps, asked), breaks=["He", "He", "He"])

        async def run(model: StreamingModel = model) -> tuple[str, Answer | None, list[Message]]:
            manager = await filled(engine(), turns=3)
            text, answer = "", None
            try:
                async for piece in responder(manager, model, limits=Limits(max_output=900)).stream(SESSION):
                    if isinstance(piece, Answer):
                        answer = piece
                    else:
                        text = text + piece.text if isinstance(piece, TextDelta) else text[: len(text) - piece.chars]
            except (ModelCallFailed, ContextOverflow, RequestTooLarge):
                pass
            return text, answer, list((await manager.get_context(SESSION)).messages)

        text, answer, stored = asyncio.run(run())
        assert len(model.asked) <= 3 * 4
        assert model.closed == len(model.asked)
        after = [m for m in stored if m.role == "assistant" and len(m.id) == 32]
        if answer is None or answer.stored is None:
            assert stored[-1].text == "Go on"
        else:
            assert [m.text for m in after] == [text]
            assert all(c.complete for m in after for c in m.tool_calls)
        requests = [(str(messages), limit) for messages, limit in model.asked]
        assert all(one != other for one, other in pairwise(requests))


def next_of(steps: list[Any], asked: list[int]) -> Any:
    asked[0] += 1
    return steps[asked[0] - 1] if asked[0] <= len(steps) else said("Done.")


@pytest.mark.parametrize("at", range(1, 6))
def test_a_cancelled_answer_leaves_the_session_as_it_was(at: int) -> None:
    async def run() -> None:
        manager = await filled(engine())
        model = StreamingModel([overflow(), said("A long answer in pieces")], breaks=["", ""])
        before = (await manager.get_context(SESSION)).messages
        async with aclosing(responder(manager, model).stream(SESSION)) as pieces:
            n = 0
            async for _ in pieces:
                n += 1
                if n == at:
                    break
        assert (await manager.get_context(SESSION)).messages == before
        assert model.closed == len(model.asked)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


@implements(ContextManager)
class Plain:
    """A manager without anything beyond the five operations."""

    async def add_message(self, session_id: str, message: Any) -> Message:
        return Message.user("x")

    async def get_context(self, session_id: str) -> Context:
        raise NotImplementedError

    async def clear_context(self, session_id: str) -> None: ...

    async def get_context_stats(self, session_id: str) -> ContextStats:
        raise NotImplementedError

    async def set_system_prompt(self, session_id: str, prompt: str) -> None: ...


def test_what_cannot_work_is_told_when_it_is_put_together() -> None:
    good: dict[str, Any] = {
        "manager": ContextEngine(store=MemoryContextStore(), counter=WordsCounter(), budget=Budget.of(10)),
        "model": ScriptedModel([]),
        "classifier": RuleErrorClassifier(),
        "counter": WordsCounter(),
    }
    Responder(**good)
    plain: dict[str, Any] = {**good, "manager": Plain()}
    with pytest.raises(CapabilityNotSupported) as raised:
        Responder(**plain)
    assert raised.value.port == "ShapesWindow"
    for name in ("model", "classifier", "counter"):
        foreign: dict[str, Any] = {**good, name: object()}
        with pytest.raises(PortMismatch):
            Responder(**foreign)
    for name, value in (("min_output", 0), ("max_tries", 0), ("shrink", 0)):
        wrong: dict[str, Any] = {**good, name: value}
        with pytest.raises(InvalidArgument):
            Responder(**wrong)
