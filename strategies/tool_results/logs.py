"""Logs: errors and warnings first, then the last and the first lines."""

from __future__ import annotations

import re
from collections.abc import Callable

from .line_choice import chosen_lines, lines_of, ranked
from .telling_lines import distinct, error_lines, warning_lines

__all__ = ["is_log", "shrink_log"]

_LEAST_LINES = 5
_LOG_SHARE = 0.4  # of the lines; the others are traces and wrapped messages
_ENDS = 5  # lines at each end that come before errors of a wording that was seen
_SAMPLE = 200  # lines that are looked at
_ENTRY = re.compile(
    r"^\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ,]|\d\d:\d\d:\d\d\b|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|\d{2}/[A-Z][a-z]{2}/\d{4}:)"
    r"|^\W{0,3}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b"
    r"|\blevel=(?:trace|debug|info|warn(?:ing)?|error|fatal)\b"
)


def is_log(text: str) -> bool:
    """Whether lines begin with a time or a level, such as `2024-05-01 12:00:00 INFO` or `level=warn`."""
    lines = [line for line in text.split("\n", _SAMPLE)[:_SAMPLE] if line.strip()]
    return len(lines) >= _LEAST_LINES and sum(_ENTRY.search(line[:200]) is not None for line in lines) >= _LOG_SHARE * len(lines)


def shrink_log(text: str, fits: Callable[[str], bool]) -> str | None:
    """The lines that tell most: errors and warnings once per wording, the last and first lines; None when none fits."""
    lines = lines_of(text)
    indices = range(len(lines))
    errors = error_lines(lines)
    warnings = distinct(lines, warning_lines(lines))
    ends = [*indices[: -_ENDS - 1 : -1], *indices[:_ENDS]]
    groups = (distinct(lines, errors), [len(lines) - 1, 0], warnings, ends, reversed(errors))
    return chosen_lines(lines, ranked(len(lines), *groups, heads=1, tails=2), fits)
