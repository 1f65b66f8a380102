"""Foreign errors as `ProviderFailure`s: exceptions of the vendors' packages, HTTP responses, dicts, events, text.

No vendor's package is imported: their exceptions are known by their attributes.

| package | where it says what |
|---|---|
| openai, groq, together, cerebras, anthropic | `status_code`, `code`, `type`, `body` (dict), `response`, `request` |
| google-genai | `code` (int), `status`, `message`, `details` (dict) |
| botocore | `response` (dict of Error and ResponseMetadata) |
| mistralai, cohere | `status_code`, `body` (text or dict), `headers` |
| ollama | `error`, `status_code` |
| litellm | `status_code`, `message`, `llm_provider` |
| grpc | `code()`, `details()` |
| azure.core, huggingface_hub, httpx, requests | `status_code`, `response`, `message` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from attrs import evolve

from contextport.contracts.provider_error import ProviderFailure

from .envelopes import failures_in_mapping, failures_in_text
from .provider_hints import provider_of_headers, provider_of_host, provider_of_module, same_provider
from .safe_access import class_name, integer, peek, short_text, string_of

__all__ = ["failures_of"]

_MOST: Final = 12  # failures read of one error
_CAUSES: Final = 4  # links of `raise ... from ...` that are followed
_LARGEST_JSON: Final = 200_000  # characters of a body that are parsed whole


def failures_of(error: object, provider: str = "") -> tuple[ProviderFailure, ...]:
    """What the error says, outermost first: itself, what is nested in its text and body, then its causes."""
    found: list[ProviderFailure] = []
    known: set[tuple[str | None, str | None, str]] = set()
    for one in _of_any(error, ProviderFailure(provider=same_provider(provider))):
        said = (one.code, one.type, one.message)
        if said not in known:
            known.add(said)
            found.append(one)
        if len(found) == _MOST:
            break
    return tuple(found)


def _of_any(error: object, start: ProviderFailure) -> Iterator[ProviderFailure]:
    if isinstance(error, ProviderFailure):
        yield from _of_failure(error, start)
    elif isinstance(error, BaseException):
        yield from _of_exception(error, start)
    elif isinstance(error, Mapping):
        body = cast("Mapping[str, Any]", error)
        yield from failures_in_mapping(body, _with_hints(body, start))
    elif isinstance(error, str | bytes | bytearray):
        yield from failures_in_text(short_text(error), start)
    elif isinstance(error, list | tuple):
        for one in cast("list[object]", error)[:4]:
            if isinstance(one, Mapping | str):
                yield from _of_any(one, start)
    elif error is not None:
        yield from _of_object(error, start)


def _of_failure(failure: ProviderFailure, start: ProviderFailure) -> Iterator[ProviderFailure]:
    known = evolve(failure, provider=same_provider(start.provider or failure.provider), message="")
    yield from failures_in_text(short_text(failure.message) or " ", known)
    yield known
    if isinstance(failure.body, Mapping):
        yield from failures_in_mapping(cast("Mapping[str, Any]", failure.body), evolve(known, code=None, type=None, body=None))
    elif isinstance(failure.body, str):
        yield from failures_in_text(short_text(failure.body), known)


def _of_exception(error: BaseException, start: ProviderFailure) -> Iterator[ProviderFailure]:
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen and len(seen) <= _CAUSES:
        seen.add(id(cause))
        inner = peek(cause, "failure")
        if isinstance(inner, ProviderFailure):
            yield from _of_failure(inner, start)
        else:
            yield from _of_one_exception(cause, start)
        for one in (peek(cause, "exceptions") or ())[:3] if isinstance(cause, BaseExceptionGroup) else ():
            yield from _of_one_exception(one, start)
        cause = cause.__cause__


def _of_one_exception(error: BaseException, start: ProviderFailure) -> Iterator[ProviderFailure]:
    """An exception: attributes and body first, its text only where they say nothing."""
    named = class_name(error)
    known = _with_hints(error, evolve(start, exception=named))
    if not known.provider:
        maker = short_text(peek(error, "llm_provider"))
        known = evolve(known, provider=same_provider(maker) or provider_of_module(type(error).__module__))
    known = _with_grpc(error, known)
    inside = [*_bodies(error, evolve(known, code=None, type=None))]
    text = short_text(peek(error, "message", "error", "reason")) or string_of(error)
    if known.message:
        text = known.message
    said = any(one.message for one in inside)
    if not said or not (text.startswith("Error code:") or any(one.message and one.message in text for one in inside)):
        yield from failures_in_text(text or " ", evolve(known, message=""))
    yield evolve(known, message="")
    yield from inside


def _of_object(error: object, start: ProviderFailure) -> Iterator[ProviderFailure]:
    """An HTTP response, or an object of data such as a parsed event."""
    known = _with_hints(error, start)
    text = short_text(peek(error, "message", "error"))
    yield from failures_in_text(text or " ", known)
    yield known
    yield from _bodies(error, evolve(known, code=None, type=None))


def _bodies(error: object, known: ProviderFailure) -> Iterator[ProviderFailure]:
    """What stands in the parsed or raw body of an exception or of its response."""
    response = peek(error, "response", "raw_response", "http_response")
    for holder, names in ((error, ("body", "details", "response_json", "error", "response")), (response, ("body",))):
        for name in names:
            value = peek(holder, name)
            if isinstance(value, Mapping):
                yield from failures_in_mapping(cast("Mapping[str, Any]", value), known)
            elif isinstance(value, str | bytes | list) and name not in ("error", "response"):
                yield from _of_any(value, known)
            elif name == "error" and value is not None and not isinstance(value, str):
                yield from _of_fields(value, known)
    for holder in (response, error):
        text = _content(holder)
        if text:
            yield from failures_in_text(text, known)


def _of_fields(value: object, known: ProviderFailure) -> Iterator[ProviderFailure]:
    """An error that is an object with `code`, `type` and `message`, such as that of a failed response."""
    code, kind = peek(value, "code"), peek(value, "type")
    message = short_text(peek(value, "message"))
    if code is not None or message:
        yield evolve(
            known, code=None if code is None else str(code), type=kind if isinstance(kind, str) else None, message=message
        )


def _content(holder: object) -> str:
    """Body of an HTTP response that was read already; a stream is never read here."""
    if holder is None or peek(holder, "status_code", "status") is None:
        return ""
    raw = peek(holder, "_content")
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "replace") if len(raw) <= _LARGEST_JSON else short_text(raw)
    return short_text(peek(holder, "text", "content")) if raw is None else ""


def _with_hints(holder: object, start: ProviderFailure) -> ProviderFailure:
    """`start` with the status, code, type and provider that attributes or keys of the holder say."""
    response = peek(holder, "response", "raw_response", "http_response")
    status = integer(peek(holder, "status_code", "http_status", "status"))
    if status is None:
        status = integer(peek(response, "status_code", "status"))
    code, kind = peek(holder, "code"), peek(holder, "type")
    if status is None and isinstance(code, int) and not isinstance(code, bool):
        status = code
    word = peek(holder, "status")
    if isinstance(word, str) and integer(word) is None:
        code = word
    headers = _headers(peek(holder, "headers")) or _headers(peek(response, "headers"))
    host = _host(peek(holder, "request")) or _host(peek(response, "request", "_request")) or _host(response)
    amazon = headers.get("x-amzn-errortype", "").partition(":")[0]
    return evolve(
        start,
        status=status if status is not None and 100 <= status <= 599 else start.status,
        code=amazon or (str(code) if isinstance(code, str | int) else start.code),
        type=kind if isinstance(kind, str) else start.type,
        provider=start.provider or provider_of_headers(headers) or provider_of_host(host),
    )


def _with_grpc(error: BaseException, known: ProviderFailure) -> ProviderFailure:
    """The status name and details of a gRPC error, which are methods."""
    if not any(one.__module__.partition(".")[0] == "grpc" for one in type(error).__mro__):
        return known
    try:
        code, details = cast("Any", error).code(), cast("Any", error).details()
    except Exception:  # the foreign methods may raise anything
        return known
    name = getattr(code, "name", None)
    return evolve(known, code=name if isinstance(name, str) else known.code, message=short_text(details))


def _headers(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    try:
        pairs = list(cast("Mapping[object, object]", value).items())[:100]
    except Exception:  # a foreign mapping may raise anything
        return {}
    return {str(name).lower(): str(one) for name, one in pairs}


def _host(request: object) -> str:
    url = peek(request, "url", "_url")
    host = peek(url, "host")
    if isinstance(host, str):
        return host
    return url.partition("//")[2].partition("/")[0].partition(":")[0] if isinstance(url, str) else ""
