"""Text of no known shape: errors and conclusions first, then its head and its tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from contextport.strategies.head_and_tail import grapheme_cut, shorten_text
from contextport.strategies.text_markers import REPEAT_CALL, characters_missing, left_out, spare_marker

from .line_choice import chosen_lines, lines_of, ranked
from .telling_lines import conclusion_lines, distinct, error_lines

__all__ = ["ends_and_errors", "ends_of_text", "shrink_plain_text"]

_HEAD_SHARE = 2 / 3
_TELLING = 8  # lines of a kind that come before what stands at the ends
_ENDS = 3  # lines at each end that come before more of them
_FEW_ERRORS = 5  # lines between head and tail
_LONGEST_ERROR = 400  # characters of such a line
_MARKER_LENGTH = 40  # characters that one more gap takes, about
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
    found = shorten_text(text, fits, _HEAD_SHARE, _marker)
    return found if found is not None else shorten_text(text, fits, _HEAD_SHARE)


def ends_and_errors(text: str, fits: Callable[[str], bool]) -> str | None:
    """The longest head and tail of the same size that fit, and between them the first error lines, five at most.

    These take at most a quarter of what fits. Each gap has a marker. None when not even a marker fits.
    """
    ends = shorten_text(text, fits, 0.5, _marker)
    if ends is None:
        return shorten_text(text, fits)
    lines = lines_of(text)
    starts = [0, *accumulate(map(len, lines))]
    errors = [(starts[n], starts[n + 1]) for n in distinct(lines, error_lines(lines))]
    room = len(ends) // 4

    def errors_between(text: str, head: int, tail: int) -> str:
        return _with_pieces(text, head, tail, _most_pieces(text, errors, head, tail, room))

    found = shorten_text(text, fits, 0.5, errors_between) if errors else None
    return found if found is not None else ends


def _most_pieces(text: str, spans: Sequence[tuple[int, int]], head: int, tail: int, room: int) -> list[tuple[int, int]]:
    """What of the spans is in text[head:tail], as long as they fit `room` with their markers: five at most, the first ones."""
    pieces: list[tuple[int, int]] = []
    for start, stop in spans:
        if start >= tail or stop <= head or len(pieces) == _FEW_ERRORS:
            continue
        if stop - start > _LONGEST_ERROR:
            stop = spare_marker(text, grapheme_cut(text, start + _LONGEST_ERROR), -1)
        start, stop = max(head, start), min(tail, stop)
        room -= stop - start + _MARKER_LENGTH
        if stop > start and room >= 0:
            pieces.append((start, stop))
    return pieces


def _with_pieces(text: str, head: int, tail: int, pieces: Sequence[tuple[int, int]]) -> str:
    """What stands for text[head:tail]: the pieces as they are, and between them markers on lines of their own."""
    out: list[str] = []
    at, how = head, REPEAT_CALL
    for start, stop in (*pieces, (tail, tail)):
        if start > at and pieces and start < tail and text[start - 1] == "\n":
            start = max(at, grapheme_cut(text, start - 1))
        if start > at:
            marker = left_out(characters_missing(text, at, start), "character", how)
            shorter = len(marker) < start - at
            out.append(marker if shorter else text[at:start])
            how = "" if shorter else how
        out.append(text[start:stop])
        at = stop
    return "".join(out)


def _marker(text: str, head: int, tail: int) -> str:
    return left_out(characters_missing(text, head, tail), "character", REPEAT_CALL)
