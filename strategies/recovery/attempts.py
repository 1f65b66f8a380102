"""The requests that are sent for one answer: each differs from the one before, and their number is bounded (R174 to R176)."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import attrs
from attrs import define, field

from contextport.contracts import (
    Context,
    ContextOverflow,
    ContextPortError,
    ErrorClassifier,
    ErrorKind,
    ErrorReading,
    Event,
    EventKind,
    EventSink,
    Json,
    Limits,
    Message,
    ModelCallFailed,
    ProviderFailure,
    Remedy,
    RequestTooLarge,
    StopReason,
    Usage,
)
from contextport.contracts.manager import ShapesWindow
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.provider_rules import repair

from .answer_state import ContinuedOutput, Need, Unfinished
from .next_step import ContinuationPolicy
from .request_sizes import RequestSizes
from .rest_request import end_of
from .smaller_window import recover, recover_bytes, request_too_large

__all__ = ["Attempts"]

_BODY_CUTS = 2  # first to a part of the body, then to what must be sent

_WINDOW_FULL = ErrorReading(
    kind=ErrorKind.OUTPUT_HIT_WINDOW, remedy=Remedy.KEEP_OUTPUT_THEN_COMPACT, evidence="stop reason window_limit"
)


@define(kw_only=True)
class Attempts:
    """What is sent for one answer, and what was tried.

    `resume` is what of the answer is kept from request to request. `wanted` is the most that an answer may be given, None if the
    provider's own default decides.
    """

    manager: ShapesWindow
    session_id: str
    sizes: RequestSizes
    classifier: ErrorClassifier
    profile: ProviderProfile | None
    continuation: ContinuationPolicy
    limits: Limits
    min_output: int
    max_tries: int
    shrink: float
    sink: EventSink | None
    resume: Unfinished | None
    wanted: int | None
    learn: Callable[[ErrorReading], None]
    tried: list[int] = field(factory=list[int])
    usage: Usage | None = None
    cause: ModelCallFailed | None = None  # the first refusal: that is what a host has to know
    body_cuts: int = 0
    was_halved: bool = False  # the output limit, where nothing else was left
    _window: Context | None = None

    @property
    def window(self) -> Context:
        """The window of the next request."""
        if self._window is None:
            raise RuntimeError("open() makes the first window")
        return self._window

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the next request, extra ones included, as the provider takes them."""
        messages, extra = self.window.messages, self.sizes.extra
        if not extra or self.profile is None:
            return (*messages, *extra)
        return repair((*messages, *extra), self.profile, tools=self.sizes.tools).messages

    @property
    def max_output(self) -> int | None:
        """The output limit of the next request: what is wanted, and no more than the window leaves."""
        kept = None if self.resume is None else self.resume.max_output
        wanted, room = self.wanted if kept is None else kept, self._room()
        if room is None:
            return wanted
        return max(1, room if wanted is None else min(room, wanted))

    async def open(self) -> None:
        """Make the first window, and a smaller one if the limits do not allow it, or no answer beside it: before any request."""
        self._window = await self.manager.get_context(self.session_id, profile=self.profile)
        sizes = self._sizes_now()
        if sizes.extra_tokens and self.window.tokens + sizes.extra_tokens > self.window.limit:
            await self._ask(sizes.max_tokens(self.window.limit + sizes.tool_tokens))
        most = self._most_input()
        if most is not None and sizes.real(self.window) > most:
            await self._ask(most - ceil(sizes.extra_tokens * sizes.ratio))

    async def _ask(self, max_tokens: int) -> None:
        self._window = await self.manager.get_context(self.session_id, max_tokens=max(0, max_tokens), profile=self.profile)

    def _room(self) -> int | None:
        """Tokens that the model's window leaves for the answer; None if its size is unknown or the answer has its own."""
        if self.limits.window is None or self.limits.output_shares_window is False:
            return None
        return self.limits.window - self._sizes_now().real(self.window)

    def _most_input(self) -> int | None:
        """Tokens that the limits allow for the input, room for the least answer kept; None if they are unknown."""
        limits = self.limits
        window = limits.window
        if window is not None and limits.output_shares_window is not False:
            window -= self._least()
        return min([most for most in (window, limits.max_input, limits.entitlement) if most is not None], default=None)

    def _sizes_now(self) -> RequestSizes:
        """The sizes of the next request: one that asks for the rest of an answer holds its end as well."""
        if self.resume is None:
            return self.sizes
        policy = self.continuation
        end = end_of(self.resume, anchor_chars=policy.anchor_chars, profile=self.profile, directives=policy.directives)
        return attrs.evolve(self.sizes, extra=(*self.sizes.extra, *end.messages))

    def _least(self) -> int:
        return self.min_output if self.wanted is None else min(self.min_output, self.wanted)

    async def again(self, output: ContinuedOutput | None, failure: ModelCallFailed | None) -> bool:
        """Note how a request went; whether another one is to be sent, which is then another than before.

        Raises the failure if nothing of the answer would be lost by it and no smaller request helps.
        """
        self._note_usage(output)
        refused = failure if output is None else output.failure
        if output is not None and (refused is not None or self.resume is not None or output.model_calls > 1):
            self.resume = output.unfinished  # a text that was begun over would cost more than a seam
        self.tried.append(self._sizes_now().counted(self.window))
        reading = self._reading(output, refused)
        if reading is None:
            return False
        self.cause = self.cause or refused
        try:
            if len(self.tried) >= self.max_tries:
                raise self._spent(reading, refused)
            await self._remedy(reading, refused)
        except ContextPortError as error:
            if not isinstance(error, ModelCallFailed):
                data: dict[str, Json] = {"kind": reading.kind.value, "tried": list(self.tried), "limit": reading.limit}
                self._emit(EventKind.RECOVERY_FAILED, data)
            if output is not None and output.message is not None:
                return False
            if error is refused or self.cause is None:
                raise
            raise error from self.cause
        return True

    def _note_usage(self, output: ContinuedOutput | None) -> None:
        """Sum up what was billed, and tell a learning counter what the provider made of the window."""
        if output is None or not output.completions:
            return
        for completion in output.completions:
            if completion.usage is not None:
                self.usage = completion.usage if self.usage is None else self.usage + completion.usage
        first = output.completions[0].usage
        if first is not None and (self.resume is None or self.resume.need is Need.ANSWER):
            self.sizes.learn(self.window, first.input_tokens)

    def _reading(self, output: ContinuedOutput | None, refused: ModelCallFailed | None) -> ErrorReading | None:
        """What stood in the way of the answer; None if nothing did that another request could help."""
        if refused is not None:
            failure: ProviderFailure | None = refused.details.get("failure")
            reading = _with_window(self.classifier.classify(refused if failure is None else failure))
            self.learn(reading)
            return reading
        return _WINDOW_FULL if output is not None and output.truncated and output.stop is StopReason.WINDOW_LIMIT else None

    async def _remedy(self, reading: ErrorReading, refused: ModelCallFailed | None) -> None:
        """Make the next request another one. Raises `refused` where none helps."""
        if reading.kind is ErrorKind.OUTPUT_CAP:
            if not self._lower(reading.limit or (self.max_output or 0) // 2, reading, least=1) and refused is not None:
                raise refused
        elif reading.kind is ErrorKind.PAYLOAD_BYTES:
            await self._cut_body(reading)
        elif not reading.is_overflow:
            if refused is not None:
                raise refused
        elif not (reading.kind is ErrorKind.INPUT_PLUS_OUTPUT and self._lower(self._beside_input(reading), reading)):
            await self._cut_window(reading)

    async def _cut_window(self, reading: ErrorReading) -> None:
        try:
            self._window = await recover(
                self.manager,
                self.session_id,
                reading,
                self.window,
                sizes=self._sizes_now(),
                profile=self.profile,
                answer=self._least(),
                shrink=self.shrink ** len(self.tried),  # each time more than the time before (R175)
                tried=self.tried[:-1],
                sink=self.sink,
            )
        except ContextOverflow:
            if self.was_halved or reading.input is not None or not self._lower(self._half(), reading):
                raise
            self.was_halved = True

    async def _cut_body(self, reading: ErrorReading) -> None:
        if self.body_cuts == _BODY_CUTS:
            raise self._body_too_large(reading)
        self.body_cuts += 1
        self._window = await recover_bytes(
            self.manager,
            self.session_id,
            reading,
            self.window,
            sizes=self._sizes_now(),
            profile=self.profile,
            again=self.body_cuts > 1,
            sink=self.sink,
        )

    def _body_too_large(self, reading: ErrorReading) -> RequestTooLarge:
        return request_too_large((*self.window.messages, *self.sizes.extra), reading.limit if reading.unit == "bytes" else None)

    def _beside_input(self, reading: ErrorReading) -> int:
        """The output limit that fits beside the input, by the numbers of the error; 0 if they do not say."""
        if reading.unit != "tokens":
            return 0
        if reading.limit is not None and reading.input is not None and not reading.is_lower_bound:
            return reading.limit - reading.input
        sent = self.max_output or reading.output
        return sent - reading.overshoot if sent and reading.overshoot and not reading.is_lower_bound else 0

    def _half(self) -> int:
        """An output limit to try where nothing else is left and the input is not known to be too large by itself."""
        sent = self.max_output
        return self.window.limit - self.window.tokens if sent is None else sent // 2

    def _lower(self, limit: int, reading: ErrorReading, least: int | None = None) -> bool:
        """Lower the output limit, if that is a lower one and leaves enough for an answer."""
        sent = self.max_output
        if limit < (self._least() if least is None else least) or (sent is not None and limit >= sent):
            return False
        self.wanted = limit
        if self.resume is not None:
            self.resume = attrs.evolve(self.resume, max_output=limit)
        self._emit(EventKind.OUTPUT_LIMIT_LOWERED, {"kind": reading.kind.value, "before": sent, "limit": limit})
        return True

    def _spent(self, reading: ErrorReading, refused: ModelCallFailed | None) -> ContextPortError:
        """What is raised when the tries are used up."""
        if reading.kind is ErrorKind.PAYLOAD_BYTES:
            return self._body_too_large(reading)
        if refused is not None and not reading.is_overflow:
            return refused
        return ContextOverflow(
            f"the provider found each of {len(self.tried)} requests too large, the last of {self.tried[-1]} tokens; "
            "lower the budget to what the model really takes, or use a larger model",
            tried=tuple(self.tried),
            limit=reading.limit,
        )

    def _emit(self, kind: EventKind, data: dict[str, Json]) -> None:
        if self.sink is not None:
            self.sink.emit(Event(kind=kind, session_id=self.session_id, data=data))


def _with_window(reading: ErrorReading) -> ErrorReading:
    """The reading of an output limit above all of a window: it has to fit beside the input that is told with it."""
    if reading.kind is not ErrorKind.OUTPUT_CAP or reading.input is None or reading.limit is None:
        return reading
    return attrs.evolve(reading, kind=ErrorKind.INPUT_PLUS_OUTPUT, remedy=Remedy.COMPACT_OR_LOWER_MAX_OUTPUT)
