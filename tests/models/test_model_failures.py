"""How failures of both SDKs come out, over real sockets."""

from __future__ import annotations

import asyncio
import json
import time
from email.utils import formatdate
from typing import Any

import pytest

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.conformance_tests.scripted_answers import ScriptedBreak, ScriptedFailure, ScriptedHold
from contextport.contracts import Message, ModelCallFailed
from contextport.contracts.model import Completion, TextDelta
from contextport.contracts.provider_error import ErrorKind
from tests.model_protocols import CHAT, CLAUDE, error_body, events_of
from tests.model_server import ModelServer, RawAnswer, SlowAnswer, Step, answer, overflow
from tests.models.clients import KEY, model_on

QUESTION = [Message.user("How is the weather?")]
BOTH = pytest.mark.parametrize("api", [CHAT, CLAUDE])
SDK = {CHAT: "openai", CLAUDE: "anthropic"}


def failed(api: str, step: Step, *, streamed: bool = False, **options: Any) -> ModelCallFailed:
    async def run() -> None:
        model = model_on(server, api, **options)
        if streamed:
            async for _ in model.stream(QUESTION):
                pass
        else:
            await model.complete(QUESTION)

    with ModelServer([step], max_body=4_000) as server, pytest.raises(ModelCallFailed) as caught:
        asyncio.run(run())
    return caught.value


@BOTH
def test_an_overflow_keeps_its_words_and_numbers(api: str) -> None:
    for streamed in (False, True):
        failure = failed(api, overflow(api, 9_000, 8_192), streamed=streamed).failure
        assert failure.status == 400
        assert failure.exception == f"{SDK[api]}.BadRequestError"
        assert failure.type == "invalid_request_error"
        assert failure.code == ("context_length_exceeded" if api == CHAT else None)
        assert "9000" in failure.message
        assert "8192" in failure.message


@BOTH
@pytest.mark.parametrize("streamed", [False, True])
def test_a_classifier_reads_an_overflow_with_its_numbers(api: str, streamed: bool) -> None:
    steps: list[Step] = [overflow(api, 9_000, 8_192)]
    if streamed:
        steps.append(ScriptedBreak(pieces=("It is ",), failure=overflow(api, 9_000, 8_192)))
    for step in steps:
        reading = RuleErrorClassifier().classify(failed(api, step, streamed=streamed))
        assert reading.is_overflow
        assert (reading.input, reading.limit, reading.overshoot) == (9_000, 8_192, 808)


@BOTH
def test_a_classifier_reads_what_is_no_overflow(api: str) -> None:
    slow = ScriptedFailure(status=429, type="rate_limit_error", message="Slow down.", code="rate_limit_exceeded")
    assert RuleErrorClassifier().classify(failed(api, slow)).kind is ErrorKind.RATE_LIMIT
    assert RuleErrorClassifier().classify(failed(api, ScriptedHold(), timeout=0.2)).kind is ErrorKind.TIMEOUT
    assert not RuleErrorClassifier().classify(failed(api, RawAnswer(b"{}"))).is_overflow


@BOTH
def test_an_overflow_within_a_stream(api: str) -> None:
    failure = failed(api, ScriptedBreak(pieces=("It is ",), failure=overflow(api, 9_000, 8_192)), streamed=True).failure
    assert failure.status in (None, 200)
    assert failure.exception == ("openai.APIError" if api == CHAT else "anthropic.APIStatusError")
    assert failure.message == overflow(api, 9_000, 8_192).message


@BOTH
@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry-after": "1.5"}, 1.5, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25, 0.25),
        ({"retry-after": formatdate(time.time() + 3_600, usegmt=True)}, 3_000, 3_600),
        ({"retry-after": formatdate(time.time() - 3_600, usegmt=True)}, 0, 0),
    ],
)
def test_how_long_to_wait(api: str, headers: dict[str, str], least: float, most: float) -> None:
    body = json.dumps(error_body(api, ScriptedFailure(status=429, type="rate_limit_error", message="Slow down."))).encode()
    waits = failed(api, RawAnswer(body, 429, headers=headers)).failure.retry_after
    assert waits is not None
    assert least <= waits <= most


@BOTH
@pytest.mark.parametrize("value", ["soon", "-1", "inf", ""])
def test_no_time_to_wait(api: str, value: str) -> None:
    assert failed(api, RawAnswer(b"{}", 503, headers={"retry-after": value})).failure.retry_after is None


@BOTH
def test_a_body_that_is_too_large(api: str) -> None:
    async def run() -> None:
        await model_on(server, api).complete([Message.user("x" * 5_000)])

    with ModelServer([], max_body=4_000) as server, pytest.raises(ModelCallFailed) as caught:
        asyncio.run(run())
    assert caught.value.failure.status == 413
    assert caught.value.failure.type == "request_too_large"


@BOTH
@pytest.mark.parametrize(
    "step",
    [
        RawAnswer(b'{"choices": [{"mess'),
        RawAnswer(b"<html>Bad gateway</html>", content_type="text/html"),
        RawAnswer(b"[]"),
        RawAnswer(b"null"),
        RawAnswer(b"{}"),
        RawAnswer(b'{"choices": [], "content": null}'),
        RawAnswer(b'{"choices": [{"index": 0, "message": {"content": 7}}], "content": [{"no": "type"}, 3]}'),
        RawAnswer(b""),
    ],
    ids=lambda step: step.body[:30].decode() or "nothing",
)
def test_an_answer_that_is_none(api: str, step: RawAnswer) -> None:
    error = failed(api, step)
    assert error.__cause__ is not None
    assert error.failure.message


