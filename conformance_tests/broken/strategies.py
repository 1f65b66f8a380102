"""Strategies that break one thing each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from contextport.conformance_tests.conversations import is_system, newest_question
from contextport.conformance_tests.reference_strategy import MARKER, ReferenceStrategy, with_text
from contextport.contracts import (
    Compression,
    Kind,
    Message,
    Outcome,
)

from .registry import broken

__all__ = ["After"]


class After(ReferenceStrategy):
    """Changes the messages of a window that was cut, and says so truly."""

    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        return kept

    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return super().finished(given, self.after(given, list(kept), max_tokens), max_tokens)


@broken("STRATEGY-1 STRATEGY-11 STRATEGY-22")
class CutsWhatFitsExactly(ReferenceStrategy):
    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if 0 < max_tokens == self.estimate_tokens(messages):
            return await super().compress(messages, max_tokens - 1)
        return await super().compress(messages, max_tokens)


@broken("STRATEGY-1 STRATEGY-5 STRATEGY-11")
class DropsATrailingResult(ReferenceStrategy):
    """As a clean-up that runs whether or not anything has to be cut."""

    def unchanged(self, messages: Sequence[Message]) -> Compression:
        kept = list(messages)
        while kept and kept[-1].tool_results:
            kept.pop()
        return self.finished(messages, kept or messages, self.estimate_tokens(messages))


@broken("STRATEGY-1")
class SaysSmallerOfWhatFits(ReferenceStrategy):
    def unchanged(self, messages: Sequence[Message]) -> Compression:
        return attrs.evolve(super().unchanged(messages), outcome=Outcome.SMALLER)


@broken("STRATEGY-1 STRATEGY-2 STRATEGY-20")
class IsOneOver(ReferenceStrategy):
    def fits(self, messages: Sequence[Message], max_tokens: int) -> bool:
        return self.estimate_tokens(messages) <= max_tokens + 1

    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return super().finished(given, kept, max_tokens + 1)


@broken("STRATEGY-1 STRATEGY-2 STRATEGY-20")
class LeavesTheSystemOutOfTheSum(ReferenceStrategy):
    def fits(self, messages: Sequence[Message], max_tokens: int) -> bool:
        return super().fits([m for m in messages if not is_system(m)], max_tokens)

    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), outcome=Outcome.SMALLER)


@broken("STRATEGY-2 STRATEGY-29")
class GivesUpOnWhatFits(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), outcome=Outcome.CANNOT_FIT)


@broken("STRATEGY-3 STRATEGY-11")
class MadeMessagesPoseAsChat(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        note = Message.user("", id="note")
        return [*kept, note] if len(kept) < len(given) and not is_system(kept[-1]) else kept


@broken("STRATEGY-3 STRATEGY-6")
class RepeatsTheSystemMessage(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        systems = [m for m in kept if is_system(m)]
        free = max_tokens - self.estimate_tokens(kept)
        return [systems[0], *kept] if systems and self.estimate_tokens(systems[:1]) <= free else kept


@broken("STRATEGY-3")
class GivesAMessageAnotherRole(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        return [attrs.evolve(m, role="user") if m.role == "assistant" and not m.tool_calls else m for m in kept]


@broken("STRATEGY-4")
class MovesPinsToTheEnd(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        pins = [m for m in kept if m.pinned and m.opens_turn and not is_system(m)]
        first = kept[0] if kept else None
        moved = [m for m in pins if m is not first]
        return [m for m in kept if m not in moved] + moved


@broken("STRATEGY-4")
class SwapsParallelResults(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        for n in range(1, len(kept)):
            if kept[n - 1].tool_results and kept[n].tool_results:
                kept[n - 1], kept[n] = kept[n], kept[n - 1]
                return kept
        return kept


@broken("STRATEGY-5 STRATEGY-20")
class CutsBetweenCallAndResult(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        called = next((n for n, m in enumerate(kept) if m.tool_calls), None)
        return kept if called is None else [*kept[:called], *kept[called + 1 :]]


@broken("STRATEGY-5")
class DropsTheLastResult(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        answered = [n for n, m in enumerate(kept) if m.tool_results]
        return [m for n, m in enumerate(kept) if n not in answered[-1:]]


@broken("STRATEGY-5")
class SplitsParallelCalls(After):
    """Keeps of each batch of parallel calls the first, with its result."""

    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        out: list[Message] = []
        dropped: set[str] = set()
        for message in kept:
            calls = message.tool_calls
            dropped |= {call.call_id for call in calls[1:]}
            if any(result.call_id in dropped for result in message.tool_results):
                continue
            parts = tuple(part for part in message.parts if part not in calls[1:])
            out.append(attrs.evolve(message, parts=parts) if len(calls) > 1 else message)
        return out


@broken("STRATEGY-6")
class KeepsTheFirstSystemMessageAlone(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        systems = [m for m in kept if is_system(m)]
        return [m for m in kept if m not in systems[1:]]


@broken("STRATEGY-6")
class KnowsNoDeveloper(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        return [m for m in kept if m.role != "developer"] or kept


@broken("STRATEGY-6")
class ShortensTheSystemMessage(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        return [with_text(m, MARKER) if is_system(m) and len(m.text.split()) > 1 else m for m in kept]


@broken("STRATEGY-7")
class LosesTheQuestion(ReferenceStrategy):
    """Keeps the newest steps of a long turn without what was asked, and puts an empty user message in front."""

    def candidates(self, messages: Sequence[Message], max_tokens: int) -> Iterable[list[Message]]:
        question = newest_question(messages)
        for candidate in super().candidates(messages, max_tokens):
            whole = len(candidate) > 1 and question is not None and candidate[0].id == question.id
            yield candidate[1:] if whole else candidate

    def in_order(self, messages: Sequence[Message], candidate: Sequence[Message]) -> list[Message]:
        kept = super().in_order(messages, candidate)
        at = next((n for n, m in enumerate(kept) if not is_system(m)), None)
        if at is not None and kept[at].role != "user":
            kept.insert(at, Message(role="user", parts=(), id="front", kind=Kind.GAP))
        return kept


@broken("STRATEGY-7")
class ReplacesTheQuestion(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        question = newest_question(given)
        return [attrs.evolve(m, id="asked", kind=Kind.SUMMARY) if question and m.id == question.id else m for m in kept]


@broken("STRATEGY-8")
class BeginsWithAnAnswer(After):
    """Drops the oldest message of what is left while there are others of its turn."""

    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        question = newest_question(given)
        at = next((n for n, m in enumerate(kept) if not is_system(m)), None)
        if at is None or len(kept) == len(given) or question is None or kept[at].id == question.id or kept[at].pinned:
            return kept
        return kept if at + 1 >= len(kept) or is_system(kept[at + 1]) else [*kept[:at], *kept[at + 1 :]]
