"""The fake models of case files: chat models that refuse, break off or stop early as a case says."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from itertools import pairwise
from typing import Any, cast

import attrs

from contextport.contracts import (
    ChatModel,
    Completion,
    InvalidArgument,
    Json,
    Message,
    ModelCallFailed,
    Part,
    ProviderFailure,
    Refusal,
    StreamsCompletions,
    TextDelta,
    TokenCounter,
    ToolCall,
    from_chat,
    implements,
    to_chat,
)
from contextport.contracts.stop_reasons import STOP_WORDS, stop_reason
from contextport.contracts.usage import usage_from

from .evidence import Dict

#: The api whose word each stop word is, whatever its spelling: `MAX_TOKENS`, `max_tokens` and `max-tokens` are one.
_API_OF_WORD = {word.lower(): (api, word) for api, words in list(STOP_WORDS.items())[::-1] for word in words}
#: Failures by name: status, code, type, text.
FAILURES: dict[str, tuple[int, str | None, str | None, str]] = {
    "overflow": (400, "context_length_exceeded", "invalid_request_error", "the input exceeds the context window of this model"),
    "server_error": (500, None, "server_error", "The server had an error while processing the request"),
    "rate_limit": (429, "rate_limit_exceeded", "requests", "Rate limit reached for requests per minute"),
    "overloaded": (529, None, "overloaded_error", "Overloaded"),
    "unavailable": (503, None, "server_error", "The service is unavailable, try again later"),
    "timeout": (408, None, "timeout", "Request timed out"),
    "quota": (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota"),
    "auth": (401, "invalid_api_key", "invalid_request_error", "Incorrect API key provided"),
    "invalid_request": (400, None, "invalid_request_error", "Invalid value for a parameter"),
    "content_filter": (400, "content_filter", None, "The response was filtered"),
    "body": (413, None, "request_too_large", "Request exceeds the maximum size"),
    "whitespace": (400, None, "invalid_request_error", "messages: final assistant content cannot end with trailing whitespace"),
    "prefill": (400, None, "invalid_request_error", "This model does not support assistant message prefill"),
    "order": (400, None, "invalid_request_error", "messages: roles must alternate between user and assistant"),
    "empty": (400, None, "invalid_request_error", "messages: content must not be empty"),
}
_ALIASES = {"error": "server_error", "stream_error": "server_error", "connection_error": "server_error", "429": "rate_limit"}
#: Names of what a provider is strict about.
_NO_PREFILL = ("no_prefill", "last_is_user", "last_must_be_user", "ends_with_user", "no_assistant_prefill")
_NO_WHITESPACE = ("no_trailing_whitespace_prefill", "no_trailing_whitespace", "no_empty_prefill")
_ALTERNATE = ("alternate", "alternating", "alternating_roles", "strict_roles", "roles_alternate")
_USER_FIRST = ("starts_with_user", "first_is_user", "first_must_be_user")
_NOT_EMPTY = ("no_empty_content", "no_empty", "no_empty_messages", "no_empty_assistant")
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
    def steps_left(self) -> list[Any]:
        """What is left of a script."""
        return list(self._fake.get("steps", [])[len(self.requests) :])

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
            return "", self._failure(refusal)
        if "always" in self._fake:
            return self._answer(self._fake["always"])
        steps = self._fake.get("steps")
        return self._answer("ok:Done" if steps is None else steps[len(self.requests) - 1])

    def _refusal(self, messages: Sequence[Message]) -> str | None:
        fake, wire = self._fake, self.requests[-1]
        if "overflow_above" in fake and sum(map(self._counter.count_message, messages)) > fake["overflow_above"]:
            return "overflow"
        if "reject_body_over_bytes" in fake and len(json.dumps(wire).encode()) > fake["reject_body_over_bytes"]:
            return "body"
        return next((fault for one in _strict(fake) if (fault := _fault(one, wire))), None)

    def _failure(self, named: Any) -> ModelCallFailed:
        """The failure of that name, or of that status, code, type and message. `status` of the fake is that of its refusals."""
        if isinstance(named, dict):
            given = cast(Dict, named)
            base = self._failure(str(given["name"])) if "name" in given else None
            failure = ProviderFailure() if base is None else cast(ProviderFailure, base.details["failure"])
            stated = {key: given[key] for key in ("status", "code", "type", "message") if key in given}
            return _raised(attrs.evolve(failure, **stated))
        name = _ALIASES.get(named, named)
        if name not in FAILURES:
            raise ValueError(f"the failure {named!r} is not known; known: {', '.join(FAILURES)}, ok")
        status, code, kind, text = FAILURES[name]
        return _raised(ProviderFailure(status=self._fake.get("status", status), code=code, type=kind, message=text))

    def _answer(self, step: Any) -> Completion | tuple[str, ModelCallFailed]:
        if isinstance(step, str):
            name, _, text = step.partition(":")
            if name == "ok":
                return _completion({"text": text, "finish_reason": "stop"})
            return text, self._failure(name.removesuffix("_after_partial"))
        given = cast(Dict, step)
        return (given.get("text") or "", self._failure(given["error"])) if "error" in given else _completion(given)


def _raised(failure: ProviderFailure) -> ModelCallFailed:
    return ModelCallFailed(f"the provider answered {failure.status}: {failure.message}", failure=failure)


def _strict(fake: Dict) -> list[str]:
    strict = fake.get("strict") or []
    return [strict] if isinstance(strict, str) else list(strict)


def refuses_prefill(fake: Dict) -> bool:
    """Whether the model wants the last word to be the user's."""
    return any(one in _NO_PREFILL for one in _strict(fake))


