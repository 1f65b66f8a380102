"""Finishing an answer that was cut: the model is asked for the rest, and the pieces become one message (R166 to R173, D3)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, nullcontext

import attrs
from attrs import define, field

from contextport.contracts import (
    ChatModel,
    Completion,
    Event,
    EventKind,
    EventSink,
    Json,
    Message,
    ModelCallFailed,
    ProviderFailure,
    StopReason,
    StreamsCompletions,
    Text,
    TextDelta,
    provides,
    verify,
)
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.arguments import check_count

from .answer_parts import cut_calls, in_one, joined, says_something, text_of
from .answer_state import ContinuedOutput, Discarded, Need, Unfinished
from .next_step import ContinuationPolicy, Progress, progress_after
from .rest_request import request_for
from .seam import Seam

__all__ = ["complete_output", "continue_output"]

_MOST_PAUSES = 8  # calls that a provider asks for itself, beside the continuations


async def continue_output(
    model: ChatModel,
    messages: Sequence[Message],
    *,
    profile: ProviderProfile | None = None,
    policy: ContinuationPolicy | None = None,
    max_output: int | None = None,
    tools: Sequence[Json] = (),
    resume: Unfinished | None = None,
    message_id: str | None = None,
    stream: bool = True,
    sink: EventSink | None = None,
    session_id: str = "",
) -> AsyncGenerator[TextDelta | Discarded | ContinuedOutput]:
    """The answer to `messages` in pieces of new text, then one `ContinuedOutput`, last.

    A model that streams is asked to, unless `stream` is false; from another each call gives one piece. `profile` says whether
    the provider continues a prefill. `max_output` is the limit of each call in tokens. `resume` goes on with an earlier answer
    to the same messages; its text is not handed out again. `message_id` becomes the id of the message.

    The pieces put together, less what was `Discarded`, are the text of the message. Raises `ModelCallFailed` when the first call
    of an answer fails; a later failure ends it as a truncated one that names the failure and can be resumed. Raises
    `InvalidArgument` for a `max_output` below 1.
    """
    verify(model, ChatModel)
    if max_output is not None:
        check_count("max_output", max_output)
    run = _Run(
        model=model,
        asked=tuple(messages),
        tools=tools,
        policy=policy or ContinuationPolicy(),
        profile=profile,
        streams=model if stream and provides(model, StreamsCompletions) else None,
        answer=_begun(resume, message_id, max_output),
        sink=sink,
        session_id=session_id,
    )
    async with aclosing(run.pieces()) as pieces:
        async for piece in pieces:
            yield piece


async def complete_output(
    model: ChatModel,
    messages: Sequence[Message],
    *,
    profile: ProviderProfile | None = None,
    policy: ContinuationPolicy | None = None,
    max_output: int | None = None,
    tools: Sequence[Json] = (),
    resume: Unfinished | None = None,
    message_id: str | None = None,
    sink: EventSink | None = None,
    session_id: str = "",
) -> ContinuedOutput:
    """As `continue_output`, all at once and without streaming."""
    pieces = continue_output(
        model,
        messages,
        profile=profile,
        policy=policy,
        max_output=max_output,
        tools=tools,
        resume=resume,
        message_id=message_id,
        stream=False,
        sink=sink,
        session_id=session_id,
    )
    [result] = [piece async for piece in pieces if isinstance(piece, ContinuedOutput)]
    return result


def _begun(resume: Unfinished | None, message_id: str | None, max_output: int | None) -> Unfinished:
    begun = Unfinished() if resume is None else resume
    if message_id is not None:
        begun = attrs.evolve(begun, message_id=message_id)
    return begun if max_output is None else attrs.evolve(begun, max_output=max_output)


@define(kw_only=True)
class _Run:
    """One answer being written. `seam` is that of the running call, if it goes on with a text."""

    model: ChatModel
    asked: tuple[Message, ...]
    tools: Sequence[Json]
    policy: ContinuationPolicy
    profile: ProviderProfile | None
    streams: StreamsCompletions | None
    answer: Unfinished
    sink: EventSink | None
    session_id: str
    completions: list[Completion] = field(factory=list[Completion])
    continuations: int = 0
    pauses: int = 0
    seam: Seam | None = None

    async def pieces(self) -> AsyncGenerator[TextDelta | Discarded | ContinuedOutput]:
        """The answer, call by call."""
        while True:
            text = ""
            try:
                async with aclosing(self._call()) as call:
                    async for piece in call:
                        text += piece.text
                        yield piece
            except ModelCallFailed as error:
                if self.answer.need is Need.ANSWER:
                    raise
                self._keep(text)
                yield self._ended(whole=False, failure=error)
                return
            completion = self.completions[-1]
            progress = progress_after(self.answer, completion, self.seam.dropped if self.seam else 0, self.policy)
            self.answer = progress.answer
            if progress.discards and text:
                yield Discarded(len(text))
            if progress.whole or not self._may_go_on(progress):
                yield self._ended(whole=progress.whole, resumable=not progress.discards)
                return

    async def _call(self) -> AsyncGenerator[TextDelta]:
        """One call: what is new of its text. Its completion is noted."""
        request = request_for(
            self.answer,
            self.asked,
            anchor_chars=self.policy.anchor_chars,
            profile=self.profile,
            directives=self.policy.directives,
            tools=self.tools,
        )
        written = text_of(self.answer.parts) if self.answer.need in (Need.REST, Need.CALL) else ""
        self.seam = seam = Seam(written, request.trimmed) if written else None
        async with aclosing(self._answers(request.messages)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Completion):
                    cut = piece.stop.is_cut or bool(cut_calls(piece.message.parts))
                    rest = seam.close(cut=cut) if seam else ""
                    self.completions.append(piece)
                else:
                    rest = seam.feed(piece.text) if seam else piece.text
                if rest:
                    yield TextDelta(rest)

    async def _answers(self, messages: tuple[Message, ...]) -> AsyncGenerator[TextDelta | Completion]:
        """What the model says to `messages`: text, then its completion."""
        limit = self.answer.max_output
        if self.streams is None:
            completion = await self.model.complete(messages, max_output=limit, tools=self.tools)
            text = text_of(completion.message.parts)
            if text:
                yield TextDelta(text)
            yield completion
            return
        ended = False
        pieces = self.streams.stream(messages, max_output=limit, tools=self.tools)
        async with aclosing(pieces) if isinstance(pieces, AsyncGenerator) else nullcontext():  # MODEL-12
            async for piece in pieces:
                ended = isinstance(piece, Completion)
                yield piece
        if not ended:
            raise ModelCallFailed("the stream ended without a completion", failure=ProviderFailure())

    def _may_go_on(self, progress: Progress) -> bool:
        """Whether the next call is made, which is then counted."""
        if not progress.goes_on or self.policy.mode != "continue":
            return False
        if progress.pause:
            self.pauses += 1
            within = self.pauses <= _MOST_PAUSES
        else:
            self.continuations += 1
            within = self.continuations <= self.policy.max_continuations
        if within:
            self._emit(EventKind.OUTPUT_CONTINUED, {"call": len(self.completions) + 1, "need": self.answer.need.value})
        return within

    def _keep(self, text: str) -> None:
        """What a failed continuation handed out is part of the answer: the next one goes on from there."""
        if text:
            self.answer = attrs.evolve(self.answer, need=Need.REST, parts=joined(self.answer.parts, (Text(text),), 0))

    def _ended(self, *, whole: bool, resumable: bool = True, failure: ModelCallFailed | None = None) -> ContinuedOutput:
        stop = self.completions[-1].stop if self.completions else StopReason.ERROR
        if not whole:
            figures: dict[str, Json] = {"calls": len(self.completions), "stop": stop.value, "need": self.answer.need.value}
            self._emit(EventKind.OUTPUT_TRUNCATED, {**figures, "failed": failure is not None})
        return ContinuedOutput(
            message=self._message(),
            stop=stop,
            truncated=not whole,
            usage=self.answer.usage,
            completions=tuple(self.completions),
            unfinished=self.answer if resumable and not whole else None,
            failure=failure,
        )

    def _message(self) -> Message | None:
        """The one message that all calls together made; the provider's own where there was one call and nothing was left out."""
        answer = self.answer
        parts = in_one(answer.carried, answer.parts) if answer.carried else answer.parts
        if not says_something(parts):
            return None
        if not self.completions:
            return Message(role="assistant", parts=parts, id=answer.message_id)
        last = self.completions[-1].message
        native = last.native if parts is last.parts else None
        return attrs.evolve(last, id=answer.message_id, parts=parts, native=native)

    def _emit(self, kind: EventKind, data: dict[str, Json]) -> None:
        if self.sink is not None:
            self.sink.emit(Event(kind=kind, session_id=self.session_id, data=data))
