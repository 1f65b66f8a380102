"""Sinks and sources of limits that break one thing each."""

from __future__ import annotations

import contextlib
import json
import socket
import threading

from contextport.conformance_tests.reference_sink_and_limits import ReferenceLearningLimits, ReferenceLimits, ReferenceSink
from contextport.contracts import ErrorReading, Event, Limits

from .registry import broken

__all__: list[str] = []


@broken("SINK-1")
class RaisesWhenTheTargetFails(ReferenceSink):
    def emit(self, event: Event) -> None:
        self.write(event)


@broken("SINK-1 SINK-2")
class RefusesTextThatUtf8CannotHold(ReferenceSink):
    def emit(self, event: Event) -> None:
        json.dumps(dict(event.data), ensure_ascii=False).encode()
        super().emit(event)


@broken("SINK-1 SINK-2")
class FormatsTheSessionId(ReferenceSink):
    def emit(self, event: Event) -> None:
        _ = f"[{event.session_id}] " % ()
        super().emit(event)


@broken("SINK-2")
class AddsFieldsToTheEvent(ReferenceSink):
    def emit(self, event: Event) -> None:
        if isinstance(event.data, dict):
            event.data.setdefault("at", 0)
        super().emit(event)


@broken("SINK-2")
class CutsLongValues(ReferenceSink):
    def emit(self, event: Event) -> None:
        for value in event.data.values():
            if isinstance(value, list):
                del value[100:]
        super().emit(event)


@broken("LIMITS-1 LIMITS-2 LIMITS-3 LIMITS-4 LIMITS-5 LIMITS-6")
class UnknownModelIsAnError(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        return super().limits(model, host) or self.table[(host, model)]


@broken("LIMITS-1")
class UnknownModelHasEmptyLimits(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        return super().limits(model, host) or Limits(source="table")


@broken("LIMITS-2")
class NamesNoSource(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        found = super().limits(model, host)
        return found and Limits(window=found.window)


@broken("LIMITS-2")
class KnowsNothing(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        return None


@broken("LIMITS-2 LIMITS-3")
class ForgetsWhatItWasAsked(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        return self.table.pop((host, model), None)


@broken("LIMITS-3")
class AnswersInOneThread(ReferenceLimits):
    def __init__(self) -> None:
        super().__init__()
        self.local = threading.local()
        self.local.ready = True

    def limits(self, model: str, host: str = "") -> Limits | None:
        return super().limits(model, host) if getattr(self.local, "ready", False) else None


@broken("LIMITS-4")
class TakesTheFirstHostThatHasTheModel(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        elsewhere = (limits for (_, known), limits in self.table.items() if known == model)
        return super().limits(model, host) or (next(elsewhere, None) if host else None)


@broken("LIMITS-5")
class TakesAModelWithALongerName(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        begun = (limits for (on, known), limits in self.table.items() if model.startswith(known) and on in ("", host))
        return super().limits(model, host) or next(begun, None)


@broken("LIMITS-5")
class TakesAModelOfAnotherMaker(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        return super().limits(model, host) or super().limits(model.rpartition("'s ")[2], host)


@broken("LIMITS-6")
class AsksTheHostWhenItIsAsked(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        if model == "large":
            with contextlib.suppress(OSError), socket.socket() as connection:
                connection.settimeout(0.1)
                connection.connect(("127.0.0.1", 9))
        return super().limits(model, host)


@broken("LIMITS-6")
class LooksUpTheHostWhenItIsAsked(ReferenceLimits):
    def limits(self, model: str, host: str = "") -> Limits | None:
        if host == "host":
            with contextlib.suppress(OSError):
                socket.getaddrinfo("localhost", 80)
        return super().limits(model, host)


@broken("LIMITS-7")
class LearnsForEveryHost(ReferenceLearningLimits):
    def learn(self, reading: ErrorReading, *, model: str, host: str = "") -> bool:
        return super().learn(reading, model=model)


@broken("LIMITS-7")
class BelievesTheNewestError(ReferenceLearningLimits):
    def learn(self, reading: ErrorReading, *, model: str, host: str = "") -> bool:
        self.table.pop((host, model), None)
        return super().learn(reading, model=model, host=host)


@broken("LIMITS-7")
class LearnsNothing(ReferenceLearningLimits):
    def teaches(self, reading: ErrorReading) -> bool:
        return False


@broken("LIMITS-8")
class LearnsFromEveryError(ReferenceLearningLimits):
    def teaches(self, reading: ErrorReading) -> bool:
        return True


@broken("LIMITS-8")
class TakesTheRejectedSize(ReferenceLearningLimits):
    def learn(self, reading: ErrorReading, *, model: str, host: str = "") -> bool:
        if reading.limit is None and reading.input is not None:
            self.table[(host, model)] = Limits(max_input=reading.input - 1, source="errors")
        return super().learn(reading, model=model, host=host)


@broken("LIMITS-8")
class TakesCharactersForTokens(ReferenceLearningLimits):
    def teaches(self, reading: ErrorReading) -> bool:
        return reading.is_overflow and reading.limit is not None and (reading.input or 0) > reading.limit
