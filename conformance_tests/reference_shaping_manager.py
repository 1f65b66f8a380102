"""A plain manager that also makes windows of another size, and for another model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import attrs

from contextport.contracts import (
    Budget,
    Context,
    Kind,
    Message,
    ProviderProfile,
    ShapesWindow,
    Thinking,
    ToolCall,
    ToolResult,
    implements,
)

from .reference_manager import ReferenceManager

__all__ = ["ReferenceShapingManager"]


@implements(ShapesWindow)
class ReferenceShapingManager(ReferenceManager):
    """Its windows are those of a manager of that size, with the provider's wishes met afterwards."""

    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        sized = ReferenceManager(self.counter, self.budget if max_tokens is None else Budget.of(max_tokens), self.sessions)
        context = await sized.get_context(session_id)
        if not isinstance(profile, ProviderProfile):
            return context
        messages = tuple(self.shaped(context.messages, profile))
        return attrs.evolve(context, messages=messages, tokens=self.strategy.estimate_tokens(messages))

    def shaped(self, window: Sequence[Message], profile: ProviderProfile) -> list[Message]:
        """The window as the provider wants it: without what others signed, with ids of its form, its last word the user's."""
        kept = [attrs.evolve(message, parts=self.parts_for(message, profile)) for message in window]
        if profile.last_user and kept and kept[-1].role == "assistant":
            kept.append(Message.user("Go on.", id="go on", kind=Kind.STAND_IN))
        return kept

    def parts_for(self, message: Message, profile: ProviderProfile) -> tuple[Any, ...]:
        """The parts of a message that the provider takes."""
        return tuple(
            attrs.evolve(part, call_id=self.id_for(part.call_id, profile)) if isinstance(part, ToolCall | ToolResult) else part
            for part in message.parts
            if not isinstance(part, Thinking) or self.is_signed(part, profile)
        )

    def is_signed(self, thinking: Thinking, profile: ProviderProfile) -> bool:
        """Whether the provider signed it."""
        return thinking.origin is not None and thinking.origin[0] in profile.signed_by

    def id_for(self, call_id: str, profile: ProviderProfile) -> str:
        """The id itself, or hex digits of its hash where the provider does not take it."""
        if profile.id_pattern is None or re.fullmatch(profile.id_pattern, call_id):
            return call_id
        return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[: profile.id_length]
