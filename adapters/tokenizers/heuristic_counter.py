"""Counts by a rule, without a tokenizer: the default counter."""

from __future__ import annotations

from typing import Final

from contextport.contracts import (
    CountKind,
    CountsMessages,
    ErrorBound,
    InvalidArgument,
    MediaPricing,
    OpenAITiles,
    TokenCounter,
    implements,
)
from contextport.contracts.media_pricing import pricing_name

from .script_weights import WEIGHTS_VERSION
from .text_estimator import FAMILIES, Profile, TextEstimator

__all__ = ["HeuristicTokenCounter"]

#: Worst corpus of `benchmarks/estimator_error.py` over all tokenizers, its further languages apart, rounded outwards:
#: estimate / true is at least 1 / (1 + under) and at most 1 / (1 - over). Whole corpora: a short text may be further off.
_BOUNDS: Final[dict[Profile, ErrorBound]] = {
    "mean": ErrorBound(under=0.5, over=0.3),
    "upper": ErrorBound(under=0.2, over=0.4),
}
#: The same for the family `default`, which knows nothing of the tokenizer.
_DEFAULT_FAMILY_BOUNDS: Final[dict[Profile, ErrorBound]] = {
    "mean": ErrorBound(under=2.7, over=0.6),
    "upper": ErrorBound(under=0.2, over=0.8),
}


@implements(TokenCounter)
class HeuristicTokenCounter(CountsMessages):
    """Estimates by `TextEstimator`: standard library only, linear, any text.

    `family` is the tokenizer that is estimated, one of `text_estimator.FAMILIES`: `o200k` (GPT-4o, GPT-5), `cl100k`, `qwen3`,
    `qwen3.6`, `deepseek`, `tekken` (Mistral), `default` (not known). `profile` is `mean` for the likely count or `upper` for
    one that text seldom exceeds. `images` prices images (`OpenAITiles()`). A message costs 4 tokens of framing (R57).
    The name ends with a version of the weights, since counts are stored under it: new weights are another counter.

    The bound is the worst that was measured over 190 kinds of text, most of which are within a few percent. Text in a language or
    script that vocabularies hardly know can be further off; see `benchmarks/estimator_error.py`. Raises `InvalidArgument` for an
    unknown family or profile.
    """

    def __init__(self, family: str = "o200k", profile: Profile = "mean", *, images: MediaPricing | None = None) -> None:
        try:
            self._estimate = TextEstimator(family, profile).estimate
        except ValueError as error:
            raise InvalidArgument(str(error), family=family, profile=profile, known=FAMILIES) from error
        self._bound = (_DEFAULT_FAMILY_BOUNDS if family == "default" else _BOUNDS)[profile]
        self.images = OpenAITiles() if images is None else images
        self.name = f"estimate:{family}:{profile}:{WEIGHTS_VERSION}" + ("" if images is None else f":{pricing_name(images)}")

    @property
    def kind(self) -> CountKind:
        return CountKind.ESTIMATE

    @property
    def bound(self) -> ErrorBound:
        return self._bound

    def count_text(self, text: str) -> int:
        return self._estimate(text)
