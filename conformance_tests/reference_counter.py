"""A plain counter that keeps every rule, and learns: a quarter of the characters of all that is read."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.contracts import (
    CountKind,
    CountsMessages,
    ErrorBound,
    InvalidArgument,
    LearnsFromUsage,
    TokenCounter,
    implements,
)

__all__ = ["ReferenceCounter"]


@implements(TokenCounter, LearnsFromUsage)
class ReferenceCounter(CountsMessages):
    """Four characters are a token. The ratio of a model is that of the last report, within 0.5 and 3."""

    def __init__(self) -> None:
        self.ratios: dict[str, float] = {}

    @property
    def name(self) -> str:
        return "quarter of the characters"

    @property
    def kind(self) -> CountKind:
        return CountKind.ESTIMATE

    @property
    def bound(self) -> ErrorBound:
        return ErrorBound(under=3.0, over=0.9)

    @classmethod
    def others(cls) -> Sequence[ReferenceCounter]:
        """Counters in other configurations: there are none."""
        return ()

    def count_text(self, text: str) -> int:
        return -(-len(text) // 4)

    def record_usage(self, *, counted: int, reported: int, model: str = "") -> None:
        if reported <= 0:
            raise InvalidArgument(f"reported is {reported}; it must be above 0", value=reported)
        self.ratios[model] = min(3.0, max(0.5, reported / max(1, counted)))

    def token_ratio(self, model: str = "") -> float:
        return self.ratios.get(model, 1.0)
