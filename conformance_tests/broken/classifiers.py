"""Classifiers that break one thing each."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

from attrs import evolve

from contextport.conformance_tests.reference_classifier import ReferenceClassifier
from contextport.contracts.provider_error import ErrorKind, ErrorReading, ProviderFailure, Remedy

from .registry import broken

__all__: list[str] = []


@broken("CLASSIFIER-1")
class TakesOnlyErrors(ReferenceClassifier):
    def classify(self, error: object, *, provider: str = "") -> ErrorReading:
        if error is None:
            raise TypeError("None is no error")
        return super().classify(error, provider=provider)


@broken("CLASSIFIER-1")
class TrustsStr(ReferenceClassifier):
    def text_of(self, error: BaseException) -> str:
        return str(error)


@broken("CLASSIFIER-1")
class TouchesAttributes(ReferenceClassifier):
    def attribute(self, value: object, name: str) -> Any:
        found = getattr(value, name, None)
        return found if isinstance(found, str | bytes | dict | list | ProviderFailure) else None


@broken("CLASSIFIER-2")
class ReadsOnlyStatus400(ReferenceClassifier):
    def classify(self, error: object, *, provider: str = "") -> ErrorReading:
        reading = super().classify(error, provider=provider)
        status = error.status if isinstance(error, ProviderFailure) else None
        if reading.is_overflow and status not in (None, 400):
            return evolve(reading, kind=ErrorKind.UNKNOWN, remedy=Remedy.NONE)
        return reading


@broken("CLASSIFIER-2")
class ReadsNoCodes(ReferenceClassifier):
    def has_code(self, codes: set[str], provider: str) -> bool:
        return False


@broken("CLASSIFIER-2")
class ForgetsStopReasons(ReferenceClassifier):
    def kind_of(self, codes: set[str], own: str, provider: str) -> tuple[ErrorKind, Remedy]:
        return super().kind_of(codes - {"model_length", "model_context_window_exceeded"}, own, provider)


@broken("CLASSIFIER-3")
class KnowsNoLookAlikes(ReferenceClassifier):
    def look_alike(self, own: str) -> tuple[ErrorKind, Remedy] | None:
        return super().look_alike(own) if "bytes" in own else None


@broken("CLASSIFIER-3")
class BelievesTheClass(ReferenceClassifier):
    def look_alike(self, own: str) -> tuple[ErrorKind, Remedy] | None:
        return None if "contextwindowexceeded" in own else super().look_alike(own)


@broken("CLASSIFIER-3")
class TakesOutputCapsForOverflows(ReferenceClassifier):
    def look_alike(self, own: str) -> tuple[ErrorKind, Remedy] | None:
        return None if "max_tokens" in own else super().look_alike(own)

    def says_overflow(self, own: str) -> bool:
        return super().says_overflow(own) or "max_tokens" in own


@broken("CLASSIFIER-4 CLASSIFIER-5")
class LimitComesFirst(ReferenceClassifier):
    def numbers(self, own: str) -> dict[str, int]:
        found = sorted(super().numbers(own).values())
        return dict(zip(("input", "limit"), found, strict=True)) if len(found) == 2 else super().numbers(own)


@broken("CLASSIFIER-4")
class KnowsNoSeparators(ReferenceClassifier):
    def numbers(self, own: str) -> dict[str, int]:
        return super().numbers(re.sub(r"(?<=\d)[ ,](?=\d)", ".", own))


@broken("CLASSIFIER-4")
class TakesEveryNumber(ReferenceClassifier):
    def numbers(self, own: str) -> dict[str, int]:
        digits = re.findall(r"\d+", own)
        return super().numbers(own) or ({"input": int(digits[0])} if digits and "limit" not in own and "context" in own else {})


@broken("CLASSIFIER-5")
class ReadsNoNestedJson(ReferenceClassifier):
    def unwrapped(self, text: str) -> tuple[str, object]:
        outer, inner = super().unwrapped(text)
        return outer, inner if text.startswith("{") else None


@broken("CLASSIFIER-5")
class IgnoresCauses(ReferenceClassifier):
    def cause_of(self, error: BaseException) -> BaseException | None:
        return None


@broken("CLASSIFIER-6")
class ReadsQuotations(ReferenceClassifier):
    def own_words(self, text: str) -> str:
        return text


@broken("CLASSIFIER-6")
class CutsQuotesOnly(ReferenceClassifier):
    def own_words(self, text: str) -> str:
        return super().own_words(text.replace("near text:", "near:"))


@broken("CLASSIFIER-7")
class EverythingIsTokens(ReferenceClassifier):
    def unit(self, own: str) -> str:
        return "tokens"


@broken("CLASSIFIER-7")
class LearnsTheRejectedSize(ReferenceClassifier):
    def numbers(self, own: str) -> dict[str, int]:
        found = super().numbers(own)
        return {"limit": found["input"]} if set(found) == {"input"} else found


@broken("CLASSIFIER-8")
class CountsItsReadings(ReferenceClassifier):
    def __init__(self) -> None:
        self.readings = count(1)

    def classify(self, error: object, *, provider: str = "") -> ErrorReading:
        return evolve(super().classify(error, provider=provider), evidence=f"reading {next(self.readings)}")


@broken("CLASSIFIER-8")
class TakesTheBodyApart(ReferenceClassifier):
    def classify(self, error: object, *, provider: str = "") -> ErrorReading:
        reading = super().classify(error, provider=provider)
        if isinstance(error, dict):
            error.pop("status", None)
        return reading


@broken("CLASSIFIER-9")
class TakesCodesOfAnyProvider(ReferenceClassifier):
    def has_code(self, codes: set[str], provider: str) -> bool:
        return super().has_code(codes, provider) or bool(codes & {"3051", "1261"})


@broken("CLASSIFIER-9")
class RetriesWhatItDoesNotKnow(ReferenceClassifier):
    def unknown(self) -> tuple[ErrorKind, Remedy]:
        return ErrorKind.UNKNOWN, Remedy.BACKOFF


@broken("CLASSIFIER-9")
class CallsTheUnknownOverload(ReferenceClassifier):
    def unknown(self) -> tuple[ErrorKind, Remedy]:
        return ErrorKind.OVERLOAD, Remedy.BACKOFF
