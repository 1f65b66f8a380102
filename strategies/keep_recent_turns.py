"""Keep the last few turns: a window by count (R107, D2)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from attrs import frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    KeepsPins,
    Message,
    NeedsOnlyNewest,
    TokenCounter,
    implements,
    verify,
)
from contextport.contracts.counting import total_tokens

from .arguments import check_count
from .atoms import Steps, split
from .keep_recent_tokens import KeepRecentTokens, unchanged
from .selection import window_from

__all__ = ["KeepRecentTurns"]


@implements(CompressionStrategy, KeepsPins, NeedsOnlyNewest)
@frozen
class KeepRecentTurns:
    """When a conversation is over its budget, keep its last `turns` turns; or as many whole turns as hold `messages` messages.

    System messages and, within half of the budget, pinned ones stay as well. If that many turns do not fit, it keeps what
    `KeepRecentTokens` would.
    """

    counter: TokenCounter
    turns: int | None = None
    messages: int = 8

    def __attrs_post_init__(self) -> None:
        verify(self.counter, TokenCounter)
        check_count("messages", self.messages)
        if self.turns is not None:
            check_count("turns", self.turns)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        tokens = self.estimate_tokens(messages)
        if 0 <= tokens <= max_tokens:
            return unchanged(messages, tokens)
        steps = split(messages, self.counter)
        start = self._start(steps)
        selection = None if start is None or max_tokens < 0 else window_from(steps, start, max_tokens, self.counter)
        if selection is not None:
            size = self.estimate_tokens(selection.messages)
            reason = "older turns were left out"
            return Compression.of(messages, selection.messages, tokens=size, max_tokens=max_tokens, reason=reason)
        trimmed = await KeepRecentTokens(self.counter, target_share=1.0).compress(messages, max_tokens)
        return attrs.evolve(trimmed, extendable=False)  # with more messages, that many turns may fit again

    def _start(self, steps: Steps) -> int | None:
        """The step that opens the first turn to keep, or None when there are not that many turns."""
        heads = [n for n, step in enumerate(steps.steps) if step.head == n and n >= steps.first]
        if self.turns is not None:
            return heads[-self.turns] if len(heads) >= self.turns else None
        total = len(steps.messages)
        return next((n for n in reversed(heads) if total - steps.steps[n].start >= self.messages), None)
