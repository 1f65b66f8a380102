"""The calls that one summary takes: what they cost, what they brought, and what they taught about the model's window (W10)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, evolve

from contextport.contracts import (
    ErrorClassifier,
    ErrorKind,
    ErrorReading,
    Json,
    Message,
    ModelCallFailed,
    Refusal,
    Remedy,
    StopReason,
    SummaryFailed,
    TokenCounter,
    Usage,
)
from contextport.contracts.facts import Fact
from contextport.contracts.model import ChatModel, Completion
from contextport.contracts.summary import Summary, SummaryRequest
from contextport.strategies.recovery.request_sizes import target_of

from .model_answer import UnreadableAnswer, facts_in, read_answer
from .shortened_summary import shortened

__all__ = ["ModelCalls"]

_FINISHED = frozenset({StopReason.END, StopReason.STOP_SEQUENCE, StopReason.UNKNOWN})
_MOST_OVERFLOWS = 8  # halvings: a window declared 256 times as large as it is
_WINDOW_FULL = ErrorReading(
    kind=ErrorKind.OUTPUT_HIT_WINDOW, remedy=Remedy.KEEP_OUTPUT_THEN_COMPACT, evidence="stop reason window_limit"
)
_WHY = {
    StopReason.OUTPUT_LIMIT: "It was cut at its limit: write less.",
    StopReason.REFUSAL: "It was a refusal.",
    StopReason.FILTERED: "It was filtered.",
    StopReason.TOOL_CALLS: "It called a tool.",
}


@define(kw_only=True)
class ModelCalls:
    """Asks a model for the summary of one request, as often as it takes.

    `most_input` is how many tokens a call may send, None if nothing is known; an overflow lowers it.
    """

    model: ChatModel
    counter: TokenCounter
    classifier: ErrorClassifier | None
    request: SummaryRequest
    max_output: int
    most_input: int | None
    most_calls: int
    calls: int = 0
    overflows: int = 0
    overflow: Exception | None = None  # the last one
    usage: Usage | None = None
    facts: tuple[Fact, ...] = ()

    async def ask(self, messages: Sequence[Message], tokens: int, smaller: int, *, tools: Sequence[Json] = ()) -> Summary | None:
        """What the model makes of `messages`, which are `tokens` with the tools. None if they are too much for its window, or if
        it called one of the tools instead. `smaller` is what to aim at where an overflow does not say what fits.

        Raises `SummaryFailed` if it does not answer, or if its answer is no summary.
        """
        if self.calls >= self.most_calls:
            raise self.failed(f"{self.calls} calls were made and the text was not at its end; raise max_calls or window")
        self.calls += 1
        try:
            completion = await self.model.complete(messages, max_output=self.max_output, tools=tools)
        except Exception as error:  # whatever a foreign model raises, there is no summary
            self._note(getattr(error, "usage", None))
            reading = self._reading(error)
            if reading is None or not reading.is_overflow:
                raise self.failed(f"the model that summarises did not answer: {type(error).__name__}") from error
            self.overflow = error
            self._shrink(reading, tokens, smaller)
            return None
        self._note(completion.usage)
        if completion.stop is StopReason.WINDOW_LIMIT:
            self._shrink(_WINDOW_FULL, tokens, smaller)
            return None
        if tools and completion.stop is StopReason.TOOL_CALLS:
            return None
        return self._read(completion)

    def failed(self, why: str, *faults: str) -> SummaryFailed:
        """The error that says why there is no summary, and what it took."""
        error = SummaryFailed(why, faults=faults, usage=self.usage, calls=self.calls)
        error.__cause__ = self.overflow  # where it is raised from nothing else
        return error

    def _note(self, usage: object) -> None:
        if isinstance(usage, Usage):
            self.usage = usage if self.usage is None else self.usage + usage

    def _reading(self, error: Exception) -> ErrorReading | None:
        if self.classifier is None or not isinstance(error, ModelCallFailed):
            return None
        return self.classifier.classify(error.details.get("failure") or error)

    def _shrink(self, reading: ErrorReading, tokens: int, smaller: int) -> None:
        """Lower what a call may send below what was refused."""
        self.overflows += 1
        if self.overflows > _MOST_OVERFLOWS:
            sizes = f"{self.overflows} requests were too large for the model, the last of {tokens} tokens"
            raise self.failed(f"{sizes}; give it its real window, or use one with a larger window")
        self.most_input = target_of(reading, tokens, answer=self.max_output, shrink=smaller / max(1, tokens)).aim

    def _read(self, completion: Completion) -> Summary:
        if completion.stop not in _FINISHED:
            why = _WHY.get(completion.stop, f"It ended with {completion.stop.value}.")
            raise self.failed(f"the model wrote no whole summary: it ended with {completion.stop.value}", why)
        if any(isinstance(part, Refusal) for part in completion.message.parts):
            raise self.failed("the model refused to summarise", _WHY[StopReason.REFUSAL])
        text = completion.message.text
        try:
            summary = read_answer(text)
        except UnreadableAnswer as error:
            raise self.failed(f"the answer cannot be read: {error}", f"It could not be read: {error}.") from error
        if summary.is_empty:
            raise self.failed("the model wrote nothing", "It was empty.")
        fitting = shortened(summary, self.counter, self.request.max_tokens)
        if fitting.is_empty:
            size = self.counter.count_text(summary.render())
            said = f"{size} tokens, of which no item and no sentence fits {self.request.max_tokens}"
            raise self.failed(f"the summary has {said}", f"It had {said}.")
        known = {(fact.kind, fact.text) for fact in self.facts}
        self.facts += tuple(fact for fact in facts_in(text, self.request.messages) if (fact.kind, fact.text) not in known)
        return evolve(fitting, facts=self.facts, origin=f"model:{self.model.model}", usage=self.usage)
