"""A budget for all tool results of a turn together (R157): ten pages at once do not push out the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from attrs import define, frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    InvalidArgument,
    KeepsPins,
    Message,
    OnlyShortens,
    TokenCounter,
    implements,
    verify,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies.arguments import check_count, check_share
from contextport.strategies.atoms import arrange
from contextport.strategies.keep_recent_tokens import unchanged

from .held_results import HeldResult, held_results, with_result_within
from .shapes import shrink_text

__all__ = ["BudgetToolResults"]

_LEAST_TOKENS = 64  # of the budget for each result, if there is as much: a marker and some text
_NEWEST_SHARE = 4  # the newest step has a quarter of the budget, whatever claims older results have (W27)


@implements(CompressionStrategy, KeepsPins, OnlyShortens)
@frozen
class BudgetToolResults:
    """When a conversation is over its budget, cut the tool results of each turn to `turn_share` of `max_tokens` together.

    `per_turn`, if given, is an upper limit in tokens besides. The budget is handed out by claim: pinned results first, then
    important ones, then errors, then the newest steps; what is less important than normal comes last. Results of one step share
    alike, the small ones whole. The newest step has a quarter of the budget at least, and each result keeps a marker. Nothing is
    left out but results without a call, and no result becomes larger: made to stand in a `Pipeline` before a strategy that
    leaves out messages.
    """

    counter: TokenCounter
    per_turn: int | None = None
    turn_share: float = 0.4

    def __attrs_post_init__(self) -> None:
        verify(self.counter, TokenCounter)
        if self.per_turn is not None:
            check_count("per_turn", self.per_turn)
        check_share("turn_share", self.turn_share, zero=False)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        before = self.estimate_tokens(messages)
        if before <= max_tokens:
            return unchanged(messages, before)
        current = arrange(messages, stand_ins=False)
        budget = int(max_tokens * self.turn_share)
        if self.per_turn is not None:
            budget = min(budget, self.per_turn)
        for _, held in groupby(held_results(current, self.counter), key=lambda one: one.turn):
            self._cut_turn(current, list(held), budget)
        tokens = self.estimate_tokens(current)
        reason = f"tool results were cut to {budget} tokens per turn: {before} to {tokens} tokens"
        return Compression.of(messages, current, tokens=tokens, max_tokens=max_tokens, reason=reason)

    def _cut_turn(self, messages: list[Message], held: list[HeldResult], budget: int) -> None:
        if sum(one.tokens for one in held) <= budget:
            return
        for share in _shares(held, budget):
            one = share.result
            if share.tokens < one.tokens:
                message = messages[one.message]
                messages[one.message] = with_result_within(message, one.part, self.counter, share.tokens, shrink_text)


@define
class _Share:
    """What of the budget one result has."""

    result: HeldResult
    tokens: int


def _shares(held: Sequence[HeldResult], budget: int) -> list[_Share]:
    """The budget handed out. Smaller results give equal or larger shares to the others: a second cut finds nothing to do."""
    least = min(_LEAST_TOKENS, budget // len(held))
    shares = [_Share(one, min(one.tokens, least)) for one in held]
    left = budget - sum(share.tokens for share in shares)
    newest = [share for share in shares if share.result.step == held[-1].step]
    reserve = budget // _NEWEST_SHARE - sum(share.tokens for share in newest)
    left -= _raise(newest, min(left, reserve))
    for _, group in groupby(sorted(shares, key=_claim, reverse=True), key=_claim):
        left -= _raise(list(group), left)
    return shares


def _claim(share: _Share) -> tuple[int, int]:
    """How strong the claim of a result is, and its step: later ones are kept whole longer."""
    one = share.result
    if one.pinned:
        return 100, one.step
    if one.protected:
        return 10 + one.importance, one.step
    return 5 if one.failed else int(one.importance), one.step


def _raise(shares: Sequence[_Share], tokens: int) -> int:
    """Raise the shares alike, none above the size of its result, by at most `tokens` in all. Returns what was handed out.

    All of `tokens` is, as long as a result has not its size: were some left to rounding, weaker claims would gain and lose by it.
    """
    if tokens <= 0:
        return 0
    low, high = 0, max(share.result.tokens for share in shares)
    while low < high:
        level = (low + high + 1) // 2
        if _needed(shares, level) <= tokens:
            low = level
        else:
            high = level - 1
    rest = tokens - _needed(shares, low)
    for share in shares:
        more = rest > 0 and share.tokens <= low < share.result.tokens
        rest -= more
        share.tokens = max(share.tokens, min(share.result.tokens, low + more))
    return tokens - rest


def _needed(shares: Iterable[_Share], level: int) -> int:
    return sum(max(0, min(share.result.tokens, level) - share.tokens) for share in shares)
