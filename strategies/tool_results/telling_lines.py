"""Lines that tell what came out: errors, warnings and conclusions, in the languages that tools and their users write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["conclusion_lines", "distinct", "error_lines", "warning_lines"]

_LONGEST_READ = 2_000  # characters of a line that are looked at
_MOST = 40  # wordings; more of them are noise
_ERROR = re.compile(
    r"(?<!\bno )(?<!\b0 )(?:\b(?:errors?|exception|traceback|fatal|failed|failures?|panic(?:ked)?|critical|denied|cannot|"
    r"not found|undefined|aborted|killed|segmentation fault|timed? ?out)\b|\w(?:Error|Exception)\b)"
    r"|错误|失败|异常|エラー|ошибка|\bfehler\b|\berreur\b",
    re.IGNORECASE,
)
#: In small letters; a line without any of them is no match of `_ERROR`, which is told much faster than by the pattern.
_ERROR_STEMS = (
    *("error", "exception", "fail", "fatal", "traceback", "panic", "critical", "denied", "cannot", "not found", "undefined"),
    *("aborted", "killed", "segmentation fault", "timed", "time out", "timeout"),
    *("错误", "失败", "异常", "エラー", "ошибка", "fehler", "erreur"),
)
_WARNING_STEMS = ("warn", "deprecated", "警告")
_WARNING = re.compile(r"\bwarn(?:ing)?s?\b|\bdeprecated\b|警告", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"^[\s#*>-]*(?:results?|conclusions?|summary|totals?|answer|verdict|findings?|exit (?:code|status)|"
    r"结论|总结|结果|合计|总计)\b[^:\uff1a=]{0,40}[:\uff1a=]",
    re.IGNORECASE,
)
_VARYING = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)


def error_lines(lines: Sequence[str]) -> list[int]:
    """Indices of the lines that tell of an error."""
    return _matching(lines, _ERROR, _ERROR_STEMS)


def warning_lines(lines: Sequence[str]) -> list[int]:
    """Indices of the lines that warn."""
    return _matching(lines, _WARNING, _WARNING_STEMS)


def conclusion_lines(lines: Sequence[str]) -> list[int]:
    """Indices of lines such as `Result: 42` and `Total = 7`."""
    return [n for n, line in enumerate(lines) if _CONCLUSION.match(line[:_LONGEST_READ])]


def distinct(lines: Sequence[str], indices: Iterable[int]) -> list[int]:
    """The first line of each wording among `indices`, 40 at most: repeats differ in their numbers alone."""
    seen: dict[str, int] = {}
    for n in indices:
        seen.setdefault(_VARYING.sub("0", lines[n][:_LONGEST_READ]).strip(), n)
        if len(seen) == _MOST:
            break
    return list(seen.values())


def _matching(lines: Sequence[str], pattern: re.Pattern[str], stems: tuple[str, ...]) -> list[int]:
    found: list[int] = []
    for n, line in enumerate(lines):
        read = line[:_LONGEST_READ]
        small = read.lower()
        if any(stem in small for stem in stems) and pattern.search(read):
            found.append(n)
    return found
