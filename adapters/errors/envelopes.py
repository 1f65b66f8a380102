"""Errors inside errors: dicts of many shapes, JSON and Python literals inside text, events of a stream."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from attrs import evolve

from contextport.contracts.messages import Json
from contextport.contracts.provider_error import ProviderFailure

from .provider_hints import same_provider
from .safe_access import integer, peek, short_text

__all__ = ["failures_in_mapping", "failures_in_text"]

_DEEPEST: Final = 12  # levels of nesting; each gateway adds two or three: an object, a text, an object in it
_TRIES: Final = 4  # openings of JSON looked at in one text
_DATA_KEPT: Final = 400  # characters of somebody's data that stay, as a quotation
_SIBLINGS: Final = 4  # entries of one list of errors
_MESSAGES: Final = (
    "message",
    "Message",
    "msg",
    "error_message",
    "errorMessage",
    "error_msg",
    "errmsg",
    "detail",
    "status_msg",
    "error_description",
    "title",
)
_CODES: Final = ("code", "Code", "error_code", "errorCode", "err_code", "__type")
_TYPES: Final = ("type", "error_type", "errorType", "reason")
_STATUSES: Final = ("status_code", "statusCode", "http_status", "status", "HTTPStatusCode")
_INSIDE: Final = (
    "error",
    "errors",
    "Error",
    "body",
    "response",
    "detail",
    "details",
    "metadata",
    "raw",
    "message",
    "msg",
    "args",
    "description",
    "upstream",
    "inner_error",
    "innererror",
    "base_resp",
    "base",
    "data",
    "header",
    "ResponseMetadata",
    "cause",
    "exception",
)
_ENVELOPE: Final = frozenset({*_INSIDE, *_MESSAGES, *_CODES, "error_type", "n_prompt_tokens"})
_NOT_A_TYPE: Final = frozenset({"error", "response.failed", "response.error", "object", "list", "event", "response", "message"})
#: A key such as `validationException` holds an event of Bedrock's stream.
#: A gateway's own name for what the provider answered, such as `external_model_error`.
_ERROR_KEY: Final = re.compile(r"_error\Z|[a-z]Error\Z")
_EVENT_KEY: Final = re.compile(r"[a-zA-Z]{3,40}Exception\Z")


def failures_in_mapping(found: Mapping[str, Any], outer: ProviderFailure, depth: int = 0) -> Iterator[ProviderFailure]:
    """The failure that a dict states, then those inside it. What is not said is as in `outer`."""
    if depth > _DEEPEST:
        return
    here = _own(found, outer)
    if here.message:
        yield from failures_in_text(here.message, here, depth + 1)
    elif here.code or here.type or here.status:
        yield here
    hints = evolve(here, message="", code=None, type=None, body=None)
    for key in _INSIDE:
        yield from _inside(found.get(key), hints, depth, text_too=key not in _MESSAGES)
    for key, value in list(found.items())[:20]:
        if isinstance(key, str) and isinstance(value, Mapping) and key not in _INSIDE:
            if _EVENT_KEY.match(key):
                yield from failures_in_mapping(cast("Mapping[str, Any]", value), evolve(hints, code=key), depth + 1)
            elif _ERROR_KEY.search(key):
                yield from failures_in_mapping(cast("Mapping[str, Any]", value), hints, depth + 1)


def _inside(value: object, hints: ProviderFailure, depth: int, *, text_too: bool) -> Iterator[ProviderFailure]:
    if isinstance(value, Mapping):
        yield from failures_in_mapping(cast("Mapping[str, Any]", value), hints, depth + 1)
    elif isinstance(value, str | bytes):
        if text_too:
            yield from failures_in_text(short_text(value), hints, depth + 1)
    elif isinstance(value, Sequence):
        for one in cast("Sequence[object]", value)[:_SIBLINGS]:
            yield from _inside(one, hints, depth + 1, text_too=True)


def _own(found: Mapping[str, Any], outer: ProviderFailure) -> ProviderFailure:
    """What the dict says itself, without what is inside."""
    status = next((one for one in (integer(found.get(key)) for key in _STATUSES) if one is not None), None)
    code = next((str(found[key]) for key in _CODES if isinstance(found.get(key), str | int)), outer.code)
    status_word = found.get("status")
    if isinstance(status_word, str) and integer(status_word) is None and len(status_word) < 60:
        code = status_word
    kind = next((found[key] for key in _TYPES if isinstance(found.get(key), str)), None)
    message = next((found[key] for key in _MESSAGES if isinstance(found.get(key), str)), "")
    provider, in_body = outer.provider, found.get("base_resp", found.get("status_msg"))
    if in_body is not None:
        provider = provider or "minimax"
        code = str(status) if "status_msg" in found and status is not None else code
    if integer(code) is not None and status is None:
        status = integer(code)
    return evolve(
        outer,
        status=status if status is not None and 100 <= status <= 599 else outer.status,
        code=code,
        type=kind if kind and kind.lower() not in _NOT_A_TYPE else outer.type,
        message=short_text(message),
        provider=provider or same_provider(short_text(peek(found, "provider_name")) or ""),
        body=cast("Json", found),
    )


def failures_in_text(text: str, outer: ProviderFailure, depth: int = 0) -> Iterator[ProviderFailure]:
    """The text without the JSON in it as one failure, then the failures that the JSON states.

    JSON that is no envelope of an error, such as tool arguments, is somebody's data: it is read no further, and stays in the text
    as a quotation.
    """
    rest, inside = text, list[Any]()
    if depth <= _DEEPEST and ("{" in text or "[{" in text):
        rest, inside = _without_json(text)
    if rest.strip():
        yield evolve(outer, message=rest)
    hints = evolve(outer, message="")
    for value in inside:
        for one in (value if isinstance(value, list) else [value])[:_SIBLINGS]:
            if isinstance(one, Mapping):
                yield from failures_in_mapping(cast("Mapping[str, Any]", one), hints, depth + 1)


def _without_json(text: str) -> tuple[str, list[Any]]:
    """Text around the JSON (or Python dicts) in it, and the values."""
    kept: list[str] = []
    values: list[Any] = []
    position = 0
    for _ in range(_TRIES):
        start = text.find("{", position)
        if start < 0:
            break
        if start and text[start - 1] == "[":
            start -= 1
        value, end = _value_at(text, start)
        if end <= start:
            kept.append(text[position : start + 1])
            position = start + 1 + (text[start] == "[")
            continue
        kept.append(text[position:start])
        if _is_envelope(value):
            values.append(value)
        else:
            kept.append(f" «{text[start : min(end, start + _DATA_KEPT)]}» ")
        position = end
    return "".join([*kept, text[position:]]), values


def _is_envelope(value: object) -> bool:
    first = cast("list[object]", value)[0] if isinstance(value, list) and value else value
    if not isinstance(first, Mapping):
        return False
    keys = cast("Mapping[str, Any]", first).keys()
    return bool(_ENVELOPE & keys) or any(_ERROR_KEY.search(key) for key in list(keys)[:20])


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start` and where it ends; the same place if none does."""
    for candidate, shift in ((text, 0), (text.replace('\\"', '"'), text.count('\\"', 0, start))):
        try:
            value, end = json.JSONDecoder().raw_decode(candidate, start - shift)
        except (ValueError, RecursionError):
            continue
        return value, end + (0 if candidate is text else _escapes_before(text, end))
    if text.startswith(("{'", "[{'"), start):
        end = text.rfind("}") + 1 + (text[start] == "[" and text.rstrip().endswith("]"))
        try:
            return ast.literal_eval(text[start:end]), end
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None, start
    return None, start


def _escapes_before(text: str, plain_end: int) -> int:
    """How many backslashes stand before the place that is `plain_end` without them."""
    escapes, position = 0, 0
    while (found := text.find('\\"', position)) >= 0 and found - escapes < plain_end:
        escapes, position = escapes + 1, found + 2
    return escapes
