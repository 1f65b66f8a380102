"""Repairs of reasoning: V17 to V22 and V25."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from contextport.contracts import Message, Part, Text, Thinking, ToolCall

from .editing import with_parts, without_parts
from .pair_repairs import flattened
from .window import Violation, Window

__all__ = ["items_released", "reasoning_dropped", "signatures_supplied", "steps_closed"]


def reasoning_dropped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Without the reasoning that is not valid: as whole parts, since its text and seal belong together (V18, V19, V22)."""
    messages = without_parts(window.messages, [(violation.index, violation.part) for violation in found])
    if not window.profile.item_pairs:
        return messages
    touched = {violation.message_id for violation in found}
    return [_released(message) if message.id in touched else message for message in messages]


def items_released(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Messages in which an item has lost its partner: no reasoning items, and no ids that depend on them (V20)."""
    changes: dict[int, tuple[Part, ...]] = {}
    for n in {violation.index for violation in found}:
        kept = tuple(p for p in window.messages[n].parts if not (type(p) is Thinking and p.item_id is not None))
        changes[n] = _released_parts(kept)
    return with_parts(window.messages, changes)


def _released(message: Message) -> Message:
    return attrs.evolve(message, parts=_released_parts(message.parts))


def _released_parts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts without the wire ids that tie them to a reasoning item."""
    return tuple([_released_part(part) for part in parts])


def _released_part(part: Part) -> Part:
    if isinstance(part, ToolCall):
        return attrs.evolve(part, item_id=None, raw=None)
    return attrs.evolve(part, raw=None) if isinstance(part, Text) else part


def signatures_supplied(window: Window, found: Sequence[Violation]) -> list[Message]:
    """The first call of each step with the stand-in of a signature, or the step as text where there is none (V21)."""
    stand_in = window.profile.signature_stand_in
    if not stand_in:
        return flattened(window, [violation.index for violation in found])
    seal = Thinking(signature=stand_in, binding="turn", origin=(window.profile.api, ""))
    changes = {}
    for violation in found:
        parts, k = window.messages[violation.index].parts, violation.part
        changes[violation.index] = (*parts[:k], seal, *parts[k:])
    return with_parts(window.messages, changes)


def steps_closed(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Steps that lack reasoning which nobody can supply, as text: the model starts anew from what they found (V17, V25)."""
    return flattened(window, [violation.index for violation in found])
