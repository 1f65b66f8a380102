"""Counters with exact numbers that a rule can state, without any tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from contextport.contracts import (
    CountKind,
    ErrorBound,
    Json,
    JsonPart,
    Media,
    Message,
    Refusal,
    Text,
    Thinking,
    TokenCounter,
    ToolCall,
    ToolResult,
    dump_json,
    implements,
)

__all__ = ["IMAGE_TOKENS", "CharactersCounter", "WordsCounter"]

IMAGE_TOKENS = 10


@implements(TokenCounter)
class WordsCounter:
    """One token per piece between white space: of texts, reasoning, and `name + " " + arguments` of each call.

    An image costs 10, a message itself nothing.
    """

    @property
    def name(self) -> str:
        return "words"

    @property
    def kind(self) -> CountKind:
        return CountKind.EXACT

    @property
    def bound(self) -> ErrorBound:
        return ErrorBound(0.0, 0.0)

    def count_text(self, text: str) -> int:
        return len(text.split())

    def count_message(self, message: Message) -> int:
        return sum(map(self.count_text, _texts(message.parts))) + IMAGE_TOKENS * _images(message.parts)

    def count_tools(self, tools: Sequence[Json]) -> int:
        return sum(self.count_text(dump_json(tool)) for tool in tools)


@implements(TokenCounter)
class CharactersCounter(WordsCounter):
    """One token per character, so that a cut may fall anywhere."""

    @property
    def name(self) -> str:
        return "characters"

    def count_text(self, text: str) -> int:
        return len(text)


def _texts(parts: Sequence[Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text | Refusal):
            yield part.text
        elif isinstance(part, Thinking):
            yield " ".join((part.text or "", *part.summary))
        elif isinstance(part, ToolCall):
            yield f"{part.name} {part.arguments}"
        elif isinstance(part, ToolResult):
            yield from _texts(part.parts)
        elif isinstance(part, JsonPart):
            yield dump_json(part.value)


def _images(parts: Sequence[Any]) -> int:
    found = 0
    for part in parts:
        if isinstance(part, Media):
            found += 1
        elif isinstance(part, ToolResult):
            found += _images(part.parts)
    return found
