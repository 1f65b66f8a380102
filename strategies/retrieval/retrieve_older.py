"""Bring back, within one compression, what of the older messages the newest question needs (R137, R138)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence, Set
from typing import Any

from attrs import field, frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    IndexedText,
    InvalidArgument,
    KeepsPins,
    LexicalIndex,
    Message,
    OnlyShortens,
    Outcome,
    Snippet,
    TokenCounter,
    declare,
    implements,
    message_tokens,
    provides,
    verify,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies.arguments import check_share
from contextport.strategies.atoms import is_system, newest_question
from contextport.strategies.keep_recent_tokens import unchanged

from .passage_worth import worth_of
from .passages import passages_of
from .ranking import rank_passages
from .snippet_selection import select_snippets
from .snippets_message import snippets_message
from .terms import terms_of

__all__ = ["RetrieveOlder"]

_OF_INNER: tuple[Any, ...] = (KeepsPins, OnlyShortens)  # what it is able to if its inner strategy is


@frozen(kw_only=True)
class _Passage:
    """A piece of a message that is not in the window, the `nth` of the conversation."""

    message: Message
    nth: int
    text: str
    is_whole: bool


@implements(CompressionStrategy)
@frozen(slots=False)  # so that one can declare what its inner strategy is able to
class RetrieveOlder:
    """Leaves it to `inner` what stays, and puts what the newest question needs of the rest right before it.

    `RetrieveOlder(KeepRecentTurns(counter, 2), counter, lexical)` is retrieval, with `FoldOldest(counter)` inside it is hybrid: a
    summary, the newest messages, and what is asked about. `lexical`, such as `Fts5LexicalIndex()`, is filled for one compression
    and emptied again. `share` of the budget beside system messages is for what is brought back. A fold that `inner` made is not
    handed on: a manager that keeps folds has modes for this. It provides `KeepsPins` and
    `OnlyShortens` where `inner` does.

    Raises `InvalidArgument` for a share that is none.
    """

    inner: CompressionStrategy
    counter: TokenCounter
    lexical: LexicalIndex
    share: float = field(default=0.3, kw_only=True)

    def __attrs_post_init__(self) -> None:
        verify(self.inner, CompressionStrategy)
        verify(self.counter, TokenCounter)
        verify(self.lexical, LexicalIndex)
        check_share("share", self.share, zero=False)
        declare(self, *[port for port in _OF_INNER if provides(self.inner, port)])

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        tokens = self.estimate_tokens(messages)
        if tokens <= max_tokens:
            return unchanged(messages, tokens)
        system = total_tokens([message for message in messages if is_system(message)], self.counter)
        reserve = int(max(0, max_tokens - system) * self.share)
        kept = await self.inner.compress(messages, max_tokens - reserve)
        if kept.outcome is Outcome.CANNOT_FIT or _question_of(kept.messages) != _question_of(messages):
            kept, reserve = await self.inner.compress(messages, max_tokens), 0
        found = await self._found(messages, kept, max_tokens - kept.tokens) if reserve else None
        window = list(kept.messages)
        place = newest_question(window)
        if found is not None and place is not None:
            window.insert(place, found)
        return Compression.of(
            messages,
            window,
            tokens=self.estimate_tokens(window),
            max_tokens=max_tokens,
            reason=kept.reason if found is None else f"{kept.reason}; what the question needs was brought back",
        )

    async def _found(self, messages: Sequence[Message], kept: Compression, room: int) -> Message | None:
        """What of the messages that were left out the question needs, as one message of at most `room` tokens."""
        question = _question_of(messages)
        if question is None or not terms_of(question.text):
            return None
        here = {message.id for message in kept.messages}
        passages = list(_passages(messages, here))
        snippets = await self._ranked(question.text, passages)
        message, _ = snippets_message(
            select_snippets(snippets, room), self.counter, room, id=f"{question.id}/retrieved", question_at=question.created_at
        )
        fits = message is not None and message_tokens(message, self.counter) <= room
        return message if fits else None

    async def _ranked(self, question: str, passages: Sequence[_Passage]) -> list[Snippet]:
        space = uuid.uuid4().hex
        try:
            await self.lexical.add(space, [IndexedText(id=n, text=_heard(one)) for n, one in enumerate(passages)])
            matches = await self.lexical.matches(space, question)
        finally:
            await self.lexical.drop(space)
        bonus = [worth_of(one.text, role=one.message.role, is_whole=one.is_whole) for one in passages]
        ranking = rank_passages(matches, {n: n for n in range(len(passages))}, bonus=bonus.__getitem__)
        return [self._snippet(passages[n], score) for n, score in zip(ranking.places, ranking.scores, strict=True)]

    def _snippet(self, passage: _Passage, score: float) -> Snippet:
        message = passage.message
        return Snippet(
            text=passage.text,
            score=score,
            tokens=self.counter.count_text(passage.text),
            message_id=message.id,
            seq=passage.nth,
            role=message.role,
            speaker=message.name or "",
            at=message.created_at,
        )


def _question_of(messages: Sequence[Message]) -> Message | None:
    place = newest_question(messages)
    return None if place is None else messages[place]


def _passages(messages: Sequence[Message], here: Set[str]) -> Iterator[_Passage]:
    """The pieces of what was said and is not `here`."""
    for nth, message in enumerate(messages, start=1):
        if message.in_conversation and not is_system(message) and message.id not in here:
            texts = passages_of(message.text)
            for text in texts:
                yield _Passage(message=message, nth=nth, text=text, is_whole=len(texts) == 1)


def _heard(passage: _Passage) -> str:
    """The text as it is searched: with who said it."""
    return f"{passage.message.name}: {passage.text}" if passage.message.name else passage.text
