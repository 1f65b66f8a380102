"""`RuleErrorClassifier`: reads errors by tables of codes and families of wordings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from attrs import frozen

from contextport.contracts.port import implements
from contextport.contracts.provider_error import ErrorClassifier, ErrorKind, ErrorReading, ProviderFailure, Remedy

from .code_rules import kind_of_class, kind_of_code, kind_of_status
from .foreign_error import failures_of
from .look_alikes import LOOK_ALIKES, OTHERS, SETTLED_BY_WORDS
from .message_text import ReadText, read_text
from .number_roles import Numbers, Unit, numbers_of
from .overflow_wordings import OVERFLOWS, says_output_too, weak
from .safe_access import cut, integer
from .stop_signals import StopSignal, stop_signal, stop_signal_of_text
from .text_rule import first_match

__all__ = ["REMEDIES", "RuleErrorClassifier"]

#: The usual remedy of each kind.
REMEDIES: Final = {
    ErrorKind.INPUT: Remedy.COMPACT,
    ErrorKind.INPUT_PLUS_OUTPUT: Remedy.COMPACT_OR_LOWER_MAX_OUTPUT,
    ErrorKind.OUTPUT_HIT_WINDOW: Remedy.KEEP_OUTPUT_THEN_COMPACT,
    ErrorKind.INPUT_CHARS: Remedy.COMPACT,
    ErrorKind.INPUT_BYTES: Remedy.COMPACT,
    ErrorKind.SILENT: Remedy.COMPACT,
    ErrorKind.OUTPUT_CAP: Remedy.LOWER_MAX_OUTPUT,
    ErrorKind.OUTPUT_TRUNCATED: Remedy.CONTINUE_OR_RAISE_MAX_OUTPUT,
    ErrorKind.TPM_SINGLE_REQUEST: Remedy.SHRINK_OR_RAISE_QUOTA,
    ErrorKind.PAYLOAD_BYTES: Remedy.DROP_MEDIA,
    ErrorKind.MEDIA_LIMIT: Remedy.RESIZE_MEDIA,
    ErrorKind.COUNT_LIMIT: Remedy.REDUCE_MESSAGE_COUNT,
    ErrorKind.FIELD_LENGTH: Remedy.SHORTEN_FIELD,
    ErrorKind.RATE_LIMIT: Remedy.BACKOFF,
    ErrorKind.OVERLOAD: Remedy.BACKOFF,
    ErrorKind.TIMEOUT: Remedy.BACKOFF,
    ErrorKind.INVARIANT: Remedy.REPAIR_HISTORY,
    ErrorKind.PARAMETER: Remedy.FIX_PARAMS,
    ErrorKind.CONFIG: Remedy.FIX_PARAMS,
    ErrorKind.ENTITLEMENT: Remedy.DISABLE_BETA,
}
#: Statuses that are decided by themselves: a text beside them that sounds like an overflow is about the account.
_ACCOUNT: Final = frozenset({401, 402})
#: Statuses that a text must name the context or the prompt to overrule.
_DOUBTFUL: Final = frozenset({403, 404, 408, 429, 529})
_OVERFLOW_KINDS: Final = frozenset({ErrorKind.INPUT, ErrorKind.INPUT_CHARS, ErrorKind.INPUT_BYTES})
#: Exceptions of completions that arrived: the class says it all, and the text has other numbers.
_BY_CLASS_ALONE: Final = frozenset({ErrorKind.OUTPUT_TRUNCATED, ErrorKind.CONTENT_FILTER, ErrorKind.QUOTA})
#: Codes that name the window, or are numbers of their provider. Others, such as `token_limit_exceeded`, may be about a quota.
_WINDOW_CODE: Final = re.compile(r"context|prompt|input|conversation|\d", re.IGNORECASE)
_UNIT_OF_KIND: Final[dict[ErrorKind, Unit]] = {
    ErrorKind.INPUT_CHARS: "characters",
    ErrorKind.FIELD_LENGTH: "characters",
    ErrorKind.INPUT_BYTES: "bytes",
    ErrorKind.PAYLOAD_BYTES: "bytes",
}
#: Kinds whose numbers are of no use to a caller.
_WITHOUT_NUMBERS: Final = frozenset(
    {
        ErrorKind.MEDIA_LIMIT,
        ErrorKind.COUNT_LIMIT,
        ErrorKind.RATE_LIMIT,
        ErrorKind.QUOTA,
        ErrorKind.ENTITLEMENT,
        ErrorKind.OVERLOAD,
        ErrorKind.TIMEOUT,
        ErrorKind.AUTH,
        ErrorKind.CONTENT_FILTER,
        ErrorKind.INVARIANT,
        ErrorKind.PARAMETER,
        ErrorKind.CONFIG,
        ErrorKind.USER_TEXT,
        ErrorKind.UNKNOWN,
    }
)
_NO_BODY: Final = re.compile(r"\A\W*(?:error code: ?)?4(?:00|13)?\W*(?:status code)?\W*(?:\(no body\))?\W*\Z", re.IGNORECASE)
_ECHO_OF_OVERFLOW: Final = re.compile(r"context|token|prompt|too long|exceed")


@frozen(kw_only=True)
class _Verdict:
    """What was decided, and by which rule."""

    kind: ErrorKind
    evidence: str
    remedy: Remedy | None = None


@implements(ErrorClassifier)
class RuleErrorClassifier:
    """Classifies by rules, in this order: stop reasons; wordings that settle the matter; codes, types and class names; wordings
    of look-alikes; wordings of overflows; the HTTP status.

    Codes are read as those of the provider, which is the argument, or follows from the class, the headers or the address of the
    error. The text is unwrapped (JSON, Python dicts and stream events inside text, `raw` bodies of gateways, causes) and what it
    quotes of the conversation is left out. Of a long text the first 6000 and the last 3000 characters are read.

    A full window that a server hides behind a normal answer is seen only if the answer is empty: the window itself is not known
    here. Holds no state.
    """

    def classify(self, error: object, *, provider: str = "") -> ErrorReading:
        signal = stop_signal(error)
        if signal is not None:
            return _of_signal(signal, provider)
        failures = failures_of(error, provider)
        provider = next((one.provider for one in failures if one.provider), provider)
        signal = next((found for one in failures if (found := stop_signal_of_text(one.message or _stop_code(one)))), None)
        if signal is not None:
            return _of_signal(signal, provider)
        read = read_text(cut("\n".join(one.message for one in failures if one.message.strip())))
        verdict = _verdict(failures, read, provider)
        return _reading(verdict, read, failures, provider)


def _stop_code(failure: ProviderFailure) -> str:
    """The code as a stop reason if it came with a success."""
    return f"stop_reason={failure.code}" if failure.status == 200 and failure.code and not failure.message.strip() else ""


def _of_signal(signal: StopSignal, provider: str) -> ErrorReading:
    return ErrorReading(
        kind=signal.kind,
        remedy=REMEDIES.get(signal.kind, Remedy.NONE),
        input=signal.input,
        output=signal.output,
        provider=provider,
        evidence=f"stop reason {signal.reason}",
    )


def _verdict(failures: tuple[ProviderFailure, ...], read: ReadText, provider: str) -> _Verdict:
    """The first stage that decides."""
    status = next((one.status for one in failures if one.status is not None), None)
    settled = first_match(SETTLED_BY_WORDS, read.words)
    if settled is not None:
        return _Verdict(kind=settled.kind, evidence=f"text: {settled.name}", remedy=settled.remedy)
    by_class = _by_class(failures)
    if by_class is not None and by_class.kind in _BY_CLASS_ALONE:
        return by_class
    by_code = _by_code(failures, provider)
    look_alike = first_match(LOOK_ALIKES, read.words)
    if by_code is not None and by_code.kind in _OVERFLOW_KINDS:
        if look_alike is None or _WINDOW_CODE.search(by_code.evidence):
            return _widened(by_code, read)
        by_code = None
    if look_alike is not None and (by_code is None or by_code.kind in _REFINED.get(look_alike.kind, ())):
        return _Verdict(kind=look_alike.kind, evidence=f"text: {look_alike.name}", remedy=look_alike.remedy)
    if by_code is not None:
        return by_code
    if by_class is not None and by_class.kind in _OVERFLOW_KINDS:
        return _widened(by_class, read)
    overflow = first_match(OVERFLOWS, read.words) if status not in _ACCOUNT else None
    if overflow is not None and not (status in _DOUBTFUL and weak(read.words)):
        return _widened(_Verdict(kind=overflow.kind, evidence=f"text: {overflow.name}"), read)
    other = first_match(OTHERS, read.words) if not _ECHO_OF_OVERFLOW.search(read.echoed) else None
    if by_class is None and other is not None and status not in _ACCOUNT:
        return _Verdict(kind=other.kind, evidence=f"text: {other.name}")
    return by_class or _without_words(status, read, failures, provider)


#: A text that is more exact than the code beside it: kind of the text -> kinds of the code that it refines.
_REFINED: Final = {
    ErrorKind.TPM_SINGLE_REQUEST: (ErrorKind.RATE_LIMIT,),
    ErrorKind.QUOTA: (ErrorKind.RATE_LIMIT,),
    ErrorKind.ENTITLEMENT: (ErrorKind.RATE_LIMIT, ErrorKind.AUTH),
    ErrorKind.OVERLOAD: (ErrorKind.RATE_LIMIT,),
    ErrorKind.PAYLOAD_BYTES: (ErrorKind.RATE_LIMIT,),
    ErrorKind.INVARIANT: (ErrorKind.PARAMETER,),
}


def _by_code(failures: Iterable[ProviderFailure], provider: str) -> _Verdict | None:
    """By code, then type, the innermost failure first: outer ones are often just the HTTP status."""
    for one in reversed(tuple(failures)):
        for what, value in (("code", one.code), ("type", one.type)):
            kind = kind_of_code(value, one.provider or provider) if value else None
            if kind is not None:
                return _Verdict(kind=kind, evidence=f"{what} {value}"[:80])
    return None


def _by_class(failures: Iterable[ProviderFailure]) -> _Verdict | None:
    for one in failures:
        kind = kind_of_class(one.exception) if one.exception else None
        if kind is not None:
            return _Verdict(kind=kind, evidence=f"class {one.exception.partition(' ')[0]}"[:80])
    return None


def _widened(verdict: _Verdict, read: ReadText) -> _Verdict:
    """An overflow whose words count output in is one of the sum."""
    if verdict.kind is ErrorKind.INPUT and says_output_too(read.words):
        return _Verdict(kind=ErrorKind.INPUT_PLUS_OUTPUT, evidence=verdict.evidence)
    return verdict


def _without_words(status: int | None, read: ReadText, failures: tuple[ProviderFailure, ...], provider: str) -> _Verdict:
    """No rule knows the text: an echo, an answer without a body, or the status alone."""
    if _ECHO_OF_OVERFLOW.search(read.echoed):
        return _Verdict(kind=ErrorKind.USER_TEXT, evidence="quoted text")
    text = " ".join(one.message for one in failures).strip()
    empty = not text or _NO_BODY.match(text) is not None
    if empty and (status == 413 or (status == 400 and provider in ("cerebras", "mistral"))):
        return _Verdict(kind=ErrorKind.INPUT, evidence=f"status {status} without a body")
    kind = kind_of_status(status)
    return _Verdict(kind=kind or ErrorKind.UNKNOWN, evidence=f"status {status}" if kind else "")


def _reading(verdict: _Verdict, read: ReadText, failures: tuple[ProviderFailure, ...], provider: str) -> ErrorReading:
    kind, remedy = verdict.kind, verdict.remedy or REMEDIES.get(verdict.kind, Remedy.NONE)
    if kind in _WITHOUT_NUMBERS:
        return ErrorReading(kind=kind, remedy=remedy, provider=provider, evidence=verdict.evidence)
    numbers = numbers_of(read)
    unit = _UNIT_OF_KIND.get(kind, "tokens")
    said = _with_fields(numbers, failures) if unit == "tokens" else numbers
    limit, counted, output, total = _roles(kind, said, unit)
    if kind is ErrorKind.INPUT_PLUS_OUTPUT and limit and output and output >= limit and not (counted and counted > limit):
        kind, remedy = ErrorKind.OUTPUT_CAP, Remedy.LOWER_MAX_OUTPUT
    elif kind is ErrorKind.INPUT_PLUS_OUTPUT and "available tokens" in read.words:
        remedy = Remedy.LOWER_MAX_OUTPUT_THEN_COMPACT
    return ErrorReading(
        kind=kind,
        remedy=remedy,
        limit=limit,
        input=counted,
        output=output,
        total=total,
        excess=said.by_unit[unit].get("excess"),
        is_lower_bound=said.lower_bound,
        unit=unit,
        provider=provider,
        evidence=verdict.evidence,
    )


def _roles(kind: ErrorKind, numbers: Numbers, unit: Unit) -> tuple[int | None, int | None, int | None, int | None]:
    """Limit, input, output and total. What was `requested` is the sum where output counts, else the input."""
    roles = numbers.by_unit[unit]
    counted, total = roles.get("input"), roles.get("total")
    requested = roles.get("requested")
    if kind in (ErrorKind.INPUT_PLUS_OUTPUT, ErrorKind.TPM_SINGLE_REQUEST):
        total = total if total is not None else requested
    elif kind is ErrorKind.OUTPUT_CAP:
        return roles.get("limit"), counted, roles.get("output", requested), total
    elif counted is None:
        counted = requested if requested is not None else total
        total = None
    parts = roles.get("part")
    return roles.get("limit"), counted if counted is not None else parts, roles.get("output"), total


#: Fields that state numbers outright -> role. llama.cpp.
_FIELDS: Final = {"n_prompt_tokens": "input", "n_ctx": "limit"}


def _with_fields(numbers: Numbers, failures: tuple[ProviderFailure, ...]) -> Numbers:
    for one in failures:
        if isinstance(one.body, dict):
            for name, role in _FIELDS.items():
                value = integer(one.body.get(name))
                if value is not None:
                    numbers.tokens["input" if role == "input" else "limit"] = value
    return numbers
