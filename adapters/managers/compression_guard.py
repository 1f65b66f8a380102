"""Asking a strategy, and what happens when it fails or breaks its contract: the conversation goes on, and an event says why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
from attrs import frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    EventKind,
    Json,
    KeepsPins,
    Message,
    Outcome,
    StrategyFailed,
    TokenCounter,
    provides,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies import KeepRecentTokens, is_system, newest_question

from .kept_pins import pins_to_keep, with_pins
from .result_check import broken_rule
from .session_window import Room

__all__ = ["CompressionGuard"]

Report = Callable[[EventKind, dict[str, Json]], None]


@frozen
class CompressionGuard:
    """A strategy with trimming behind it as the last line. For one that knows no pins, those are kept here.

    `strict` raises `StrategyFailed` for a strategy that failed, and `BudgetTooSmall` where the newest question would be cut.
    """

    strategy: CompressionStrategy
    counter: TokenCounter
    strict: bool = False

    async def fit(self, messages: Sequence[Message], room: Room, report: Report) -> Compression:
        """A compression of a well-formed list that fits. Raises `BudgetTooSmall` with the numbers when there is none."""
        limit = room.limit
        result = await self._ask(messages, limit, report)
        if result is not None and not provides(self.strategy, KeepsPins):
            result = await self._with_pins(messages, result, limit, report)
        if result is None or result.outcome is Outcome.CANNOT_FIT:
            given = messages if result is None else result.messages
            result = await KeepRecentTokens(self.counter).compress(given, limit)
        needed = result.tokens
        question = newest_question(messages)
        if self.strict and question is not None:
            asked = messages[question]
            if needed > limit or any(one.message_id == asked.id for one in result.shortened):
                needed = max(limit + 1, total_tokens([*(m for m in messages if is_system(m)), asked], self.counter))
        if needed > limit:
            report(EventKind.BUDGET_EXCEEDED, {"needed": needed, "limit": limit})
            raise room.too_small(needed, f"the smallest legal window takes {needed} counted tokens and {limit} fit")
        given_up = {message.id for message in messages if message.pinned} - {message.id for message in result.messages}
        figures: dict[str, Json] = {
            "tokens": result.tokens,
            "limit": limit,
            "reason": result.reason,
            "omitted": len(result.omitted),
            "shortened": len(result.shortened),
            "pins_given_up": len(given_up),
        }
        report(EventKind.CONTEXT_COMPRESSED, figures)
        return result

    async def _with_pins(
        self, messages: Sequence[Message], result: Compression, limit: int, report: Report
    ) -> Compression | None:
        """The result, if no pin is missing that has to stay. Else the strategy is asked for the rest in the room that pins leave.

        None if it has no answer that fits.
        """
        present = {message.id for message in result.messages}
        if all(message.id in present for message in messages if message.pinned):
            return result
        pins = pins_to_keep(messages, self.counter, limit)
        if all(message.id in present for message in pins.messages if message.pinned):
            return attrs.evolve(result, extendable=False)  # a pin that gave way may have room in a later window
        beside = await self._ask(pins.beside(messages), limit - pins.tokens, report)
        if beside is None or beside.outcome is Outcome.CANNOT_FIT:
            return None
        window = with_pins(messages, beside.messages, pins)
        tokens = total_tokens(window, self.counter)
        return Compression.of(messages, window, tokens=tokens, max_tokens=limit, reason=beside.reason)

    async def _ask(self, messages: Sequence[Message], limit: int, report: Report) -> Compression | None:
        """What the strategy says if it keeps its contract; None if it does not."""
        cause: Exception | None = None
        try:
            result = await self.strategy.compress(messages, limit)
            rule = broken_rule(messages, result, limit, self.counter)
            if not rule:
                return result
        except Exception as error:  # a strategy is foreign code: whatever it raises, the conversation goes on
            cause, rule = error, ""
        name = type(self.strategy).__name__
        report(EventKind.STRATEGY_FAILED, {"strategy": name, "rule": rule, "error": type(cause).__name__ if cause else ""})
        if self.strict:
            what = f"broke {rule}" if cause is None else f"raised {type(cause).__name__}: {cause}"
            raise StrategyFailed(f"the strategy {name} {what}; nothing stored was changed", strategy=name, rule=rule) from cause
        return None
