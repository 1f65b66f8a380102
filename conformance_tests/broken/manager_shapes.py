"""Managers that make a window for one call wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from contextport.conformance_tests.reference_shaping_manager import ReferenceShapingManager
from contextport.contracts import Budget, Context, Message, ProviderProfile, Thinking

from .registry import broken

__all__: list[str] = []


@broken("MANAGER-23")
class IgnoresTheSize(ReferenceShapingManager):
    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        return await super().get_context(session_id, profile=profile)


@broken("MANAGER-23")
class OnlyMakesItSmaller(ReferenceShapingManager):
    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        size = None if max_tokens is None else min(max_tokens, self.limit)
        return await super().get_context(session_id, max_tokens=size, profile=profile)


@broken("MANAGER-23")
class KeepsTheSize(ReferenceShapingManager):
    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        if max_tokens is not None:
            self.budget = Budget.of(max_tokens)
        return await super().get_context(session_id, profile=profile)


@broken("MANAGER-24")
class IgnoresTheProfile(ReferenceShapingManager):
    def shaped(self, window: Sequence[Message], profile: ProviderProfile) -> list[Message]:
        return list(window)


@broken("MANAGER-24")
class SendsForeignSignatures(ReferenceShapingManager):
    def is_signed(self, thinking: Thinking, profile: ProviderProfile) -> bool:
        return True


@broken("MANAGER-24")
class DropsAllReasoning(ReferenceShapingManager):
    def is_signed(self, thinking: Thinking, profile: ProviderProfile) -> bool:
        return False


@broken("MANAGER-24")
class CutsIdsToLength(ReferenceShapingManager):
    def id_for(self, call_id: str, profile: ProviderProfile) -> str:
        return "call00000"[: profile.id_length]


@broken("MANAGER-24")
class MapsTheCallsAlone(ReferenceShapingManager):
    def parts_for(self, message: Message, profile: ProviderProfile) -> tuple[Any, ...]:
        return super().parts_for(message, profile if message.role == "assistant" else attrs.evolve(profile, id_pattern=None))


@broken("MANAGER-24")
class DropsTheMessageWithTheReasoning(ReferenceShapingManager):
    def shaped(self, window: Sequence[Message], profile: ProviderProfile) -> list[Message]:
        return [message for message in super().shaped(window, profile) if message.id != "a1"]


@broken("MANAGER-24")
class RepairsTheLog(ReferenceShapingManager):
    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        if isinstance(profile, ProviderProfile):
            session = self.session(session_id)
            session.said = [attrs.evolve(m, parts=self.parts_for(m, profile)) for m in session.said]
        return await super().get_context(session_id, max_tokens=max_tokens, profile=profile)


@broken("MANAGER-24")
class RefusesUnknownModels(ReferenceShapingManager):
    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        if isinstance(profile, str):
            raise KeyError(profile)
        return await super().get_context(session_id, max_tokens=max_tokens, profile=profile)
