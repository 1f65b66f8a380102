"""The rules of `ErrorClassifier`. The errors are of the shapes that providers send; the texts are made for the suite."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from contextport.contracts.errors import ModelCallFailed
from contextport.contracts.provider_error import ErrorClassifier, ErrorKind, ErrorReading, ProviderFailure, Remedy

from .rules import rule

if TYPE_CHECKING:
    from .suites import ErrorClassifierConformance

__all__: list[str] = []

# --- errors as they are met ---------------------------------------------------------------------------------------------


class ForeignError(Exception):
    """An exception of a vendor's package: what it knows are attributes."""

    def __init__(self, message: str, **known: Any) -> None:
        super().__init__(message)
        for name, value in known.items():
            setattr(self, name, value)


class ContextWindowExceededError(ForeignError):
    """A gateway's class for overflows; it was seen on other errors too."""


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class _Touchy:
    """Every attribute raises."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise RuntimeError(f"{name} was touched")


class _Response:
    """An HTTP response that was read."""

    def __init__(self, status: int, body: Any) -> None:
        self.status_code = status
        self.headers = {"content-type": "application/json"}
        self.text = body if isinstance(body, str) else json.dumps(body)


def _chat(
    message: str, *, status: int = 400, code: str | None = None, kind: str | None = "invalid_request_error"
) -> dict[str, Any]:
    return {"status": status, "body": {"error": {"message": message, "type": kind, "code": code}}}


def _failure(message: str = "", status: int | None = 400, **more: Any) -> ProviderFailure:
    return ProviderFailure(status=status, message=message, **more)


def _caused_by(message: str, cause: BaseException) -> Exception:
    error = RuntimeError(message)
    error.__cause__ = cause
    return error


def _strange() -> Iterator[object]:
    circle: dict[str, Any] = {"error": {}}
    circle["error"]["error"] = circle
    loop = ForeignError("first")
    loop.__cause__ = _caused_by("second", loop)
    yield from (
        None,
        "",
        "\ud800\u0000",
        b"\xff\xfe{",
        0,
        1.5,
        [],
        (),
        {},
        {1: 2},
        {"error": None},
        {"status": "x", "body": [None]},
        object(),
    )
    yield from (
        circle,
        loop,
        _Unprintable(),
        _Touchy(),
        KeyboardInterrupt(),
        ValueError,
        ForeignError("x", status_code=object(), body=[[[]]]),
    )
    yield from (
        _failure(status=None),
        _failure("{" * 3_000),
        _Response(500, "<html>"),
        "prompt " * 200_000,
        {"error": '{"error":' * 2_000},
    )
    yield from (
        ExceptionGroup("many", [ValueError("a"), _Unprintable()]),
        ForeignError("y", response=_Touchy(), headers=7, request=3),
    )


def _read(classifier: ErrorClassifier, error: object, provider: str = "") -> ErrorReading:
    try:
        return classifier.classify(error, provider=provider)
    except Exception as raised:
        raise AssertionError(f"classify raised {type(raised).__name__}: {raised} on {_shown(error)}") from raised


def _shown(error: object) -> str:
    try:
        failure = error.failure if isinstance(error, ModelCallFailed) else error
        if isinstance(failure, ProviderFailure):  # its own repr keeps the text to itself
            return f"{type(error).__name__} of {failure.status}, {failure.code}, {failure.type}: {failure.message!r:.160}"
        return f"{error!r:.160}"
    except Exception:
        return type(error).__name__


# --- the rules ----------------------------------------------------------------------------------------------------------


@rule("CLASSIFIER-1", ErrorClassifier, cause="an attribute, a key or str() of a foreign object is used without a guard.")
async def reads_every_object(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    for error in _strange():
        for provider in ("", "openai", "\ud800"):
            reading = _read(classifier, error, provider)
            well_formed = (
                isinstance(reading, ErrorReading) and isinstance(reading.kind, ErrorKind) and isinstance(reading.remedy, Remedy)
            )
            assert well_formed, f"{_shown(error)} was read as {reading!r:.80}, which is no reading"


_WINDOW_TEXTS = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Your input exceeds the context window of this model.",
    "Input is too long for requested model.",
    "input length exceeds maximum context length",
)
_OVERFLOWS: tuple[tuple[object, str], ...] = (
    (_failure("Bad request", code="context_length_exceeded"), "openai"),
    (_failure("Bad request", status=413, code="context_length_exceeded"), ""),
    (_failure("request failed", code="400", type="exceed_context_size_error"), "llama_cpp"),
    (_failure("request failed", code="3051"), "mistral"),
    (_failure("bad parameter", code="1261"), "zhipu"),
    (_chat("shorten it", code="context_length_exceeded"), ""),
    (_chat(_WINDOW_TEXTS[1], status=200, kind="invalid_request_error"), "anthropic"),
    (_failure(_WINDOW_TEXTS[0], status=503), ""),
    (_failure(_WINDOW_TEXTS[2], status=403), ""),
    (_failure(_WINDOW_TEXTS[3], status=422), ""),
    *((ForeignError(text, status_code=400), "") for text in _WINDOW_TEXTS),
    *((_Response(400, {"error": {"message": text}}), "") for text in _WINDOW_TEXTS),
    *((ModelCallFailed("no answer", failure=_failure(text)), "") for text in _WINDOW_TEXTS),
    ({"stop_reason": "model_context_window_exceeded", "content": []}, "anthropic"),
    ({"choices": [{"finish_reason": "model_length"}]}, "mistral"),
    ({"type": "response.failed", "response": {"error": {"code": "context_length_exceeded", "message": "no"}}}, "openai"),
)


@rule("CLASSIFIER-2", ErrorClassifier, cause="the status is looked at first, or only one of code, type and text is read.")
async def overflows_are_found(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    for error, provider in _OVERFLOWS:
        reading = _read(classifier, error, provider)
        assert reading.is_overflow, f"{_shown(error)} of {provider or 'an unknown provider'} was read as {reading.kind}"


_OTHERS: tuple[tuple[object, str], ...] = (
    (_failure("Too many tokens, please wait before trying again.", status=429, code="ThrottlingException"), "bedrock"),
    (_failure("Rate limit reached: 30000 tokens per minute, requested 9000 tokens in the prompt", status=None), ""),
    (
        _failure(
            "Request too large on tokens per minute (TPM): Limit 6000, Requested 9000",
            status=413,
            code="rate_limit_exceeded",
            type="tokens",
        ),
        "",
    ),
    (_failure("You exceeded your current quota of tokens", status=429, code="insufficient_quota"), "openai"),
    (_failure("Prompt tokens limit exceeded: 9000 > 5000. Add credits", status=402), "openrouter"),
    (_failure("invalid token: token length exceeds limit", status=401), ""),
    (_failure("max_tokens is too large: 40000. This model supports at most 16384 completion tokens"), "openai"),
    (
        _failure(
            "'max_tokens' is too large: 5000. This model's maximum context length is 8192 tokens and your request has "
            "4000 input tokens"
        ),
        "",
    ),
    (_failure("Request body too large: 41000000 bytes exceeds the limit of 33554432 bytes", status=413), ""),
    (_failure("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after"), "anthropic"),
    (
        _failure(
            "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40",
            code="string_above_max_length",
        ),
        "",
    ),
    (
        ContextWindowExceededError(
            "ContextWindowExceededError: Invalid 'messages[3].tool_calls[0].id': string too long. "
            "Expected a string with maximum length 40",
            status_code=400,
        ),
        "",
    ),
    (ForeignError("context deadline exceeded", status_code=504), ""),
    (_failure("number of images exceeds the limit of 20"), ""),
    ({"choices": [{"finish_reason": "length", "message": {"content": "Half"}}]}, "openai"),
)


@rule(
    "CLASSIFIER-3", ErrorClassifier, cause="words such as tokens, context and exceeded are enough, or a class name is believed."
)
async def look_alikes_are_no_overflows(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    for error, provider in _OTHERS:
        reading = _read(classifier, error, provider)
        assert not reading.is_overflow, f"{_shown(error)} was read as {reading.kind} ({reading.evidence})"


_NUMBERED: tuple[tuple[str, dict[str, int | None]], ...] = (
    ("prompt is too long: 210000 tokens > 200000 maximum", {"input": 210_000, "limit": 200_000}),
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9,001 tokens.",
        {"limit": 8_192, "input": 9_001},
    ),
    (
        "model llm-480b-2025 (request req_77): prompt is too long: 150,000 tokens > 131,072 maximum",
        {"input": 150_000, "limit": 131_072},
    ),
    ("prompt is too long: 210 000 tokens > 200 000 maximum", {"input": 210_000, "limit": 200_000}),
    (
        "messages.12: prompt is too long: 9001 tokens > 8192 maximum. Sent at 2026-11-30T10:15:00Z",
        {"input": 9_001, "limit": 8_192},
    ),
    ("Your input exceeds the context window of llm-480b. Request id 8812", {"input": None, "limit": None}),
)


@rule("CLASSIFIER-4", ErrorClassifier, cause="numbers are taken by their place in the text, or wherever digits stand.")
async def numbers_have_roles(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    for text, wanted in _NUMBERED:
        reading = _read(classifier, _failure(text))
        for name, value in wanted.items():
            got = getattr(reading, name)
            assert got == value, f"{name} of {text!r} is {got}, not {value}"


_INNER = "prompt is too long: 210000 tokens > 200000 maximum"
_WRAPPED = json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": _INNER}})


@rule("CLASSIFIER-5", ErrorClassifier, cause="only the outermost message is read.")
async def inner_errors_are_found(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    nested: tuple[object, ...] = (
        _chat(f"Upstream said: {_WRAPPED}"),
        {"status": 400, "body": {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": _WRAPPED}}}},
        _failure(f"gateway.BadRequestError: upstream.BadRequestError: UpstreamException - {_INNER}. Received group=x"),
        _caused_by("the chain failed", ForeignError(_INNER, status_code=400)),
        _caused_by("the agent failed", _caused_by("the chain failed", ForeignError(_INNER, status_code=400))),
        f"event: error\ndata: {_WRAPPED}\n\n",
        ForeignError("Bad Request", status_code=400, body=_WRAPPED),
    )
    for error in nested:
        reading = _read(classifier, error)
        assert reading.is_overflow, f"the error inside {_shown(error)} was not found: {reading.kind}"
        assert (reading.input, reading.limit) == (210_000, 200_000), (
            f"input {reading.input}, limit {reading.limit} in {_shown(error)}"
        )


_ECHOES = (
    "Invalid value for 'tool_choice' near text: the user wrote that the prompt is too long: 9 tokens > 8 maximum",
    'Could not parse "why does it say the prompt is too long: 9000 tokens > 8192 maximum" as JSON',
    "Unexpected role in 'Your input exceeds the context window of this model, it told me' of the conversation",
    'Invalid tool arguments: {"query": "prompt is too long: 9000 tokens > 8192 maximum"}',
)


@rule(
    "CLASSIFIER-6",
    ErrorClassifier,
    cause="quoted spans, and what follows `near text:`, are searched like the provider's own words.",
)
async def quotations_decide_nothing(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    for text in _ECHOES:
        for error in (_failure(text), ForeignError(text, status_code=400), _chat(text)):
            reading = _read(classifier, error)
            assert not reading.is_overflow, f"{text!r} was read as {reading.kind} ({reading.evidence})"


_OTHER_UNITS = (
    ("too many total text bytes: 700000 > 600000", "bytes", 700_000, 600_000),
    (
        "Malformed input request: expected maxLength: 50000, actual: 61000, please reformat your input",
        "characters",
        61_000,
        50_000,
    ),
    ("Request body too large: 41000000 bytes exceeds the limit of 33554432 bytes", "bytes", 41_000_000, 33_554_432),
)
_ONLY_COUNTED = (
    ("The prompt is too long: it has 9000 tokens", 9_000),
    ("Context window exceeded: requested 12000 tokens", 12_000),
)


@rule(
    "CLASSIFIER-7",
    ErrorClassifier,
    cause="the unit after a number is not read, or the one number of a text is taken for the limit.",
)
async def units_are_kept_apart(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    for text, unit, counted, limit in _OTHER_UNITS:
        reading = _read(classifier, _failure(text))
        said = (reading.limit, reading.input, reading.output, reading.total, reading.excess)
        foreign = {counted, limit} & {one for one in said if one is not None}
        assert not foreign or reading.unit == unit, f"{text!r}: {foreign} are given as {reading.unit}"
        assert reading.overshoot is None, f"{text!r}: {reading.overshoot} tokens too much, which it does not say"
    for text, size in _ONLY_COUNTED:
        reading = _read(classifier, _failure(text))
        assert reading.limit is None, f"{text!r}: the rejected size {size} is given as the limit {reading.limit}"


@rule("CLASSIFIER-8", ErrorClassifier, cause="the classifier remembers calls, or takes parts out of the body while it reads.")
async def reading_is_repeatable(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    errors: list[tuple[object, str]] = [*_OVERFLOWS, *_OTHERS, (_chat(f"Upstream said: {_WRAPPED}"), "")]
    before = [copy.deepcopy(error) if isinstance(error, dict) else None for error, _ in errors]
    first = [_read(classifier, error, provider) for error, provider in errors]
    again = [_read(classifier, error, provider) for error, provider in reversed(errors)]
    assert again[::-1] == first, "the same errors in reverse order have other readings"
    for (error, _), kept in zip(errors, before, strict=True):
        assert kept is None or error == kept, f"reading changed {kept!r:.120}"
    found: list[Any] = []

    def work() -> None:
        found.append([classifier.classify(error, provider=provider) for error, provider in errors])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [first] * 4, "threads that asked at once got other readings, or an error"


_UNKNOWN: tuple[tuple[object, str], ...] = (
    (_failure("the flux is out of phase", status=418), ""),
    (_failure("", status=400, code="3051"), "anthropic"),
    (_failure("", status=400, code="1261"), "openai"),
    (ForeignError("something else"), ""),
    ({"status": 400, "body": {"error": {"message": "no"}}}, "openai"),
    ("it did not work", ""),
)


@rule("CLASSIFIER-9", ErrorClassifier, cause="what matches no rule is given the kind that is most frequent, or is retried.")
async def unknown_is_said(suite: ErrorClassifierConformance) -> None:
    classifier = await suite.make()
    for error, provider in _UNKNOWN:
        reading = _read(classifier, error, provider)
        said = (reading.kind, reading.remedy)
        assert said == (ErrorKind.UNKNOWN, Remedy.NONE), f"{_shown(error)} of {provider or 'no provider'} was read as {said}"
