"""Anyone's summarizer, checked: what it writes stands for messages only if nothing is wrong with it (R122, W25, W26)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

import attrs
from attrs import define, field, frozen

from contextport.contracts import (
    InvalidArgument,
    IsGrounded,
    Summarizer,
    Summary,
    SummaryFailed,
    SummaryRequest,
    TokenCounter,
    Usage,
    implements,
    verify,
)

from .extractive import ExtractiveSummarizer, check_request, is_large
from .faults import DEFAULT_GAIN, SourceOfSummary, faults_of, room_for

__all__ = ["CheckedSummarizer", "CheckedSummary"]

_DOWN = 2  # requests in a row for which it was down, before the inner summarizer is left alone
_RAISED = "raised: "  # a fault that tells the class of an error alone: its text may hold anything, credentials too


@frozen(kw_only=True)
class CheckedSummary:
    """A summary that passed, why others were refused before it, and what models took for all of them."""

    summary: Summary
    faults: tuple[str, ...] = ()
    usage: Usage | None = None


@frozen
class _Attempt:
    """What became of one call: a summary or none, and what was wrong."""

    summary: Summary | None
    faults: tuple[str, ...]
    usage: Usage | None
    cause: Exception | None = None


@define
class _Pause:
    """The time until which the inner summarizer is left alone, and for how many requests in a row it was down."""

    until: float = float("-inf")
    down: int = 0


@implements(Summarizer, IsGrounded)
@frozen
class CheckedSummarizer:
    """What `inner` writes if `faults_of` finds nothing wrong; else what it writes when told the faults; else the fallback's.

    The cap that is asked for is `max_tokens`, or less where a summary of that size would not be smaller by `min_gain` than what
    it replaces. `retries` is how often `inner` is asked again, also after it raised or took over `attempt_seconds`. The fallback
    is an `ExtractiveSummarizer` unless given, and is checked like any other. If that fails too, `SummaryFailed` is raised with
    all faults. Whatever `inner` raises, but a cancellation, is a fault and does not get out. Where every attempt of two requests
    in a row failed for a foreign reason, such as a network that is down, the fallback alone is asked for `pause_seconds`;
    `faults` say `paused` then (W38, D17).

    Decisions and constraints of the user must be in the summary or in the request's ledger: with little room, hand in a ledger
    of what is kept anyway.
    """

    inner: Summarizer
    counter: TokenCounter
    fallback: Summarizer = field(
        kw_only=True, default=attrs.Factory(lambda self: ExtractiveSummarizer(self.counter), takes_self=True)
    )
    min_gain: float = field(kw_only=True, default=DEFAULT_GAIN)
    retries: int = field(kw_only=True, default=1)
    attempt_seconds: float = field(kw_only=True, default=45.0)
    pause_seconds: float = field(kw_only=True, default=60.0)
    clock: Callable[[], float] = field(kw_only=True, default=time.monotonic, repr=False, eq=False)
    _pause: _Pause = field(init=False, factory=lambda: _Pause(), repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        verify(self.inner, Summarizer)
        verify(self.counter, TokenCounter)
        verify(self.fallback, Summarizer)
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or self.retries < 0:
            raise InvalidArgument(f"retries is {self.retries!r}; it must be a whole number, 0 or more", name="retries")
        if isinstance(self.min_gain, bool) or not isinstance(self.min_gain, int | float) or not 0 <= self.min_gain < 1:
            raise InvalidArgument(
                f"min_gain is {self.min_gain!r}; it must be at least 0 and below 1, such as 0.1", name="min_gain"
            )

    @property
    def max_input(self) -> int | None:
        return self.inner.max_input

    @property
    def grounding(self) -> str:
        return "every summary is compared with the messages and the ledger, and one with a fault is refused"

    async def summarize(self, request: SummaryRequest) -> Summary:
        return (await self.summarize_checked(request)).summary

    async def summarize_checked(self, request: SummaryRequest) -> CheckedSummary:
        """The summary, with the faults of those that were refused before it. Its `usage` is that of all calls.

        Raises `SummaryFailed` with all faults if none passed, and `InvalidArgument` as `summarize` does.
        """
        check_request(request)
        room = room_for(request, self.counter, self.min_gain)
        if room < 1:
            fault = f"no_gain: no summary could be smaller by {self.min_gain:.0%} than the {len(request.messages)} messages"
            raise SummaryFailed(f"{fault}; fold more messages at once", faults=(fault,))
        request = attrs.evolve(request, max_tokens=room)
        source = await _read(request)
        attempts: list[_Attempt] = []
        paused = self.clock() < self._pause.until
        for summarizer in [self.fallback] if paused else self._tried():
            told = tuple(fault for attempt in attempts for fault in attempt.faults if not fault.startswith(_RAISED))
            attempt = await self._attempt(summarizer, attrs.evolve(request, faults=(*request.faults, *told)), source)
            attempts.append(attempt)
            if attempt.summary is not None:
                if not paused:
                    self._pause.down = self._pause.down + 1 if _is_down(attempts[:-1]) else 0
                    if self._pause.down >= _DOWN:
                        self._pause.until = self.clock() + self.pause_seconds
                usage = _total(attempts)
                return CheckedSummary(
                    summary=attrs.evolve(attempt.summary, usage=usage),
                    faults=("paused", *_all_faults(attempts)) if paused else _all_faults(attempts),
                    usage=usage,
                )
        faults = _all_faults(attempts)
        raise SummaryFailed(
            f"none of {len(attempts)} summaries of {len(request.messages)} messages could be kept: {'; '.join(faults)}",
            faults=faults,
            usage=_total(attempts),
        ) from next((attempt.cause for attempt in attempts if attempt.cause), None)

    def _tried(self) -> list[Summarizer]:
        """Who is asked, in order. The same summarizer without a model would say the same again."""
        if isinstance(self.inner, ExtractiveSummarizer):
            return [self.inner] if self.fallback == self.inner else [self.inner, self.fallback]
        return [*[self.inner] * (1 + self.retries), self.fallback]

    async def _attempt(self, summarizer: Summarizer, request: SummaryRequest, source: SourceOfSummary) -> _Attempt:
        limit = None if summarizer is self.fallback else self.attempt_seconds
        try:
            async with asyncio.timeout(limit):
                summary = await summarizer.summarize(request)
        except SummaryFailed as error:
            return _Attempt(None, _told(error), getattr(error, "usage", None), error)
        except Exception as error:
            return _Attempt(None, (f"{_RAISED}{type(error).__name__}",), None, error)
        if not isinstance(summary, Summary):
            return _Attempt(None, (f"no_summary: a {type(summary).__name__} came out",), None)
        quotes = isinstance(summarizer, ExtractiveSummarizer)  # of others it is a claim, and claims are checked
        faults = faults_of(summary, request, self.counter, min_gain=self.min_gain, quotes=quotes, source=source)
        return _Attempt(None if faults else summary, faults, summary.usage)


async def _read(request: SummaryRequest) -> SourceOfSummary:
    if is_large(request):
        return await asyncio.to_thread(SourceOfSummary.of, request)
    return SourceOfSummary.of(request)


def _is_down(attempts: Sequence[_Attempt]) -> bool:
    """Whether something foreign failed each time: a summarizer's own `SummaryFailed` has a cause then."""
    causes = [attempt.cause for attempt in attempts]
    return bool(causes) and all(c is not None and (not isinstance(c, SummaryFailed) or c.__cause__ is not None) for c in causes)


def _told(error: SummaryFailed) -> tuple[str, ...]:
    faults = getattr(error, "faults", ())
    return tuple(map(str, faults)) or (f"{_RAISED}{type(error).__name__}",)


def _all_faults(attempts: Sequence[_Attempt]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fault for attempt in attempts for fault in attempt.faults))


def _total(attempts: Sequence[_Attempt]) -> Usage | None:
    reported = [attempt.usage for attempt in attempts if attempt.usage is not None]
    return sum(reported[1:], reported[0]) if reported else None
