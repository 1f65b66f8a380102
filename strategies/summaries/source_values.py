"""The exact values that a summary may say: those of what it was made of, and of the ledger."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from contextport.contracts import FactLedger, Kind, Message
from contextport.strategies.facts.exact_values import exact_values

from .passages import quoted, readable_texts
from .summary_message import summary_in

__all__ = ["ledger_values", "numbers_in_words", "source_texts", "values_of"]


_FROM_TWO = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: str(n) for n, word in enumerate(_FROM_TWO, 2)}
_SIGNS = {sign: str(n) for n, sign in enumerate("一二三四五六七八九十", 1)} | {"两": "2"}
_IN_WORDS = re.compile(
    rf"\b(?:{'|'.join(_NUMBERS)})\b|(?<![零〇一二三四五六七八九十百千万两])[一二三四五六七八九十两](?=个?(?:小时|分钟|[天年月周次人点岁块元]))",
    re.IGNORECASE,
)
_LONGEST_NAME = 160  # characters of a key that stands before each of its values


def source_texts(messages: Iterable[Message]) -> Iterator[str]:
    """Every text of the messages that a summary may be made of; JSON one value in a line, after its key."""
    for message in messages:
        if not quoted(message):
            continue
        earlier = summary_in(message)
        if earlier is not None:
            yield earlier.render()
            yield from (fact.text for fact in earlier.facts)
            if message.kind is Kind.SUMMARY:
                continue
        for name, text in readable_texts(message):
            if name:
                yield name
            yield _decoded(text)


def values_of(messages: Iterable[Message]) -> frozenset[str]:
    """The exact values of all that the messages say."""
    return frozenset().union(*map(exact_values, source_texts(messages)))


def numbers_in_words(text: str) -> frozenset[str]:
    """Small numbers that the text has in words, as figures: a summary may write them so."""
    found = {match[0].lower() for match in _IN_WORDS.finditer(text)}
    return frozenset([_NUMBERS.get(word) or _SIGNS[word] for word in found])


def ledger_values(ledger: FactLedger) -> frozenset[str]:
    """The exact values of all facts, of what they were before, and of their labels."""
    texts = [text for fact in ledger.facts for text in (fact.text, fact.label, *fact.earlier)]
    return frozenset().union(*map(exact_values, texts))


def _decoded(text: str) -> str:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "\n".join(_lines("", value))


def _lines(name: str, value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, dict) and depth < 100:
        for key, item in cast(dict[str, Any], value).items():
            if len(key) > _LONGEST_NAME:
                yield key
            yield from _lines(key, item, depth + 1)
    elif isinstance(value, list) and depth < 100:
        for item in cast(list[Any], value):
            yield from _lines(name, item, depth + 1)
    else:
        said = value if isinstance(value, str) else json.dumps(value)
        yield f"{name}: {said}" if len(name) <= _LONGEST_NAME else said
