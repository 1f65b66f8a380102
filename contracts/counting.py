"""What of a message counts: one walk, shared by every counter, so that none forgets arguments, names or reasoning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from .counter import TokenCounter
from .json_values import dump_json
from .media_pricing import MediaPricing, OpenAITiles, media_tokens
from .messages import Json, JsonPart, Media, Message, Opaque, Refusal, Text, Thinking, ToolCall, ToolResult

__all__ = ["CountsMessages", "counted_texts", "message_sizes", "message_tokens", "remember_tokens", "total_tokens"]

_BLOB_CHARS = 512  # a longer string without white space is data, not text
_CHARS_PER_ENCRYPTED_TOKEN = 6  # base64 of about 4.5 bytes, the size of a token's text


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """The size of a message by `counter`, which is asked once in the message's life."""
    counted = message.counted
    return counted[1] if counted is not None and counted[0] == counter.name else _count(message, counter)


def message_sizes(messages: Iterable[Message], counter: TokenCounter) -> list[int]:
    """The sizes of the messages by `counter`, which is asked once in the life of each."""
    name = counter.name
    return [
        counted[1] if (counted := message.counted) is not None and counted[0] == name else _count(message, counter)
        for message in messages
    ]


def total_tokens(messages: Iterable[Message], counter: TokenCounter) -> int:
    """The size of a list of messages: the sum of their sizes."""
    return sum(message_sizes(messages, counter))


def _count(message: Message, counter: TokenCounter) -> int:
    tokens = counter.count_message(message)
    remember_tokens(message, counter.name, tokens)
    return tokens


def remember_tokens(message: Message, counter_name: str, tokens: int) -> None:
    """Note on the message the size that the named counter gave it, such as one read from a store."""
    object.__setattr__(message, "counted", (counter_name, tokens))  # a cache: it takes no part in equality


def counted_texts(parts: Sequence[Any]) -> Iterator[str]:
    """Every text of the parts that a model reads, media and encrypted reasoning aside."""
    for part in parts:
        if type(part) is Text or type(part) is Refusal:
            yield part.text
        elif type(part) is ToolCall:
            yield part.name
            yield part.arguments
        elif type(part) is ToolResult:
            yield from counted_texts(part.parts)
        elif type(part) is Thinking:
            yield part.text or ""
            yield from part.summary
        elif type(part) is JsonPart:
            yield dump_json(part.value)
        elif type(part) is Opaque:
            yield from _opaque_texts(part.raw)


def _opaque_texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) <= _BLOB_CHARS or any(character.isspace() for character in value[:_BLOB_CHARS]):
            yield value
    elif isinstance(value, dict):
        for key, item in cast(dict[str, Any], value).items():
            yield key
            yield from _opaque_texts(item)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _opaque_texts(item)
    elif value is not None:
        yield str(value)


class CountsMessages:
    """`count_message` and `count_tools` for a counter that has `count_text`.

    `message_framing` is what a provider adds around each message: 3 tokens and the role with OpenAI's chat form (R57).
    """

    message_framing: int = 4
    images: MediaPricing = OpenAITiles()

    def count_text(self, text: str) -> int:
        """Tokens of a text on its own."""
        raise NotImplementedError

    def count_message(self, message: Message) -> int:
        """Tokens of one message: framing, name, and every part."""
        parts: Sequence[Any] = message.parts
        inner = parts[0].parts if len(parts) == 1 and type(parts[0]) is ToolResult else parts
        if len(inner) == 1 and type(inner[0]) is Text and message.name is None:  # most messages of a chat
            return self.message_framing + self.count_text(inner[0].text)
        total = self.message_framing + (self.count_text(message.name) if message.name else 0)
        for text in counted_texts(parts):
            total += self.count_text(text)
        return total + self._other(parts)

    def _other(self, parts: Sequence[Any]) -> int:
        total = 0
        for part in parts:
            if type(part) is Media:
                total += media_tokens(part, self.images)
            elif type(part) is Thinking and part.encrypted:
                total += max(1, len(part.encrypted) // _CHARS_PER_ENCRYPTED_TOKEN)
            elif type(part) is ToolResult:
                total += self._other(part.parts)
        return total

    def count_tools(self, tools: Sequence[Json]) -> int:
        """Tokens of tool schemas: their compact JSON, as text."""
        return sum(self.count_text(dump_json(tool)) for tool in tools)
