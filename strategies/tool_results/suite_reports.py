"""Output of test runners (pytest, unittest, go test, jest, cargo test): the summary and the failures first."""

from __future__ import annotations

import re
from collections.abc import Callable

from contextport.strategies.head_and_tail import shorten_text

from .line_choice import chosen_lines, ends_first, lines_of, ranked
from .telling_lines import distinct, error_lines

__all__ = ["is_suite_report", "shrink_suite_report"]

_SUMMARY = re.compile(
    r"^=+ .*\b(?:passed|failed|errors?|skipped|no tests ran)\b.* =+\s*$"  # pytest
    r"|^(?:\d+ (?:passed|failed|skipped|errors?)(?:, )?)+ in [\d.]+s\b"  # pytest -q
    r"|^Ran \d+ tests? in |^(?:OK|FAILED) ?(?:\(.*\))?\s*$"  # unittest
    r"|^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[build failed\])"  # go test
    r"|^(?:Tests|Test Suites):\s+.*\btotal\b"  # jest
    r"|^test result: "  # cargo test
)
_FAILURE = re.compile(
    r"^(?:FAILED|ERROR) \S+(?:::|\.py|\()"  # pytest
    r"|^(?:FAIL|ERROR): \S+"  # unittest
    r"|^\s*--- FAIL: |^panic: "  # go test
    r"|^\s*● |^\s*✕ |^FAIL \S+\.(?:[cm]?[jt]sx?)\b"  # jest
    r"|^test \S+ \.\.\. FAILED|^error(?:\[E\d+\])?: |^thread '.*' panicked at"  # cargo test
)
_REASON = re.compile(
    r"^E {2,}\S|^\w*(?:Error|Exception)\b.*|^\s*(?:Expected|Received)\b.*:|^\s*(?:left|right): |^\s*(?:got|want)\b|^assertion "
    r"|^\s*\S+\.(?:py|go|rs|[cm]?[jt]sx?):\d+"
)
_PASSED = re.compile(r"\bPASSED\b|^test \S+ \.\.\. ok\b|^\s*--- PASS: |^=== (?:RUN|PAUSE|CONT)\b|^\s*✓ |^PASS\b|\.\.\. ok\s*$")


def is_suite_report(text: str) -> bool:
    """Whether there is a line with which a test runner sums up."""
    return any(_SUMMARY.match(line) for line in text.split("\n") if len(line) < 400)


def shrink_suite_report(text: str, fits: Callable[[str], bool]) -> str | None:
    """The summary, which tests failed, why, what stands around, the last and the first lines; lines of passed tests last.

    Where no line fits, the end of the text, which has the summary. None when not even a marker fits.
    """
    lines = lines_of(text)
    summary, failures, reasons, passed = (_matching(lines, p) for p in (_SUMMARY, _FAILURE, _REASON, _PASSED))
    summary = sorted(summary, key=lambda n: (lines[n][:2].lower() == "ok", -n))
    passing = set(passed).difference(summary, failures, reasons)
    rest = [n for n in range(len(lines)) if n not in passing and lines[n].strip()]
    errors = distinct(lines, (n for n in error_lines(lines) if n not in passing))
    around = [n for n in rest if any(abs(n - failure) <= _NEAR for failure in failures)] if len(failures) <= _MOST_NEAR else []
    groups = (summary[:_SUMS], failures, reasons, around, rest[: -_LAST - 1 : -1], errors, summary, ends_first(rest, 1, 2))
    found = chosen_lines(lines, ranked(len(lines), *groups), fits)
    return found if found is not None else shorten_text(text, fits, head_share=0.0)


_SUMS = 8  # lines of a summary that come before everything else
_LAST = 8  # lines at the end that come before the first ones
_NEAR = 3  # lines around a failure
_MOST_NEAR = 50  # failures whose surroundings are looked at


def _matching(lines: list[str], pattern: re.Pattern[str]) -> list[int]:
    return [n for n, line in enumerate(lines) if pattern.search(line[:400])]
