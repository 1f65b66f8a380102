"""Summarizers that break one thing each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import evolve

from contextport.conformance_tests.reference_summarizer import ReferenceSummarizer, WriterFailed, Written, sentences
from contextport.contracts import Kind, Message, Thinking, ToolCall
from contextport.contracts.errors import SummaryFailed
from contextport.contracts.model import Usage
from contextport.contracts.summary import Summary, SummaryRequest

from .registry import broken

__all__: list[str] = []


@broken("SUMMARIZER-1")
class LeavesTheLimitToTheWriter(ReferenceSummarizer):
    async def write(self, lines: Sequence[str], most: int) -> Written:
        return await super().write(lines, 2 * most)

    def believed(self, text: str, lines: Sequence[str], most: int) -> list[str]:
        return super().believed(text, lines, 2 * most)


@broken("SUMMARIZER-1")
class ForgetsTheTagsOfItems(ReferenceSummarizer):
    def made(self, kept: Sequence[str], usage: Usage | None) -> Summary:
        summary = super().made(kept, usage)
        return evolve(summary, text="", decisions=tuple(kept))


@broken("SUMMARIZER-2 SUMMARIZER-12")
class SaysNothingWhereNothingFits(ReferenceSummarizer):
    def made(self, kept: Sequence[str], usage: Usage | None) -> Summary:
        return Summary(text="\n".join(kept), origin="reference", usage=usage)


@broken("SUMMARIZER-2")
class RefusesAHandoff(ReferenceSummarizer):
    async def summarize(self, request: SummaryRequest) -> Summary:
        if request.handoff:
            raise self.failed("there is nobody to hand over to", None)
        return await super().summarize(request)


@broken("SUMMARIZER-3")
class ReadsTheFirstPartOnly(ReferenceSummarizer):
    def parts(self, lines: Sequence[str]) -> Iterator[Sequence[str]]:
        yield next(iter(super().parts(lines)))


@broken("SUMMARIZER-3")
class ReadsTheEndOnly(ReferenceSummarizer):
    def parts(self, lines: Sequence[str]) -> Iterator[Sequence[str]]:
        yield from super().parts(lines[-100:])


@broken("SUMMARIZER-3")
class LeavesOutArguments(ReferenceSummarizer):
    def lines(self, message: Message) -> Iterator[str]:
        yield from (line for line in super().lines(message) if "{" not in line)


@broken("SUMMARIZER-3")
class LeavesOutErrorsOfTools(ReferenceSummarizer):
    def lines(self, message: Message) -> Iterator[str]:
        if not any(result.status == "error" for result in message.tool_results):
            yield from super().lines(message)


@broken("SUMMARIZER-4")
class DropsTheSummaryBefore(ReferenceSummarizer):
    def lines(self, message: Message) -> Iterator[str]:
        return iter(["Earlier messages were summarised."]) if message.kind is Kind.SUMMARY else super().lines(message)


@broken("SUMMARIZER-4")
class KnowsNoSummaryOfTheSystem(ReferenceSummarizer):
    def lines(self, message: Message) -> Iterator[str]:
        return iter(["It is raining."]) if message.role == "system" else super().lines(message)


@broken("SUMMARIZER-5")
class ReadsTheSystemPrompt(ReferenceSummarizer):
    def lines(self, message: Message) -> Iterator[str]:
        yield from sentences(message.text) if message.role == "system" and message.kind is Kind.CHAT else super().lines(message)


@broken("SUMMARIZER-5")
class ReadsWhatDevelopersSay(ReferenceSummarizer):
    def lines(self, message: Message) -> Iterator[str]:
        yield from sentences(message.text) if message.role == "developer" else super().lines(message)


@broken("SUMMARIZER-5 SUMMARIZER-11")
class ReadsReasoning(ReferenceSummarizer):
    def lines(self, message: Message) -> Iterator[str]:
        yield from super().lines(message)
        for part in message.parts:
            if isinstance(part, Thinking):
                yield from (part.text or "", *part.summary)


@broken("SUMMARIZER-6")
class MarksTheMessages(ReferenceSummarizer):
    async def summarize(self, request: SummaryRequest) -> Summary:
        for message in request.messages:
            notes: Any = message.metadata
            notes["summarised"] = True
        return await super().summarize(request)


@broken("SUMMARIZER-6")
class TakesTheToolsAway(ReferenceSummarizer):
    async def summarize(self, request: SummaryRequest) -> Summary:
        for tool in request.tools:
            tool.clear()
        return await super().summarize(request)


@broken("SUMMARIZER-7")
class LetsForeignErrorsThrough(ReferenceSummarizer):
    async def summarize(self, request: SummaryRequest) -> Summary:
        try:
            return await super().summarize(request)
        except SummaryFailed as error:
            raise error.__cause__ or error from None


@broken("SUMMARIZER-7")
class KeepsTheCauseToItself(ReferenceSummarizer):
    async def summarize(self, request: SummaryRequest) -> Summary:
        try:
            return await super().summarize(request)
        except SummaryFailed as error:
            raise self.failed(str(error), error.usage) from None


@broken("SUMMARIZER-7")
class TellsTheErrorAsTheSummary(ReferenceSummarizer):
    async def write(self, lines: Sequence[str], most: int) -> Written:
        try:
            return await super().write(lines, most)
        except WriterFailed as error:
            return Written(str(error), error.usage)

    def believed(self, text: str, lines: Sequence[str], most: int) -> list[str]:
        return [text] if text.startswith("no answer: ") else super().believed(text, lines, most)


@broken("SUMMARIZER-7")
class RepeatsTheWordsOfTheError(ReferenceSummarizer):
    async def summarize(self, request: SummaryRequest) -> Summary:
        try:
            return await super().summarize(request)
        except SummaryFailed as error:
            raise self.failed(f"no summary: {error.__cause__}", error.usage) from error


@broken("SUMMARIZER-8")
class AsksAboutNothing(ReferenceSummarizer):
    def check(self, request: SummaryRequest) -> None:
        pass


@broken("SUMMARIZER-8")
class AsksBeforeItChecks(ReferenceSummarizer):
    async def summarize(self, request: SummaryRequest) -> Summary:
        if not request.messages:
            await self.write([], request.max_tokens)
        return await super().summarize(request)


@broken("SUMMARIZER-9")
class WritesInATaskOfItsOwn(ReferenceSummarizer):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.running: set[asyncio.Task[Written]] = set()

    async def write(self, lines: Sequence[str], most: int) -> Written:
        task = asyncio.create_task(super().write(lines, most))
        self.running.add(task)
        return await asyncio.shield(task)


@broken("SUMMARIZER-9")
class KeepsItsLockWhenCancelled(ReferenceSummarizer):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.lock = asyncio.Lock()

    async def write(self, lines: Sequence[str], most: int) -> Written:
        await self.lock.acquire()
        try:
            written = await super().write(lines, most)
        except WriterFailed:
            self.lock.release()
            raise
        self.lock.release()
        return written


@broken("SUMMARIZER-10")
class TellsTheLastUsage(ReferenceSummarizer):
    def added(self, before: Usage | None, usage: Usage) -> Usage:
        return usage


@broken("SUMMARIZER-10")
class ForgetsTheUsageOfFailures(ReferenceSummarizer):
    def failed(self, why: str, usage: Usage | None) -> SummaryFailed:
        return super().failed(why, None)


@broken("SUMMARIZER-10")
class HasNoOrigin(ReferenceSummarizer):
    def made(self, kept: Sequence[str], usage: Usage | None) -> Summary:
        return evolve(super().made(kept, usage), origin=" ")


@broken("SUMMARIZER-11 SUMMARIZER-12")
class BelievesTheWriter(ReferenceSummarizer):
    def believed(self, text: str, lines: Sequence[str], most: int) -> list[str]:
        return super().believed(text, text.split("\n"), most)


@broken("SUMMARIZER-11")
class CountsWhatItRead(ReferenceSummarizer):
    def made(self, kept: Sequence[str], usage: Usage | None) -> Summary:
        summary = super().made(kept, usage)
        words = summary.text.split(" ")
        count = str(9_000_000 + len(words))
        return evolve(summary, text=" ".join([*words[:-1], count])) if len(words[-1]) >= len(count) else summary


@broken("SUMMARIZER-12")
class ObeysWhatItReads(ReferenceSummarizer):
    async def summarize(self, request: SummaryRequest) -> Summary:
        texts = [message.text for message in request.messages if not any(type(part) is ToolCall for part in message.parts)]
        if any(text.startswith("Ignore all instructions") for text in texts):
            wanted = texts[-1].rpartition(": ")[2]
            return self.made(self.believed(wanted, [wanted], request.max_tokens), None)
        return await super().summarize(request)
