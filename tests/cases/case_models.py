"""The fake models of case files: chat models that refuse, break off or stop early as a case says."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any, cast

from contextport.contracts import (
    ChatModel,
    Completion,
    InvalidArgument,
    Json,
    Message,
    ModelCallFailed,
    Part,
    ProviderFailure,
    StopReason,
    StreamsCompletions,
    Text,
    TextDelta,
    TokenCounter,
    ToolCall,
    implements,
    to_chat,
)

from .evidence import Dict

STOPS = {
    "stop": StopReason.END,
    "end_turn": StopReason.END,
    "length": StopReason.OUTPUT_LIMIT,
    "max_tokens": StopReason.OUTPUT_LIMIT,
    "model_context_window_exceeded": StopReason.WINDOW_LIMIT,
    "tool_calls": StopReason.TOOL_CALLS,
    "tool_use": StopReason.TOOL_CALLS,
    "pause_turn": StopReason.PAUSED,
    "refusal": StopReason.REFUSAL,
    "content_filter": StopReason.FILTERED,
}
#: Failures by name: status, code, type, text.
FAILURES: dict[str, tuple[int, str | None, str | None, str]] = {
    "overflow": (400, "context_length_exceeded", "invalid_request_error", "the input exceeds the context window of this model"),
    "server_error": (500, None, "server_error", "The server had an error while processing the request"),
    "rate_limit": (429, "rate_limit_exceeded", "requests", "Rate limit reached for requests per minute"),
    "overloaded": (529, None, "overloaded_error", "Overloaded"),
    "body": (413, None, "request_too_large", "Request exceeds the maximum size"),
    "prefill": (400, None, "invalid_request_error", "messages: final assistant content cannot end with trailing whitespace"),
}
_PIECE = 4


@implements(ChatModel, StreamsCompletions)
class CaseModel:
    """A fake model. `requests` are the wire messages it was sent, `limits` the output limits beside them."""

    model = "case"
    host = ""
    api = "openai.chat"

    def __init__(self, fake: Dict, counter: TokenCounter) -> None:
        self._fake = fake
        self._counter = counter
        self.requests: list[list[Dict]] = []
        self.limits: list[int | None] = []

    @property
    def has_more_steps(self) -> bool:
        """Whether a script is not at its end."""
        return len(self.requests) < len(self._fake.get("steps", []))

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        step = self._step(messages, max_output)
        if isinstance(step, Completion):
            return step
        raise step[1]

    async def stream(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> AsyncGenerator[TextDelta | Completion]:
        step = self._step(messages, max_output)
        text = step.message.text if isinstance(step, Completion) else step[0]
        for n in range(0, len(text), _PIECE):
            yield TextDelta(text[n : n + _PIECE])
        if not isinstance(step, Completion):
            raise step[1]
        yield step

    def _step(self, messages: Sequence[Message], max_output: int | None) -> Completion | tuple[str, ModelCallFailed]:
        """The completion, or what is streamed before a failure and the failure."""
        if max_output is not None and max_output < 1:
            raise InvalidArgument(f"max_output is {max_output}")
        self.requests.append(to_chat(messages))
        self.limits.append(max_output)
        refusal = self._refusal(messages)
        if refusal is not None:
            return "", _failure(refusal)
        if "always" in self._fake:
            return _answer(self._fake["always"])
        steps = self._fake.get("steps")
        return _answer("ok:Done" if steps is None else steps[len(self.requests) - 1])

    def _refusal(self, messages: Sequence[Message]) -> str | None:
        fake, wire = self._fake, self.requests[-1]
        if "overflow_above" in fake and sum(map(self._counter.count_message, messages)) > fake["overflow_above"]:
            return "overflow"
        if "reject_body_over_bytes" in fake and len(json.dumps(wire).encode()) > fake["reject_body_over_bytes"]:
            return "body"
        strict = fake.get("strict")
        if strict not in (None, "no_trailing_whitespace_prefill"):
            raise ValueError(f"strict {strict!r} is not known")
        last = messages[-1]
        glued = last.role == "assistant" and (not last.text or last.text != last.text.rstrip())
        return "prefill" if strict and glued else None


def _failure(name: str) -> ModelCallFailed:
    if name not in FAILURES:
        raise ValueError(f"the failure {name!r} is not known; known: {', '.join(FAILURES)}, ok")
    status, code, kind, text = FAILURES[name]
    failure = ProviderFailure(status=status, code=code, type=kind, message=text)
    return ModelCallFailed(f"the provider answered {status}: {text}", failure=failure)


def _answer(step: Any) -> Completion | tuple[str, ModelCallFailed]:
    if isinstance(step, str):
        name, _, text = step.partition(":")
        if name == "ok":
            return _completion({"text": text, "finish_reason": "stop"})
        return text, _failure(name.removesuffix("_after_partial"))
    return _completion(cast(Dict, step))


def _completion(step: Dict) -> Completion:
    raw = str(step.get("finish_reason") or step.get("stop_reason") or "stop")
    calls = tuple([_call(wire) for wire in step.get("tool_calls", [])])
    stop = STOPS[raw]
    if any(call.complete for call in calls):
        stop = StopReason.TOOL_CALLS
    elif stop is StopReason.TOOL_CALLS:
        stop = StopReason.UNKNOWN  # MODEL-3
    text = step.get("text", "")
    parts: tuple[Part, ...] = ((Text(text),) if text else ()) + calls
    return Completion(message=Message(role="assistant", parts=parts), stop=stop, raw_stop=raw)


def _call(wire: Dict) -> ToolCall:
    arguments = wire["function"]["arguments"]
    try:
        json.loads(arguments)
        whole = True
    except ValueError:
        whole = False
    return ToolCall(call_id=wire["id"], name=wire["function"]["name"], arguments=arguments, complete=whole)
