"""Several strategies, one after the other (R13)."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    InvalidArgument,
    Message,
    Outcome,
    Shortening,
    implements,
    verify,
)

from .keep_recent_tokens import left_out, unchanged

__all__ = ["Pipeline"]


@implements(CompressionStrategy)
class Pipeline:
    """Each stage works on what the stage before it returned, until the result fits. All must count with the same counter."""

    def __init__(self, *stages: CompressionStrategy) -> None:
        if not stages:
            raise InvalidArgument("a pipeline needs at least one strategy")
        for stage in stages:
            verify(stage, CompressionStrategy)
        self._stages = stages

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return self._stages[-1].estimate_tokens(messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        tokens = self.estimate_tokens(messages)
        if tokens <= max_tokens:
            return unchanged(messages, tokens)
        current: Sequence[Message] = messages
        shortened: dict[str, Shortening] = {}
        reasons: list[str] = []
        for stage in self._stages:
            result = await stage.compress(current, max_tokens)
            current = result.messages
            if result.outcome is not Outcome.UNCHANGED:
                reasons.append(result.reason)
            for one in result.shortened:
                first = shortened.get(one.message_id, one)
                shortened[one.message_id] = Shortening(one.message_id, first.chars_before, one.chars_after)
            if result.tokens <= max_tokens:
                break
        kept = {message.id for message in current}
        tokens = self.estimate_tokens(current)
        return Compression(
            messages=tuple(current),
            outcome=Outcome.SMALLER if tokens <= max_tokens else Outcome.CANNOT_FIT,
            tokens=tokens,
            omitted=left_out(messages, current),
            shortened=tuple(one for one in shortened.values() if one.message_id in kept),
            reason="; ".join(reasons),
        )
