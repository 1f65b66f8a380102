"""Keep the newest steps that fit, what is pinned in its place, the system prompt always (R102 to R106 done right)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    InvalidArgument,
    KeepsPins,
    Message,
    NeedsOnlyNewest,
    Outcome,
    StablePrefix,
    TokenCounter,
    implements,
    verify,
)
from contextport.contracts.counting import total_tokens

from .arguments import check_share
from .atoms import Steps, split
from .selection import window_from
from .squeeze import squeeze

__all__ = ["KeepRecentTokens", "unchanged"]


def unchanged(messages: Sequence[Message], tokens: int) -> Compression:
    """The result for input that fits."""
    return Compression(messages=tuple(messages), outcome=Outcome.UNCHANGED, tokens=tokens, reason="it fits", extendable=True)


@implements(CompressionStrategy, KeepsPins, NeedsOnlyNewest, StablePrefix)
@frozen
class KeepRecentTokens:
    """The newest whole steps that fit, with the question that opened their turn.

    System messages always stay. Pinned and important messages from further back stay in their places, with the question of their
    turn, as long as they take at most half of the budget (D6); a gap message says what was left out. When not even the newest
    step fits, its longest texts are shortened, tool results first.

    The window begins only where the size of all that was said so far passes a multiple of (1 - target_share) * max_tokens. So it
    stays put while the conversation grows by that much, is a function of the log alone, and needs no state. Right after a cut it
    holds about `target_share` of the budget; 1 cuts as little as possible, at every turn.
    """

    counter: TokenCounter
    target_share: float = 0.6

    def __attrs_post_init__(self) -> None:
        verify(self.counter, TokenCounter)
        check_share("target_share", self.target_share, zero=False)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        tokens = self.estimate_tokens(messages)
        if tokens <= max_tokens:
            return unchanged(messages, tokens)
        steps = split(messages, self.counter)
        grid_starts = self._grid_starts(steps, max_tokens)
        later = range(grid_starts[-1] + 1 if grid_starts else 0, len(steps.steps))
        for start in (*grid_starts, *later):
            selection = window_from(steps, start, max_tokens, self.counter)
            if selection is not None:
                extendable = start in grid_starts and selection.has_gap
                return self._cut(messages, selection.messages, max_tokens, "older steps were left out", extendable)
        shortened = squeeze(steps, max_tokens, self.counter)
        return self._cut(messages, shortened, max_tokens, "the newest step alone is too large; it was shortened")

    def _cut(
        self, given: Sequence[Message], window: Sequence[Message], max_tokens: int, reason: str, extendable: bool = False
    ) -> Compression:
        tokens = self.estimate_tokens(window)
        return Compression.of(given, window, tokens=tokens, max_tokens=max_tokens, reason=reason, extendable=extendable)

    def _grid_starts(self, steps: Steps, max_tokens: int) -> list[int]:
        """Where the window may begin, earliest first: the first step, and each first step past a line of the grid."""
        grid = max(1, int(max_tokens * (1 - self.target_share)))
        starts: list[int] = []
        passed = -1
        for n in range(steps.first, len(steps.steps)):
            line = -(-steps.steps[n].offset // grid)
            if line > passed:
                starts.append(n)
                passed = line
        return starts
