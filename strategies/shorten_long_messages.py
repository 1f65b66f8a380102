"""Shorten what is long by itself before anything is left out (R101)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    InvalidArgument,
    KeepsPins,
    Message,
    OnlyShortens,
    TokenCounter,
    implements,
    message_tokens,
    verify,
)
from contextport.contracts.counting import total_tokens

from .arguments import check_count, check_share
from .atoms import arrange
from .head_and_tail import shorten_message
from .keep_recent_tokens import unchanged
from .squeeze import give_up_order

__all__ = ["ShortenLongMessages"]


@implements(CompressionStrategy, KeepsPins, OnlyShortens)
@frozen
class ShortenLongMessages:
    """When a conversation is over its budget, shorten messages of over `max_message_tokens` to that size, head and tail kept.

    It shortens no more messages than needed, the least important and largest first. It leaves nothing out but results without a
    call: made to stand in a `Pipeline` before a strategy that does. `head_share` of what is kept is from the start of a text.
    """

    counter: TokenCounter
    max_message_tokens: int = 2_000
    head_share: float = 0.5

    def __attrs_post_init__(self) -> None:
        verify(self.counter, TokenCounter)
        check_count("max_message_tokens", self.max_message_tokens)
        check_share("head_share", self.head_share, zero=True)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        tokens = before = self.estimate_tokens(messages)
        if tokens <= max_tokens:
            return unchanged(messages, tokens)
        paired = arrange(messages, stand_ins=False)
        current = list(paired)
        tokens = self.estimate_tokens(current)
        for n in give_up_order(tuple(paired), self.counter):
            size = message_tokens(current[n], self.counter)
            if tokens <= max_tokens:
                break
            if size > self.max_message_tokens:
                current[n] = shorten_message(current[n], self.counter, self.max_message_tokens, self.head_share)
                tokens -= size - message_tokens(current[n], self.counter)
        large = f"of over {self.max_message_tokens:,} tokens"
        if any(after is not given for after, given in zip(current, paired, strict=True)):
            reason = f"messages {large} were shortened: {before:,} to {tokens:,} tokens"
        else:
            reason = f"no message {large} could be shortened"
        return Compression.of(messages, current, tokens=tokens, max_tokens=max_tokens, reason=reason)
