"""A plain strategy that folds: what a plain one would leave out is summarised, and the summary takes its place."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Sequence

import attrs

from contextport.contracts import (
    Compression,
    Fact,
    FactKind,
    FactLedger,
    Fold,
    FoldsHistory,
    InvalidArgument,
    KeepsLatest,
    Kind,
    Message,
    Outcome,
    Summarizer,
    Summary,
    SummaryFailed,
    SummaryRequest,
    TokenCounter,
    implements,
    ledger_of,
)

from .conversations import is_complete, is_system, segments
from .reference_strategy import ReferenceStrategy
from .reference_summarizer import ReferenceSummarizer

__all__ = ["MEMORY", "ReferenceFoldingStrategy", "of_kind"]

MEMORY = (Kind.SUMMARY, Kind.FACTS)


def of_kind(messages: Sequence[Message], kind: Kind) -> Message | None:
    """The first message of that kind, or None."""
    return next((message for message in messages if message.kind is kind), None)


@implements(FoldsHistory, KeepsLatest)
class ReferenceFoldingStrategy(ReferenceStrategy):
    """Leaves out as many turns as the plain strategy, or some more, so that a summary of them fits in their place."""

    def __init__(self, counter: TokenCounter, summarizer: Summarizer | None = None) -> None:
        super().__init__(counter)
        self.summarizer: Summarizer = ReferenceSummarizer(counter) if summarizer is None else summarizer

    @property
    def reach(self) -> int:
        return 0

    #: How many of the newest messages no fold covers.
    latest = 0

    def keeping(self, messages: int) -> ReferenceFoldingStrategy:
        kept = copy.copy(self)
        kept.latest = messages
        return kept

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        if self.fits(messages, max_tokens):
            return self.unchanged(messages)
        said = [message for message in messages if message.kind not in MEMORY]
        for kept in self.ends(said, max_tokens):
            covered = self.covered(said, kept)
            cap = self.cap(messages, kept, covered, max_tokens)
            if covered and cap >= max(4, max_tokens // 8):
                summary = await self.summary(messages, covered, cap)
                if summary is not None:
                    return self.folded(messages, kept, covered, summary, max_tokens)
        return await self.without_fold(messages, said, max_tokens)

    def ends(self, said: Sequence[Message], max_tokens: int) -> Iterator[list[Message]]:
        """What could stay, the most first: candidates that fit, and have the pinned messages that the first of them has."""
        pins: set[str] | None = None
        alone = self.left_alone(said, max_tokens)
        for candidate in self.candidates(said, max_tokens):
            kept = self.in_order(said, candidate)
            if not self.fits(kept, max_tokens) or not alone <= {message.id for message in kept}:
                continue
            pinned = {message.id for message in kept if message.pinned}
            pins = pinned if pins is None else pins
            if pins <= pinned:
                yield kept

    def left_alone(self, said: Sequence[Message], max_tokens: int) -> set[str]:
        """The ids of the newest messages that stay, if a third of the room is enough for them."""
        spoken = [message for message in said if message.in_conversation and not is_system(message)]
        newest = spoken[max(0, len(spoken) - self.latest) :]
        room = max_tokens - self.estimate_tokens([message for message in said if is_system(message)])
        return {message.id for message in newest} if self.estimate_tokens(newest) * 3 <= room else set()

    def covered(self, said: Sequence[Message], kept: Sequence[Message]) -> list[Message]:
        """What the summary will stand for: whole steps that were said, wait for nothing and do not stay."""
        there = {message.id for message in kept}
        steps = [step for step in segments([message for message in said if not is_system(message)]) if self.may_go(step)]
        return [message for step in steps for message in step if message.id not in there]

    def may_go(self, step: Sequence[Message]) -> bool:
        """Whether a step is whole, and was said."""
        return is_complete(step) and all(message.in_conversation for message in step)

    def cap(self, given: Sequence[Message], kept: Sequence[Message], covered: Sequence[Message], max_tokens: int) -> int:
        """Tokens for the text of the summary: what is left beside the rest, and no more than it takes the place of."""
        earlier = [message for message in given if message.kind in MEMORY]
        room = min(max_tokens - self.estimate_tokens(kept), self.estimate_tokens([*covered, *earlier]))
        return room - self.estimate_tokens([self.summary_message(Summary(), "")])

    async def summary(self, given: Sequence[Message], covered: Sequence[Message], cap: int) -> Summary | None:
        """A summary of what is covered and of the summary before, or None."""
        try:
            return await self.summarizer.summarize(self.request(given, covered, cap))
        except SummaryFailed:
            return None

    def request(self, given: Sequence[Message], covered: Sequence[Message], cap: int) -> SummaryRequest:
        """What the summarizer is asked for."""
        earlier = of_kind(given, Kind.SUMMARY)
        return SummaryRequest(messages=(*((earlier,) if earlier else ()), *covered), max_tokens=cap)

    def folded(
        self, given: Sequence[Message], kept: Sequence[Message], covered: Sequence[Message], summary: Summary, max_tokens: int
    ) -> Compression:
        """The result with a fold."""
        name = hashlib.sha256(repr([message.id for message in covered]).encode()).hexdigest()[:16]
        ledger = self.ledger(given, covered)
        facts = Message(role="user", parts=(), id=f"facts {name}", kind=Kind.FACTS, metadata={"ledger": ledger.as_json()})
        fold = Fold(
            covers=self.covers(given, covered),
            summary=self.summary_message(summary, name),
            facts=facts,
            ledger=ledger,
            origin=summary.origin,
            usage=summary.usage,
        )
        result = self.finished(given, self.window(given, kept, fold), max_tokens)
        return attrs.evolve(result, fold=fold, reason="older messages were folded")

    def covers(self, given: Sequence[Message], covered: Sequence[Message]) -> tuple[str, ...]:
        """The ids of what is covered."""
        return tuple(message.id for message in covered)

    def summary_message(self, summary: Summary, name: str) -> Message:
        """The summary as a message."""
        return Message.user(f"[Conversation summary]\n{summary.render()}", id=f"summary {name}", kind=Kind.SUMMARY)

    def ledger(self, given: Sequence[Message], covered: Sequence[Message]) -> FactLedger:
        """The facts before, and the first word of each message that is covered."""
        earlier = ledger_of(of_kind(given, Kind.FACTS)).facts
        known = {fact.text for fact in earlier}
        new = [(message.text.split()[0], message.id) for message in covered if message.text.split()]
        first = {word: id for word, id in reversed(new) if word not in known}
        return FactLedger((*earlier, *(Fact(kind=FactKind.ENTITY, text=word, sources=(id,)) for word, id in first.items())))

    def window(self, given: Sequence[Message], kept: Sequence[Message], fold: Fold) -> list[Message]:
        """What stays, with the fold's messages after the system messages that come first."""
        return self.with_memory(kept, [message for message in (fold.summary, fold.facts) if message is not None])

    def with_memory(self, kept: Sequence[Message], memory: Sequence[Message]) -> list[Message]:
        """The messages with summary and facts in their place."""
        first = next((n for n, message in enumerate(kept) if not is_system(message)), len(kept))
        return [*kept[:first], *memory, *kept[first:]]

    async def without_fold(self, messages: Sequence[Message], said: Sequence[Message], max_tokens: int) -> Compression:
        """The plain result, beside an earlier summary and its facts if they fit."""
        memory = [message for message in messages if message.kind in MEMORY]
        room = max_tokens - self.estimate_tokens(memory)
        if room >= 0:
            result = await super().compress(said, room)
            if result.outcome is not Outcome.CANNOT_FIT:
                return self.finished(messages, self.with_memory(result.messages, memory), max_tokens)
        return self.finished(messages, (await super().compress(said, max_tokens)).messages, max_tokens)
