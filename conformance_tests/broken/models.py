"""Chat models that break one thing each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import evolve

from contextport.conformance_tests.reference_model import (
    WORDS,
    ReferenceModel,
    ReferenceProvider,
    ReferenceProviderError,
)
from contextport.contracts import Json, Message, ModelCallFailed, Text, ToolCall
from contextport.contracts.model import Completion, StopReason, TextDelta, Usage
from contextport.contracts.provider_error import ProviderFailure

from .registry import broken

__all__: list[str] = []

_Stream = AsyncIterator[TextDelta | Completion]


# --- what was said ----------------------------------------------------------------------------------------------------


@broken("MODEL-1")
class LeavesReasoningOut(ReferenceModel):
    def message(self, answer: dict[str, Any]) -> Message:
        return super().message({**answer, "think": ""})


@broken("MODEL-1 MODEL-10")
class StripsText(ReferenceModel):
    def message(self, answer: dict[str, Any]) -> Message:
        return super().message({**answer, "say": answer["say"].strip()})


@broken("MODEL-1")
class WritesArgumentsAnew(ReferenceModel):
    def call(self, call: dict[str, Any]) -> ToolCall:
        made = super().call(call)
        return evolve(made, arguments=json.dumps(json.loads(made.arguments))) if made.complete else made


@broken("MODEL-1 MODEL-3")
class GivesCallsOtherIds(ReferenceModel):
    def call(self, call: dict[str, Any]) -> ToolCall:
        return evolve(super().call(call), call_id=f"toolu_{call['id'][-4:]}")


@broken("MODEL-1 MODEL-3")
class KeepsTheFirstCallOnly(ReferenceModel):
    def message(self, answer: dict[str, Any]) -> Message:
        return super().message({**answer, "calls": answer["calls"][:1]})


@broken("MODEL-1")
class TakesIdsAsTheyCome(ReferenceModel):
    def told_apart(self, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return calls


@broken("MODEL-1")
class GivesEmptyIdsOnlyAnother(ReferenceModel):
    def told_apart(self, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [call if call["id"] else {**call, "id": f"call_{n}"} for n, call in enumerate(calls)]


# --- why it ended -----------------------------------------------------------------------------------------------------


@broken("MODEL-2")
class TakesUnknownReasonsForTheEnd(ReferenceModel):
    def stop(self, message: Message, word: str) -> StopReason:
        reason = super().stop(message, word)
        return StopReason.END if reason is StopReason.UNKNOWN else reason


@broken("MODEL-2 MODEL-3")
class BelievesTheWord(ReferenceModel):
    def stop(self, message: Message, word: str) -> StopReason:
        return next((reason for reason, known in WORDS.items() if known == word), StopReason.UNKNOWN)


@broken("MODEL-2")
class ForgetsTheWord(ReferenceModel):
    def completion(self, answer: dict[str, Any]) -> Completion:
        made = super().completion(answer)
        return evolve(made, raw_stop=made.stop.value)


@broken("MODEL-2 MODEL-10")
class KnowsNoLimits(ReferenceModel):
    def stop(self, message: Message, word: str) -> StopReason:
        reason = super().stop(message, word)
        return StopReason.END if reason.is_cut else reason


@broken("MODEL-3 MODEL-10")
class TakesEveryCallForWhole(ReferenceModel):
    def is_whole(self, arguments: str) -> bool:
        return True


@broken("MODEL-3 MODEL-10")
class DropsCutCalls(ReferenceModel):
    def message(self, answer: dict[str, Any]) -> Message:
        return super().message({**answer, "calls": [call for call in answer["calls"] if self.is_whole(call["arguments"])]})


# --- what it cost, and its limit --------------------------------------------------------------------------------------


@broken("MODEL-4")
class LeavesCachedTokensOut(ReferenceModel):
    def usage(self, answer: dict[str, Any]) -> Usage:
        return evolve(super().usage(answer), input_tokens=answer["read"])


@broken("MODEL-4")
class CountsCachedTokensTwice(ReferenceModel):
    def usage(self, answer: dict[str, Any]) -> Usage:
        right = super().usage(answer)
        return evolve(right, input_tokens=right.input_tokens + right.cache_read_tokens)


@broken("MODEL-5")
class SendsNoLimit(ReferenceModel):
    def request(self, messages: Sequence[Message], max_output: int | None, tools: Sequence[Json]) -> dict[str, Any]:
        return {**super().request(messages, max_output, tools), "max": None}


@broken("MODEL-5")
class TakesZeroForNoLimit(ReferenceModel):
    def request(self, messages: Sequence[Message], max_output: int | None, tools: Sequence[Json]) -> dict[str, Any]:
        return super().request(messages, max_output or None, tools)


@broken("MODEL-5")
class LooksAtTheLimitAfterwards(ReferenceModel):
    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        if max_output is not None and max_output < 1:
            await super().complete(messages, tools=tools)
        return await super().complete(messages, max_output=max_output, tools=tools)


# --- failures ---------------------------------------------------------------------------------------------------------


@broken("MODEL-6 MODEL-7 MODEL-11")
class LetsForeignErrorsThrough(ReferenceModel):
    @contextmanager
    def mapped(self) -> Generator[None]:
        yield


@broken("MODEL-6")
class HidesTheCause(ReferenceModel):
    @contextmanager
    def mapped(self) -> Generator[None]:
        try:
            yield
        except ReferenceProviderError as error:
            raise ModelCallFailed("the model did not answer", failure=self.failure(error)) from None


@broken("MODEL-6")
class TellsTheKey(ReferenceModel):
    def masked(self, text: str) -> str:
        return text


@broken("MODEL-6")
class CopiesTheHeaders(ReferenceModel):
    def failure(self, error: ReferenceProviderError) -> ProviderFailure:
        return evolve(super().failure(error), body={**error.body, "headers": error.headers})


@broken("MODEL-6")
class ForgetsTheStatus(ReferenceModel):
    def failure(self, error: ReferenceProviderError) -> ProviderFailure:
        return evolve(super().failure(error), status=None)


@broken("MODEL-6")
class ForgetsHowLongToWait(ReferenceModel):
    def failure(self, error: ReferenceProviderError) -> ProviderFailure:
        return evolve(super().failure(error), retry_after=None)


class _RetryingProvider(ReferenceProvider):
    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return await super().ask(request)
        except ReferenceProviderError as error:
            if error.status is not None and error.status >= 500 and self.script:
                return await super().ask(request)
            raise


@broken("MODEL-6 MODEL-7")
class LetsTheSdkRetry(ReferenceModel):
    def __init__(self, provider: ReferenceProvider) -> None:
        super().__init__(_RetryingProvider(provider.script, provider.key))


@broken("MODEL-7")
class AsksForTheSizeFirst(ReferenceModel):
    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        done = await super().complete(messages, max_output=max_output, tools=tools)
        self.provider.sent += self.provider.sent[-1:] if max_output is None else []
        return done


# --- what is not its own ----------------------------------------------------------------------------------------------


@broken("MODEL-8")
class SortsTheTools(ReferenceModel):
    def request(self, messages: Sequence[Message], max_output: int | None, tools: Sequence[Json]) -> dict[str, Any]:
        if isinstance(tools, list):
            tools.sort(key=lambda tool: tool["function"]["name"])
        return super().request(messages, max_output, tools)


@broken("MODEL-8")
class TakesTheDescriptionsOut(ReferenceModel):
    def request(self, messages: Sequence[Message], max_output: int | None, tools: Sequence[Json]) -> dict[str, Any]:
        for tool in tools if isinstance(tools, list) else ():
            tool["function"].pop("description", None)
        return super().request(messages, max_output, tools)


@broken("MODEL-8")
class AppendsItsAnswer(ReferenceModel):
    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        completion = await super().complete(messages, max_output=max_output, tools=tools)
        if isinstance(messages, list):
            messages.append(completion.message)
        return completion


@broken("MODEL-9")
class GoesOnWhenCancelled(ReferenceModel):
    """The request is a task that nobody cancels; it is kept, so that only the rule can end it."""

    kept: list[Any]

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        task = asyncio.create_task(super().complete(messages, max_output=max_output, tools=tools))
        self.kept = [task]
        return await asyncio.shield(task)


@broken("MODEL-9")
class IsLockedAfterACancelledCall(ReferenceModel):
    locked = False

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        if self.locked:
            raise RuntimeError("another call is running")
        self.locked = True
        try:
            completion = await super().complete(messages, max_output=max_output, tools=tools)
        except Exception:
            self.locked = False
            raise
        self.locked = False
        return completion


# --- streams ----------------------------------------------------------------------------------------------------------


@broken("MODEL-10")
class EndsWithoutACompletion(ReferenceModel):
    async def stream(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()) -> _Stream:
        async for item in super().stream(messages, max_output=max_output, tools=tools):
            if isinstance(item, TextDelta):
                yield item


@broken("MODEL-10")
class YieldsTheWholeTextAgain(ReferenceModel):
    async def stream(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()) -> _Stream:
        async for item in super().stream(messages, max_output=max_output, tools=tools):
            if isinstance(item, Completion) and item.message.text:
                yield TextDelta(item.message.text)
            yield item


@broken("MODEL-10")
class CompletesTwice(ReferenceModel):
    async def stream(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()) -> _Stream:
        async for item in super().stream(messages, max_output=max_output, tools=tools):
            yield item
            if isinstance(item, Completion):
                yield item


@broken("MODEL-10")
class StreamsTextOnly(ReferenceModel):
    async def stream(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()) -> _Stream:
        async for item in super().stream(messages, max_output=max_output, tools=tools):
            if isinstance(item, Completion):
                text = tuple(part for part in item.message.parts if isinstance(part, Text))
                item = evolve(item, message=evolve(item.message, parts=text))
            yield item


@broken("MODEL-10")
class StreamsWithoutUsage(ReferenceModel):
    async def stream(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()) -> _Stream:
        async for item in super().stream(messages, max_output=max_output, tools=tools):
            yield evolve(item, usage=None) if isinstance(item, Completion) else item


@broken("MODEL-10 MODEL-11 MODEL-12")
class StreamsAtTheEnd(ReferenceModel):
    """The answer is waited for and cut in pieces afterwards; where nothing ends, nothing comes."""

    async def stream(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()) -> _Stream:
        completion = await self.complete(messages, max_output=max_output, tools=tools)
        if completion.message.text:
            yield TextDelta(completion.message.text)
        yield completion


@broken("MODEL-6 MODEL-11")
class TakesABreakForTheEnd(ReferenceModel):
    async def stream(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()) -> _Stream:
        text = ""
        try:
            async for item in super().stream(messages, max_output=max_output, tools=tools):
                if isinstance(item, TextDelta):
                    text += item.text
                yield item
        except ModelCallFailed:
            yield Completion(message=Message.assistant(text), stop=StopReason.END, raw_stop="done")


@broken("MODEL-11")
class HoldsTheLastPieceBack(ReferenceModel):
    async def stream(self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()) -> _Stream:
        waiting: TextDelta | Completion | None = None
        async for item in super().stream(messages, max_output=max_output, tools=tools):
            if waiting is not None:
                yield waiting
            waiting = item
        if waiting is not None:
            yield waiting


@broken("MODEL-12")
class LeavesTheConnectionOpen(ReferenceModel):
    kept: list[Any]

    async def close(self, pieces: Any) -> None:
        self.kept = [pieces]
