"""A JSON text within a limit that is still JSON: long strings, lists and objects in it are shortened, with marks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, cast

from attrs import frozen

from contextport.strategies.head_and_tail import grapheme_cut

__all__ = ["fit_json"]

_MARKS = 32  # a smaller measure may give a longer text than this one: marks are longer than short entries
_DEEPEST = 200  # levels; deeper values are marked as left out
_MARK_KEY = "…"
_SURROGATE = re.compile("[\ud800-\udfff]")


def fit_json(text: str, fits: Callable[[str], bool]) -> str | None:
    """The largest shortened form of a JSON text that `fits`; None if it is no JSON or not even a mark fits.

    One measure decides how much stays: strings keep that many characters and lists and objects that many entries, from their
    start. Keys are kept whole. The largest measure that fits is found by doubling and halving.
    """
    try:
        value = json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    except (ValueError, RecursionError):
        return None
    indented = "\n" in text.strip()

    def shortened(measure: int) -> str:
        return _written(_shortened(value, measure, _DEEPEST), 0 if indented else None)

    if fits(whole := _written(_shortened(value, len(text), _DEEPEST))):  # its white space alone was too much
        return whole
    low, measure = 0, 1
    while measure <= len(text):  # from below: what is much too large is not made
        if fits(shortened(measure)):
            low = measure
        elif measure >= _MARKS:
            break
        measure *= 2
    high = max(1, 2 * low - 1)
    while low < high:
        measure = (low + high + 1) // 2
        if fits(shortened(measure)):
            low = measure
        else:
            high = measure - 1
    candidates = (shortened(low), json.dumps(f"[…{len(text)} characters left out…]", ensure_ascii=False), '"…"')
    return next((candidate for candidate in candidates if fits(candidate)), None)


@frozen
class _Number:
    """A number as it was written: as a float or an int it could lose digits, become infinite, or be refused for its length."""

    text: str


def _written(value: Any, indent: int | None = None) -> str:
    """The value as JSON, in one line or indented by one blank per level from `indent` on."""
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, list):
        return _listed("[", "]", [_written(item, _deeper(indent)) for item in cast(list[Any], value)], indent)
    if isinstance(value, dict):
        colon = ":" if indent is None else ": "
        fields = cast(dict[str, Any], value).items()
        return _listed("{", "}", [_quoted(key) + colon + _written(item, _deeper(indent)) for key, item in fields], indent)
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _deeper(indent: int | None) -> int | None:
    return None if indent is None else indent + 1


def _listed(opening: str, closing: str, items: list[str], indent: int | None) -> str:
    if indent is None or not items:
        return opening + ",".join(items) + closing
    line = "\n" + " " * (indent + 1)
    return opening + line + ("," + line).join(items) + "\n" + " " * indent + closing


def _quoted(text: str) -> str:
    """A JSON string, in the characters it stands for, but for halves of surrogate pairs, which cannot be encoded."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


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
