"""Managers that break one thing each about sessions, identity, calls at once, or replay."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import attrs

from contextport.conformance_tests.reference_manager import ReferenceManager, Session
from contextport.contracts import (
    Budget,
    Context,
    ContextPortError,
    ContextStats,
    InvalidMessage,
    Json,
    Kind,
    Made,
    Message,
    MessageConflict,
    Receipt,
    ReplayFailed,
    TokenCounter,
    dump_message,
)

from .managers import Windows
from .registry import broken

__all__: list[str] = []


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
class HidesTheGap(Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        return [message for message in kept if message.kind is not Kind.GAP]


@broken("MANAGER-17")
class CountsTheGapAsThere(ReferenceManager):
    async def get_context(self, session_id: str) -> Context:
        context = await super().get_context(session_id)
        return attrs.evolve(context, omitted_count=max(0, context.omitted_count - 1))


@broken("MANAGER-11 MANAGER-17")
class AlwaysShowsAGap(Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        there = any(message.kind is Kind.GAP for message in kept)
        room = self.strategy.estimate_tokens(kept) + 10 <= self.limit
        if there or not room or not session.prompt or not session.said:
            return kept
        return [*kept, Message.user("[something is missing]", id="gap", kind=Kind.GAP)] if len(session.said) < 2 else kept


@broken("MANAGER-1 MANAGER-7 MANAGER-8 MANAGER-9 MANAGER-18")
class KeepsSessionsOnTheClass(ReferenceManager):
    """Shares its sessions with all managers of the same event loop."""

    everyone: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Session]]] = WeakKeyDictionary()

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
            json.loads(json.dumps(m.native.raw))
            if m.native and m.native.parts is m.parts
            else {"role": m.role, "content": m.text}
            for m in self.messages
        ]


@broken("MANAGER-19")
class ReplacesAllThatIsNotAscii(ReferenceManager):
    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        taken = super().taken(message)
        if taken.role == "assistant" and "\ufeff" in taken.text:
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
            return tuple(slot.message for slot in receipt.slots if isinstance(slot, Made))


@broken("MANAGER-22")
class ReplaysForAnySession(ReferenceManager):
    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        self.session(receipt.session_id)
        return await super().replay(receipt)
