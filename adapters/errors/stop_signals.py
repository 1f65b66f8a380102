"""Completions that ended at a limit: what their stop reason means. Sources: the enums of the vendors' packages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from attrs import frozen

from contextport.contracts.provider_error import ErrorKind

from .safe_access import integer, peek

__all__ = ["StopSignal", "stop_signal", "stop_signal_of_text"]


@frozen(kw_only=True)
class StopSignal:
    """A stop reason with its meaning, and the usage that came with it, in tokens."""

    reason: str
    kind: ErrorKind
    input: int | None = None
    output: int | None = None


#: Lower case, without `reason_` in front. Anthropic, Bedrock, z.ai; Mistral; xAI.
STOP_REASONS: Final = {
    "model_context_window_exceeded": ErrorKind.OUTPUT_HIT_WINDOW,
    "context_window_exceeded": ErrorKind.OUTPUT_HIT_WINDOW,
    "model_length": ErrorKind.OUTPUT_HIT_WINDOW,
    "max_context": ErrorKind.OUTPUT_HIT_WINDOW,
    "context_length": ErrorKind.OUTPUT_HIT_WINDOW,
    "length": ErrorKind.OUTPUT_TRUNCATED,
    "max_tokens": ErrorKind.OUTPUT_TRUNCATED,
    "max_output_tokens": ErrorKind.OUTPUT_TRUNCATED,
    "max_len": ErrorKind.OUTPUT_TRUNCATED,
    "content_filter": ErrorKind.CONTENT_FILTER,
    "content_filtered": ErrorKind.CONTENT_FILTER,
    "guardrail_intervened": ErrorKind.CONTENT_FILTER,
    "refusal": ErrorKind.CONTENT_FILTER,
    "safety": ErrorKind.CONTENT_FILTER,
    "sensitive": ErrorKind.CONTENT_FILTER,
    "prohibited_content": ErrorKind.CONTENT_FILTER,
    "recitation": ErrorKind.CONTENT_FILTER,
    "blocklist": ErrorKind.CONTENT_FILTER,
    "spii": ErrorKind.CONTENT_FILTER,
}
_KEYS: Final = ("stop_reason", "stopReason", "finish_reason", "finishReason", "done_reason")
_INSIDE: Final = ("incomplete_details", "message", "delta", "response")
_LISTS: Final = ("choices", "candidates", "output")
_IN_TEXT: Final = re.compile(r"\A\W*(?:\w+ )?(?:stop|finish|done)[_ ]?reason\W{1,4}([A-Za-z_]{3,60})\W*\Z", re.IGNORECASE)
_INPUTS: Final = ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_token_count", "prompt_eval_count")
_OUTPUTS: Final = (
    "completion_tokens",
    "output_tokens",
    "outputTokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "eval_count",
)


def stop_signal(answer: object) -> StopSignal | None:
    """The stop reason of a completion, or None if there is none or it is a natural end.

    `length` with no output at all means that the input left no room: servers that accept too much answer so.
    """
    if answer is None or isinstance(answer, str | bytes | BaseException):
        return None
    reason = _reason(answer, 3)
    kind = STOP_REASONS.get(reason)
    if kind is None:
        return None
    usage = peek(answer, "usage", "usageMetadata", "usage_metadata") or answer
    given, written = integer(peek(usage, *_INPUTS)), integer(peek(usage, *_OUTPUTS))
    if kind is ErrorKind.OUTPUT_TRUNCATED and written == 0 and given:
        kind = ErrorKind.SILENT
    return StopSignal(reason=reason, kind=kind, input=given, output=written)


def stop_signal_of_text(text: str) -> StopSignal | None:
    """A text that is a stop reason and nothing else, such as `finish_reason=model_length`."""
    found = _IN_TEXT.match(text) if len(text) < 120 else None
    kind = STOP_REASONS.get(_plain(found[1])) if found else None
    return StopSignal(reason=_plain(found[1]), kind=kind) if found and kind else None


def _plain(reason: str) -> str:
    return reason.lower().rpartition("finishreason.")[2].removeprefix("finish_").removeprefix("reason_")


def _reason(answer: object, depth: int) -> str:
    """The first stop reason in an answer, in lower case; empty if there is none."""
    found: Any = peek(answer, *_KEYS)
    name = found if isinstance(found, str) else peek(found, "name", "value")
    if isinstance(name, str):
        return _plain(name)
    if depth == 0:
        return ""
    details = peek(answer, "incomplete_details")
    inner = peek(details, "reason")
    if isinstance(inner, str):
        return _plain(inner)
    for key in _INSIDE:
        held = peek(answer, key)
        if held is not None and not isinstance(held, str | bytes) and (reason := _reason(held, depth - 1)):
            return reason
    for key in _LISTS:
        held = peek(answer, key)
        if isinstance(held, Sequence) and not isinstance(held, str | bytes):
            for one in cast("Sequence[object]", held)[:3]:
                if reason := _reason(one, depth - 1):
                    return reason
    return ""
