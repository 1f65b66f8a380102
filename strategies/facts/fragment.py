"""The passage of a message that a fact stands in (R132)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from contextport.contracts.counter import TokenCounter
from contextport.contracts.facts import Fact
from contextport.contracts.messages import JsonPart, Message, Refusal, Text, ToolCall, ToolResult

from .statements import sentences

__all__ = ["fragment_of"]

_CUT = "…"
_FAR = 20_000  # characters that are looked at on either side of a fact
_NEAR = (0, 40, 120, 400, 1200, 4000)


def fragment_of(message: Message, fact: Fact, counter: TokenCounter, max_tokens: int) -> str:
    """The largest passage around the fact within `max_tokens` by `count_text`, as it stands in the message, `…` where it is cut.

    The whole text is taken if it fits, else paragraphs, sentences, lines or JSON objects, else so many characters. Empty if the
    fact is not in the message or not even its text fits.
    """
    for text in _texts(message):
        place = _place(text, fact)
        if place is not None:
            return _largest(text, *place, counter, max_tokens)
    return ""


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, Text | Refusal):
            yield part.text
        elif isinstance(part, ToolCall):
            yield part.arguments
        elif isinstance(part, ToolResult):
            for inner in part.parts:
                if isinstance(inner, Text):
                    yield inner.text
                elif isinstance(inner, JsonPart):
                    yield json.dumps(inner.value, ensure_ascii=False)


def _place(text: str, fact: Fact) -> tuple[int, int] | None:
    """Where the fact, or what it was before, stands in a text: as it is, or with the escapes of JSON."""
    for said in (fact.text, *reversed(fact.earlier)):
        for form in (said, json.dumps(said, ensure_ascii=False)[1:-1], json.dumps(said)[1:-1]):
            start = text.find(form)
            if start >= 0:
                return start, start + len(form)
    return None


def _largest(text: str, start: int, end: int, counter: TokenCounter, max_tokens: int) -> str:
    spans = sorted({(0, len(text)), *_around(text, start, end)}, key=lambda span: span[0] - span[1])
    for first, last in spans:
        if last - first > 16 * max_tokens + (end - start):  # more than any tokenizer makes of so few tokens in running text
            continue
        piece = text[first:last].strip()
        cut = (_CUT if first > 0 else "") + piece + (_CUT if last < len(text) else "")
        if counter.count_text(cut) <= max_tokens:
            return cut
    return ""


def _around(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Passages with the fact in them, of many sizes."""
    yield from _enclosing_objects(text, start, end)
    base = max(0, start - _FAR)
    near = [(base + first, base + last) for first, last in sentences(text[base : end + _FAR])]
    hit = [n for n, (first, last) in enumerate(near) if last > start and first < end]
    if hit:
        for more in range(8):
            yield near[max(0, hit[0] - more)][0], near[min(len(near) - 1, hit[-1] + more)][1]
    for sign in ("\n", "\n\n"):
        first, last = text.rfind(sign, base, start), text.find(sign, end, end + _FAR)
        yield first + 1 if first >= 0 else base, last if last >= 0 else min(len(text), end + _FAR)
    for chars in _NEAR:
        yield _whole_words(text, max(0, start - chars), min(len(text), end + chars), start, end)


def _whole_words(text: str, first: int, last: int, start: int, end: int) -> tuple[int, int]:
    """The span without the words that it would cut, if the fact stays in it."""
    space = text.find(" ", first, start) if first else -1
    back = text.rfind(" ", end, last) if last < len(text) else -1
    return space + 1 if space >= 0 else first, back if back >= 0 else last


def _enclosing_objects(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the JSON objects or lists around the fact, innermost first; braces inside strings are not told apart."""
    opened, closed = _unmatched(text, start, -1), _unmatched(text, end, 1)
    yield from [(first, last + 1) for first, last in zip(opened, closed, strict=False)]


def _unmatched(text: str, place: int, step: int) -> list[int]:
    """Places of the brackets around `place` on one side, nearest first."""
    outer, inner = ("{[", "}]") if step < 0 else ("}]", "{[")
    side = range(place - 1, max(-1, place - _FAR), -1) if step < 0 else range(place, min(len(text), place + _FAR))
    depth, found = 0, list[int]()
    for at in side:
        if text[at] in inner:
            depth += 1
        elif text[at] in outer:
            if depth == 0:
                found.append(at)
            depth = max(0, depth - 1)
    return found
