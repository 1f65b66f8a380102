"""Strategies that break one thing each about their result, texts and numbers."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import attrs

from contextport.conformance_tests.conversations import is_system
from contextport.conformance_tests.reference_strategy import MARKER, ReferenceStrategy, with_text
from contextport.contracts import (
    Compression,
    Kind,
    Message,
    Outcome,
    Part,
    Thinking,
    new_id,
)

from .registry import broken
from .strategies import After

__all__: list[str] = []


@broken("STRATEGY-9")
class EmptiesTheCallersList(ReferenceStrategy):
    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        result = await super().compress(messages, max_tokens)
        if isinstance(messages, list) and result.outcome is not Outcome.UNCHANGED:
            del messages[0]
        return result


@broken("STRATEGY-9")
class WritesIntoMetadata(ReferenceStrategy):
    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        result = await super().compress(messages, max_tokens)
        for message in messages:
            if isinstance(message.metadata, dict):
                message.metadata["seen"] = True
        return result


@broken("STRATEGY-10 STRATEGY-11")
class GivesRandomIds(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        gap = Message(role="user", parts=(), id=new_id(), kind=Kind.GAP)
        before = next((n for n, m in enumerate(kept) if not is_system(m)), len(kept))
        there = any(m.kind is Kind.GAP for m in given)
        return kept if there or len(kept) == len(given) else [*kept[:before], gap, *kept[before:]]


@broken("STRATEGY-10")
class DependsOnTheCallBefore(ReferenceStrategy):
    calls = 0

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        self.calls += 1
        return attrs.evolve(await super().compress(messages, max_tokens), reason=f"call {self.calls}")


@broken("STRATEGY-10")
class ThrowsDice(ReferenceStrategy):
    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        result = await super().compress(messages, max_tokens)
        return attrs.evolve(result, extendable=result.extendable and random.random() < 0.5)


@broken("STRATEGY-11")
class CutsDeeperEachTime(ReferenceStrategy):
    """Takes a window that has a mark already for one that must be cut again."""

    def fits(self, messages: Sequence[Message], max_tokens: int) -> bool:
        return super().fits(messages, max_tokens)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        result = await super().compress(messages, max_tokens)
        if result.outcome is Outcome.CANNOT_FIT and any(MARKER in m.text for m in messages):
            kept = [with_text(m, "*") if m.opens_turn and m.text == MARKER else m for m in result.messages]
            return self.finished(messages, kept, max_tokens)
        return result


@broken("STRATEGY-12")
class SaysTheTokensOfTheInput(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), tokens=self.estimate_tokens(given))


@broken("STRATEGY-12")
class SaysOneTokenLess(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        result = super().finished(given, kept, max_tokens)
        return attrs.evolve(result, tokens=max(0, result.tokens - 1))


@broken("STRATEGY-14")
class OmitsNothing(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), omitted=())


@broken("STRATEGY-14")
class OmitsWhatItShortened(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        result = super().finished(given, kept, max_tokens)
        return attrs.evolve(result, omitted=(*result.omitted, *(one.message_id for one in result.shortened)))


@broken("STRATEGY-14")
class KeepsQuietAboutShortening(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), shortened=())


@broken("STRATEGY-15")
class StripsReasoningFromCalls(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        def stripped(message: Message) -> Message:
            parts = tuple(part for part in message.parts if not isinstance(part, Thinking))
            return attrs.evolve(message, parts=parts) if message.tool_calls else message

        return [stripped(message) for message in kept]


@broken("STRATEGY-15")
class ShortensReasoning(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        def cut(part: Part) -> Part:
            if isinstance(part, Thinking) and part.text and " " in part.text:
                return attrs.evolve(part, text=part.text.split()[0] + MARKER)
            return part

        return [attrs.evolve(m, parts=tuple(cut(part) for part in m.parts)) for m in kept]


@broken("STRATEGY-15")
class PutsReasoningLast(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        return [attrs.evolve(m, parts=tuple(sorted(m.parts, key=lambda part: isinstance(part, Thinking)))) for m in kept]


@broken("STRATEGY-16")
class CutsAtAnyCharacter(ReferenceStrategy):
    def shorter_texts(self, text: str) -> Iterable[str]:
        return (text[:at] + MARKER for at in range(len(text) - 1, -1, -1))


@broken("STRATEGY-7 STRATEGY-16")
class CutsWithoutAMarker(ReferenceStrategy):
    def shorter_texts(self, text: str) -> Iterable[str]:
        return [shorter.removesuffix(MARKER) for shorter in super().shorter_texts(text)][:-1]


@broken("STRATEGY-16")
class WritesTextAnew(ReferenceStrategy):
    def shorter_texts(self, text: str) -> Iterable[str]:
        return [(text.swapcase()[::-1] * 9)[: len(text) * 2 // 3] + MARKER, *super().shorter_texts(text)]


@broken("STRATEGY-17")
class DropsAllWhenNothingFits(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        must = any(is_system(m) or m.opens_turn for m in given)
        return super().finished(given, kept if must else [], max_tokens)


@broken("STRATEGY-1 STRATEGY-17")
class FillsAnEmptyConversation(ReferenceStrategy):
    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        result = await super().compress(messages, max_tokens)
        return result if messages else attrs.evolve(result, messages=(Message(role="user", parts=(), kind=Kind.GAP, id="gap"),))


@broken("STRATEGY-1 STRATEGY-18 STRATEGY-22")
class AddsAPricePerRequest(ReferenceStrategy):
    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return super().estimate_tokens(messages) + (3 if messages else 0)


@broken("STRATEGY-1 STRATEGY-18 STRATEGY-20 STRATEGY-22")
class CountsWithItsOwnRule(ReferenceStrategy):
    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return sum(len(message.text) // 4 for message in messages)


@broken("STRATEGY-11 STRATEGY-19")
class ExplainsAtLength(After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        if self.estimate_tokens(kept) <= max_tokens or any(m.kind is Kind.SUMMARY for m in given):
            return kept
        return [*kept, Message.user("nothing fits " * 40, id="note", kind=Kind.SUMMARY)]


@broken("STRATEGY-20")
class KeepsStrayResults(ReferenceStrategy):
    def turns(self, messages: Sequence[Message]) -> list[list[list[Message]]]:
        found: list[list[list[Message]]] = [[]]
        for message in messages:
            if is_system(message):
                continue
            if message.opens_turn:
                found.append([])
            if message.tool_results and found[-1]:
                found[-1][-1].append(message)
            else:
                found[-1].append([message])
        return [turn for turn in found if turn]


@broken("STRATEGY-2 STRATEGY-3 STRATEGY-6 STRATEGY-7 STRATEGY-9 STRATEGY-12 STRATEGY-17 STRATEGY-19 STRATEGY-20")
class RefusesDisorder(ReferenceStrategy):
    def turns(self, messages: Sequence[Message]) -> list[list[list[Message]]]:
        calls = {call.call_id for message in messages for call in message.tool_calls}
        results = {result.call_id for message in messages for result in message.tool_results}
        if results - calls:
            raise KeyError(next(iter(results - calls)))
        return super().turns(messages)


@broken("STRATEGY-21")
class TakesNegativeBudgets(ReferenceStrategy):
    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        return await super().compress(messages, max(0, max_tokens))
