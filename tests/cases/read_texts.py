"""What summarisers of a run were given to read, whichever of them it was."""

from __future__ import annotations

from attrs import define, field, frozen

from contextport.contracts import IsGrounded, Summarizer, Summary, SummaryRequest, implements, provides, to_chat

from .evidence import Dict

__all__ = ["ReadTexts"]


@define
class ReadTexts:
    """The wire messages of each request."""

    requests: list[list[Dict]] = field(factory=list[list[Dict]])

    def by(self, summarizer: Summarizer) -> Summarizer:
        """The summarizer, with its requests noted here."""
        return _Vouching(summarizer, self) if provides(summarizer, IsGrounded) else _Noted(summarizer, self)


@implements(Summarizer)
@frozen
class _Noted:
    inner: Summarizer
    read: ReadTexts

    @property
    def max_input(self) -> int | None:
        return self.inner.max_input

    async def summarize(self, request: SummaryRequest) -> Summary:
        summary = await self.inner.summarize(request)
        self.read.requests.append(to_chat(request.messages))
        return summary


@implements(Summarizer, IsGrounded)
@frozen
class _Vouching(_Noted):
    @property
    def grounding(self) -> str:
        return self.inner.grounding if provides(self.inner, IsGrounded) else ""
