"""Chat models that do what a test says: they implement the port, keep what they were asked, and stop where they are told to."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from contextport.contracts import (
    ChatModel,
    Completion,
    InvalidArgument,
    Message,
    ModelCallFailed,
    Part,
    ProviderFailure,
    StopReason,
    StreamsCompletions,
    Text,
    TextDelta,
    ToolCall,
    Usage,
    implements,
)
from contextport.strategies import newest_question

Asked = tuple[tuple[Message, ...], int | None]
Step = Completion | Exception


def said(text: str = "", stop: StopReason = StopReason.END, *more: Part, usage: Usage | None = None) -> Completion:
    """A completion of a text and other parts."""
    parts = ((Text(text),) if text else ()) + more
    return Completion(message=Message(role="assistant", parts=parts), stop=stop, raw_stop=stop.value, usage=usage)


def cut(text: str = "", *more: Part, usage: Usage | None = None) -> Completion:
    return said(text, StopReason.OUTPUT_LIMIT, *more, usage=usage)


def call(arguments: str = '{"path":"a.txt"}', name: str = "save", call_id: str = "c1") -> ToolCall:
    """A call that is complete if its arguments are JSON, as MODEL-3 has it."""
    try:
        json.loads(arguments)
    except ValueError:
        return ToolCall(call_id=call_id, name=name, arguments=arguments, complete=False)
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def failed(message: str, status: int = 400, code: str | None = None, kind: str | None = None) -> ModelCallFailed:
    failure = ProviderFailure(status=status, code=code, type=kind, message=message)
    return ModelCallFailed(f"the provider answered {status}: {message}", failure=failure)


def overflow(message: str = "maximum context length exceeded") -> ModelCallFailed:
    return failed(message, code="context_length_exceeded")


#: What a smaller request does not help.
OTHERS = [
    failed("Rate limit reached for requests", 429, "rate_limit_exceeded", "requests"),
    failed(
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000", 429, "rate_limit_exceeded", "tokens"
    ),
    failed("You exceeded your current quota", 429, "insufficient_quota", "insufficient_quota"),
    failed("Incorrect API key provided", 401, "invalid_api_key"),
    failed("Overloaded", 529, None, "overloaded_error"),
    failed("The server had an error", 500, None, "server_error"),
    failed("temperature must be between 0 and 2", 400),
]


def body_error() -> ModelCallFailed:
    return failed("Request exceeds the maximum size", 413, None, "request_too_large")


@implements(ChatModel)
class ScriptedModel:
    """Answers from `steps`, one per call, or by asking a function."""

    model = "scripted"
    host = ""
    api = "openai.chat"

    def __init__(self, steps: Sequence[Step] | Callable[[Sequence[Message], int | None], Step]) -> None:
        self._steps = steps
        self.asked: list[Asked] = []

    def next_step(self, messages: Sequence[Message], max_output: int | None) -> Completion:
        if max_output is not None and max_output < 1:
            raise InvalidArgument(f"max_output is {max_output}")
        self.asked.append((tuple(messages), max_output))
        steps = self._steps
        step = steps(messages, max_output) if callable(steps) else steps[len(self.asked) - 1]
        if isinstance(step, Exception):
            raise step
        return step

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Any] = ()
    ) -> Completion:
        return self.next_step(messages, max_output)


@implements(ChatModel, StreamsCompletions)
class StreamingModel(ScriptedModel):
    """The same, in pieces of `piece` characters. A text in `breaks` is streamed before the failure of the same call."""

    def __init__(
        self,
        steps: Sequence[Step] | Callable[[Sequence[Message], int | None], Step],
        piece: int = 3,
        breaks: Sequence[str] = (),
    ) -> None:
        super().__init__(steps)
        self._piece = piece
        self._breaks = breaks
        self.closed = 0

    async def stream(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Any] = ()
    ) -> AsyncGenerator[TextDelta | Completion]:
        try:
            try:
                completion = self.next_step(messages, max_output)
            except ModelCallFailed:
                if len(self.asked) <= len(self._breaks):
                    for delta in self._pieces(self._breaks[len(self.asked) - 1]):
                        yield delta
                raise
            for delta in self._pieces(completion.message.text):
                yield delta
            yield completion
        finally:
            self.closed += 1

    def _pieces(self, text: str) -> list[TextDelta]:
        return [TextDelta(text[n : n + self._piece]) for n in range(0, len(text), self._piece)]


class Writer:
    """Writes `text` as a model does that is shown the end of what it wrote: `limits` characters per call, from there on.

    `repeats` characters before the cut are said again. A trimmed end is written again, as after a prefill.
    """

    def __init__(self, text: str, limits: Sequence[int], repeats: int = 0) -> None:
        self.text = text
        self.repeats = repeats
        self._limits = list(limits)

    def __call__(self, messages: Sequence[Message], max_output: int | None) -> Completion:
        at = self._place(messages)
        start = max(0, at - self.repeats)
        limit = self._limits.pop(0) if self._limits else len(self.text)
        stop = min(len(self.text), at + limit)
        return cut(self.text[start:stop]) if stop < len(self.text) else said(self.text[start:])

    def _place(self, messages: Sequence[Message]) -> int:
        question = newest_question(messages)
        after = messages[0 if question is None else question :]
        shown = next((message.text for message in reversed(after) if message.role == "assistant"), "")
        end = shown.rsplit("left out…]", 1)[-1]
        if self.text.startswith(end):
            return len(end)
        assert self.text.count(end) == 1, f"the model is shown what it never wrote, or cannot tell where it is: {end!r}"
        return self.text.find(end) + len(end)
