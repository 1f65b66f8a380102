"""Events as lines of a log."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

from attrs import field, frozen

from contextport.contracts import Event, EventKind, EventSink, implements

__all__ = ["LoggingEventSink"]

_WARNINGS = frozenset(
    {
        EventKind.BUDGET_EXCEEDED,
        EventKind.STRATEGY_FAILED,
        EventKind.LIMITS_DEFAULTED,
        EventKind.LIMITS_NOT_SAVED,
        EventKind.MEMORY_FAILED,
        EventKind.RECOVERY_FAILED,
    }
)
_PLAIN = re.compile(r"[\w.:/+@-]+")


@implements(EventSink)
@frozen(eq=False)
class LoggingEventSink:
    """One line per event, such as `context_compressed session=s1 messages=12 tokens=3400 compressed=true original=80` (R44).

    The data follow in their order. A value that is not one plain word is written as JSON, so that an event never takes a
    second line. Exceeded budgets, failed strategies, recoveries and memories, and limits that had to be defaulted or could
    not be saved are warnings, everything else is of `level`. An error of the logger's handlers and filters is swallowed.
    """

    logger: logging.Logger = field(factory=lambda: logging.getLogger("contextport"))
    level: int = logging.INFO

    def emit(self, event: Event) -> None:
        level = max(self.level, logging.WARNING) if event.kind in _WARNINGS else self.level
        try:
            if self.logger.isEnabledFor(level):
                self.logger.log(level, "%s", _line(event))
        except Exception:  # a sink must not break a conversation
            return


def _line(event: Event) -> str:
    pairs = {"session": event.session_id, **event.data}
    return " ".join((event.kind.value, *(f"{key}={_word(value)}" for key, value in pairs.items())))


def _word(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value, separators=(",", ":"), default=str)
