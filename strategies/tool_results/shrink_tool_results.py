"""Old tool results shrink to what was done and what came out (R158), in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    Importance,
    InvalidArgument,
    KeepsPins,
    Message,
    OnlyShortens,
    TokenCounter,
    implements,
    verify,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies.arguments import check_count
from contextport.strategies.atoms import arrange
from contextport.strategies.keep_recent_tokens import unchanged

from .held_results import HeldResult, held_results, with_result_within
from .shapes import shrink_text

__all__ = ["ShrinkToolResults"]

_ERROR_FACTOR = 4  # an error may keep so many times the size of another result


@implements(CompressionStrategy, KeepsPins, OnlyShortens)
@frozen
class ShrinkToolResults:
    """When a conversation is over its budget, shrink old tool results to `result_tokens` each, by the shape of their text.

    First those of the turns before the newest `keep_turns`, and what can be fetched again outside the newest `keep_steps` steps;
    if that is not enough, all outside these steps, as in a long turn of an agent. Pinned results and those of importance
    CONCLUSION or more stay as they are; errors may keep four times as much. The calls stay and say what was done. Nothing is left
    out but results without a call: made to stand in a `Pipeline` before a strategy that leaves out messages.
    """

    counter: TokenCounter
    keep_turns: int = 2
    keep_steps: int = 3
    result_tokens: int = 200

    def __attrs_post_init__(self) -> None:
        verify(self.counter, TokenCounter)
        check_count("keep_turns", self.keep_turns)
        check_count("keep_steps", self.keep_steps)
        check_count("result_tokens", self.result_tokens)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        before = tokens = self.estimate_tokens(messages)
        if tokens <= max_tokens:
            return unchanged(messages, tokens)
        current = arrange(messages, stand_ins=False)
        held = held_results(current, self.counter)
        for is_old in self._stages(current, held):
            self._shrink(current, [one for one in held if is_old(one)])
            tokens = self.estimate_tokens(current)
            if tokens <= max_tokens:
                break
        reason = f"older tool results were shrunk to {self.result_tokens} tokens each: {before} to {tokens} tokens"
        return Compression.of(messages, current, tokens=tokens, max_tokens=max_tokens, reason=reason)

    def _stages(self, messages: Sequence[Message], held: Sequence[HeldResult]) -> list[Callable[[HeldResult], bool]]:
        """Which results are old: by turn first, then by step."""
        newest_turn = sum(message.opens_turn for message in messages)
        steps = sorted({one.step for one in held})[-self.keep_steps :]
        first_kept = steps[0] if steps else 0

        def of_old_turn(one: HeldResult) -> bool:
            refetchable = one.importance <= Importance.REFETCHABLE and one.step < first_kept
            return one.turn <= newest_turn - self.keep_turns or refetchable

        return [of_old_turn, lambda one: one.step < first_kept]

    def _shrink(self, messages: list[Message], old: Sequence[HeldResult]) -> None:
        for one in old:
            limit = self.result_tokens * (_ERROR_FACTOR if one.failed else 1)
            if not one.protected and one.tokens > limit:
                message = messages[one.message]
                messages[one.message] = with_result_within(message, one.part, self.counter, limit, shrink_text)
