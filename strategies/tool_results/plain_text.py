"""Text of no known shape: errors and conclusions first, then its head and its tail."""

from __future__ import annotations

from collections.abc import Callable

from contextport.strategies.head_and_tail import shorten_text

from .line_choice import chosen_lines, lines_of, ranked
from .markers import REPEAT_CALL, left_out
from .telling_lines import conclusion_lines, distinct, error_lines

__all__ = ["ends_of_text", "shrink_plain_text"]

_HEAD_SHARE = 2 / 3
_TELLING = 8  # lines of a kind that come before what stands at the ends
_ENDS = 3  # lines at each end that come before more of them
_FEW_LINES = 8  # of fewer lines none is worth more than head and tail


def shrink_plain_text(text: str, fits: Callable[[str], bool]) -> str | None:
    """Error lines, conclusions, then head and tail, as far as they fit; None when not even a marker does."""
    lines = lines_of(text)
    errors, conclusions = distinct(lines, error_lines(lines)), distinct(lines, conclusion_lines(lines))
    if len(lines) >= _FEW_LINES and (errors or conclusions):
        first_groups = ([0, len(lines) - 1], errors[:_TELLING], conclusions[:_TELLING])
        ends = [*range(_ENDS), *range(len(lines) - _ENDS, len(lines))]
        found = chosen_lines(lines, ranked(len(lines), *first_groups, ends, errors, conclusions), fits)
        if found is not None:
            return found
    return ends_of_text(text, fits)


def ends_of_text(text: str, fits: Callable[[str], bool]) -> str | None:
    """The longest head and tail that fit, two thirds of it head, with a marker between; None when not even that fits."""
    found = shorten_text(text, fits, _HEAD_SHARE, lambda _, head, tail: left_out(tail - head, "character", REPEAT_CALL))
    return found if found is not None else shorten_text(text, fits, _HEAD_SHARE)
