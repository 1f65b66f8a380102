"""The form of a rule's case: a window that breaks it and its shape once repaired, and pieces to make windows of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from attrs import field, frozen

from contextport.contracts import (
    CacheMark,
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    from_chat,
)

__all__ = [
    "DONE",
    "HEAVY",
    "IMAGE",
    "LARGE",
    "USER",
    "Case",
    "answers",
    "asks",
    "echoed",
    "made_id",
    "opaque",
    "sealed",
    "shape",
]


@frozen(kw_only=True)
class Case:
    """A window that breaks `rule` for `profile`, the shape of it repaired, and the fields that switch the rule off.

    `needs` is what the host has to do instead, where no change of messages mends it.
    """

    rule: str
    profile: str
    messages: tuple[Message, ...]
    repaired: tuple[str, ...]
    off: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] = field(factory=dict[str, Any])
    on: Mapping[str, Any] = field(factory=dict[str, Any])
    needs: tuple[str, ...] = ()


def shape(messages: Sequence[Message]) -> tuple[str, ...]:
    """One line for each message: its role, and its parts in short."""
    return tuple(" ".join([f"{message.role}:", *(_part(part) for part in message.parts)]) for message in messages)


def _part(part: Part) -> str:
    match part:
        case Text():
            return repr(part.text)
        case ToolCall():
            return f"{'served' if part.executor == 'server' else 'call'}({part.call_id} {part.arguments})"
        case ToolResult():
            inside = " ".join(_part(inner) for inner in part.parts)
            return f"result({part.call_id} {inside})" if inside else f"result({part.call_id})"
        case Thinking():
            return f"thinking({part.signature or part.encrypted or part.text})"
        case Media():
            return part.media
        case CacheMark():
            return f"mark({part.ttl})"
        case Opaque():
            return f"{part.type}({part.raw.get('n', '')})"
        case _:
            return type(part).__name__


def made_id(*seeds: str, length: int) -> str:
    """An id made of an old one and, if that was taken, of the message and the part that it stands in."""
    return sha256("\n".join((*seeds, "0")).encode()).hexdigest()[:length]


USER = Message.user("hi", id="u")
DONE = Message.assistant("done", id="a")
IMAGE = Media(media="image", data="iVBORw0KGgo=", mime="image/png", size_px=(10, 10))
LARGE = Media(media="image", data="iVBORw0KGgo=", mime="image/png", size_px=(9000, 10))
HEAVY = Media(media="image", data="iVBORw0KGgo" * 60, mime="image/png")


def asks(*calls: ToolCall | Part, id: str = "c") -> Message:
    return Message(role="assistant", parts=calls, id=id)


def answers(*results: Part, id: str = "t") -> Message:
    return Message(role="tool", parts=results, id=id)


def sealed(by: str = "anthropic", model: str = "", **more: Any) -> Thinking:
    return Thinking(text="so", signature="c2ln", origin=(by, model), **more)


def opaque(kind: str, n: int, api: str = "anthropic.messages", **more: Any) -> Opaque:
    return Opaque(api=api, type=kind, raw={"type": kind, "n": n}, **more)


def echoed() -> Message:
    """An assistant message with a call, in the chat form of a host that sends reasoning as text."""
    asked = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    return from_chat({"id": "c", "role": "assistant", "content": None, "reasoning_content": "so", "tool_calls": [asked]})
