"""Several strategies, one after the other (R13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    InvalidArgument,
    KeepsPins,
    Message,
    NeedsOnlyNewest,
    OnlyShortens,
    Outcome,
    declare,
    implements,
    provides,
    verify,
)

from .keep_recent_tokens import unchanged

__all__ = ["Pipeline"]

_SHARED: tuple[Any, ...] = (KeepsPins, NeedsOnlyNewest, OnlyShortens)  # what a pipeline is able to if all its stages are


@implements(CompressionStrategy)
class Pipeline:
    """Each stage works on what the stage before it returned, until the result fits. All must count with the same counter.

    What a stage folded is not handed on: a strategy that folds takes others as its layers, see `FoldOldest`. A pipeline provides
    `KeepsPins`, `NeedsOnlyNewest` and `OnlyShortens` where each of its stages does.
    """

    def __init__(self, *stages: CompressionStrategy) -> None:
        if not stages:
            raise InvalidArgument("a pipeline needs at least one strategy")
        for stage in stages:
            verify(stage, CompressionStrategy)
        self._stages = stages
        declare(self, *[port for port in _SHARED if all(provides(stage, port) for stage in stages)])

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return self._stages[-1].estimate_tokens(messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        tokens = self.estimate_tokens(messages)
        if tokens <= max_tokens:
            return unchanged(messages, tokens)
        current: Sequence[Message] = messages
        reasons: list[str] = []
        for stage in self._stages:
            result = await stage.compress(current, max_tokens)
            current = result.messages
            if result.outcome is not Outcome.UNCHANGED:
                reasons.append(result.reason)
            if result.tokens <= max_tokens:
                break
        tokens = self.estimate_tokens(current)
        return Compression.of(messages, current, tokens=tokens, max_tokens=max_tokens, reason="; ".join(reasons))
