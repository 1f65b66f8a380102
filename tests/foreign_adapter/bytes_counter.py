"""A token counter for models that read bytes."""

from __future__ import annotations

from contextport.contracts import CountKind, CountsMessages, ErrorBound, TokenCounter, implements

__all__ = ["BytesCounter"]


@implements(TokenCounter)
class BytesCounter(CountsMessages):
    """One token per byte of UTF-8."""

    message_framing = 2

    @property
    def name(self) -> str:
        return "bytes"

    @property
    def kind(self) -> CountKind:
        return CountKind.EXACT

    @property
    def bound(self) -> ErrorBound:
        return ErrorBound(under=0.0, over=0.0)

    def count_text(self, text: str) -> int:
        return len(text.encode("utf-8", "surrogatepass"))
