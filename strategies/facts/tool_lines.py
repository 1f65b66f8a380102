"""Which lines of a tool's output tell something: what failed and what came out, before what is only process."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from attrs import frozen

__all__ = ["ToolLine", "telling_lines", "without_markers"]

_MARKER = re.compile(r"\[…[^…\n]{1,300}…\]")  # what the library writes where it left something out
_FEW = 6  # lines; an output of so few is an answer, and read as it is
_ALIKE = 3  # lines that differ in their numbers alone; more of them are process
_READ = 400  # characters of a line
_MOST_TOLD = 6
_FAILED = re.compile(
    r"(?<!\bno )(?<!\b0 )\b(?:errors?|exception|traceback(?! \(most)|fail(?:ed|ures?|s)?|fatal|panic(?:ked)?|denied|refused|"
    r"not found|no such|timed? ?out|cannot|aborted|killed)\b|\w(?:Error|Exception)\b|错误|异常|失败|找不到|不存在|超时|拒绝",
    re.IGNORECASE,
)
_CAME_OUT = re.compile(
    r"\b(?:passed|succeeded|success(?:ful|fully)?|created|deleted|removed|updated|written|wrote|saved|installed|cancell?ed|"
    r"completed|exit(?:ed)? (?:code|status|with)|warnings?|errors?|fail(?:ed|ures?))\b|"
    r"成功|完成|已创建|已删除|已更新|已保存|通过|警告",
    re.IGNORECASE,
)
_VARYING = re.compile(r"0x[0-9a-f]+|[0-9]+", re.IGNORECASE)


@frozen
class ToolLine:
    """A line of an output. `told` says whether it says what came out; `failed` whether that is a failure."""

    text: str
    told: bool = False
    failed: bool = False


def without_markers(text: str) -> str:
    """The text with a line end in place of each marker for what was left out."""
    return _MARKER.sub("\n", text) if "[…" in text else text


def telling_lines(text: str) -> list[ToolLine]:
    """The lines of an output without those that repeat each other but for their numbers, as they come.

    Of what failed and what came out, six lines are marked, failures first, then the last ones, which sum up. One of each wording
    of failures is enough. Everything of an output of up to six lines is taken.
    """
    lines = [line for line in without_markers(text).splitlines() if line.strip()]
    shapes = [_VARYING.sub("0", line[:_READ]).strip() for line in lines]
    counts = Counter(shapes)
    failed = _first_of_each([n for n, line in enumerate(lines) if _FAILED.search(line[:_READ])], shapes)
    came = [n for n, line in enumerate(lines) if counts[shapes[n]] <= _ALIKE and _CAME_OUT.search(line[:_READ])]
    told = _most_telling(failed, [n for n in came if n not in set(failed)])
    kept = [n for n in range(len(lines)) if n in told or len(lines) <= _FEW or counts[shapes[n]] <= _ALIKE]
    return [ToolLine(lines[n], n in told, n in failed) for n in kept]


def _first_of_each(places: Sequence[int], shapes: Sequence[str]) -> list[int]:
    seen: dict[str, int] = {}
    for n in places:
        seen.setdefault(shapes[n], n)
    return list(seen.values())


def _most_telling(failed: Sequence[int], came: Sequence[int]) -> frozenset[int]:
    """Up to six lines: of failures the first and the last, then what came out, the last of it first."""
    half = _MOST_TOLD // 2
    first = failed if len(failed) <= _MOST_TOLD - 1 else [*failed[:half], *failed[-(half - 1) :]]
    return frozenset([*first, *came[-(_MOST_TOLD - len(first)) :]])
