"""The rules of `ChatModel` and `StreamsCompletions`, on a provider that answers by a script."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve

from contextport.contracts import InvalidArgument, Json, Message, ModelCallFailed, Thinking, ToolCall, dump_message, provides
from contextport.contracts.model import ChatModel, Completion, StopReason, StreamsCompletions, TextDelta, Usage

from .rules import NotChecked, rule
from .scripted_answers import Scripted, ScriptedAnswer, ScriptedBreak, ScriptedCall, ScriptedFailure, ScriptedHold

if TYPE_CHECKING:
    from .suites import ChatModelConformance

__all__: list[str] = []

_QUESTION = (Message.system("You know the weather."), Message.user("How is it in Zürich and in 上海?"))
_TOOLS: tuple[Json, ...] = (
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather of a city now.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        },
    },
)
_PIECES = ("It is ", "sunny\n", "in Zürich, ", "上海 has 雨.")
_ARGUMENTS = ('{"city":"Zürich","days":1}', '{"days":2,"city":"上海 \\"east\\""}', "{}")
_SPACED = '{ "city" : "Z\\u00fcrich",\n  "days": 1.0 }'
_CUT = '{"city":"Zür'


def _calls(*arguments: str) -> tuple[ScriptedCall, ...]:
    return tuple(ScriptedCall(id=f"call_{n}abcdefgh", name="weather", arguments=text) for n, text in enumerate(arguments, 1))


def _answer(suite: ChatModelConformance, stop: StopReason = StopReason.END, **more: Any) -> ScriptedAnswer:
    """A scripted answer, ended by the provider's word for `stop`."""
    return ScriptedAnswer(word=suite.word(stop), **more)


async def _ask(model: ChatModel, messages: Sequence[Message] = _QUESTION, **more: Any) -> Completion:
    completion = await model.complete(messages, **more)
    assert isinstance(completion, Completion), f"complete returned {completion!r:.200}"
    return completion


async def _streamed(model: Any, messages: Sequence[Message] = _QUESTION, **more: Any) -> list[TextDelta | Completion]:
    return [item async for item in model.stream(messages, **more)]


async def _failed(model: ChatModel, what: str) -> ModelCallFailed:
    try:
        completion = await model.complete(_QUESTION)
    except ModelCallFailed as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}, not ModelCallFailed") from error
    raise AssertionError(f"{what} gave the completion {completion!r:.200}")


def _said(message: Message) -> list[tuple[str, ...]]:
    """What a message says, in order, without what only a provider's wire form has."""
    said: list[tuple[str, ...]] = []
    for part in message.parts:
        if isinstance(part, Thinking):
            said.append(("thinking", part.text or ""))
        elif isinstance(part, ToolCall):
            said.append(("call", part.call_id, part.name, part.arguments, str(part.complete)))
        else:
            said.append((type(part).__name__.lower(), getattr(part, "text", "")))
    return said


def _visible(message: Message) -> str:
    return "".join(text[1] for text in _said(message) if text[0] in ("text", "refusal"))


@rule("MODEL-1", ChatModel, cause="a field of the answer is not read, arguments are written anew, or ids are taken as they come.")
async def returns_what_the_model_said(suite: ChatModelConformance) -> None:
    arguments = (*_ARGUMENTS, _SPACED) if suite.arguments_are_text else _ARGUMENTS
    whole = _answer(suite, StopReason.TOOL_CALLS, pieces=_PIECES, reasoning=suite.reasoning, calls=_calls(*arguments))
    spaces = _answer(suite, pieces=("  leading and trailing \n ",))
    async with suite.scripted([whole, _answer(suite, pieces=_PIECES), spaces, _answer(suite)]) as model:
        first = await _ask(model, tools=_TOOLS)
        message = first.message
        assert message.role == "assistant", f"the role is {message.role!r}"
        assert _visible(message) == whole.text, f"the text is {_visible(message)!r}, not {whole.text!r}"
        thinking = "".join(part.text or "" for part in message.parts if isinstance(part, Thinking))
        assert thinking == suite.reasoning, (
            f"the reasoning is {thinking!r}, not {suite.reasoning!r} (reasoning = '' is for a provider that shows none)"
        )
        calls = [(call.call_id, call.name, call.arguments) for call in message.tool_calls]
        wanted = [(call.id, call.name, call.arguments) for call in whole.calls]
        assert calls == wanted, f"the calls are {calls}, not {wanted}"
        results = [Message.tool(call.call_id, "rain") for call in message.tool_calls]
        back = await _ask(model, [*_QUESTION, message, *results], tools=_TOOLS)
        assert _visible(back.message) == "".join(_PIECES), f"the answer to the results is {_visible(back.message)!r}"
        kept = _visible((await _ask(model)).message)
        assert kept == spaces.text, f"the text {spaces.text!r} came as {kept!r}"
        nothing = await _ask(model)
        assert _visible(nothing.message) == "", f"an empty answer says {_visible(nothing.message)!r}"
    await _calls_can_be_told_apart(suite)


