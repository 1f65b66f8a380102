"""Managers that break one thing each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from contextport.conformance_tests.reference_manager import ReferenceManager, Session
from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Context,
    Json,
    Kind,
    Message,
    TokenCounter,
)

from .registry import broken

__all__ = ["Windows"]


class Windows(ReferenceManager):
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
class PutsThePromptLast(Windows):
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
class CutsThePromptLikeOthers(Windows):
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
class LosesTheQuestion(Windows):
    def after(self, session: Session, kept: list[Message]) -> list[Message]:
        asked = [n for n, message in enumerate(kept) if message.opens_turn]
        drop = len(asked) > 1 and len(kept) < len(session.said) and not kept[-1].tool_results and kept[-1].role == "assistant"
        return [message for n, message in enumerate(kept) if n != asked[-1]] if drop else kept


@broken("MANAGER-7")
class CutsTheQuestionWithoutAMarker(Windows):
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
class SendsStrayResults(Windows):
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
