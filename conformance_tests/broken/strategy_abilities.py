"""Strategies that break one thing each about what they are able to besides, or give up where they need not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import attrs

from contextport.conformance_tests.conversations import is_complete, is_system
from contextport.conformance_tests.reference_strategy import (
    ReferenceNewestStrategy,
    ReferenceShorteningStrategy,
    ReferenceStrategy,
)
from contextport.contracts import Compression, Kind, Message, Outcome

from .registry import broken

__all__: list[str] = []


@broken("STRATEGY-1")
class SaysUnchangedOfACut(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        result = super().finished(given, kept, max_tokens)
        return attrs.evolve(result, outcome=Outcome.UNCHANGED) if result.outcome is Outcome.SMALLER else result


@broken("STRATEGY-13")
class IgnoresPins(ReferenceStrategy):
    def is_pinned(self, turn: list[list[Message]]) -> bool:
        return False


@broken("STRATEGY-13")
class KnowsPinnedQuestionsAlone(ReferenceStrategy):
    def is_pinned(self, turn: list[list[Message]]) -> bool:
        return turn[0][0].pinned


@broken("STRATEGY-22")
class CallsEveryWindowExtendable(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), extendable=True)


@broken("STRATEGY-22")
class StatesAShareOfNothing(ReferenceStrategy):
    target_share = 0.0


@broken("STRATEGY-28")
class KeepsTheFirstTurn(ReferenceNewestStrategy):
    """As one that keeps the task that a conversation began with."""

    def candidates(self, messages: Sequence[Message], max_tokens: int) -> Iterable[list[Message]]:
        first = [message for step in self.turns(messages)[0] for message in step] if self.turns(messages) else []
        ids = {message.id for message in first}
        for candidate in super().candidates(messages, max_tokens):
            with_first = [*first, *(message for message in candidate if message.id not in ids)]
            if self.fits(self.in_order(messages, with_first), max_tokens):
                yield with_first
            yield candidate


@broken("STRATEGY-28")
class KeepsLessOfLongConversations(ReferenceNewestStrategy):
    def candidates(self, messages: Sequence[Message], max_tokens: int) -> Iterable[list[Message]]:
        found = list(super().candidates(messages, max_tokens))
        return islice(found, min(len(messages) // 8, len(found) - 1), None)


@broken("STRATEGY-28")
class TakesAGapForATurn(ReferenceNewestStrategy):
    """Looks for the question where the turn begins, and a gap message seems to begin one."""

    def turns(self, messages: Sequence[Message]) -> list[list[list[Message]]]:
        found: list[list[list[Message]]] = []
        for turn in super().turns(messages):
            gap = next((n for n, step in enumerate(turn) if step[0].kind is Kind.GAP), 0)
            found += [turn[:gap], turn[gap:]] if gap else [turn]
        return found


@broken("STRATEGY-28")
class TellsTheSizeOfTheConversation(ReferenceNewestStrategy):
    """Calls a window extendable by what it was shown, and not by what was said."""

    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        result = super().finished(given, kept, max_tokens)
        return attrs.evolve(result, extendable=result.tokens == max_tokens and len(given) > 30)


@broken("STRATEGY-29")
class GivesUpAtOnce(ReferenceStrategy):
    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        result = await super().compress(messages, max_tokens)
        if result.outcome is Outcome.UNCHANGED or not is_complete(messages):
            return result
        return self.finished(messages, messages, max_tokens)


@broken("STRATEGY-29")
class KeepsTheNewestTurnWhole(ReferenceStrategy):
    def candidates(self, messages: Sequence[Message], max_tokens: int) -> Iterable[list[Message]]:
        turns = self.turns(messages)
        yield from islice(super().candidates(messages, max_tokens), max(0, len(turns) - 1))
        yield [message for step in (turns[-1] if turns else []) for message in step]


@broken("STRATEGY-29")
class KeepsPinsAtAnyPrice(ReferenceStrategy):
    def candidates(self, messages: Sequence[Message], max_tokens: int) -> Iterable[list[Message]]:
        pinned = [m for turn in self.turns(messages) if self.is_pinned(turn) for step in turn for m in step]
        for candidate in super().candidates(messages, max_tokens):
            yield [*pinned, *(message for message in candidate if message not in pinned)]


@broken("STRATEGY-11 STRATEGY-30")
class LeavesOutAnAnswerAfterAll(ReferenceShorteningStrategy):
    def squeezed(self, kept: list[Message], max_tokens: int) -> list[Message]:
        shorter = super().squeezed(kept, max_tokens)
        if self.fits(shorter, max_tokens):
            return shorter
        drop = next((n for n in range(len(shorter)) if self.may_go(shorter, n)), None)
        return shorter if drop is None else [*shorter[:drop], *shorter[drop + 1 :]]

    def may_go(self, messages: Sequence[Message], place: int) -> bool:
        """Whether it is an answer that nobody would miss by another rule."""
        message = messages[place]
        return message.role == "assistant" and not message.tool_calls and not message.pinned and place > 0


@broken("STRATEGY-30")
class GivesUpTheAnswers(ReferenceShorteningStrategy):
    """As one that keeps what the user said, to fit at any price."""

    def in_order(self, messages: Sequence[Message], candidate: Sequence[Message]) -> list[Message]:
        kept = super().in_order(messages, candidate)
        said = [message for message in kept if is_system(message) or message.opens_turn or message.pinned]
        pinned_steps = any(message.pinned and not message.opens_turn for message in kept)
        return said if any(message.opens_turn for message in said) and not pinned_steps else kept