def _fault(strict: str, wire: list[Dict]) -> str | None:
    """The failure by which a provider that is strict in this way refuses the messages; None if it takes them."""
    said = [one for one in wire if one["role"] not in ("system", "developer")]
    last = said[-1] if said else {}
    if strict in _NO_PREFILL:
        return "prefill" if last.get("role") == "assistant" else None
    if strict in _NO_WHITESPACE:
        text = _text(last)
        return "whitespace" if last.get("role") == "assistant" and (not text or text != text.rstrip()) else None
    if strict in _ALTERNATE:
        roles = [one["role"] for one in said if one["role"] != "tool"]
        return "order" if roles[:1] != ["user"] or any(a == b for a, b in pairwise(roles)) else None
    if strict in _USER_FIRST:
        return None if said and said[0]["role"] == "user" else "order"
    if strict in _NOT_EMPTY:
        return "empty" if any(not _text(one).strip() and not one.get("tool_calls") for one in said) else None
    raise ValueError(f"strict {strict!r} is not known")


def _text(wire: Dict) -> str:
    content = wire.get("content")
    if isinstance(content, list):
        return "".join([str(part.get("text") or "") for part in cast(list[Dict], content)])
    return content if isinstance(content, str) else ""


def _completion(step: Dict) -> Completion:
    """The answer of a step: an assistant message in chat form, or its fields, with the provider's word for its end."""
    given = {**step, **cast(Dict, step.get("message") or {})}
    raw = str(step.get("finish_reason") or step.get("stop_reason") or ("tool_calls" if given.get("tool_calls") else "stop"))
    api, word = _API_OF_WORD.get(raw.replace("-", "_").lower(), ("openai.chat", raw))
    cut = stop_reason(api, word).is_cut
    parts = [*_said(given), *(_call(wire, cut=cut) for wire in given.get("tool_calls") or [])]
    usage = usage_from("openai.chat", step["usage"]) if isinstance(step.get("usage"), dict) else None
    calls, refused = [part for part in parts if isinstance(part, ToolCall)], any(isinstance(part, Refusal) for part in parts)
    stop = stop_reason(api, word, calls=calls, refused=refused)
    return Completion(message=Message(role="assistant", parts=tuple(parts)), stop=stop, raw_stop=raw, usage=usage)


def _said(given: Dict) -> list[Part]:
    """The parts apart from calls: `content` in any chat form, else `thinking` and `text`."""
    content = given.get("content", given.get("text"))
    thinking = given.get("thinking") or given.get("reasoning") or given.get("reasoning_content")
    before = [{"type": "thinking", "thinking": thinking}] if thinking else []
    after = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    if not before and not after and not given.get("refusal"):
        return []
    wire = {"role": "assistant", "content": [*before, *cast(list[Any], after)]}
    return list(from_chat({**wire, "refusal": given["refusal"]} if given.get("refusal") else wire).parts)


def _call(wire: Dict, *, cut: bool) -> ToolCall:
    arguments = wire["function"].get("arguments") or ""
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    try:
        json.loads(arguments or ("" if cut else "{}"))
        whole = True
    except ValueError:
        whole = False
    return ToolCall(call_id=wire["id"], name=wire["function"]["name"], arguments=arguments, complete=whole)