async def _calls_can_be_told_apart(suite: ChatModelConformance) -> None:
    for ids in (("call_1abcdefgh",) * 3, ("", "call_1abcdefgh", "")):
        calls = tuple(ScriptedCall(id=one, name="weather", arguments=_ARGUMENTS[n]) for n, one in enumerate(ids))
        async with suite.scripted([_answer(suite, StopReason.TOOL_CALLS, calls=calls)]) as model:
            found = (await _ask(model, tools=_TOOLS)).message.tool_calls
        named = [call.call_id for call in found]
        arguments = [call.arguments for call in found]
        assert arguments == list(_ARGUMENTS), f"the calls with the ids {ids} have the arguments {arguments}, not {_ARGUMENTS}"
        assert len(set(named) - {""}) == len(ids), f"calls with the ids {ids} have the ids {named}"
        assert "call_1abcdefgh" in named, f"the first call with the id 'call_1abcdefgh' has another one: {named}"


@rule("MODEL-2", ChatModel, cause="a word is missing in the table of reasons, or an unknown one is taken for the usual one.")
async def names_the_reason(suite: ChatModelConformance) -> None:
    plain = [stop for stop in suite.words if stop is not StopReason.TOOL_CALLS]
    calls = _calls(_ARGUMENTS[0])
    tomorrow = "a_reason_of_tomorrow"
    script: list[ScriptedAnswer] = [_answer(suite, stop, pieces=_PIECES) for stop in plain]
    script += [ScriptedAnswer(word=tomorrow, pieces=_PIECES)]
    script += [_answer(suite, stop, calls=calls) for stop in (StopReason.TOOL_CALLS, StopReason.END)]
    wanted = [*plain, StopReason.UNKNOWN, StopReason.TOOL_CALLS, StopReason.TOOL_CALLS]
    async with suite.scripted(script) as model:
        for step, stop in zip(script, wanted, strict=True):
            completion = await _ask(model, tools=_TOOLS)
            kind = "calls" if step.calls else "text"
            assert completion.stop is stop, f"{step.word!r} after {kind} is {completion.stop!r}, not {stop!r}"
            assert completion.raw_stop == step.word, f"raw_stop is {completion.raw_stop!r}, not {step.word!r}"


@rule("MODEL-3", ChatModel, cause="arguments are not parsed to see whether they are whole, or a broken call is dropped.")
async def cut_call_is_not_whole(suite: ChatModelConformance) -> None:
    limit, called = StopReason.OUTPUT_LIMIT, StopReason.TOOL_CALLS
    script = [_answer(suite, limit, calls=_calls(_CUT)), _answer(suite, limit, calls=_calls(_ARGUMENTS[0], _CUT))]
    if suite.arguments_are_text:
        script.append(_answer(suite, called, calls=_calls(_CUT)))
    async with suite.scripted(script) as model:
        for step in script:
            completion = await _ask(model, tools=_TOOLS)
            found = [(call.call_id, call.complete) for call in completion.message.tool_calls]
            wanted = [(call.id, call.arguments != _CUT) for call in step.calls]
            assert found == wanted, f"(id, complete) of the calls are {found}, not {wanted}"
            if len(step.calls) > 1:
                assert completion.stop is called, f"with one whole call of two, stop is {completion.stop!r}"
            else:
                assert completion.stop is not called, "no call is whole, and stop is tool_calls"
            if suite.arguments_are_text:
                text = completion.message.tool_calls[-1].arguments
                assert text == _CUT, f"the arguments {_CUT!r} came as {text!r}"


