"""The shapes of tool results that are known, and which one a text has."""

from __future__ import annotations

import json
from collections.abc import Callable

from attrs import frozen

from contextport.strategies.text_markers import left_out

from .diffs import is_diff, shrink_diff
from .json_spans import is_json
from .json_text import shrink_json
from .listings import is_listing, shrink_listing
from .logs import is_log, shrink_log
from .plain_text import ends_of_text, shrink_plain_text
from .suite_reports import is_suite_report, shrink_suite_report
from .tables import is_table, shrink_table

__all__ = ["LOG", "PLAIN", "SHAPES", "SUITE_REPORT", "Cut", "Shape", "least_text", "shape_of", "shrink_text"]

#: (text, fits) -> the most telling form of the text that fits, or None when there is none.
Cut = Callable[[str, Callable[[str], bool]], str | None]


@frozen
class Shape:
    """A family of texts: how one is told, and how it is made smaller. Both are pure functions of the text."""

    name: str
    recognises: Callable[[str], bool]
    shrink: Cut


JSON = Shape("json", is_json, shrink_json)
SUITE_REPORT = Shape("suite_report", is_suite_report, shrink_suite_report)
LOG = Shape("log", is_log, shrink_log)
PLAIN = Shape("plain", lambda text: True, shrink_plain_text)
#: In the order in which they are asked: what is told by a sure sign comes before what is told by its looks.
SHAPES = (
    JSON,
    Shape("diff", is_diff, shrink_diff),
    SUITE_REPORT,
    LOG,
    Shape("table", is_table, shrink_table),
    Shape("listing", is_listing, shrink_listing),
    PLAIN,
)


def shape_of(text: str) -> Shape:
    """The first shape that recognises the text; plain text if no other does."""
    return next(shape for shape in SHAPES if shape.recognises(text))


def shrink_text(text: str, fits: Callable[[str], bool]) -> str | None:
    """The most telling form of the text that fits, by its shape; JSON stays JSON. None when not even a marker fits."""
    shape = shape_of(text)
    found = shape.shrink(text, fits)
    return found if found is not None or shape is JSON else ends_of_text(text, fits)


def least_text(text: str) -> str:
    """The marker alone, for a text of which nothing fits; a JSON string for JSON."""
    marker = left_out(len(text), "character")
    return json.dumps(marker, ensure_ascii=False) if is_json(text) else marker
