"""What all wrappers share: they decide nothing, they translate."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import attrs

from contextport.contracts import (
    Compression,
    InvalidArgument,
    Message,
    Outcome,
    Shortening,
    Text,
    TokenCounter,
    ToolCall,
    ToolResult,
    message_tokens,
)

__all__ = ["ForeignStrategy", "arguments_of", "with_result_text"]


class ForeignStrategy(ABC):
    """A wrapped system: `window` asks it, the rest is the bookkeeping that the port wants and the system does not do."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter

    @abstractmethod
    async def window(self, messages: Sequence[Message], max_tokens: int) -> list[Message]:
        """What the system would send of `messages`, input messages as the same objects."""

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return sum(message_tokens(message, self.counter) for message in messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        window = tuple(await self.window(messages, max_tokens))
        tokens = self.estimate_tokens(window)
        same = len(window) == len(messages) and all(a is b for a, b in zip(window, messages, strict=True))
        kept = {message.id for message in window}
        given = {message.id: message for message in messages}
        return Compression(
            messages=window,
            outcome=Outcome.CANNOT_FIT if tokens > max_tokens else Outcome.UNCHANGED if same else Outcome.SMALLER,
            tokens=tokens,
            omitted=tuple(message.id for message in messages if message.id not in kept and message.in_conversation),
            shortened=tuple(
                Shortening(message.id, len(given[message.id].text), len(message.text))
                for message in window
                if message.id in given and message.text != given[message.id].text
            ),
        )


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; text that is no JSON object is wrapped, as it must not get lost."""
    try:
        value = json.loads(call.arguments)
    except ValueError:
        value = None
    return cast(dict[str, Any], value) if isinstance(value, dict) else {"raw": call.arguments}


def with_result_text(message: Message, texts: dict[str, str]) -> Message:
    """`message` with the text of its tool results replaced, by call id."""
    parts = tuple(
        attrs.evolve(part, parts=(Text(texts[part.call_id]),)) if isinstance(part, ToolResult) and part.call_id in texts else part
        for part in message.parts
    )
    return attrs.evolve(message, parts=parts)