@rule("MODEL-4", ChatModel, cause="the provider's field for input leaves cached tokens out, and they are not added.")
async def input_includes_cached(suite: ChatModelConformance) -> None:
    reported = [
        Usage(input_tokens=1_000, output_tokens=70, cache_read_tokens=800),
        Usage(input_tokens=1_000, output_tokens=70, cache_read_tokens=1_000),
        Usage(input_tokens=1_000, output_tokens=1),
    ]
    async with suite.scripted([_answer(suite, pieces=_PIECES, usage=usage) for usage in reported]) as model:
        for wanted in reported:
            found = (await _ask(model)).usage
            assert found is not None, "the provider reported its tokens, and usage is None"
            sizes = (found.input_tokens, found.cache_read_tokens, found.output_tokens)
            right = (wanted.input_tokens, wanted.cache_read_tokens, wanted.output_tokens)
            assert sizes == right, f"(input, of it cached, output) is {sizes}, not {right}"


@rule("MODEL-5", ChatModel, cause="the parameter has another name there, or is checked after the request.")
async def sends_the_limit(suite: ChatModelConformance) -> None:
    async with suite.scripted([_answer(suite, pieces=_PIECES)] * 2) as model:
        for wrong in (0, -1):
            try:
                await model.complete(_QUESTION, max_output=wrong)
            except InvalidArgument:
                continue
            except Exception as error:
                raise AssertionError(f"max_output={wrong} raised {type(error).__name__}: {error}, not InvalidArgument") from error
            raise AssertionError(f"max_output={wrong} was taken")
        sent = suite.sent_requests(model)
        if sent is None:
            raise NotChecked("write sent_requests, so that the limit in a request can be looked at")
        assert len(sent) == 0, f"{len(sent)} requests were sent with a limit below 1"
        for limit in (7, 1_234):
            await _ask(model, max_output=limit)
        limits = [one.max_output for one in suite.sent_requests(model) or ()]
        assert limits == [7, 1_234], f"the limits sent are {limits}, not [7, 1234]"


def _failures(suite: ChatModelConformance) -> list[ScriptedFailure]:
    overflow = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    return [
        ScriptedFailure(status=400, type="invalid_request_error", code="context_length_exceeded", message=overflow),
        ScriptedFailure(status=429, type="rate_limit_error", code="rate_limit", message="Slow down.", retry_after=7),
        ScriptedFailure(status=401, type="authentication_error", code="bad_key", message=f"Incorrect key: {suite.secret}."),
        ScriptedFailure(status=500, type="api_error", code="server_error", message="Internal error."),
        ScriptedFailure(status=529, type="overloaded_error", message="Overloaded."),
    ]


@rule("MODEL-6", ChatModel, cause="one kind of the SDK's errors is not mapped, or a field of it is not read.")
async def maps_failures(suite: ChatModelConformance) -> None:
    failures = _failures(suite)
    async with suite.scripted([*failures, ScriptedBreak(pieces=_PIECES)]) as model:
        for scripted in failures:
            _check_failure(suite, scripted, await _failed(model, f"status {scripted.status}"))
        _check_cause(suite, await _failed(model, "a connection closed within the body"), "a closed connection")
    if not provides(model, StreamsCompletions):
        return
    halfway = ScriptedFailure(status=200, type="overloaded_error", message=f"Overloaded, {suite.secret}.")
    for script in (failures[0], ScriptedBreak(pieces=_PIECES, failure=halfway)):
        async with suite.scripted([script]) as model:
            error = await _broken_stream(model, [])
            _check_cause(suite, error, "a stream")
            text = (script.failure or halfway if isinstance(script, ScriptedBreak) else script).type
            assert error.failure.type == text, f"the failure in a stream has the type {error.failure.type!r}, not {text!r}"


def _check_failure(suite: ChatModelConformance, scripted: ScriptedFailure, error: ModelCallFailed) -> None:
    what, failure = f"status {scripted.status}", error.failure
    assert failure.status == scripted.status, f"{what}: failure.status is {failure.status!r}"
    for name in sorted(suite.error_fields):
        found, wanted = getattr(failure, name), getattr(scripted, name)
        assert found == wanted, f"{what}: failure.{name} is {found!r}, not {wanted!r} (error_fields: the fields errors have)"
    said = scripted.message.partition(suite.secret)[0]
    assert said in failure.message, f"{what}: failure.message is {failure.message!r}, without {said!r}"
    assert failure.retry_after == scripted.retry_after, f"{what}: failure.retry_after is {failure.retry_after!r}"
    _check_cause(suite, error, what)


