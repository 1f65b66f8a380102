"""The most telling lines of a text within a limit, in their order, with markers for the lines between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from attrs import field, frozen

from contextport.strategies.head_and_tail import grapheme_cut
from contextport.strategies.text_markers import REPEAT_CALL, characters_missing, left_out, lines_missing, spare_marker

__all__ = ["chosen_lines", "ends_first", "lines_of", "ranked"]

_CLIPS = (1_000, 200)  # characters of a line; longer ones are cut when too few lines fit
_ENOUGH_LINES = 6  # fewer kept lines than this, and long lines are cut

#: What else the marker for lines[start:stop] says, such as `+3 -1`.
GapNote = Callable[[int, int], str]


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, split only where a cut is between grapheme clusters. Joined they are the text."""
    lines: list[str] = []
    start = 0
    while start < len(text):
        stop = text.find("\n", start) + 1
        while 0 < stop < len(text) and grapheme_cut(text, stop) != stop:
            stop = text.find("\n", stop) + 1
        stop = stop or len(text)
        lines.append(text[start:stop])
        start = stop
    return lines


def ends_first(indices: Sequence[int], heads: int = 2, tails: int = 1) -> Iterator[int]:
    """The indices from both ends towards the middle: `heads` from the start, then `tails` from the end, and so on."""
    low, high = 0, len(indices)
    while low < high:
        for _ in range(min(heads, high - low)):
            yield indices[low]
            low += 1
        for _ in range(min(tails, high - low)):
            high -= 1
            yield indices[high]


def ranked(count: int, *groups: Iterable[int], heads: int = 2, tails: int = 1) -> list[int]:
    """All indices below `count` in the order of the groups, each once; those in no group last, from both ends."""
    order = dict.fromkeys(index for group in groups for index in group)
    rest = [n for n in range(count) if n not in order]
    return [*order, *ends_first(rest, heads, tails)]


def chosen_lines(
    lines: Sequence[str],
    order: Sequence[int],
    fits: Callable[[str], bool],
    *,
    unit: str = "line",
    note: GapNote | None = None,
) -> str | None:
    """As many lines as fit, taken in `order` and put out in their own; None when not one fits.

    Each gap has a marker with the number of lines missing there; the first says how to see them, unless no line fits beside that.
    `order` holds every index once.
    """
    best: str | None = None
    longest_line = max(map(len, lines), default=0)
    for hint in (REPEAT_CALL, ""):
        for longest in (longest_line, *(clip for clip in _CLIPS if clip < longest_line)):
            count, text = _most(order, _Layout(lines, longest, unit, note, hint), fits)
            if text is not None:
                best = text
            if count >= min(_ENOUGH_LINES, len(lines)):
                break
        if best is not None:
            break
    return best


def _most(order: Sequence[int], layout: _Layout, fits: Callable[[str], bool]) -> tuple[int, str | None]:
    """How many of the first indices of `order` fit, found by doubling and halving, and the text with them."""
    best: tuple[int, str | None] = (0, None)
    low, high, count = 1, len(order), 1
    doubling = True
    while low <= high:
        text = layout.text(order[:count])
        if fits(text):
            best, low = (count, text), count + 1
        else:
            high, doubling = count - 1, False
        count = min(high, count * 2) if doubling else (low + high) // 2
    return best


@frozen
class _Layout:
    """A text as lines, of which some are put out."""

    lines: Sequence[str]
    longest: int
    unit: str
    note: GapNote | None
    hint: str
    _chars: list[int] = field(init=False)
    _missing: list[int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_chars", [0, *accumulate(map(len, self.lines))])
        object.__setattr__(self, "_missing", [0, *accumulate(lines_missing(self.lines))])

    def text(self, kept: Iterable[int]) -> str:
        """The lines `kept`, in order, with a marker for each gap."""
        out: list[str] = []
        at, hinted = 0, False
        for index in (*sorted(kept), len(self.lines)):
            marker = self._marker(at, index, "" if hinted else self.hint) if at < index else ""
            if self._chars[index] - self._chars[at] > len(marker):
                out.append(marker)
                hinted = True
            else:  # the marker would be longer than what it stands for
                out.extend(self.lines[at:index])
            if index < len(self.lines):
                out.append(self._clipped(self.lines[index]))
            at = index + 1
        return "".join(out)

    def _marker(self, start: int, stop: int, how: str) -> str:
        note = self.note(start, stop) if self.note else ""
        marker = left_out(self._missing[stop] - self._missing[start], self.unit, "; ".join(filter(None, (note, how))))
        last = self.lines[stop - 1]
        return marker + last[len(last.rstrip("\r\n")) :]

    def _clipped(self, line: str) -> str:
        if len(line) <= self.longest:
            return line
        head = spare_marker(line, grapheme_cut(line, self.longest * 2 // 3), -1)
        tail = spare_marker(line, grapheme_cut(line, len(line) - self.longest // 3, 1), 1)
        return line[:head] + left_out(characters_missing(line, head, tail), "character") + line[tail:]
