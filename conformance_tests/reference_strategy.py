"""Plain strategies that keep every rule: whole turns from the end, pinned turns, and the question shortened at worst; the same on
the newest part alone; and one that shortens long texts and leaves nothing out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    InvalidArgument,
    KeepsPins,
    Message,
    NeedsOnlyNewest,
    OnlyShortens,
    Outcome,
    Shortening,
    StablePrefix,
    Text,
    TokenCounter,
    implements,
    message_tokens,
)

from .conversations import is_complete, is_system, segments

__all__ = ["MARKER", "ReferenceNewestStrategy", "ReferenceShorteningStrategy", "ReferenceStrategy", "with_text"]

MARKER = "[…]"


def with_text(message: Message, text: str) -> Message:
    """The message with one text in place of all its texts."""
    rest = tuple(part for part in message.parts if not isinstance(part, Text))
    return attrs.evolve(message, parts=(Text(text), *rest))


@implements(CompressionStrategy, KeepsPins, StablePrefix)
class ReferenceStrategy:
    """Tries ever shorter ends of the conversation, each with the pinned turns before it."""

    target_share = 1.0

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return sum(message_tokens(message, self.counter) for message in messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        if self.fits(messages, max_tokens):
            return self.unchanged(messages)
        kept: list[Message] = []
        for candidate in self.candidates(messages, max_tokens):
            kept = self.in_order(messages, candidate)
            if self.fits(kept, max_tokens):
                break
        return self.finished(messages, self.squeezed(kept, max_tokens), max_tokens)

    def fits(self, messages: Sequence[Message], max_tokens: int) -> bool:
        """Whether the messages fit."""
        return self.estimate_tokens(messages) <= max_tokens

    def unchanged(self, messages: Sequence[Message]) -> Compression:
        """The result for an input that fits."""
        return Compression(
            messages=tuple(messages), outcome=Outcome.UNCHANGED, tokens=self.estimate_tokens(messages), extendable=True
        )

    def turns(self, messages: Sequence[Message]) -> list[list[list[Message]]]:
        """Steps by turn, what stands before the first turn as one; calls and results that are not answered are left out."""
        found: list[list[list[Message]]] = [[]]
        for step in segments([message for message in messages if not is_system(message)]):
            if not is_complete(step):
                if step[0].tool_calls or step[0].tool_results:
                    continue
                step = step[:1]
            if step[0].opens_turn:
                found.append([])
            found[-1].append(step)
        return [turn for turn in found if turn]

    def candidates(self, messages: Sequence[Message], max_tokens: int) -> Iterable[list[Message]]:
        """Selections, best first; the last one is all that must stay."""
        turns = self.turns(messages)
        stays = [self.staying(turn) if self.is_pinned(turn) else [] for turn in turns]
        spent = self.estimate_tokens([m for turn in stays for step in turn for m in step])
        if spent * 2 > max_tokens:
            stays = [[] for _ in turns]
        for start in range(1, len(turns)):
            yield [message for turn in (*stays[:start], *turns[start:]) for step in turn for message in step]
        newest = turns[-1] if turns else []
        question = newest[0] if newest and newest[0][0].opens_turn else []
        for start in range(1, len(newest)):
            yield [*question, *(message for step in newest[start:] for message in step)]
        yield list(question or (newest[-1] if newest else []))

    def is_pinned(self, turn: list[list[Message]]) -> bool:
        """Whether a message of the turn asks to stay."""
        return any(message.pinned for step in turn for message in step)

    def staying(self, turn: list[list[Message]]) -> list[list[Message]]:
        """What stays of a turn that asks to."""
        return turn

    def in_order(self, messages: Sequence[Message], candidate: Sequence[Message]) -> list[Message]:
        """The candidate and the system messages, in the order of the input."""
        chosen = {message.id for message in candidate}
        kept = [message for message in messages if message.id in chosen or is_system(message)]
        return kept or [attrs.evolve(message, parts=()) for message in messages[-1:]]

    def squeezed(self, kept: list[Message], max_tokens: int) -> list[Message]:
        """The messages with the question shortened, if they do not fit as they are."""
        if self.fits(kept, max_tokens):
            return kept
        at = next((n for n, message in enumerate(kept) if message.opens_turn), None)
        if at is None:
            return kept
        best = kept
        for text in self.shorter_texts(kept[at].text):
            candidate = [*kept[:at], with_text(kept[at], text), *kept[at + 1 :]]
            if self.estimate_tokens(candidate) < self.estimate_tokens(best):
                best = candidate
            if self.fits(candidate, max_tokens):
                break
        return best

    def shorter_texts(self, text: str) -> Iterable[str]:
        """Shorter forms of a text, longest first: heads that end before a plain word, then the marker alone."""
        for at in range(len(text) - 1, 0, -1):
            if text[at - 1] == " " and text[at].isascii() and text[at].isalnum():
                yield text[:at] + MARKER
        yield MARKER

    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        """The result, with what was done to the input."""
        tokens = self.estimate_tokens(kept)
        before = {message.id: message.text for message in given}
        there = {message.id for message in kept}
        return Compression(
            messages=tuple(kept),
            outcome=Outcome.SMALLER if tokens <= max_tokens else Outcome.CANNOT_FIT,
            tokens=tokens,
            omitted=tuple(message.id for message in given if message.id not in there),
            shortened=tuple(
                Shortening(message.id, len(before[message.id]), len(message.text))
                for message in kept
                if message.text != before.get(message.id, message.text)
            ),
            reason="older messages were left out",
        )


@implements(NeedsOnlyNewest)
class ReferenceNewestStrategy(ReferenceStrategy):
    """Keeps of older turns the steps that are pinned, with the question: what a manager reads of them."""

    def staying(self, turn: list[list[Message]]) -> list[list[Message]]:
        return [step for step in turn if step[0].opens_turn or any(message.pinned for message in step)]


@implements(OnlyShortens)
class ReferenceShorteningStrategy(ReferenceStrategy):
    """Shortens every long text, whatever it is worth."""

    most_words = 4

    def candidates(self, messages: Sequence[Message], max_tokens: int) -> Iterable[list[Message]]:
        yield [message for turn in self.turns(messages) for step in turn for message in step]

    def squeezed(self, kept: list[Message], max_tokens: int) -> list[Message]:
        return [message if is_system(message) else self.short(message) for message in kept]

    def short(self, message: Message) -> Message:
        """The message with no more than `most_words` words in its texts, if that makes it smaller."""
        if len(message.text.split()) <= self.most_words:
            return message
        text = next(text for text in self.shorter_texts(message.text) if len(text.split()) <= self.most_words)
        shorter = with_text(message, text)
        return shorter if self.estimate_tokens([shorter]) < self.estimate_tokens([message]) else message
