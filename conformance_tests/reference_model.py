"""A provider in this process with a wire form of its own, and a plain chat model for it that keeps every rule."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from contextport.contracts import (
    InvalidArgument,
    Json,
    Message,
    ModelCallFailed,
    Part,
    Text,
    Thinking,
    ToolCall,
    implements,
    new_id,
)
from contextport.contracts.model import ChatModel, Completion, StopReason, StreamsCompletions, TextDelta, Usage
from contextport.contracts.provider_error import ProviderFailure

from .scripted_answers import Scripted, ScriptedAnswer, ScriptedBreak, ScriptedFailure, ScriptedHold, SentRequest

__all__ = ["WORDS", "ReferenceModel", "ReferenceProvider", "ReferenceProviderError"]

#: The provider's words for the end of an answer.
WORDS = {
    StopReason.END: "done",
    StopReason.STOP_SEQUENCE: "stopper",
    StopReason.TOOL_CALLS: "calls",
    StopReason.OUTPUT_LIMIT: "too long",
    StopReason.WINDOW_LIMIT: "window full",
    StopReason.REFUSAL: "refused",
    StopReason.FILTERED: "filtered",
}
_REASONS = {word: reason for reason, word in WORDS.items()}


class ReferenceProviderError(Exception):
    """What the provider's SDK raises."""

    def __init__(self, *, status: int | None = None, body: dict[str, Any], headers: dict[str, str]) -> None:
        super().__init__(body.get("message"))
        self.status, self.body, self.headers = status, body, headers


class ReferenceProvider:
    """Plays a script. A request is a dict of `messages`, `max`, `tools`; an answer is a dict of `say`, `think`, `calls` ..."""

    def __init__(self, script: Iterable[Scripted], key: str) -> None:
        self.script: deque[Scripted] = deque(script)
        self.key = key
        self.sent: list[SentRequest] = []

    def _next(self, request: dict[str, Any]) -> Scripted:
        self.sent.append(SentRequest(max_output=request.get("max"), body=json.dumps(request, ensure_ascii=False)))
        calls = [call["id"] for message in request["messages"] for call in message.get("calls", ())]
        results = [message["answers"] for message in request["messages"] if "answers" in message]
        if sorted(calls) != sorted(results):
            return ScriptedFailure(status=400, type="pairs", message=f"calls {calls} have results {results}")
        return self.script.popleft()

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer at once."""
        step = self._next(request)
        if isinstance(step, ScriptedHold):
            await self._hold(step)
        if isinstance(step, ScriptedBreak):
            raise self._error(step.failure)
        if isinstance(step, ScriptedFailure):
            raise self._error(step)
        assert isinstance(step, ScriptedAnswer)
        return _wire(step)

    async def listen(self, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The answer in pieces, `{"piece": ...}`, and the whole, `{"whole": ...}`, last."""
        step = self._next(request)
        if isinstance(step, ScriptedFailure):
            raise self._error(step)
        try:
            for piece in step.pieces:
                yield {"piece": piece}
            if isinstance(step, ScriptedHold):
                await self._hold(step)
        finally:
            if isinstance(step, ScriptedHold):
                step.ended.set()
        if isinstance(step, ScriptedBreak):
            raise self._error(step.failure)
        assert isinstance(step, ScriptedAnswer)
        yield {"whole": _wire(step)}

    async def _hold(self, step: ScriptedHold) -> None:
        step.begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            step.ended.set()

    def _error(self, failure: ScriptedFailure | None) -> ReferenceProviderError:
        sent = {"authorization": f"Bearer {self.key}"}
        if failure is None:
            return ReferenceProviderError(body={"message": "the connection was closed"}, headers=sent)
        body = {"message": failure.message, "type": failure.type, "code": failure.code}
        wait = {} if failure.retry_after is None else {"retry-after": str(failure.retry_after)}
        return ReferenceProviderError(status=failure.status, body=body, headers={**sent, **wait})


def _wire(step: ScriptedAnswer) -> dict[str, Any]:
    return {
        "say": step.text,
        "think": step.reasoning,
        "calls": [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in step.calls],
        "end": step.word,
        # As some providers count: what was cached is not part of `read`.
        "read": step.usage.input_tokens - step.usage.cache_read_tokens,
        "cached": step.usage.cache_read_tokens,
        "written": step.usage.output_tokens,
    }


