"""Tables (CSV and the like, markdown, aligned columns): the head, then rows with errors, then first and last rows."""

from __future__ import annotations

import re
from collections.abc import Callable

from .line_choice import chosen_lines, ends_first, lines_of, ranked
from .telling_lines import distinct, error_lines

__all__ = ["is_table", "shrink_table"]

_LEAST_ROWS = 4
_ROW_SHARE = 0.9
_SAMPLE = 200  # lines that are looked at
_MARKDOWN_RULE = re.compile(r"^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*$")
_SEPARATORS = (",", "\t", ";", "|")
_QUOTED = re.compile(r'"[^"\n]*"')
_CELL = re.compile(r"\S+(?: \S+)*")


def is_table(text: str) -> bool:
    """Whether nearly all lines are rows of one number of cells, or of cells that begin in the same columns."""
    lines = [line for line in text.split("\n", _SAMPLE)[:_SAMPLE] if line.strip()]
    if len(lines) < _LEAST_ROWS:
        return False
    return any(_MARKDOWN_RULE.match(line[:2_000]) for line in lines[:3]) or _separated(lines) or _aligned(lines)


def _separated(lines: list[str]) -> bool:
    bare = [_QUOTED.sub("", line) for line in lines]
    for separator in _SEPARATORS:
        cells = bare[0].count(separator)
        even = sum(line.count(separator) == cells for line in bare)
        if cells >= (1 if separator == "\t" else 2) and even >= _ROW_SHARE * len(bare):
            return True
    return False


def _aligned(lines: list[str]) -> bool:
    """Cells set apart by two blanks or more, of which the columns of the head hold in most rows."""
    columns = [cell.start() for cell in _CELL.finditer(lines[0].expandtabs())]
    if len(columns) < 3:
        return False
    rows = [{cell.start() for cell in _CELL.finditer(line.expandtabs())} for line in lines[1:]]
    shared = [sum(column in row for row in rows) >= _ROW_SHARE * len(rows) for column in columns]
    return sum(shared) >= max(2, len(columns) // 2)


def shrink_table(text: str, fits: Callable[[str], bool]) -> str | None:
    """The head of the table, rows that tell of errors, then rows from both ends; None when no row fits."""
    lines = lines_of(text)
    rule = next((n for n in range(min(3, len(lines))) if _MARKDOWN_RULE.match(lines[n][:2_000])), None)
    head = range(1 if rule is None else rule + 1)
    rows = range(len(head), len(lines))
    order = ranked(len(lines), head, [n for n in distinct(lines, error_lines(lines)) if n in rows], ends_first(rows))
    return chosen_lines(lines, order, fits, unit="row")
