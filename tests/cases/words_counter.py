"""Counters with exact numbers that a case can state: one token per piece of text between white space."""

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

IMAGE_TOKENS = 10


@implements(TokenCounter)
class WordsCounter:
    """Pieces of content, reasoning, and `name + " " + arguments` of each call; 10 per image; nothing per message.

    `min_per_message` is the least that a message costs. `texts_counted` says how many texts were counted so far.
    """

    def __init__(self, min_per_message: int = 0) -> None:
        self.min_per_message = min_per_message
        self.texts_counted = 0

    @property
    def name(self) -> str:
        return f"words:{self.min_per_message}"

    @property
    def kind(self) -> CountKind:
        return CountKind.EXACT

    @property
    def bound(self) -> ErrorBound:
        return ErrorBound(0.0, 0.0)

    def count_text(self, text: str) -> int:
        self.texts_counted += 1
        return len(text.split())

    def count_message(self, message: Message) -> int:
        tokens = sum(self.count_text(text) for text in _texts(message.parts)) + IMAGE_TOKENS * _images(message.parts)
        return max(tokens, self.min_per_message)

    def count_tools(self, tools: Sequence[Json]) -> int:
        return sum(self.count_text(dump_json(tool)) for tool in tools)


def _texts(parts: Sequence[Any]) -> Iterator[str]:
    for part in parts:
        match part:
            case Text() | Refusal():
                yield part.text
            case Thinking():
                yield " ".join((part.text or "", *part.summary))
            case ToolCall():
                yield f"{part.name} {part.arguments}"
            case ToolResult():
                yield from _texts(part.parts)
            case JsonPart():
                yield dump_json(part.value)
            case _:
                pass


def _images(parts: Sequence[Any]) -> int:
    return sum(
        1 if isinstance(part, Media) and part.media == "image" else _images(part.parts) if isinstance(part, ToolResult) else 0
        for part in parts
    )
