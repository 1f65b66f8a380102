"""Facts in plain text: its values with the words next to them, its names, and the sentences to be kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextport.contracts.facts import Fact, FactKind

from .found_values import FoundValue, found_values
from .names import names_in
from .statements import clipped, sentences, statement_in
from .tool_lines import ToolLine, telling_lines
from .words import STOP_WORDS

__all__ = ["GAP", "output_facts", "text_facts", "value_facts"]

#: Stands for the value in a label made of the words next to it.
GAP = "…"

_UNIT_AFTER = re.compile(
    r"\s?(?:[%\uff05°€£元円块]|(?:percent|dollars?|euros?|yuan|USD|EUR|GBP|RMB|CNY|tokens?|words?|days?|weeks?|months?|years?|hours?|"
    r"minutes?|seconds?|people|persons?|passengers?|bags?|items?|times|pages?|lines?|files?|tests?|nights?|miles?|kilometers?|"
    r"[kKMGT]?i?B|[kcm]?m|kg|g|ms|h)\b|(?:小时|分钟|公里|公斤|千米|个月|美元|欧元|日元|人民币|天|个|人|次|年|月|周|岁|件|张|份|页|行|号|楼|层|米|斤|度|秒|台|套|本|名|位))"
)
_MOST_VALUES = 20  # of one output; more is a listing
_MONEY = "$€£¥₹\uffe5"
_BEFORE = 48  # characters in which the words next to a value are looked for
_CLAUSE = re.compile(r"[.!?;,\n\u3002\uff01\uff1f\uff1b\uff0c(\[{|](?!\d)")
_WORD = re.compile(r"[^\W\d_\u3040-\u9fff]+(?:['-][^\W\d_]+)*|[\u3400-\u9fff]{1,12}")
_NAMED = re.compile(
    r"([^\W\d_\u3040-\u9fff][\w-]{2,30})\s*(?:\s(?:is now|is|are|was|will be|becomes|to)\s|[:=\uff1a])\s*"
    r"(?:about |around |only |now )?\Z"
    r"|([\u3400-\u9fff]{2,6}?)(?:改成|改为|提高到|降到|调到|增加到|是|为|[:=\uff1a])\s*(?:了|约|大约)?\Z"
)


def text_facts(text: str, role: str, source: str) -> Iterator[Fact]:
    """Facts of what a user or an assistant wrote."""
    yield from value_facts(text, role, source)
    for start, end in sentences(text):
        sentence = clipped(text[start:end])
        if len(sentence) > 3 and (statement := statement_in(sentence, role)):
            yield Fact(kind=statement.kind, text=sentence, state=statement.state, role=role, sources=(source,))


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
    values = found_values(text)
    facts = [(value.start, *_with_unit(text, value), value.kind, _label(text, value, role)) for value in values]
    taken = {place for value in values for place in range(value.start, min(value.end, value.start + 80))}
    facts += [(name.start, name.start, name.text, name.kind, "") for name in names_in(text) if name.start not in taken]
    for _, _, piece, kind, label in sorted(facts, key=lambda fact: fact[0]):
        yield Fact(kind=kind, text=piece, label=label, role=role, sources=(source,))


def _with_unit(text: str, value: FoundValue) -> tuple[int, str]:
    if value.kind is not FactKind.NUMBER:
        return value.start, text[value.start : value.end]
    start = value.start - 1 if value.start and text[value.start - 1] in _MONEY else value.start
    unit = _UNIT_AFTER.match(text, value.end)
    return start, text[start : unit.end() if unit else value.end]


def _label(text: str, value: FoundValue, role: str) -> str:
    """The name of a number that a user set, else up to three words before the value with a gap for it, if there are any."""
    before = text[max(0, value.start - _BEFORE) : value.start].rstrip(_MONEY)
    if value.kind is FactKind.NUMBER and role == "user" and (named := _NAMED.search(before)):
        return (named[1] or named[2]).lower()
    clause = _CLAUSE.split(before)[-1]
    words = [word for word in _WORD.findall(clause) if word.lower() not in STOP_WORDS]
    return " ".join([*words[-3:], GAP]) if words else ""
