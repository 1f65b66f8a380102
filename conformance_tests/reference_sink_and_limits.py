"""A plain sink and a plain source of limits that keep every rule."""

from __future__ import annotations

import copy
from typing import Any

from contextport.contracts import ErrorKind, ErrorReading, Event, EventSink, LearnsLimits, Limits, LimitsSource, implements

__all__ = ["ReferenceLearningLimits", "ReferenceLimits", "ReferenceSink"]


@implements(EventSink)
class ReferenceSink:
    """Keeps events in a list. Without one, each event is lost."""

    def __init__(self, target: list[Any] | None) -> None:
        self.target = target

    def write(self, event: Event) -> None:
        """Put the event where it goes."""
        if self.target is None:
            raise OSError("the target is gone")
        self.target.append(copy.deepcopy(event))

    def emit(self, event: Event) -> None:
        try:
            self.write(event)
        except OSError:
            return


@implements(LimitsSource)
class ReferenceLimits:
    """Knows two models: one wherever it runs, one on one host only."""

    table: dict[tuple[str, str], Limits]

    def __init__(self) -> None:
        self.table = {
            ("", "small"): Limits(window=8_000, source="table"),
            ("host", "large"): Limits(window=200_000, max_output=64_000, source="table"),
        }

    def limits(self, model: str, host: str = "") -> Limits | None:
        return self.table.get((host, model)) or self.table.get(("", model))


@implements(LearnsLimits)
class ReferenceLearningLimits(ReferenceLimits):
    """Puts what an overflow says of the input into its table."""

    def teaches(self, reading: ErrorReading) -> bool:
        """Whether the reading says a limit of the input that was exceeded."""
        return reading.kind is ErrorKind.INPUT and reading.unit == "tokens" and reading.overshoot is not None

    def learn(self, reading: ErrorReading, *, model: str, host: str = "") -> bool:
        if reading.limit is None or not self.teaches(reading):
            return False
        known = self.table.get((host, model))
        if known is None or known.max_input is None or reading.limit < known.max_input:
            self.table[(host, model)] = Limits(max_input=reading.limit, source="errors")
        return True