def _check_cause(suite: ChatModelConformance, error: ModelCallFailed, what: str) -> None:
    assert isinstance(error.__cause__, Exception), (
        f"{what}: the foreign error is not the cause, which is {error.__cause__!r}; where there is no exception, such as for "
        "an error event in a stream, raise from one that is made of the event"
    )
    failure = error.failure
    told = json.dumps([str(error), failure.message, failure.body, failure.code, failure.type, repr(failure)], default=repr)
    assert suite.secret not in told, f"{what}: the key (the suite's secret) stands in the error: take it out of text and body"


@rule("MODEL-7", ChatModel, cause="the SDK retries by itself unless it is told not to.")
async def makes_one_request(suite: ChatModelConformance) -> None:
    retried = [one for one in _failures(suite) if one.status in (429, 500, 529)]
    for failure in retried:  # without a time to wait, so that a model that retries does not keep the suite waiting
        async with suite.scripted([evolve(failure, retry_after=None), _answer(suite, pieces=_PIECES)]) as model:
            await _failed(model, f"status {failure.status}")
            sent = suite.sent_requests(model)
            if sent is None:
                raise NotChecked("write sent_requests, so that requests can be counted")
            assert len(sent) == 1, f"one call that failed with status {failure.status} made {len(sent)} requests"
    async with suite.scripted([_answer(suite, pieces=_PIECES)] * 2) as model:
        await _ask(model)
        sent = suite.sent_requests(model) or ()
        assert len(sent) == 1, f"one call that was answered made {len(sent)} requests"


@rule("MODEL-8", ChatModel, cause="the request is built in the lists and dicts that the caller handed in.")
async def leaves_its_arguments_alone(suite: ChatModelConformance) -> None:
    tools: list[Json] = [copy.deepcopy(_TOOLS[0]), copy.deepcopy(_TOOLS[0])]
    tools[1]["function"]["name"] = "a_tool_before"
    first = _answer(suite, StopReason.TOOL_CALLS, pieces=_PIECES, calls=_calls(_ARGUMENTS[0]))
    async with suite.scripted([first, _answer(suite, pieces=_PIECES), _answer(suite, pieces=_PIECES)]) as model:
        tools_before = copy.deepcopy(tools)
        answer = (await _ask(model, tools=tools)).message
        messages = [*_QUESTION, answer, Message.tool(answer.tool_calls[0].call_id, "rain", metadata={"by": ["host"]})]
        before = [dump_message(one) for one in messages]
        same = list(messages)
        await _ask(model, messages, tools=tools)
        if provides(model, StreamsCompletions):
            await _streamed(model, messages, tools=tools)
        assert messages == same, "the list of messages was changed"
        assert [dump_message(one) for one in messages] == before, "a message was changed"
        assert tools == tools_before, "the tools were changed"


@rule("MODEL-9", ChatModel, cause="the request runs in a task that is not cancelled, or a lock is kept.")
async def cancelling_leaves_nothing(suite: ChatModelConformance) -> None:
    hold = ScriptedHold()
    async with suite.scripted([hold, _answer(suite, pieces=_PIECES), _answer(suite, pieces=_PIECES)]) as model:
        task = asyncio.create_task(model.complete(_QUESTION))
        await _happened(suite, hold.begun, "the request did not arrive")
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=suite.patience)
        assert done, "a cancelled call does not end"
        assert task.cancelled(), "a cancelled call ended otherwise"
        await _happened(suite, hold.ended, "the request goes on after its call was cancelled")
        async with asyncio.timeout(suite.patience):
            again = await _ask(model)
        assert _visible(again.message) == "".join(_PIECES), f"the next call gives {_visible(again.message)!r}"


async def _happened(suite: ChatModelConformance, event: threading.Event, otherwise: str) -> None:
    if not await asyncio.to_thread(event.wait, suite.patience):
        raise AssertionError(f"{otherwise}, within {suite.patience:g} seconds")


