"""What an SDK's error says, as a `ProviderFailure`: the same attributes stand in the errors of several SDKs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

from contextport.contracts import InvalidMessage, Json, ModelCallFailed
from contextport.contracts.json_values import copy_json
from contextport.contracts.provider_error import ProviderFailure

__all__ = ["UnreadableAnswer", "call_failed"]

_MASK = "[credential]"
_LEAST_SECRET = 8  # characters; a shorter key, as local servers get, would mask ordinary words


class UnreadableAnswer(Exception):
    """A success by its HTTP status that holds no answer. `body` is what was sent, if it could be parsed."""

    def __init__(self, message: str, body: Json = None) -> None:
        super().__init__(message)
        self.body = body


def call_failed(error: Exception, *, model: str, provider: str, secrets: Iterable[object] = ()) -> ModelCallFailed:
    """The error to raise from `error`. No header is copied, and each of `secrets`, the client's keys, is masked."""
    failure = _failure(error, provider, [one for one in secrets if isinstance(one, str) and len(one) >= _LEAST_SECRET])
    status = "" if failure.status is None else f" with status {failure.status}"
    return ModelCallFailed(
        f"{model} did not answer: {failure.exception}{status}; what the provider said is in failure.message, "
        "what helps is what an ErrorClassifier reads from failure",
        failure=failure,
        model=model,
    )


def _failure(error: Exception, provider: str, secrets: list[str]) -> ProviderFailure:
    body = _masked(_json_or_text(getattr(error, "body", None)), secrets)
    inner = _error_object(body)
    status = getattr(error, "status_code", None)
    said = inner.get("message") or inner.get("detail")  # the latter is FastAPI's
    return ProviderFailure(
        status=status if isinstance(status, int) else None,
        code=_word(inner.get("code")),
        type=_word(inner.get("type")),
        message=said if isinstance(said, str) and said else _masked(str(error), secrets),
        provider=provider,
        exception=f"{type(error).__module__.partition('.')[0]}.{type(error).__name__}",
        body=body,
        retry_after=_retry_after(getattr(getattr(error, "response", None), "headers", {})),
    )


def _json_or_text(body: object) -> Json:
    try:
        return copy_json(body)
    except InvalidMessage:
        return str(body)


def _error_object(body: Json) -> dict[str, Any]:
    """The innermost error object: some SDKs hand out the whole answer, some only what stands under `error`."""
    if not isinstance(body, dict):
        return {"message": body} if isinstance(body, str) else {}
    outer = cast(dict[str, Any], body)
    inner = outer.get("error")
    if isinstance(inner, str):
        return {**outer, "message": inner}
    return cast(dict[str, Any], inner) if isinstance(inner, dict) else outer


def _word(value: Json) -> str | None:
    return None if value is None or isinstance(value, dict | list) else str(value)


def _masked(value: Json, secrets: list[str]) -> Json:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, _MASK)
        return value
    if isinstance(value, list):
        return [_masked(item, secrets) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {_masked(key, secrets): _masked(item, secrets) for key, item in cast(dict[str, Any], value).items()}
    return value


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, by the headers `retry-after-ms` and `retry-after`: a number, or a date (RFC 9110, 10.2.3)."""
    given = headers.get("retry-after")
    if (milliseconds := _seconds(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    if (seconds := _seconds(given)) is not None or given is None:
        return seconds
    try:
        date = parsedate_to_datetime(given)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _seconds(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
