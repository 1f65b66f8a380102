"""Text cut into pieces that can stand alone: sentences of prose, lines of code and tables, fields of JSON.

Every piece is verbatim, apart from the quotes and braces of JSON. None ends inside a line of code or a row of a table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from contextport.strategies.facts.tool_lines import without_markers

__all__ = ["pieces_of"]

_LONG = 320  # characters of prose; longer sentences are cut at a clause, or at white space
_BLOB = 200  # characters without any gap: encoded data, not words
_RECORD = 160  # characters of JSON fields put into one piece
_SHORT_FORM = 12  # characters at the end of a sentence in which a short form is looked for
_FENCE = re.compile(r"\s*(?:```|~~~)")
_CODE = re.compile(
    r"^(?:\t| {4,}|[+-]{1,3} |@@ |\$ |>>> )|[;{}]\s*$|\|.*\||^\s*(?:def|class|import|from|return|if|for|#include)\b.*[:)\w]$"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Nr|vs|etc|e\.g|i\.e|approx|ca|Fig|Sec|Jan|Feb|Aug|Sept|Oct|Nov|Dec|[A-Z]))\.$"
)
_BEFORE_NUMBER = re.compile(r"\b(?:no|nr|p|pp|vol|ch|art)\.$", re.IGNORECASE)
_END = re.compile(  # a match begins where a run of signs does, and gives nothing of it back: a run is read once
    r"""(?<![.!?…])[.!?…]++["'”\u2019)\]*_]*+(?=\s)|[。\uff01\uff1f!?\uff1b]++[”\u2019」』\uff09)"']*+"""
)
_SPACE = re.compile(r"\s*+")
_CLAUSE = re.compile(r"[,;:\uff0c\uff1b\uff1a、](?=\s|[^\x00-\x7f])|\s[-\u2013—]\s")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\u3000-\u303f\uff00-\uffef]")


def pieces_of(text: str, label: str = "") -> Iterator[str]:
    """The pieces of a text, in order, without white space at their ends. Encoded data without any gap is left out.

    `label` stands before the fields of a JSON text: the name of the tool that they were sent to.
    """
    value = _json(text)
    if value is not None:
        yield from _fields(label, value)
        return
    fenced = False
    for line in without_markers(text).splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif line.strip():
            yield from (_unless_blob(line.strip()) if fenced or _CODE.search(line) else _sentences(line.strip()))


def _json(text: str) -> Any:
    stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


def _fields(name: str, value: Any, depth: int = 0) -> Iterator[str]:
    if depth > 40:
        return
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        yield from _packed(name, [f"{key}: {_plain(item)}" for key, item in fields.items() if _says(item)])
        for key, item in fields.items():
            if not _scalar(item):
                yield from _fields(key, item, depth + 1)
    elif isinstance(value, list):
        items = cast(list[Any], value)
        yield from _packed(name, [_plain(item) for item in items if _says(item)])
        for item in items:
            if not _scalar(item):
                yield from _fields(name, item, depth + 1)


def _scalar(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _says(value: Any) -> bool:
    """Whether it is no object or list, and more than a marker for what was left out."""
    return _scalar(value) and (not isinstance(value, str) or not value or bool(without_markers(value).strip()))


def _plain(value: Any) -> str:
    return " ".join(without_markers(value).split()) if isinstance(value, str) else json.dumps(value)


def _packed(name: str, fields: list[str]) -> Iterator[str]:
    """Fields next to each other in one piece, as many as make a line of ordinary length."""
    head = f"{name}: " if 0 < len(name) <= _RECORD else ""
    line = ""
    for field in fields:
        if line and len(line) + len(field) > _RECORD:
            yield from _long(head + line)
            line = ""
        line = f"{line}, {field}" if line else field
    if line:
        yield from _long(head + line)


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        if end[0][0] == "." and _goes_on(line, start, end.end()):
            continue
        yield from _long(line[start : end.end()].strip())
        start = end.end()
    if line[start:].strip():
        yield from _long(line[start:].strip())


def _goes_on(line: str, start: int, end: int) -> bool:
    """Whether the full stop before `end` belongs to a short form."""
    start = max(start, end - _SHORT_FORM)
    if _ABBREVIATION.search(line, start, end):
        return True
    return bool(_BEFORE_NUMBER.search(line, start, end)) and line[(at := _end_of_space(line, end)) : at + 1].isdigit()


def _end_of_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _long(sentence: str) -> Iterator[str]:
    """The sentence, or clauses of it if it is very long."""
    start = 0
    while len(sentence) - start > _LONG:
        least, most = start + _LONG // 3, start + _LONG
        cuts = [clause.end() for clause in _CLAUSE.finditer(sentence, least, most)]
        cut = cuts[-1] if cuts else sentence.rfind(" ", least, most)
        if cut <= 0:
            break
        yield from _unless_blob(sentence[start:cut].strip())
        start = _end_of_space(sentence, cut)
    if start < len(sentence):
        yield from _unless_blob(sentence[start:])


def _unless_blob(piece: str) -> Iterator[str]:
    if len(piece) <= _BLOB or " " in piece[:_BLOB] or _WIDE.search(piece, 0, _BLOB):
        yield piece
