"""A plain classifier that keeps every rule: few wordings, each step a method."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from contextport.contracts import implements
from contextport.contracts.provider_error import ErrorClassifier, ErrorKind, ErrorReading, ProviderFailure, Remedy

__all__ = ["ReferenceClassifier"]

_KEYS = (
    "message",
    "code",
    "type",
    "error",
    "body",
    "response",
    "metadata",
    "raw",
    "failure",
    "text",
    "choices",
    "stop_reason",
    "finish_reason",
)
_CODES = ("context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded", "model_length")
_CODES_OF = {("mistral", "3051"), ("zhipu", "1261")}
_LOOK_ALIKES: tuple[tuple[ErrorKind, Remedy, str], ...] = (
    (ErrorKind.FIELD_LENGTH, Remedy.SHORTEN_FIELD, r"string too long"),
    (ErrorKind.RATE_LIMIT, Remedy.BACKOFF, r"per minute|please wait|throttling"),
    (ErrorKind.QUOTA, Remedy.NONE, r"quota|credits"),
    (ErrorKind.AUTH, Remedy.NONE, r"invalid token"),
    (ErrorKind.OUTPUT_CAP, Remedy.LOWER_MAX_OUTPUT, r"max_tokens'? is too large"),
    (ErrorKind.INVARIANT, Remedy.REPAIR_HISTORY, r"tool_use"),
    (ErrorKind.TIMEOUT, Remedy.BACKOFF, r"deadline"),
    (ErrorKind.MEDIA_LIMIT, Remedy.DROP_MEDIA, r"images"),
    (ErrorKind.PAYLOAD_BYTES, Remedy.DROP_MEDIA, r"body too large"),
)
_OVERFLOW = (
    r"prompt is too long|input is too long|exceeds? (?:the |maximum )?context|maximum context length"
    r"|context window exceeded|text bytes|maxlength|contextwindowexceeded"
)
_NUMBER = r"(\d{1,3}(?:[ ,]\d{3})+|\d+)"
_ROLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (rf"{_NUMBER}(?: tokens)? > {_NUMBER}", ("input", "limit")),
    (rf"context length is {_NUMBER}.*resulted in {_NUMBER}", ("limit", "input")),
    (rf"maxlength: {_NUMBER}, actual: {_NUMBER}", ("limit", "input")),
    (rf"{_NUMBER} bytes exceeds the limit of {_NUMBER}", ("input", "limit")),
    (rf"(?:it has|requested) {_NUMBER} tokens", ("input",)),
)


@implements(ErrorClassifier)
class ReferenceClassifier:
    """Looks for codes, then for look-alikes, then for overflows in the provider's own words."""

    def classify(self, error: object, *, provider: str = "") -> ErrorReading:
        codes, texts = self.said(error)
        own = " ".join(self.own_words(text) for text in texts).lower()
        kind, remedy = self.kind_of(codes, own, provider)
        numbers: dict[str, Any] = {**self.numbers(own)} if kind is not ErrorKind.UNKNOWN else {}
        unit = self.unit(own)
        return ErrorReading(kind=kind, remedy=remedy, unit=unit, provider=provider, evidence="a wording", **numbers)

    def said(self, error: object) -> tuple[set[str], list[str]]:
        """Codes and texts of the error, of what is nested in it, and of its causes."""
        codes: set[str] = set()
        texts: list[str] = []
        for key, value in self.walk(error, 8):
            if key in ("code", "type", "stop_reason", "finish_reason"):
                codes.add(value.lower())
            else:
                texts.append(value)
        return codes, texts

    def walk(self, value: object, depth: int, key: str = "message") -> Iterator[tuple[str, str]]:
        """Every text with the name of its place."""
        if depth == 0 or value is None:
            return
        if isinstance(value, str | bytes):
            text = (value if isinstance(value, str) else value.decode("utf-8", "replace"))[:4_000]
            outer, inner = self.unwrapped(text)
            yield key, outer
            if inner is not None:
                yield from self.walk(inner, depth - 1)
        elif isinstance(value, Mapping):
            held = cast("Mapping[object, object]", value)
            for name in _KEYS:
                yield from self.walk(held.get(name), depth - 1, name)
        elif isinstance(value, list):
            for one in cast("list[object]", value)[:3]:
                yield from self.walk(one, depth - 1)
        else:
            yield from self.walk_object(value, depth)

    def walk_object(self, value: object, depth: int) -> Iterator[tuple[str, str]]:
        """Attributes, text and cause of an object."""
        for name in _KEYS:
            yield from self.walk(self.attribute(value, name), depth - 1, name)
        if isinstance(value, BaseException):
            yield "message", type(value).__name__
            yield from self.walk(self.text_of(value), depth - 1)
            yield from self.walk(self.cause_of(value), depth - 1)

    def attribute(self, value: object, name: str) -> Any:
        """An attribute that is data, or None."""
        try:
            found = getattr(value, name, None)
        except Exception:
            return None
        return found if isinstance(found, str | bytes | Mapping | list | ProviderFailure) else None

    def text_of(self, error: BaseException) -> str:
        """The exception's text, or none if it cannot say it."""
        try:
            return str(error)
        except Exception:
            return ""

    def cause_of(self, error: BaseException) -> BaseException | None:
        """What the exception was raised from."""
        return error.__cause__

    def unwrapped(self, text: str) -> tuple[str, object]:
        """Text without the JSON in it, and that JSON if it is an error."""
        start = text.find("{")
        if start < 0:
            return text, None
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            return text, None
        is_error = isinstance(value, dict) and "error" in value
        return text[:start] + text[end:], value if is_error else None

    def own_words(self, text: str) -> str:
        """The text without what it quotes."""
        kept = re.sub(r"near text:.*", "", text)
        return re.sub(r"\"[^\"]{20,}\"|(?<!\w)'[^']{20,}'", "", kept)

    def kind_of(self, codes: set[str], own: str, provider: str) -> tuple[ErrorKind, Remedy]:
        """Look-alikes whose words are plain, codes, other look-alikes, overflows."""
        stopped = codes & {"model_length", "model_context_window_exceeded"}
        if stopped:
            return ErrorKind.OUTPUT_HIT_WINDOW, Remedy.KEEP_OUTPUT_THEN_COMPACT
        look_alike = self.look_alike(own)
        if look_alike is not None:
            return look_alike
        if self.has_code(codes, provider) or self.says_overflow(own):
            return self.overflow_kind(own), Remedy.COMPACT
        return self.unknown()

    def look_alike(self, own: str) -> tuple[ErrorKind, Remedy] | None:
        """The first look-alike whose words are there."""
        return next(((kind, remedy) for kind, remedy, words in _LOOK_ALIKES if re.search(words, own)), None)

    def has_code(self, codes: set[str], provider: str) -> bool:
        """Whether a code says overflow, at that provider."""
        return any(code in _CODES or (provider, code) in _CODES_OF for code in codes)

    def says_overflow(self, own: str) -> bool:
        """Whether the words say overflow."""
        return re.search(_OVERFLOW, own) is not None

    def overflow_kind(self, own: str) -> ErrorKind:
        """Tokens, bytes or characters."""
        unit = self.unit(own)
        return {"bytes": ErrorKind.INPUT_BYTES, "characters": ErrorKind.INPUT_CHARS}.get(unit, ErrorKind.INPUT)

    def unknown(self) -> tuple[ErrorKind, Remedy]:
        """What is said when nothing is known."""
        return ErrorKind.UNKNOWN, Remedy.NONE

    def unit(self, own: str) -> str:
        """What the numbers count."""
        return "bytes" if "bytes" in own else "characters" if "maxlength" in own else "tokens"

    def numbers(self, own: str) -> dict[str, int]:
        """Roles of the numbers, by the first wording that is there."""
        for pattern, roles in _ROLES:
            found = re.search(pattern, own)
            if found is not None:
                return {role: int(re.sub(r"\D", "", number)) for role, number in zip(roles, found.groups(), strict=True)}
        return {}
