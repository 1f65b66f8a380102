"""Lines that tell what came out: errors, warnings and conclusions, in the languages that tools and their users write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["conclusion_lines", "error_lines", "warning_lines"]

_LONGEST_READ = 2_000  # characters of a line that are looked at
_MOST = 40  # lines of one kind; more are repetition
_ERROR = re.compile(
    r"(?<!\bno )(?<!\b0 )(?:\b(?:errors?|exception|traceback|fatal|failed|failures?|panic(?:ked)?|critical|denied|cannot|"
    r"not found|undefined|aborted|killed|segmentation fault|timed? ?out)\b|\w(?:Error|Exception)\b)"
    r"|错误|失败|异常|エラー|ошибка|\bfehler\b|\berreur\b",
    re.IGNORECASE,
)
_WARNING = re.compile(r"\bwarn(?:ing)?s?\b|\bdeprecated\b|警告", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"^[\s#*>-]*(?:results?|conclusions?|summary|totals?|answer|verdict|findings?|exit (?:code|status)|"
    r"结论|总结|结果|合计|总计)\b[^:\uff1a=]{0,40}[:\uff1a=]",
    re.IGNORECASE,
)
_VARYING = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)


def error_lines(lines: Sequence[str]) -> list[int]:
    """Indices of lines that tell of an error, each wording once: repeats differ in their numbers alone."""
    return _matching(lines, _ERROR)


def warning_lines(lines: Sequence[str]) -> list[int]:
    """Indices of lines that warn, each wording once."""
    return _matching(lines, _WARNING)


def conclusion_lines(lines: Sequence[str]) -> list[int]:
    """Indices of lines such as `Result: 42` and `Total = 7`."""
    return _matching(lines, _CONCLUSION)


def _matching(lines: Iterable[str], pattern: re.Pattern[str]) -> list[int]:
    seen: dict[str, int] = {}
    for n, line in enumerate(lines):
        read = line[:_LONGEST_READ]
        if pattern.search(read):
            seen.setdefault(_VARYING.sub("0", read).strip(), n)
            if len(seen) == _MOST:
                break
    return list(seen.values())