@rule("MODEL-10", StreamsCompletions, cause="the final message is put together from less than what came, or yielded twice.")
async def streams_then_completes(suite: ChatModelConformance) -> None:
    scripts: list[ScriptedAnswer] = [
        _answer(suite, pieces=_PIECES),
        _answer(suite, StopReason.TOOL_CALLS, pieces=_PIECES, reasoning=suite.reasoning, calls=_calls(*_ARGUMENTS)),
        _answer(suite, StopReason.OUTPUT_LIMIT, pieces=_PIECES[:2]),
        _answer(suite, StopReason.TOOL_CALLS, calls=_calls(_ARGUMENTS[0])),
        _answer(suite, pieces=_PIECES, usage=Usage(input_tokens=1_000, output_tokens=70, cache_read_tokens=800)),
    ]
    for script in scripts:
        async with suite.scripted([script, script]) as model:
            items, whole = await _streamed(model, tools=_TOOLS), await _ask(model, tools=_TOOLS)
            last = [item for item in items if isinstance(item, Completion)]
            assert len(last) == 1, f"the stream has {len(last)} completions"
            assert items[-1] is last[0], "the completion is not the last item of the stream"
            pieces = [item.text for item in items if isinstance(item, TextDelta)]
            streamed = last[0]
            assert "".join(pieces) == _visible(streamed.message), f"pieces {pieces} of the text {_visible(streamed.message)!r}"
            assert all(pieces), "an empty piece was yielded"
            if len(script.pieces) > 1:
                assert len(pieces) > 1, "the text came in one piece"
            assert _said(streamed.message) == _said(whole.message), (
                f"the streamed message says {_said(streamed.message)}, the one at once {_said(whole.message)}"
            )
            facts = [(one.stop, one.raw_stop, one.usage) for one in (streamed, whole)]
            assert facts[0] == facts[1], f"streamed and at once, (stop, raw_stop, usage) are {facts}"
    cut = _answer(suite, StopReason.OUTPUT_LIMIT, calls=_calls(_CUT))
    async with suite.scripted([cut]) as model:
        completion = (await _streamed(model, tools=_TOOLS))[-1]
        assert isinstance(completion, Completion)
        calls = [(call.arguments, call.complete) for call in completion.message.tool_calls]
        assert calls == [(_CUT, False)], f"(arguments, complete) of a call that was cut in a stream: {calls}"
        assert completion.stop is StopReason.OUTPUT_LIMIT, f"the stop of a call that was cut in a stream is {completion.stop!r}"


async def _broken_stream(model: Any, got: list[str]) -> ModelCallFailed:
    try:
        async for item in model.stream(_QUESTION):
            assert isinstance(item, TextDelta), "a stream that broke gave a completion"
            got.append(item.text)
    except ModelCallFailed as error:
        return error
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"a stream that broke raised {type(error).__name__}: {error}, not ModelCallFailed") from error
    raise AssertionError("a stream that broke ended as if it were whole")


@rule("MODEL-11", StreamsCompletions, cause="the end of the connection is taken for the end of the answer, or text is held back.")
async def broken_stream_raises(suite: ChatModelConformance) -> None:
    in_stream = ScriptedFailure(status=200, type="overloaded_error", message="Overloaded.")
    scripts: Mapping[str, Scripted] = {
        "a closed connection": ScriptedBreak(pieces=_PIECES),
        "an error event": ScriptedBreak(pieces=_PIECES, failure=in_stream),
        "a connection closed before any text": ScriptedBreak(),
    }
    for what, script in scripts.items():
        async with suite.scripted([script]) as model:
            got: list[str] = []
            await _broken_stream(model, got)
            wanted = "".join(script.pieces) if isinstance(script, ScriptedBreak) else ""
            assert "".join(got) == wanted, f"before {what} came {wanted!r}, and {''.join(got)!r} was yielded"


@rule("MODEL-12", StreamsCompletions, cause="the response is not closed when the generator is.")
async def leaving_closes_the_connection(suite: ChatModelConformance) -> None:
    hold = ScriptedHold(pieces=_PIECES[:2])
    async with suite.scripted([hold, _answer(suite, pieces=_PIECES)]) as model:
        streaming: Any = model
        stream = streaming.stream(_QUESTION)
        try:
            async with asyncio.timeout(suite.patience):
                first = await anext(stream)
        except TimeoutError:
            raise AssertionError("the text that had come was not yielded while the answer went on") from None
        assert isinstance(first, TextDelta), f"the first item of a stream is {first!r:.200}"
        await stream.aclose()
        await _happened(suite, hold.ended, "the connection is open after the loop was left")
        again = await _ask(model)
        assert _visible(again.message) == "".join(_PIECES), f"the next call gives {_visible(again.message)!r}"
