"""One text within a limit: a dependency, a step's result, a tool's output (R101, R199 to R201)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from contextport.contracts import InvalidArgument
from contextport.strategies.arguments import check_count
from contextport.strategies.head_and_tail import grapheme_cut, shorten_text

from .fit_json import fit_json

__all__ = ["TRUNCATED", "FitPolicy", "fit_text"]

FitPolicy = Literal["head", "tail", "head_and_tail", "json"]
TRUNCATED = "[Truncated]"  # R101
_ELLIPSIS = "…"


def fit_text(
    text: str, limit: int, policy: FitPolicy = "head_and_tail", *, size: Callable[[str], int] = len, marker: str = TRUNCATED
) -> str:
    """The text if its `size` is at most `limit`; else as much of it as fits, with a visible mark of what is missing.

    `head` keeps the start and ends with `marker`, `tail` keeps the end and begins with it, `head_and_tail` keeps both and says
    between them how much is left out, `json` keeps a JSON text valid: long strings, lists and objects in it are shortened. A
    text that is no JSON is then treated as by `head_and_tail`. Cuts fall between graphemes. `size` is characters unless given,
    such as `counter.count_text`.

    Where the limit has no room for a mark and some text, the mark is `…` or nothing. Raises `InvalidArgument` for a limit below
    1 and for an unknown policy.
    """
    check_count("limit", limit)
    if policy not in ("head", "tail", "head_and_tail", "json"):
        raise InvalidArgument(f"policy is {policy!r}; it must be head, tail, head_and_tail or json", name="policy", value=policy)

    def fits(candidate: str) -> bool:
        return size(candidate) <= limit

    if fits(text):
        return text
    if policy == "json":
        found = fit_json(text, fits)
        if found is not None:
            return found
    if policy in ("json", "head_and_tail"):
        found = shorten_text(text, fits)
        if found is not None:
            return found
    mark = next((mark for mark in (marker, _ELLIPSIS) if 2 * size(mark) <= limit), "")
    return _one_end(text, fits, mark, from_end=policy == "tail")


def _one_end(text: str, fits: Callable[[str], bool], mark: str, *, from_end: bool) -> str:
    """The longest start or end of the text that fits with the mark."""

    def cut(keep: int) -> str:
        if from_end:
            return mark + text[grapheme_cut(text, len(text) - keep, 1) :]
        return text[: grapheme_cut(text, keep)] + mark

    low, high = 0, len(text) - 1
    while low < high:
        keep = (low + high + 1) // 2
        if fits(cut(keep)):
            low = keep
        else:
            high = keep - 1
    return cut(low) if fits(cut(low)) else ""
