"""Answers a session: builds the window, calls the model, recovers from an overflow, finishes a cut answer, stores it once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import attrs
from attrs import field, frozen

from contextport.contracts import (
    AnswerNotStored,
    CapabilityNotSupported,
    ChatModel,
    Context,
    ContextManager,
    ContextPortError,
    ErrorClassifier,
    ErrorReading,
    EventSink,
    Json,
    LearnsLimits,
    Limits,
    LimitsSource,
    Message,
    ModelCallFailed,
    TextDelta,
    TokenCounter,
    Usage,
    provides,
    verify,
)
from contextport.contracts.manager import ShapesWindow
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.arguments import check_count, check_share

from .answer_state import ContinuedOutput, Discarded, Unfinished
from .attempts import Attempts
from .continuation import continue_output
from .next_step import ContinuationPolicy
from .request_sizes import RequestSizes

__all__ = ["Answer", "Responder"]


@frozen(kw_only=True)
class Answer:
    """The answer to a session, and how it came about.

    `output` is the answer; `context` the window that it answers; `tried` the sizes of all requests that were sent for it, in
    counted tokens, those of continuations aside; `usage` that of all of them, as far as it was reported. `stored` is the message
    as the manager took it; None if nothing was stored: the answer is truncated or empty, or storing was not asked for.
    """

    output: ContinuedOutput
    context: Context
    tried: tuple[int, ...]
    usage: Usage | None = None
    stored: Message | None = None

    @property
    def message(self) -> Message | None:
        """The answer as one message."""
        return self.output.message

    @property
    def truncated(self) -> bool:
        """Whether a limit cut the answer. `output.unfinished` then goes on with it."""
        return self.output.truncated


@frozen(kw_only=True)
class Responder:
    """A chat model behind a context manager, with recovery. Host code calls `answer` or `stream` in place of the model.

    An overflow is answered with a strictly smaller window (`recover`), up to `max_tries` requests in all, then with
    `ContextOverflow`, which lists what was tried. An output limit that is too large for the model or beside the input is lowered,
    as long as `min_output` tokens are left. A body that is too large is made smaller, twice at most, or `RequestTooLarge` names
    the message that makes it so. Every other failure, such as a rate limit, is raised at once: it is never answered with
    compaction, and repeating it is the host's decision.

    `limits` is what the model allows: with `window`, each request leaves room for the answer and says how long it may be, at
    most `limits.max_output`. `counter` is the manager's; one that learns is told what providers report, under the name
    `learns_as`, which is the `model` of the manager. `tools` are sent with each request; the manager has to know them as well.
    `learner` is told what errors say of the model on its host. If it is a source of limits as well, as `LearntLimits` is, what
    it knows bounds the first request of later answers.

    Raises `CapabilityNotSupported` for a manager that cannot build a window of a given size (`ShapesWindow`).
    """

    manager: ContextManager
    model: ChatModel
    classifier: ErrorClassifier
    counter: TokenCounter
    profile: ProviderProfile | None = None
    tools: Sequence[Json] = ()
    limits: Limits = field(factory=Limits)
    min_output: int = 256
    max_tries: int = 3
    shrink: float = 0.5
    continuation: ContinuationPolicy = field(factory=ContinuationPolicy)
    learns_as: str = ""
    learner: LearnsLimits | None = None
    sink: EventSink | None = None

    def __attrs_post_init__(self) -> None:
        verify(self.manager, ContextManager)
        verify(self.model, ChatModel)
        verify(self.classifier, ErrorClassifier)
        verify(self.counter, TokenCounter)
        if self.learner is not None:
            verify(self.learner, LearnsLimits)
        check_count("min_output", self.min_output)
        check_count("max_tries", self.max_tries)
        check_share("shrink", self.shrink, zero=False)
        self._shaper()

    def _shaper(self) -> ShapesWindow:
        manager: object = self.manager
        if provides(manager, ShapesWindow):
            return manager
        raise CapabilityNotSupported(
            f"{type(manager).__name__} cannot build a window of a given size, so there is nothing to recover with: "
            "it must provide ShapesWindow, as ContextEngine does",
            port="ShapesWindow",
        )

    async def answer(
        self,
        session_id: str,
        *,
        add: bool = True,
        extra: Sequence[Message] = (),
        resume: Unfinished | None = None,
        message_id: str | None = None,
    ) -> Answer:
        """As `stream`, all at once and without streaming."""
        pieces = self.stream(session_id, add=add, extra=extra, resume=resume, message_id=message_id, streaming=False)
        [answer] = [piece async for piece in pieces if isinstance(piece, Answer)]
        return answer

    async def stream(
        self,
        session_id: str,
        *,
        add: bool = True,
        extra: Sequence[Message] = (),
        resume: Unfinished | None = None,
        message_id: str | None = None,
        streaming: bool = True,
    ) -> AsyncGenerator[TextDelta | Discarded | Answer]:
        """The model's answer to the session in pieces of text, then one `Answer`, last.

        `extra` messages follow the window of this answer and are not stored (R192). A finished answer is added to the session,
        once, unless `add` is false; a truncated one is not: go on with it by `resume`, or add its message. `message_id` becomes
        the id of the message, so that adding it again changes nothing.

        Raises `ModelCallFailed` for failures that a smaller request does not help, `ContextOverflow`, `RequestTooLarge`,
        `BudgetTooSmall` before any request if system prompt and newest question leave no room, the manager's errors, and
        `AnswerNotStored`, which holds the answer, if it could not be added.
        """
        attempts = self._attempts(session_id, tuple(extra), resume)
        await attempts.open()
        output: ContinuedOutput | None = None
        going = True
        while going:
            streamed, output, failure = 0, None, None
            try:
                async with aclosing(self._request(attempts, message_id, streaming)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, ContinuedOutput):
                            output = piece
                        else:
                            streamed += len(piece.text) if isinstance(piece, TextDelta) else -piece.chars
                            yield piece
            except ModelCallFailed as error:
                failure = error
            going = await attempts.again(output, failure)
            if going and streamed and (output is None or attempts.resume is None):
                yield Discarded(streamed)
        if output is None:
            raise AssertionError("a request that failed was raised or repeated")
        answer = Answer(output=output, context=attempts.window, tried=tuple(attempts.tried), usage=attempts.usage)
        if add and output.message is not None and not output.truncated:
            answer = attrs.evolve(answer, stored=await self._stored(session_id, output.message, answer))
        yield answer

    async def _stored(self, session_id: str, message: Message, answer: Answer) -> Message:
        try:
            return await self.manager.add_message(session_id, message)
        except ContextPortError as error:
            raise AnswerNotStored(
                f"the model answered session {session_id!r}, and the answer could not be added: {error}; it is in `answer`, and "
                "adding its message again is safe",
                answer=answer,
                session_id=session_id,
                message_id=message.id,
            ) from error

    def _limits(self) -> Limits:
        """The limits given, tightened by what was learnt from errors."""
        learner: object = self.learner
        learnt = learner.limits(self.model.model, self.model.host) if provides(learner, LimitsSource) else None
        return self.limits if learnt is None else self.limits.tightened(learnt)

    def _learn(self, reading: ErrorReading) -> None:
        if self.learner is not None:
            self.learner.learn(reading, model=self.model.model, host=self.model.host)

    def _attempts(self, session_id: str, extra: tuple[Message, ...], resume: Unfinished | None) -> Attempts:
        limits = self._limits()
        return Attempts(
            manager=self._shaper(),
            session_id=session_id,
            sizes=RequestSizes(counter=self.counter, tools=self.tools, extra=extra, learns_as=self.learns_as),
            classifier=self.classifier,
            profile=self.profile,
            continuation=self.continuation,
            limits=limits,
            min_output=self.min_output,
            max_tries=self.max_tries,
            shrink=self.shrink,
            sink=self.sink,
            resume=resume,
            wanted=limits.max_output,
            learn=self._learn,
        )

    def _request(
        self, attempts: Attempts, message_id: str | None, streaming: bool
    ) -> AsyncGenerator[TextDelta | Discarded | ContinuedOutput]:
        return continue_output(
            self.model,
            attempts.messages,
            profile=self.profile,
            policy=self.continuation,
            max_output=attempts.max_output,
            tools=self.tools,
            resume=attempts.resume,
            message_id=message_id,
            stream=streaming,
            sink=self.sink,
            session_id=attempts.session_id,
        )
