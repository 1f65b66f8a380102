"""Strategies that break one thing each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import attrs

from contextport.contracts import (
    Compression,
    Kind,
    Message,
    Outcome,
    Thinking,
    new_id,
)

from ..conversations import is_system, newest_question
from ..reference_strategy import MARKER, ReferenceStrategy, with_text
from .registry import broken

__all__: list[str] = []


class _After(ReferenceStrategy):
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


@broken("STRATEGY-2 STRATEGY-20")
class IsOneOver(ReferenceStrategy):
    def fits(self, messages: Sequence[Message], max_tokens: int) -> bool:
        return self.estimate_tokens(messages) <= max_tokens + 1

    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return super().finished(given, kept, max_tokens + 1)


@broken("STRATEGY-2 STRATEGY-20")
class LeavesTheSystemOutOfTheSum(ReferenceStrategy):
    def fits(self, messages: Sequence[Message], max_tokens: int) -> bool:
        return super().fits([m for m in messages if not is_system(m)], max_tokens)

    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), outcome=Outcome.SMALLER)


@broken("STRATEGY-2")
class GivesUpOnWhatFits(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), outcome=Outcome.CANNOT_FIT)


@broken("STRATEGY-3 STRATEGY-11")
class MadeMessagesPoseAsChat(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        note = Message.user("", id="note")
        return [*kept, note] if len(kept) < len(given) and not is_system(kept[-1]) else kept


@broken("STRATEGY-3 STRATEGY-6")
class RepeatsTheSystemMessage(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        systems = [m for m in kept if is_system(m)]
        free = max_tokens - self.estimate_tokens(kept)
        return [systems[0], *kept] if systems and self.estimate_tokens(systems[:1]) <= free else kept


@broken("STRATEGY-3")
class GivesAMessageAnotherRole(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        return [attrs.evolve(m, role="user") if m.role == "assistant" and not m.tool_calls else m for m in kept]


@broken("STRATEGY-4")
class MovesPinsToTheEnd(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        pins = [m for m in kept if m.pinned and m.opens_turn and not is_system(m)]
        first = kept[0] if kept else None
        moved = [m for m in pins if m is not first]
        return [m for m in kept if m not in moved] + moved


@broken("STRATEGY-4")
class SwapsParallelResults(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        for n in range(1, len(kept)):
            if kept[n - 1].tool_results and kept[n].tool_results:
                kept[n - 1], kept[n] = kept[n], kept[n - 1]
                return kept
        return kept


@broken("STRATEGY-5 STRATEGY-20")
class CutsBetweenCallAndResult(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        called = next((n for n, m in enumerate(kept) if m.tool_calls), None)
        return kept if called is None else [*kept[:called], *kept[called + 1 :]]


@broken("STRATEGY-5")
class DropsTheLastResult(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        answered = [n for n, m in enumerate(kept) if m.tool_results]
        return [m for n, m in enumerate(kept) if n not in answered[-1:]]


@broken("STRATEGY-5")
class SplitsParallelCalls(_After):
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
class KeepsTheFirstSystemMessageAlone(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        systems = [m for m in kept if is_system(m)]
        left = [m for m in kept if m not in systems[1:]]
        return left


@broken("STRATEGY-6")
class KnowsNoDeveloper(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        return [m for m in kept if m.role != "developer"] or kept


@broken("STRATEGY-6")
class ShortensTheSystemMessage(_After):
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
class ReplacesTheQuestion(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        question = newest_question(given)
        return [attrs.evolve(m, id="asked", kind=Kind.SUMMARY) if question and m.id == question.id else m for m in kept]


@broken("STRATEGY-8")
class BeginsWithAnAnswer(_After):
    """Drops the oldest message of what is left while there are others of its turn."""

    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        question = newest_question(given)
        at = next((n for n, m in enumerate(kept) if not is_system(m)), None)
        if at is None or len(kept) == len(given) or question is None or kept[at].id == question.id or kept[at].pinned:
            return kept
        return kept if at + 1 >= len(kept) or is_system(kept[at + 1]) else [*kept[:at], *kept[at + 1 :]]


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
class GivesRandomIds(_After):
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


@broken("STRATEGY-13")
class IgnoresPins(ReferenceStrategy):
    def is_pinned(self, turn: list[list[Message]]) -> bool:
        return False


@broken("STRATEGY-13")
class KnowsPinnedQuestionsAlone(ReferenceStrategy):
    def is_pinned(self, turn: list[list[Message]]) -> bool:
        return turn[0][0].pinned


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
class StripsReasoningFromCalls(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        def stripped(message: Message) -> Message:
            parts = tuple(part for part in message.parts if not isinstance(part, Thinking))
            return attrs.evolve(message, parts=parts) if message.tool_calls else message

        return [stripped(message) for message in kept]


@broken("STRATEGY-15")
class ShortensReasoning(_After):
    def after(self, given: Sequence[Message], kept: list[Message], max_tokens: int) -> list[Message]:
        def cut(part: object) -> object:
            long = isinstance(part, Thinking) and part.text and " " in part.text
            return attrs.evolve(part, text=part.text.split()[0] + MARKER) if long else part  # type: ignore[union-attr, misc, type-var]

        return [attrs.evolve(m, parts=tuple(cut(part) for part in m.parts)) for m in kept]  # type: ignore[misc]


@broken("STRATEGY-15")
class PutsReasoningLast(_After):
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
class ExplainsAtLength(_After):
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


@broken("STRATEGY-22")
class CallsEveryWindowExtendable(ReferenceStrategy):
    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        return attrs.evolve(super().finished(given, kept, max_tokens), extendable=True)


@broken("STRATEGY-22")
class StatesAShareOfNothing(ReferenceStrategy):
    target_share = 0.0
