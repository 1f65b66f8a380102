"""A summarizer in a few lines, over a writer that stands for a model: nothing of it is needed by anyone but the suite."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from attrs import define, field, frozen

from contextport.contracts import InvalidArgument, Kind, Message, TokenCounter, implements
from contextport.contracts.errors import SummaryFailed
from contextport.contracts.model import Usage
from contextport.contracts.summary import IsGrounded, Summarizer, Summary, SummaryRequest

from .scripted_answers import Scripted, ScriptedAnswer, ScriptedFailure, ScriptedHold

__all__ = ["ReferenceSummarizer", "ReferenceWriter", "WriterFailed", "Written"]

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*|\n+")
_DECISION = re.compile(r"decided|\u51b3\u5b9a")  # the second is Chinese for the first


class WriterFailed(Exception):
    """The writer did not answer. `usage` is what that took."""

    def __init__(self, words: str, usage: Usage) -> None:
        super().__init__(words)
        self.usage = usage


@frozen
class Written:
    """What the writer wrote, and what it took."""

    text: str
    usage: Usage


def _queue(script: Iterable[Scripted]) -> deque[Scripted]:
    return deque(script)


@define
class ReferenceWriter:
    """Repeats lines of what it reads, decisions first; or says what its script says. Takes `window` words at a time."""

    script: deque[Scripted] = field(factory=deque[Scripted], converter=_queue)
    window: int = 900
    read: list[str] = field(factory=list[str])

    async def write(self, lines: Sequence[str], most: int, counter: TokenCounter) -> Written:
        """A text of at most `most` tokens about the lines."""
        self.read.append("\n".join(lines))
        step = self.script.popleft() if self.script else None
        if isinstance(step, ScriptedFailure):
            raise WriterFailed(step.message, Usage(input_tokens=1))
        if isinstance(step, ScriptedHold):
            await _held(step)
        if isinstance(step, ScriptedAnswer):
            return Written(step.text, step.usage)
        chosen = sorted(dict.fromkeys(lines), key=lambda line: _DECISION.search(line) is None)
        return Written("\n".join(fitting(chosen, most, counter)), Usage(input_tokens=len(lines), output_tokens=1))


async def _held(step: ScriptedHold) -> None:
    step.begun.set()
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        step.ended.set()


def fitting(lines: Sequence[str], most: int, counter: TokenCounter) -> list[str]:
    """The lines that fit, in order, those that do not left out."""
    taken: list[str] = []
    for line in lines:
        if counter.count_text("\n".join([*taken, line])) <= most:
            taken.append(line)
    return taken


@implements(Summarizer, IsGrounded)
class ReferenceSummarizer:
    """Lets a writer choose lines, part by part, and keeps those that stand in what it was given."""

    def __init__(self, counter: TokenCounter, writer: ReferenceWriter | None = None) -> None:
        self.counter = counter
        self.writer = ReferenceWriter() if writer is None else writer

    @property
    def max_input(self) -> int | None:
        return self.writer.window

    @property
    def grounding(self) -> str:
        return "only whole lines of the conversation are kept"

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.check(request)
        lines = [line for message in request.messages for line in self.lines(message)]
        kept: list[str] = []
        usage: Usage | None = None
        for part in self.parts(lines):
            try:
                written = await self.write([*kept, *part], request.max_tokens)
            except WriterFailed as error:
                raise self.failed("the writer did not answer", self.added(usage, error.usage)) from error
            usage = self.added(usage, written.usage)
            kept = self.believed(written.text, [*kept, *part], request.max_tokens)
        return self.made(kept, usage)

    def check(self, request: SummaryRequest) -> None:
        """Refuse what cannot be summarised."""
        if not request.messages or request.max_tokens < 1:
            raise InvalidArgument("a summary needs messages and a limit of 1 or more", name="request")

    def lines(self, message: Message) -> Iterator[str]:
        """What a message says, a sentence a line."""
        if message.kind is Kind.SUMMARY:
            yield from sentences(message.text.removeprefix("[Conversation summary]"))
        elif message.role not in ("system", "developer"):
            yield from sentences(message.text)
            for call in message.tool_calls:
                yield f"{call.name} {call.arguments}"

    def parts(self, lines: Sequence[str]) -> Iterator[Sequence[str]]:
        """The lines in parts that the writer can take beside what it wrote last."""
        room = self.writer.window // 2
        part: list[str] = []
        size = 0
        for line in lines:
            words = len(line.split())
            if part and size + words > room:
                yield part
                part, size = [], 0
            part.append(line)
            size += words
        yield part

    async def write(self, lines: Sequence[str], most: int) -> Written:
        """Ask the writer."""
        return await self.writer.write(lines, most, self.counter)

    def added(self, before: Usage | None, usage: Usage) -> Usage:
        """What all calls took."""
        return usage if before is None else before + usage

    def believed(self, text: str, lines: Sequence[str], most: int) -> list[str]:
        """The lines of an answer that stand in what was given, as many as fit."""
        known = set(lines)
        return fitting([line for line in text.split("\n") if line in known], most, self.counter)

    def made(self, kept: Sequence[str], usage: Usage | None) -> Summary:
        """The summary, unless it would say nothing."""
        if not any(line.strip() for line in kept):
            raise self.failed("nothing of what was written can be kept", usage)
        return Summary(text="\n".join(kept), origin="reference", usage=usage)

    def failed(self, why: str, usage: Usage | None) -> SummaryFailed:
        """The error."""
        return SummaryFailed(why, faults=(why,), usage=usage)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, without white space around them."""
    yield from (sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip())
