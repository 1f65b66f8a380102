"""Repairs of reasoning: V17 to V22 and V25."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import attrs

from contextport.contracts import Message, Opaque, Part, Text, Thinking, ToolCall

from .content_checks import is_free_text
from .editing import with_parts, without_parts
from .pair_repairs import flattened
from .reasoning_checks import without_reasoning
from .window import Violation, Window

__all__ = ["items_released", "reasoning_dropped", "signatures_supplied", "steps_closed"]


def reasoning_dropped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Without the reasoning that is not valid: as whole parts, since its text and seal belong together (V18, V19, V22)."""
    return without_parts(window.messages, [(violation.index, violation.part) for violation in found])


def items_released(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Messages in which an item has lost its partner, without the wire ids that tie items together (V20).

    Reasoning items go, and what the provider ran itself after reasoning that is missing. Calls that have no form without an id,
    such as those of `computer`, are told in a user message.
    """
    places = {violation.index for violation in found}
    bound = [n for n in places if any(_needs_its_id(call) for call in window.messages[n].tool_calls)]
    if bound:
        return flattened(window, bound)
    out: list[Message] = []
    for n, message in enumerate(window.messages):
        if n in places:
            lost = {k for k, _ in without_reasoning(message, window.profile.api)}
            kept = [part for k, part in enumerate(message.parts) if not (type(part) is Opaque and k in lost)]
            parts = tuple([_released(part) for part in kept if not (type(part) is Thinking and part.item_id is not None)])
            out += [attrs.evolve(message, parts=parts, native=None)] if parts else []
        else:
            out.append(message)
    return out


def _needs_its_id(call: ToolCall) -> bool:
    kind = cast(Any, call.raw).get("type") if isinstance(call.raw, dict) else None
    return call.item_id is not None and kind is not None and kind != "function_call" and not is_free_text(call)


def _released(part: Part) -> Part:
    """The part without its wire id, and the wire form that holds it; a call of free text is still told by its form."""
    if isinstance(part, ToolCall):
        return attrs.evolve(part, item_id=None, raw=part.raw if is_free_text(part) else None)
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
