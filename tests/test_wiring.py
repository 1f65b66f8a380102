"""The parts as hosts put them together: one call each, over real sockets with the real SDKs."""

from __future__ import annotations

import asyncio
from typing import Any

import attrs
import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.limits.learnt_limits import LearntLimits
from contextport.adapters.limits.static_limits import StaticLimits
from contextport.adapters.wiring import anthropic_model, codec_for, context_engine, folding_strategy, openai_model, responder
from contextport.conformance_tests import WordsCounter
from contextport.contracts import ChatModel, ContextOverflow, Control, EventKind, InvalidArgument, Limits, PortMismatch, TextDelta
from contextport.strategies.provider_rules import PROFILES
from contextport.strategies.recovery import Answer
from contextport.strategies.summaries import CheckedSummarizer, ModelSummarizer
from tests.model_server import ModelServer, ReceivedRequest, answer, overflow


def model_at(server: ModelServer, kind: str) -> ChatModel:
    if kind == "openai":
        return openai_model("gpt-4.1", base_url=server.openai_url, api_key="k")
    return anthropic_model("claude-opus-4-8", base_url=server.anthropic_url, api_key="k")


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_profile_has_a_codec(name: str) -> None:
    assert codec_for(PROFILES[name]).api == PROFILES[name].api


def test_a_codec_is_found_by_the_models_name() -> None:
    found = {
        model: codec_for(model).api for model in ("gpt-4.1", "claude-opus-5.5", "gemini-3-pro", "bedrock/amazon.nova-pro-v1:0")
    }
    assert list(found.values()) == ["openai.chat", "anthropic.messages", "gemini.generate_content", "bedrock.converse"]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_long_session_is_answered_after_an_overflow_and_a_cut(kind: str, streaming: bool) -> None:
    """The provider takes 2 000 characters of messages; the first answer it gives is cut."""
    told = ["The soil of bed two holds twelve percent, ", "so water it tonight."]
    left = list(told)

    def provider(request: ReceivedRequest) -> object:
        size = len(str(request.body["messages"]))
        if size > 2_000:
            return overflow(request.api, size // 4, 500)
        piece = left.pop(0)
        cut = {"openai.chat": "length", "anthropic.messages": "max_tokens"}[request.api]
        return answer(piece, word=cut if left else "")

    async def run(server: ModelServer) -> tuple[Answer, str]:
        sink = CollectingEventSink()
        context = context_engine(budget=50_000, sink=sink)
        await context.set_system_prompt("s", "You are a patient gardener.")
        for n in range(30):
            await context.add_message("s", {"role": "user", "content": f"Question {n}: how dry is bed {n}, and what grows?"})
            await context.add_message("s", {"role": "assistant", "content": f"Bed {n} is dry; beans grow in it."})
        await context.add_message("s", {"role": "user", "content": "How dry is bed two?"})
        answers = responder(context, model_at(server, kind), max_tries=6)
        pieces = [piece async for piece in answers.stream("s")] if streaming else [await answers.answer("s")]
        *texts, found = pieces
        assert isinstance(found, Answer)
        streamed = "".join(piece.text for piece in texts if isinstance(piece, TextDelta))
        kinds = {event.kind for event in sink.events}
        assert {EventKind.CONTEXT_RECOVERED, EventKind.OUTPUT_CONTINUED} <= kinds
        window = await context.get_context("s")
        assert window.messages[-1] == found.message
        return found, streamed

    with ModelServer([provider] * 12) as server:  # type: ignore[list-item]
        found, streamed = asyncio.run(run(server))
        sizes = [len(request.text) for request in server.requests]
    assert found.message is not None
    assert found.message.text == "".join(told)
    assert (streamed == "".join(told)) is streaming
    assert list(found.tried) == sorted(set(found.tried), reverse=True)
    assert len(found.tried) > 1
    assert min(sizes) < max(sizes)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_what_cannot_be_made_small_enough_is_told(kind: str) -> None:
    async def run(server: ModelServer) -> ContextOverflow:
        context = context_engine(budget=50_000)
        for n in range(6):
            await context.add_message("s", {"role": "user", "content": f"Question {n}"})
            await context.add_message("s", {"role": "assistant", "content": f"Answer {n}"})
        await context.add_message("s", {"role": "user", "content": "Well?"})
        with pytest.raises(ContextOverflow) as failure:
            await responder(context, model_at(server, kind), max_tries=3).answer("s")
        assert (await context.get_context("s")).messages[-1].text == "Well?"
        return failure.value

    with ModelServer([lambda request: overflow(request.api, 600, 500)] * 9) as server:
        error = asyncio.run(run(server))
        assert 1 < len(error.tried) <= 3
        assert len(server.requests) == len(error.tried)
        bodies = [str(request.body["messages"]) for request in server.requests]
        assert len(set(bodies)) == len(bodies)


def test_the_budget_is_the_models_then_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = CollectingEventSink()
    monkeypatch.setenv("LLM_CONTEXT_SIZE", "9000")
    monkeypatch.setenv("LLM_MAX_OUTPUT_TOKENS", "1000")
    small = Limits(window=6_000, max_output=1_000)
    table = StaticLimits({"small": small, ("box", "small"): attrs.evolve(small, window=7_000)})

    async def limit(model: str, host: str = "") -> int:
        context = context_engine(model=model, host=host, limits=[table], sink=sink)
        return (await context.get_context_stats("s")).window

    assert asyncio.run(limit("small")) == 6_000
    assert asyncio.run(limit("small", "box")) == 7_000
    assert asyncio.run(limit("other")) == 9_000
    assert EventKind.LIMITS_DEFAULTED not in [event.kind for event in sink.events]
    monkeypatch.delenv("LLM_CONTEXT_SIZE")
    assert asyncio.run(limit("other")) == 128_000
    assert [event.kind for event in sink.events].count(EventKind.LIMITS_DEFAULTED) == 1


def test_what_an_error_taught_bounds_the_next_answer() -> None:
    """Without a learner each answer would begin with a request that is refused."""
    learnt = LearntLimits()

    def provider(request: ReceivedRequest) -> object:
        size = len(str(request.body["messages"])) // 4
        return overflow(request.api, size, 500) if size > 500 else answer("It is dry.")

    async def run(server: ModelServer) -> list[int]:
        context = context_engine(budget=50_000)
        for n in range(60):
            await context.add_message("s", {"role": "user", "content": f"Question {n}: how dry is bed {n}, and what grows?"})
            await context.add_message("s", {"role": "assistant", "content": f"Bed {n} is dry; beans grow in it."})
        counts: list[int] = []
        for _ in range(3):
            await context.add_message("s", {"role": "user", "content": "How dry is it?"})
            before = len(server.requests)
            await responder(context, model_at(server, "openai"), learner=learnt).answer("s")
            counts.append(len(server.requests) - before)
        return counts

    with ModelServer([provider] * 12) as server:  # type: ignore[list-item]
        first, *later = asyncio.run(run(server))
    assert first > 1
    assert later == [1, 1]
    known = learnt.limits("gpt-4.1", "127.0.0.1")
    assert known is not None
    assert known.max_input == 500


def test_limits_of_the_input_alone_are_kept() -> None:
    async def run(server: ModelServer) -> int:
        context = context_engine(budget=50_000)
        for n in range(60):
            await context.add_message("s", {"role": "user", "content": f"Question {n}: how dry is bed {n}, and what grows?"})
        found = await responder(context, model_at(server, "openai"), limits=Limits(max_input=300)).answer("s")
        return found.tried[0]

    with ModelServer([answer("It is dry.")]) as server:
        assert asyncio.run(run(server)) <= 300


def test_no_codec_for_an_unknown_api() -> None:
    with pytest.raises(InvalidArgument, match="no codec here is for the api 'smoke'"):
        codec_for(attrs.evolve(PROFILES["openai.chat"], api="smoke"))


@pytest.mark.parametrize("wrong", ["gpt-4", 4, object()])
def test_a_summarizer_that_is_none_is_refused_with_what_would_do(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"it must be a Summarizer, or a ChatModel such as openai_model\(\"\.\.\.\"\)"):
        context_engine(budget=8_000, summarizer=wrong)


@pytest.mark.parametrize("wrong", ["yes", 1, object()])
def test_a_retriever_that_is_none_is_refused_with_what_would_do(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="it must be True to search by words, False, an Embedder or a Retriever"):
        context_engine(budget=8_000, retriever=wrong)


@pytest.mark.parametrize(("method", "port"), [("retrieve", "Retriever"), ("embed", "Embedder")])
def test_a_retriever_that_is_not_declared_is_told_which_port_it_lacks(method: str, port: str) -> None:
    undeclared: Any = type("Undeclared", (), {method: None})()
    with pytest.raises(PortMismatch, match=rf"Undeclared does not provide {port}: it is not declared"):
        context_engine(budget=8_000, retriever=undeclared)


@pytest.mark.parametrize("wrong", ["automatic", Control.AUTOMATIC, True, {"control": "manual"}])
def test_modes_that_are_none_are_refused_with_what_would_do(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"it must be ModeRules, such as ModeRules\(control=Control.SEMI_AUTOMATIC\), or a"):
        context_engine(budget=8_000, modes=wrong)


def test_a_summarizer_that_continues_the_live_request_is_not_shown_raw_history() -> None:
    counter = WordsCounter()
    model = openai_model("gpt-4o", api_key="none", window=128_000)
    own, same = ModelSummarizer(model, counter), ModelSummarizer(model, counter, same_model=True)
    assert folding_strategy(counter, summarizer=own).reach > 0
    assert folding_strategy(counter, summarizer=same).reach == 0
    assert folding_strategy(counter, summarizer=CheckedSummarizer(same, counter)).reach == 0