@implements(ChatModel, StreamsCompletions)
class ReferenceModel:
    """Asks a `ReferenceProvider`."""

    def __init__(self, provider: ReferenceProvider) -> None:
        self.provider = provider

    @property
    def model(self) -> str:
        return "reference"

    @property
    def host(self) -> str:
        return ""

    @property
    def api(self) -> str:
        return ""

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        request = self.request(messages, max_output, tools)
        with self.mapped():
            return self.completion(await self.provider.ask(request))

    async def stream(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> AsyncIterator[TextDelta | Completion]:
        request = self.request(messages, max_output, tools)
        pieces = self.provider.listen(request)
        try:
            with self.mapped():
                async for piece in pieces:
                    yield TextDelta(piece["piece"]) if "piece" in piece else self.completion(piece["whole"])
        finally:
            await self.close(pieces)

    async def close(self, pieces: Any) -> None:
        """Close the connection of a stream."""
        await pieces.aclose()

    def request(self, messages: Sequence[Message], max_output: int | None, tools: Sequence[Json]) -> dict[str, Any]:
        """What is sent."""
        if max_output is not None and max_output < 1:
            raise InvalidArgument(f"max_output is {max_output}; it must be 1 or more", name="max_output", value=max_output)
        return {"messages": list(_wire_messages(messages)), "max": max_output, "tools": list(tools)}

    def completion(self, answer: dict[str, Any]) -> Completion:
        """What came, in our form."""
        message = self.message(answer)
        usage = self.usage(answer)
        return Completion(message=message, stop=self.stop(message, answer["end"]), raw_stop=answer["end"], usage=usage)

    def message(self, answer: dict[str, Any]) -> Message:
        """The assistant message."""
        parts: list[Part] = [Thinking(text=answer["think"])] if answer["think"] else []
        if answer["say"]:
            parts.append(Text(answer["say"]))
        parts += [self.call(call) for call in self.told_apart(answer["calls"])]
        return Message(role="assistant", parts=tuple(parts))

    def told_apart(self, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The calls, each with an id that none before it has."""
        ids = [call["id"] for call in calls]
        return [call if call["id"] and call["id"] not in ids[:n] else {**call, "id": new_id()} for n, call in enumerate(calls)]

    def call(self, call: dict[str, Any]) -> ToolCall:
        """One call."""
        arguments = call["arguments"]
        return ToolCall(call_id=call["id"], name=call["name"], arguments=arguments, complete=self.is_whole(arguments))

    def is_whole(self, arguments: str) -> bool:
        """Whether the arguments of a call are whole."""
        try:
            json.loads(arguments)
        except ValueError:
            return False
        return True

    def stop(self, message: Message, word: str) -> StopReason:
        """The neutral reason."""
        if any(call.complete for call in message.tool_calls):
            return StopReason.TOOL_CALLS
        reason = _REASONS.get(word, StopReason.UNKNOWN)
        return StopReason.MALFORMED if reason is StopReason.TOOL_CALLS else reason

    def usage(self, answer: dict[str, Any]) -> Usage:
        """The tokens."""
        read = answer["read"] + answer["cached"]
        return Usage(input_tokens=read, output_tokens=answer["written"], cache_read_tokens=answer["cached"])

    @contextmanager
    def mapped(self) -> Generator[None]:
        """Give errors of the provider our form."""
        try:
            yield
        except ReferenceProviderError as error:
            failure = self.failure(error)
            raise ModelCallFailed(f"the model did not answer, status {failure.status}", failure=failure) from error

    def failure(self, error: ReferenceProviderError) -> ProviderFailure:
        """What the provider said."""
        wait = error.headers.get("retry-after")
        return ProviderFailure(
            status=error.status,
            code=error.body.get("code"),
            type=error.body.get("type"),
            message=self.masked(str(error.body.get("message"))),
            retry_after=None if wait is None else float(wait),
        )

    def masked(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self.provider.key, "[key]")


def _wire_messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    for message in messages:
        for result in message.tool_results:
            yield {"answers": result.call_id, "say": message.text}
        if not message.tool_results:
            calls = [{"id": call.call_id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls]
            yield {"who": message.role, "say": message.text, "calls": calls}
