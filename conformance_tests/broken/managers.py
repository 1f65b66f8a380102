"""Managers that break one thing each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import attrs

from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Context,
    ContextPortError,
    ContextStats,
    InvalidMessage,
    Json,
    Kind,
    Message,
    MessageConflict,
    Receipt,
    ReplayFailed,
    TokenCounter,
    dump_message,
    load_message,
)

from ..reference_manager import ReferenceManager, Session
from .registry import broken

__all__: list[str] = []


class _Windows(ReferenceManager):
    """Changes the window after it was built, keeping its figures true."""

    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        return kept

    async def window(self, session: Session) -> tuple[list[Message], int]:
        kept, _ = await super().window(session)
        kept = self.after(session, kept)
        return kept, len(session.said) - len({m.id for m in kept if m.in_conversation})


@broken("MANAGER-1")
class TrimsTexts(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        if isinstance(message, Mapping) and isinstance(message.get("content"), str):
            message = {**message, "content": message["content"].strip()}
        return super().taken(message)


@broken("MANAGER-1")
class NormalisesArguments(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        if isinstance(message, Mapping) and isinstance(message.get("tool_calls"), list):
            calls: list[Any] = json.loads(json.dumps(message["tool_calls"]))
            for call in calls:
                function = call.get("function", {})
                if function.get("arguments"):
                    function["arguments"] = json.dumps(json.loads(function["arguments"]))
            message = {**message, "tool_calls": calls}
        return super().taken(message)


@broken("MANAGER-1 MANAGER-4 MANAGER-5 MANAGER-6 MANAGER-11 MANAGER-18")
class PutsThePromptLast(_Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        return [*kept[1:], kept[0]] if session.prompt else kept


@broken("MANAGER-2")
class LeavesThePromptOutOfTheSum(ReferenceManager):
    async def window(self, session: Session) -> tuple[list[Message], int]:
        kept, omitted = await super().window(attrs.evolve(session, prompt=""))
        return [*self.prompt_messages(session), *kept], omitted


@broken("MANAGER-2 MANAGER-7")
class RefusesWithoutNumbers(ReferenceManager):
    async def window(self, session: Session) -> tuple[list[Message], int]:
        try:
            return await super().window(session)
        except BudgetTooSmall:
            raise BudgetTooSmall("it does not fit") from None


@broken("MANAGER-2 MANAGER-7")
class SendsWhatDoesNotFit(ReferenceManager):
    async def window(self, session: Session) -> tuple[list[Message], int]:
        try:
            return await super().window(session)
        except BudgetTooSmall:
            return [*self.prompt_messages(session), *session.said[-1:]], len(session.said) - 1


@broken("MANAGER-3 MANAGER-10 MANAGER-17 MANAGER-18")
class ForgetsWhatItLeftOut(ReferenceManager):
    """Trims the log to the window, so that a later, larger window cannot have it back."""

    async def get_context(self, session_id: str) -> Context:
        context = await super().get_context(session_id)
        session = self.session(session_id)
        kept = {message.id for message in context.messages}
        if context.omitted_count:
            session.said = [message for message in session.said if message.id in kept]
        return context


@broken("MANAGER-3 MANAGER-4 MANAGER-5 MANAGER-6 MANAGER-9 MANAGER-10 MANAGER-11 MANAGER-14 MANAGER-16 MANAGER-18")
class ShowsEachWindowOnce(ReferenceManager):
    async def get_context(self, session_id: str) -> Context:
        context = await super().get_context(session_id)
        self.session(session_id).prompt += "\n"
        return context


@broken("MANAGER-4 MANAGER-18")
class CutsThePromptLikeOthers(_Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        missing = len(session.said) > sum(message.in_conversation for message in kept)
        return [message for message in kept if message.kind is not Kind.SYSTEM_PROMPT] if missing else kept


@broken("MANAGER-1 MANAGER-4 MANAGER-5 MANAGER-9 MANAGER-10 MANAGER-11 MANAGER-16")
class SendsThePromptTwice(ReferenceManager):
    def prompt_messages(self, session: Session) -> list[Message]:
        once = super().prompt_messages(session)
        return [*once, *(attrs.evolve(message, id="again") for message in once)]


@broken("MANAGER-4")
class TidiesThePrompt(ReferenceManager):
    def prompt_messages(self, session: Session) -> list[Message]:
        return [Message.system(" ".join(m.text.split()), id=m.id, kind=m.kind) for m in super().prompt_messages(session)]


@broken("MANAGER-5 MANAGER-6 MANAGER-10 MANAGER-18")
class KeepsTheFirstPrompt(ReferenceManager):
    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        if not self.session(session_id).prompt:
            await super().set_system_prompt(session_id, prompt)


@broken("MANAGER-3 MANAGER-5 MANAGER-9 MANAGER-10")
class NewPromptBeginsAnew(ReferenceManager):
    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        if self.session(session_id).prompt:
            await self.clear_context(session_id)
        await super().set_system_prompt(session_id, prompt)


@broken("MANAGER-5")
class CannotRemoveThePrompt(ReferenceManager):
    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        if prompt:
            await super().set_system_prompt(session_id, prompt)


@broken("MANAGER-6")
class TakesAnyPrompt(ReferenceManager):
    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        self.session(session_id).prompt = prompt


@broken("MANAGER-6")
class SetsThePromptBeforeItMeasures(ReferenceManager):
    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        before = self.session(session_id).prompt
        self.session(session_id).prompt = prompt
        try:
            await super().set_system_prompt(session_id, prompt)
        except BudgetTooSmall:
            self.session(session_id).prompt = before and "new prompt"
            raise


@broken("MANAGER-7 MANAGER-18")
class LosesTheQuestion(_Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        asked = [n for n, message in enumerate(kept) if message.opens_turn]
        drop = len(asked) > 1 and len(kept) < len(session.said) and not kept[-1].tool_results and kept[-1].role == "assistant"
        return [message for n, message in enumerate(kept) if n != asked[-1]] if drop else kept


@broken("MANAGER-7")
class CutsTheQuestionWithoutAMarker(_Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        said = {message.id: message.text for message in session.said}
        return [
            attrs.evolve(message, parts=Message.user(said[message.id].split()[0]).parts)
            if message.in_conversation and message.text != said.get(message.id, message.text)
            else message
            for message in kept
        ]


@broken("MANAGER-8")
class SendsOpenCalls(ReferenceManager):
    def arranged(self, said: Sequence[Message]) -> list[Message]:
        return [message for message in super().arranged(said) if message.kind is not Kind.STAND_IN]


@broken("MANAGER-8")
class SendsStrayResults(_Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        there = {message.id for message in kept}
        calls = {call.call_id for message in session.said for call in message.tool_calls}
        stray = [m for m in session.said if m.id not in there and any(r.call_id not in calls for r in m.tool_results)]
        free = self.limit - self.strategy.estimate_tokens(kept)
        return [*kept, *stray] if self.strategy.estimate_tokens(stray) <= free else kept


@broken("MANAGER-8")
class KeepsTheStandIn(ReferenceManager):
    """Once a call has a stand-in, its real result is ignored."""

    def __init__(self, counter: TokenCounter, budget: Budget, sessions: dict[str, Session] | None = None) -> None:
        super().__init__(counter, budget, sessions)
        self.stood_in: set[str] = set()

    def arranged(self, said: Sequence[Message]) -> list[Message]:
        real = [m for m in said if not any(r.call_id in self.stood_in for r in m.tool_results)]
        return super().arranged(real)

    def stand_in(self, caller: Message, call_id: str) -> Message:
        self.stood_in.add(call_id)
        return super().stand_in(caller, call_id)


@broken("MANAGER-8")
class AnswersTheCallWhereTheResultCame(ReferenceManager):
    def arranged(self, said: Sequence[Message]) -> list[Message]:
        return list(said)


@broken("MANAGER-9")
class PinsOutliveAClear(ReferenceManager):
    async def clear_context(self, session_id: str) -> None:
        pins = [message for message in self.session(session_id).said if message.pinned]
        await super().clear_context(session_id)
        self.session(session_id).said = pins


@broken("MANAGER-9")
class ClearDropsThePrompt(ReferenceManager):
    async def clear_context(self, session_id: str) -> None:
        await super().clear_context(session_id)
        self.session(session_id).prompt = ""


@broken("MANAGER-9")
class WhatWasClearedComesBack(ReferenceManager):
    """Clears the window; the next message brings all of it back."""

    def __init__(self, counter: TokenCounter, budget: Budget, sessions: dict[str, Session] | None = None) -> None:
        super().__init__(counter, budget, sessions)
        self.cleared: dict[str, list[Message]] = {}

    async def clear_context(self, session_id: str) -> None:
        self.cleared[session_id] = self.session(session_id).said
        await super().clear_context(session_id)

    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        await super().set_system_prompt(session_id, prompt)
        old = self.cleared.pop(session_id, [])
        known = {message.id for message in self.session(session_id).said}
        self.session(session_id).said[:0] = [message for message in old if message.id not in known]


class _Stats(ReferenceManager):
    def changed(self, stats: ContextStats) -> ContextStats:
        return stats

    async def get_context_stats(self, session_id: str) -> ContextStats:
        return self.changed(await super().get_context_stats(session_id))


@broken("MANAGER-10")
class StatsCountTheHistory(_Stats):
    def changed(self, stats: ContextStats) -> ContextStats:
        return attrs.evolve(stats, token_count=stats.history_tokens + stats.system_tokens)


@broken("MANAGER-10")
class StatsLeaveThePromptOut(_Stats):
    def changed(self, stats: ContextStats) -> ContextStats:
        return attrs.evolve(stats, token_count=stats.token_count - stats.system_tokens, system_tokens=0)


@broken("MANAGER-10")
class StatsNeverSayCompressed(_Stats):
    def changed(self, stats: ContextStats) -> ContextStats:
        return attrs.evolve(stats, is_compressed=False)


@broken("MANAGER-10")
class StatsDivideByTheWindow(_Stats):
    def changed(self, stats: ContextStats) -> ContextStats:
        return attrs.evolve(stats, usage_ratio=stats.token_count / stats.window)


class _Renames(ReferenceManager):
    def name(self, session_id: str) -> str:
        return session_id

    def session(self, session_id: str) -> Session:
        return super().session(self.name(session_id))

    async def get_context(self, session_id: str) -> Context:
        return await super().get_context(self.name(session_id))

    async def get_context_stats(self, session_id: str) -> ContextStats:
        return await super().get_context_stats(self.name(session_id))


@broken("MANAGER-11")
class FoldsTheCaseOfSessions(_Renames):
    def name(self, session_id: str) -> str:
        return session_id.lower()


@broken("MANAGER-11")
class HasOnePromptForAll(ReferenceManager):
    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        await super().set_system_prompt(session_id, prompt)
        for session in self.sessions.values():
            session.prompt = prompt


@broken("MANAGER-12")
class AddsRepeatsUnderANewId(ReferenceManager):
    async def add_message(self, session_id: str, message: Message | Mapping[str, Json]) -> Message:
        taken = self.taken(message)
        known = any(one.id == taken.id and dump_message(one) == dump_message(taken) for one in self.session(session_id).said)
        return await super().add_message(session_id, attrs.evolve(taken, id=taken.id + " again") if known else taken)


@broken("MANAGER-12")
class IgnoresOtherContent(ReferenceManager):
    async def add_message(self, session_id: str, message: Message | Mapping[str, Json]) -> Message:
        try:
            return await super().add_message(session_id, message)
        except MessageConflict:
            return self.taken(message)


@broken("MANAGER-12")
class OverwritesOtherContent(ReferenceManager):
    async def add_message(self, session_id: str, message: Message | Mapping[str, Json]) -> Message:
        try:
            return await super().add_message(session_id, message)
        except MessageConflict:
            taken = self.taken(message)
            session = self.session(session_id)
            session.said = [taken if one.id == taken.id else one for one in session.said]
            raise


@broken("MANAGER-13 MANAGER-20")
class TakesAnyRole(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        if isinstance(message, Mapping) and message.get("role") == "robot":
            message = {**message, "role": "user"}
        return super().taken(message)


@broken("MANAGER-13 MANAGER-20")
class RaisesItsOwnError(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        try:
            return super().taken(message)
        except InvalidMessage as error:
            raise KeyError(str(error)) from error


@broken("MANAGER-13")
class TakesTextForAMessage(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        if isinstance(message, str):
            return Message.user(message)
        return super().taken(message)


@broken("MANAGER-14")
class KeepsTheCallersMessage(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        return message if isinstance(message, Message) else super().taken(message)


@broken("MANAGER-14")
class KeepsTheCallersDict(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        taken = super().taken(message)
        if isinstance(message, dict) and taken.native is not None:
            native = attrs.evolve(taken.native, raw=message, parts=taken.parts)
            return attrs.evolve(taken, native=native)
        return taken


@broken("MANAGER-1 MANAGER-14")
class AddsAnIdToTheCallersDict(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        taken = super().taken(message)
        if isinstance(message, dict):
            message.setdefault("name", None)
        return taken


@broken("MANAGER-15 MANAGER-20")
class WaitsBetweenLookAndWrite(ReferenceManager):
    async def add_messages(self, session_id: str, messages: Sequence[Message | Mapping[str, Json]]) -> tuple[Message, ...]:
        session = self.session(session_id)
        before = list(session.said)
        answer = await super().add_messages(session_id, messages)
        after = before + [message for message in session.said if message not in before]
        await asyncio.sleep(0)
        session.said = after
        return answer


@broken("MANAGER-16 MANAGER-18")
class UnknownSessionIsAnError(ReferenceManager):
    async def get_context(self, session_id: str) -> Context:
        if session_id not in self.sessions:
            raise KeyError(session_id)
        return await super().get_context(session_id)


@broken("MANAGER-16 MANAGER-18")
class HasADefaultPrompt(ReferenceManager):
    async def get_context(self, session_id: str) -> Context:
        if session_id not in self.sessions:
            self.session(session_id).prompt = "You are helpful."
        return await super().get_context(session_id)


@broken("MANAGER-17")
class HidesTheGap(_Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        return [message for message in kept if message.kind is not Kind.GAP]


@broken("MANAGER-17")
class CountsTheGapAsThere(ReferenceManager):
    async def get_context(self, session_id: str) -> Context:
        context = await super().get_context(session_id)
        return attrs.evolve(context, omitted_count=max(0, context.omitted_count - 1))


@broken("MANAGER-11 MANAGER-17")
class AlwaysShowsAGap(_Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        there = any(message.kind is Kind.GAP for message in kept)
        room = self.strategy.estimate_tokens(kept) + 10 <= self.limit
        if there or not room or not session.prompt or not session.said:
            return kept
        return [*kept, Message.user("[something is missing]", id="gap", kind=Kind.GAP)] if len(session.said) < 2 else kept


@broken("MANAGER-1 MANAGER-7 MANAGER-8 MANAGER-9 MANAGER-18")
class KeepsSessionsOnTheClass(ReferenceManager):
    """Shares its sessions with all managers of the same event loop."""

    everyone: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Session]] = WeakKeyDictionary()

    def __init__(self, counter: TokenCounter, budget: Budget, sessions: dict[str, Session] | None = None) -> None:
        shared = self.everyone.setdefault(asyncio.get_running_loop(), {})
        super().__init__(counter, budget, shared if sessions is None else sessions)


@broken("MANAGER-18")
class RemembersItsWindow(ReferenceManager):
    """Builds the window anew only when it has itself added something."""

    def __init__(self, counter: TokenCounter, budget: Budget, sessions: dict[str, Session] | None = None) -> None:
        super().__init__(counter, budget, sessions)
        self.windows: dict[str, Context] = {}

    async def get_context(self, session_id: str) -> Context:
        if session_id not in self.windows:
            self.windows[session_id] = await super().get_context(session_id)
        return self.windows[session_id]

    def session(self, session_id: str) -> Session:
        self.windows.pop(session_id, None)
        return super().session(session_id)


@broken("MANAGER-19")
class PassesLoneSurrogatesOn(ReferenceManager):
    async def get_context(self, session_id: str) -> Context:
        return _Unchecked(**attrs.asdict(await super().get_context(session_id), recurse=False))


class _Unchecked(Context):
    def as_chat(self) -> list[dict[str, Any]]:
        return [
            json.loads(json.dumps(m.native.raw)) if m.native and m.native.parts is m.parts else {"role": m.role, "content": m.text}
            for m in self.messages
        ]


@broken("MANAGER-1 MANAGER-19")
class ReplacesAllThatIsNotAscii(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        taken = super().taken(message)
        if taken.role == "assistant" and "👩" in taken.text:
            return attrs.evolve(taken, parts=Message.user(taken.text.encode("ascii", "replace").decode()).parts, native=None)
        return taken


@broken("MANAGER-20")
class AddsAGroupOneByOne(ReferenceManager):
    async def add_messages(self, session_id: str, messages: Sequence[Message | Mapping[str, Json]]) -> tuple[Message, ...]:
        answer: list[Message] = []
        for message in messages:
            answer.extend(await super().add_messages(session_id, [message]))
        return tuple(answer)


@broken("MANAGER-20")
class OthersMayStepBetween(ReferenceManager):
    async def add_messages(self, session_id: str, messages: Sequence[Message | Mapping[str, Json]]) -> tuple[Message, ...]:
        trial = type(self)(self.counter, self.budget)
        trial.session(session_id).said = list(self.session(session_id).said)
        await ReferenceManager.add_messages(trial, session_id, messages)
        answer: list[Message] = []
        for message in messages:
            answer.extend(await super().add_messages(session_id, [message]))
            if len(messages) > 1:
                await asyncio.sleep(0)
        return tuple(answer)


@broken("MANAGER-21")
class ReplaysTheWindowOfNow(ReferenceManager):
    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        await super().replay(receipt)
        return (await self.get_context(receipt.session_id)).messages


@broken("MANAGER-21")
class ReplaysWithoutWhatWasMade(ReferenceManager):
    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        return tuple(message for message in await super().replay(receipt) if message.kind is not Kind.GAP)


@broken("MANAGER-21 MANAGER-22")
class CannotReplayAfterAClear(ReferenceManager):
    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        if receipt.epoch != self.session(receipt.session_id).epoch:
            raise ReplayFailed("that was before the clear")
        return await super().replay(receipt)


@broken("MANAGER-22")
class DoesNotCompareTheDigest(ReferenceManager):
    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        try:
            return await super().replay(receipt)
        except ContextPortError:
            if receipt.session_id not in self.sessions or receipt.epoch > self.sessions[receipt.session_id].epoch:
                raise
            return tuple(load_message(slot.stored) for slot in receipt.slots if hasattr(slot, "stored"))


@broken("MANAGER-22")
class ReplaysForAnySession(ReferenceManager):
    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        self.session(receipt.session_id)
        return await super().replay(receipt)
