"""Text of no known shape: errors and conclusions first, then its head and its tail."""

from __future__ import annotations

from collections.abc import Callable

from contextport.strategies.head_and_tail import shorten_text

from .line_choice import chosen_lines, lines_of, ranked
from .markers import REPEAT_CALL, left_out
from .telling_lines import conclusion_lines, error_lines

__all__ = ["ends_of_text", "shrink_plain_text"]

_HEAD_SHARE = 2 / 3
_FEW_LINES = 8  # of fewer lines none is worth more than head and tail


def shrink_plain_text(text: str, fits: Callable[[str], bool]) -> str | None:
    """Error lines, conclusions, then head and tail, as far as they fit; None when not even a marker does."""
    lines = lines_of(text)
    errors, conclusions = error_lines(lines), conclusion_lines(lines)
    if len(lines) >= _FEW_LINES and (errors or conclusions):
        last = len(lines) - 1
        found = chosen_lines(lines, ranked(len(lines), [0], errors, conclusions, [last]), fits)
        if found is not None:
            return found
    return ends_of_text(text, fits)


def ends_of_text(text: str, fits: Callable[[str], bool]) -> str | None:
    """The longest head and tail that fit, two thirds of it head, with a marker between; None when not even that fits."""
    found = shorten_text(text, fits, _HEAD_SHARE, lambda _, head, tail: left_out(tail - head, "character", REPEAT_CALL))
    return found if found is not None else shorten_text(text, fits, _HEAD_SHARE)
