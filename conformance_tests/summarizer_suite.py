"""The suite of `Summarizer`: what an author writes to have one checked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from contextport.contracts import TokenCounter, verify
from contextport.contracts.summary import IsGrounded, Summarizer

from . import summarizer_rules
from .exact_counters import WordsCounter
from .rules import settled
from .scripted_answers import Scripted
from .suite import Conformance

__all__ = ["SummarizerConformance"]

RULE_MODULES = (summarizer_rules,)  # a suite has the rules that are known when it is defined


class SummarizerConformance(Conformance, port=Summarizer, capabilities=(IsGrounded,)):
    """Suite of `Summarizer` and `IsGrounded`, for summarizers with and without a model."""

    #: Seconds within which a model must see that a request has come or has ended; far above what it takes.
    patience: ClassVar[float] = 20.0

    def make_summarizer(self, counter: TokenCounter) -> Summarizer | Awaitable[Summarizer]:
        """A summarizer that measures with `counter`; if it stands on a model, on one that answers well."""
        raise NotImplementedError("write make_summarizer: return a summarizer that measures with the given counter")

    def scripted_summarizer(self, counter: TokenCounter, script: Sequence[Scripted]) -> Summarizer | Awaitable[Summarizer] | None:
        """One whose model gives the answers of `script`, one per request; an empty `word` is the usual end of an answer. None:
        there is no model.
        """
        return None

    def sent_texts(self, summarizer: Summarizer) -> Sequence[str] | None:
        """What the model of the summarizer was sent, one text per request. None: there is no model, or it cannot be seen."""
        return None

    def close_summarizer(self, summarizer: Summarizer) -> Awaitable[None] | None:
        """Close what the other methods opened, such as a client or a server. None: nothing has to be awaited."""
        return None

    async def make(self) -> Summarizer:
        summarizer = await settled(self.make_summarizer(WordsCounter()))
        verify(summarizer, Summarizer)
        return summarizer

    async def release(self, adapter: Any) -> None:
        await settled(self.close_summarizer(adapter))

    @asynccontextmanager
    async def built(self, counter: TokenCounter) -> AsyncGenerator[Summarizer]:
        """A summarizer of its own, with a counter of the suite's choice."""
        summarizer = await settled(self.make_summarizer(counter))
        try:
            yield summarizer
        finally:
            await self.release(summarizer)

    @asynccontextmanager
    async def scripted(self, script: Sequence[Scripted]) -> AsyncGenerator[Summarizer | None]:
        """A summarizer whose model answers by the script, counting words; None if there is no model."""
        built = self.scripted_summarizer(WordsCounter(), tuple(script))
        summarizer = None if built is None else await settled(built)
        try:
            yield summarizer
        finally:
            if summarizer is not None:
                await self.release(summarizer)
