"""The summarizer that needs no model: the conversation's own words, the most telling ones first (R98 to R100, R116, R123)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Event

from attrs import frozen

from contextport.contracts import (
    InvalidArgument,
    IsGrounded,
    Summarizer,
    Summary,
    SummaryFailed,
    SummaryRequest,
    TokenCounter,
    implements,
    verify,
)

from .assembly import assembled, line_of
from .candidates import Candidate, ExactValues, candidates_of
from .emphasis import emphasis_for
from .selection import Choice
from .source_values import ledger_values, source_texts, values_of
from .summary_message import summary_in
from .words import words_of

__all__ = ["ExtractiveSummarizer", "check_request", "is_large"]

_LARGE = 40_000  # characters of input; more is read in a thread, so that the event loop goes on
_SLACK = 1.3  # pieces cost less together than alone: this much more is chosen than fits by the single costs
_SMALL = 64  # tokens; below, there is no slack
_TRIES = 24  # pieces tried after the first that did not fit


class _Stopped(Exception):
    """The caller went away."""


def check_request(request: SummaryRequest) -> None:
    """Raise `InvalidArgument` for a request without messages, or with `max_tokens` below 1 (SUMMARIZER-8)."""
    if not request.messages:
        raise InvalidArgument("messages is empty; there is nothing to summarise", name="messages")
    if request.max_tokens < 1:
        tokens = request.max_tokens
        raise InvalidArgument(f"max_tokens is {tokens}; it must be 1 or more", name="max_tokens", value=tokens)


def is_large(request: SummaryRequest) -> bool:
    """Whether reading the request takes so long that an event loop must not wait for it."""
    return sum(len(text) for text in source_texts(request.messages)) > _LARGE


@implements(Summarizer, IsGrounded)
@frozen
class ExtractiveSummarizer:
    """What was decided, is required, open, done and was found out, then the sentences that say the most, word for word.

    Nothing is written that was not said, so it is in the language of the conversation and every number in it is right. Wishes of
    the user come before what was found out, that before how it was found (R100). Sentences are chosen for rare words and exact
    values, each new one once. An earlier summary in the request competes with what is new by the same measure, so it cannot grow;
    what it has open moves to done when that was said. Lines of prose by anyone but the user begin with who spoke.

    The same request gives the same summary. Time is about linear in the input; input of more than 40 000 characters is read in a
    thread.
    """

    counter: TokenCounter

    def __attrs_post_init__(self) -> None:
        verify(self.counter, TokenCounter)

    @property
    def max_input(self) -> int | None:
        return None

    @property
    def grounding(self) -> str:
        return "it only quotes, and leaves out every quotation with an exact value that is not in the messages or the ledger"

    async def summarize(self, request: SummaryRequest) -> Summary:
        check_request(request)
        stop = Event()
        if not is_large(request):
            return self._write(request, stop)
        try:
            return await asyncio.to_thread(self._write, request, stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def _write(self, request: SummaryRequest, stop: Event) -> Summary:
        def go_on() -> None:
            if stop.is_set():
                raise _Stopped

        known = ledger_values(request.ledger)
        pieces = candidates_of(request.messages, summary_in(request.messages[0]), go_on)
        values = ExactValues.of(pieces)
        alone, values_alone = values.alone(known)
        candidates = [*pieces, *alone]
        costs = [max(1, self.counter.count_text(line_of(candidate))) for candidate in candidates]
        usual = sum(costs[: len(pieces)]) / max(1, len(pieces))
        choice = Choice(
            candidates,
            costs,
            [*values.of_each, *values_alone],
            emphasis_for(request.hint, request.handoff).within(request.max_tokens, usual),
            allowed=known | values_of(request.messages),
            known=known,
            names=values.names,
            go_on=go_on,
        )
        room = request.max_tokens * (_SLACK if request.max_tokens >= _SMALL else 1.0)
        chosen = self._fitting([candidates[at] for at in choice.order(room)], request.max_tokens)
        if not chosen:
            found = {word for text in source_texts(request.messages) for word in words_of(text)}
            words = sorted(found, key=lambda word: (-choice.weight(word), word))
            chosen = self._fitting([Candidate(text=word, slot="value") for word in words[:_TRIES]], request.max_tokens)
        if not chosen:
            raise SummaryFailed(
                f"not one word of {len(request.messages)} messages fits {request.max_tokens} tokens; allow more",
                faults=(f"no_room: {request.max_tokens} tokens",),
            )
        return assembled(chosen)

    def _fitting(self, pieces: Sequence[Candidate], max_tokens: int) -> list[Candidate]:
        """The pieces that fit together: the longest run from the first on, then single ones after it."""

        def fits(some: Sequence[Candidate]) -> bool:
            return self.counter.count_text(assembled(some).render()) <= max_tokens

        low, high = 0, len(pieces)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(pieces[:middle]) else (low, middle - 1)
        kept = list(pieces[:low])
        for piece in pieces[low + 1 : low + 1 + _TRIES]:
            if fits([*kept, piece]):
                kept.append(piece)
        return kept