@BOTH
def test_a_stream_that_is_no_json(api: str) -> None:
    events = b'event: message_start\ndata: {"type": "message_st\n\n'
    failed(api, RawAnswer(events, content_type="text/event-stream"), streamed=True)


@BOTH
@pytest.mark.parametrize("kept", [1, 2, 4])
def test_a_stream_that_ends_in_good_order_before_the_answer_does(api: str, kept: int) -> None:
    """As a gateway leaves it whose own connection broke: the HTTP body is whole, the answer is not."""
    events = events_of(api, answer("It is ", "sunny ", "all day", word="stop"), "m")[:kept]
    error = failed(api, RawAnswer(b"".join(events), content_type="text/event-stream"), streamed=True)
    assert "ended before the answer did" in error.failure.message


@BOTH
def test_a_stream_that_is_empty(api: str) -> None:
    assert "ended before" in failed(api, RawAnswer(b"", content_type="text/event-stream"), streamed=True).failure.message


@BOTH
def test_an_error_that_came_with_success(api: str) -> None:
    body = {"error": {"message": "Provider returned error", "code": 502, "type": "upstream"}}
    failure = failed(api, RawAnswer(json.dumps(body).encode())).failure
    assert (failure.message, failure.code, failure.type) == ("Provider returned error", "502", "upstream")
    assert failure.body == body


@BOTH
def test_an_error_page_is_kept_as_its_text(api: str) -> None:
    failure = failed(api, RawAnswer(b"<html>502 Bad Gateway</html>", 502, "text/html")).failure
    assert failure.status == 502
    assert failure.exception == f"{SDK[api]}.InternalServerError"
    assert "Bad Gateway" in failure.message + str(failure.body)


@BOTH
@pytest.mark.parametrize("key", ["error", "detail", "message"])
@pytest.mark.parametrize("status", [400, 500])
def test_an_error_that_is_a_plain_text_is_kept(api: str, key: str, status: int) -> None:
    text = "the prompt is too long: 800 tokens > 500 maximum"
    failure = failed(api, RawAnswer(json.dumps({key: text}).encode(), status)).failure
    assert (failure.message, failure.status) == (text, status)


@BOTH
def test_a_server_that_is_not_there(api: str) -> None:
    with ModelServer() as server:
        pass
    with pytest.raises(ModelCallFailed) as caught:
        asyncio.run(model_on(server, api).complete(QUESTION))
    assert caught.value.failure.exception == f"{SDK[api]}.APIConnectionError"
    assert caught.value.failure.status is None


@BOTH
def test_a_time_out_of_the_client(api: str) -> None:
    error = failed(api, ScriptedHold(), timeout=0.2)
    assert error.failure.exception == f"{SDK[api]}.APITimeoutError"
    assert error.failure.provider == ("" if api == CHAT else "anthropic")


@BOTH
def test_a_time_out_of_the_caller_is_the_callers(api: str) -> None:
    hold = ScriptedHold()

    async def run() -> None:
        async with asyncio.timeout(None) as limit:
            task = asyncio.create_task(model_on(server, api).complete(QUESTION))
            await asyncio.to_thread(hold.begun.wait)
            limit.reschedule(asyncio.get_running_loop().time())
            await task

    with ModelServer([hold]) as server, pytest.raises(TimeoutError):
        asyncio.run(run())


@BOTH
def test_the_key_is_masked_wherever_it_is_echoed(api: str) -> None:
    body = {"error": {"message": f"bad key {KEY}", "param": [KEY], "type": "auth"}, "key": {KEY: KEY}}
    error = failed(api, RawAnswer(json.dumps(body).encode(), 401))
    told = json.dumps([str(error), error.failure.message, error.failure.body])
    assert KEY not in told
    assert "bad key [credential]" in told


@BOTH
def test_slow_bytes_are_waited_for(api: str) -> None:
    async def run(slow: SlowAnswer, streamed: bool) -> list[TextDelta | Completion]:
        async def all_items() -> list[TextDelta | Completion]:
            if not streamed:
                return [await model.complete(QUESTION)]
            return [item async for item in model.stream(QUESTION)]

        model = model_on(server, api)
        task = asyncio.create_task(all_items())
        await asyncio.to_thread(slow.halfway.wait)
        assert not task.done()
        slow.gate.set()
        return await task

    for streamed in (False, True):
        slow = SlowAnswer(answer("Sunny ", "all ", "day, 上海 too."))
        with ModelServer([slow]) as server:
            completion = asyncio.run(run(slow, streamed))[-1]
        assert isinstance(completion, Completion)
        assert completion.message.text == "Sunny all day, 上海 too."


@BOTH
def test_the_end_of_a_script_is_an_error(api: str) -> None:
    with ModelServer() as server, pytest.raises(ModelCallFailed) as caught:
        asyncio.run(model_on(server, api).complete(QUESTION))
    assert caught.value.failure.type == "script_ended"


@BOTH
def test_text_that_no_wire_holds_is_sent_with_a_replacement(api: str) -> None:
    with ModelServer([answer("x")]) as server:
        text = asyncio.run(model_on(server, api).complete([Message.user("lone \ud800 surrogate")])).message.text
        assert text == "x"
        assert "lone \ufffd surrogate" in json.dumps(server.requests[0].body["messages"], ensure_ascii=False)
