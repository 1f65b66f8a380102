"""Recovery and continuation over real sockets with the official SDKs, against a server that refuses what providers refuse."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from contextport.adapters.models.anthropic_chat_model import AnthropicChatModel
from contextport.adapters.models.openai_chat_model import OpenAIChatModel
from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.conformance_tests.scripted_answers import ScriptedBreak, ScriptedFailure
from contextport.contracts import ChatModel, ContextOverflow, Limits, Message, ModelCallFailed, TextDelta
from contextport.strategies.provider_rules import profile_for
from contextport.strategies.recovery import Answer, Discarded
from tests.model_protocols import CHAT, CLAUDE
from tests.model_server import ModelServer, ReceivedRequest, answer, overflow
from tests.recovery.sessions import SESSION, engine, filled, responder

OUTPUT = 500
Asks: TypeAlias = Callable[[ModelServer], tuple[Any, ChatModel]]


def openai_model(server: ModelServer) -> tuple[Any, ChatModel]:
    client = AsyncOpenAI(base_url=server.openai_url, api_key="none")
    return client, OpenAIChatModel(client, "gpt-4.1", OpenAIChatCodec())


def anthropic_model(server: ModelServer) -> tuple[Any, ChatModel]:
    client = AsyncAnthropic(base_url=server.anthropic_url, api_key="none")
    return client, AnthropicChatModel(client, "claude-haiku-4-5", AnthropicCodec())


WAYS = [
    pytest.param(openai_model, "gpt-4.1", CHAT, "length", id="openai"),
    pytest.param(anthropic_model, "claude-haiku-4-5", CLAUDE, "max_tokens", id="anthropic, prefill"),
    pytest.param(anthropic_model, "claude-opus-4-6", CLAUDE, "max_tokens", id="anthropic, user turn"),
]


def talked(
    script: list[Any], make: Asks, profile: str, streaming: bool, turns: int = 5
) -> tuple[str, Answer, list[ReceivedRequest], list[Message]]:
    """The text that was streamed, the answer, the requests, and the log."""

    async def run(server: ModelServer) -> tuple[str, Answer, list[Message]]:
        client, model = make(server)
        async with client:
            manager = await filled(engine(), turns=turns, prompt="Be brief.")
            used = responder(manager, model, profile=profile_for(profile), limits=Limits(max_output=OUTPUT))
            text = ""
            async for piece in used.stream(SESSION, streaming=streaming):
                if isinstance(piece, TextDelta):
                    text += piece.text
                elif isinstance(piece, Discarded):
                    text = text[: len(text) - piece.chars]
                else:
                    return text, piece, list((await manager.get_context(SESSION)).messages)
        raise AssertionError("there is no answer")

    with ModelServer(script, prefill=profile != "claude-opus-4-6") as server:
        text, done, log = asyncio.run(run(server))
        return text, done, server.requests, log


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(("make", "profile", "api", "word"), WAYS)
def test_a_cut_answer_is_finished(make: Asks, profile: str, api: str, word: str, streaming: bool) -> None:
    script = [
        answer("The total ", "is ", word=word),
        answer("42 euros", "\n", word=word),
        answer("and", " tax."),
    ]
    text, done, requests, log = talked(script, make, profile, streaming)
    assert text == log[-1].text == "The total is 42 euros\nand tax."
    assert [message.role for message in log][-2:] == ["user", "assistant"]
    assert done.usage is not None
    assert done.usage.output_tokens == 30
    assert len(requests) == 3
    last = requests[-1].body["messages"][-1]
    assert last["role"] == ("assistant" if profile == "claude-haiku-4-5" else "user")


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(("make", "profile", "api", "word"), WAYS)
def test_a_cut_call_is_asked_for_again(make: Asks, profile: str, api: str, word: str, streaming: bool) -> None:
    script = [
        answer("I save it.", calls=[("c1", "save", '{"path": "a')], word=word),
        answer(calls=[("c2", "save", '{"path": "a.txt"}')]),
    ]
    _, done, requests, _ = talked(script, make, profile, streaming)
    assert done.message is not None
    assert [(call.call_id, call.complete) for call in done.message.tool_calls] == [("c2", True)]
    assert done.message.text == "I save it."
    assert "c1" not in requests[1].text
    assert requests[1].body["max_tokens"] == 2 * OUTPUT


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(("make", "profile", "api", "word"), WAYS)
def test_an_overflow_is_followed_by_a_smaller_request(make: Asks, profile: str, api: str, word: str, streaming: bool) -> None:
    script = [overflow(api, 4_000, 2_000), answer("Done")]
    text, done, requests, log = talked(script, make, profile, streaming, turns=20)
    assert text == log[-1].text == "Done"
    assert len(requests[1].text) < 0.6 * len(requests[0].text)
    assert len(done.tried) == 2


@pytest.mark.parametrize(("make", "profile", "api", "word"), WAYS)
def test_an_overflow_without_end_ends(make: Asks, profile: str, api: str, word: str) -> None:
    def refuses(request: ReceivedRequest) -> ScriptedFailure:
        return overflow(api, 4_000, 2_000)

    with pytest.raises(ContextOverflow) as raised:
        talked([refuses] * 9, make, profile, True)
    assert isinstance(raised.value.__cause__, ModelCallFailed)
    assert len(raised.value.tried) <= 3


@pytest.mark.parametrize(("make", "profile", "api", "word"), WAYS)
def test_a_stream_that_overflows_midway_is_begun_again(make: Asks, profile: str, api: str, word: str) -> None:
    script = [ScriptedBreak(pieces=("Half", " of it"), failure=overflow(api, 4_000, 2_000)), answer("Whole")]
    text, _, _, log = talked(script, make, profile, True)
    assert text == log[-1].text == "Whole"


@pytest.mark.parametrize(("make", "profile", "api", "word"), WAYS)
def test_a_broken_connection_in_a_continuation_keeps_the_beginning(make: Asks, profile: str, api: str, word: str) -> None:
    script = [answer("A beginning, ", word=word), ScriptedBreak(pieces=("and a piece of the rest that is long enough to be",))]
    text, done, _, log = talked(script, make, profile, True)
    assert text.startswith("A beginning, ")
    assert done.message is not None
    assert (done.truncated, done.message.text) == (True, text)
    assert log[-1].text == "Go on"


def test_the_counter_of_the_server_is_not_ours() -> None:
    """The window is made by our count of words, and refused by the bytes of the server: what the error says decides."""

    def refuses(request: ReceivedRequest) -> Any:
        size = len(json.dumps(request.body["messages"]))
        return overflow(CHAT, size, 1_500) if size > 1_500 else answer("Done")

    _, done, requests, _ = talked([refuses] * 5, openai_model, "gpt-4.1", False, turns=30)
    assert len(requests) == len(done.tried) == 2
    assert 700 < len(json.dumps(requests[1].body["messages"])) <= 1_500
