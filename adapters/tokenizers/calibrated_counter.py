"""A counter that learns from the provider by how much its counts are off."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from contextport.contracts import (
    CountKind,
    ErrorBound,
    InvalidArgument,
    Json,
    LearnsFromUsage,
    Message,
    TokenCounter,
    implements,
    verify,
)

__all__ = ["CalibratedTokenCounter"]

_DECAY: Final = 0.8
_WARM_UP: Final = 1_000
_LEAST: Final = 0.5
_MOST: Final = 3.0
_STEP: Final = 0.02


@frozen
class _Usage:
    """What was learnt of one model: decayed sums, and the ratio that follows from them in steps."""

    counted: float
    reported: float
    ratio: float


@implements(TokenCounter, LearnsFromUsage)
class CalibratedTokenCounter:
    """Counts with `inner`, and learns per model what the provider makes of these counts: `token_ratio`.

    The counts themselves are never changed: they are those of `inner` and carry its name, so stored ones stay valid however the
    ratio moves, and a store filled without calibration may go on with it. The ratio is applied in one place only, to the limit:
    a request fits when its counted tokens are at most `floor(limit / token_ratio(model))`.

    Learning. Each report is one request: c tokens counted, r reported, r clipped to [0.5 c, 3 c]. With C and R, which begin
    at 1000 and 1000 * `margin`:

        C = 0.8 C + c,   R = 0.8 R + r,   learnt ratio = R / C

    So a request weighs by its size, a small one that is mostly framing cannot spoil the ratio, the last five requests or so
    decide, and the start is outweighed by one request of usual size (warm-up). The ratio stays within [0.5, 3]. `token_ratio`
    follows the learnt ratio only when they are more than 2 % apart: a limit that moved at each request would move the start of
    the window, and the prompt cache would be lost.

    `margin` is the ratio before anything is learnt: 1.1 for an inner counter that estimates (R63), 1.0 for an exact one. After
    that there is no margin on top. What is learnt of one model is never used for another; `model=""` is one of its own.
    """

    def __init__(self, inner: TokenCounter, *, margin: float | None = None) -> None:
        verify(inner, TokenCounter)
        if margin is None:
            margin = 1.0 if inner.kind is CountKind.EXACT else 1.1
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not _LEAST <= margin <= _MOST:
            raise InvalidArgument(
                f"margin is {margin!r}; it must be from {_LEAST} to {_MOST}, such as 1.1", name="margin", value=margin
            )
        self.inner = inner
        self.name = inner.name
        self._start = _Usage(counted=_WARM_UP, reported=_WARM_UP * margin, ratio=margin)
        self._learnt: dict[str, _Usage] = {}
        self._lock = threading.Lock()

    @property
    def kind(self) -> CountKind:
        return CountKind.CALIBRATED

    @property
    def bound(self) -> ErrorBound:
        return self.inner.bound

    def count_text(self, text: str) -> int:
        return self.inner.count_text(text)

    def count_message(self, message: Message) -> int:
        return self.inner.count_message(message)

    def count_tools(self, tools: Sequence[Json]) -> int:
        return self.inner.count_tools(tools)

    def token_ratio(self, model: str = "") -> float:
        """Provider tokens per counted token for `model`; `margin` while nothing was learnt of it."""
        return self._learnt.get(model, self._start).ratio

    def record_usage(self, *, counted: int, reported: int, model: str = "") -> None:
        for name, value in (("counted", counted), ("reported", reported)):
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                raise InvalidArgument(
                    f"{name} is {value!r}; it must be the tokens of one request, 1 or more", name=name, value=value
                )
        with self._lock:
            self._learnt[model] = _after(self._learnt.get(model, self._start), counted, reported)


def _after(usage: _Usage, counted: int, reported: int) -> _Usage:
    clipped = min(max(reported, counted * _LEAST), counted * _MOST)
    learning = evolve(usage, counted=usage.counted * _DECAY + counted, reported=usage.reported * _DECAY + clipped)
    learnt = learning.reported / learning.counted
    return evolve(learning, ratio=learnt) if abs(learnt - usage.ratio) > _STEP * usage.ratio else learning
