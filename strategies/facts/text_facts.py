"""Facts in plain text: its values with the words next to them, its names, and the sentences to be kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from attrs import evolve

from contextport.contracts.facts import Fact, FactKind

from .found_values import found_values
from .labels import REACH, label_of, owner_of
from .names import names_in
from .own_sentences import tells_something
from .statements import clipped, sentences, statement_in
from .tool_lines import ToolLine, telling_lines
from .whole_values import whole_values

__all__ = ["output_facts", "text_facts", "value_facts"]

_MOST_TEXT_VALUES = 500
_MOST_VALUES = 20  # of one output; more is a listing


def text_facts(text: str, role: str, source: str) -> Iterator[Fact]:
    """Facts of what a user or an assistant wrote: of a pasted table, not so many values that what is said of it goes unread."""
    yield from islice(value_facts(text, role, source), _MOST_TEXT_VALUES)
    for start, end in sentences(text):
        sentence = clipped(text[start:end])
        if len(sentence) > 3 and (statement := statement_in(sentence, role)):
            yield Fact(kind=statement.kind, text=sentence, state=statement.state, role=role, sources=(source,))
        elif role == "user" and tells_something(text, start, end):
            yield Fact(kind=FactKind.STATEMENT, text=sentence, role=role, sources=(source,))


def output_facts(text: str, source: str, label: str = "") -> Iterator[Fact]:
    """Facts of what a tool wrote: lines that say what came out, and at most 20 values, those of failures first."""
    if text.lstrip()[:1] in ("{", "["):  # JSON that was cut
        yield from value_facts(text, "tool", source)
        return
    lines = telling_lines(text)
    left = _MOST_VALUES
    for line in sorted(lines, key=_lateness):
        values = list(value_facts(line.text, "tool", source))[:left]
        left -= len(values)
        yield from values
    for line in lines:
        if line.told:
            yield Fact(kind=FactKind.CONCLUSION, text=clipped(line.text), label=label, role="tool", sources=(source,))


def _lateness(line: ToolLine) -> int:
    return 0 if line.failed and line.told else 1 if line.told else 2


def value_facts(text: str, role: str, source: str) -> Iterator[Fact]:
    """Values and names, in the order of the text."""
    names = list(names_in(text))
    values = whole_values(text, found_values(text), names)
    facts: list[tuple[int, str, FactKind, str]] = []
    for place, value in enumerate(values):
        piece = text[value.start : value.end]
        kind = FactKind.IDENTIFIER if piece.endswith("#") else value.kind
        label = label_of(
            text,
            value if kind is value.kind else evolve(value, kind=kind),
            role,
            owner_of(text, value, values[max(0, place - REACH) : place]),
        )
        facts.append((value.start, piece, kind, label))
    taken = {place for value in values for place in range(value.start, min(value.end, value.start + 80))}
    facts += [(name.start, name.text, name.kind, "") for name in names if name.start not in taken]
    for _, piece, kind, label in sorted(facts, key=lambda fact: fact[0]):
        yield Fact(kind=kind, text=piece, label=label, role=role, sources=(source,))
