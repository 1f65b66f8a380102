"""A JSON text within a limit that is still JSON: long strings, lists and objects in it are shortened, with marks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from contextport.strategies.head_and_tail import grapheme_cut

__all__ = ["fit_json"]

_DEEPEST = 200  # levels; deeper values are marked as left out
_MARK_KEY = "…"


def fit_json(text: str, fits: Callable[[str], bool]) -> str | None:
    """The largest shortened form of a JSON text that `fits`; None if it is no JSON or not even a mark fits.

    One measure decides how much stays: strings keep that many characters and lists and objects that many entries, from their
    start. Keys are kept whole. The largest measure that fits is found by halving.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    indented = "\n" in text.strip()

    def shortened(measure: int) -> str:
        return _written(_shortened(value, measure, _DEEPEST), indented)

    if fits(whole := _written(value, indented=False)):  # its white space alone was too much
        return whole
    low, high = 0, len(text)
    while low < high:
        measure = (low + high + 1) // 2
        if fits(shortened(measure)):
            low = measure
        else:
            high = measure - 1
    candidates = (shortened(low), json.dumps(f"[…{len(text)} characters left out…]", ensure_ascii=False), '"…"')
    return next((candidate for candidate in candidates if fits(candidate)), None)


def _written(value: Any, indented: bool) -> str:
    if indented:
        return json.dumps(value, ensure_ascii=False, indent=1)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _shortened(value: Any, measure: int, depth: int) -> Any:
    if isinstance(value, str):
        return _string(value, measure)
    if isinstance(value, list):
        items = cast(list[Any], value)
        if not items:
            return items
        if depth == 0:
            return [f"[…{len(items)} entries left out…]"]
        kept = [_shortened(item, measure, depth - 1) for item in items[:measure]]
        return kept if len(items) <= measure else [*kept, f"[…{len(items) - measure} entries left out…]"]
    if isinstance(value, dict):
        held = cast(dict[str, Any], value)
        if not held:
            return held
        if depth == 0:
            return {_MARK_KEY: f"{len(held)} entries left out"}
        fields = {key: _shortened(item, measure, depth - 1) for key, item in list(held.items())[:measure]}
        return fields if len(held) <= measure else {**fields, _MARK_KEY: f"{len(held) - measure} entries left out"}
    return value


def _string(value: str, measure: int) -> str:
    kept = grapheme_cut(value, min(measure, len(value)))
    mark = f"[…{len(value) - kept} characters left out…]"
    return value if len(value) - kept <= len(mark) else value[:kept] + mark
