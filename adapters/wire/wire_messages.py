"""Wire messages of a role and a list of blocks: taken apart into messages of a conversation, and put together from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define, field

from contextport.contracts import CacheMark, LossKind, Message, Native, Part, Role, ToolResult, new_id

from .foreign import Losses

__all__ = ["WireMessages", "note_beside", "separated", "whole"]


def whole(raw: dict[str, Any], role: Role, parts: tuple[Part, ...], api: str, group: str | None = None) -> Message:
    """The message of a wire message, or of a run of its blocks."""
    return Message(role=role, parts=parts, native=Native(api=api, raw=raw, parts=parts, group=group))


def separated(
    raw: dict[str, Any], key: str, blocks: Sequence[tuple[Any, tuple[Part, ...]]], *, role: Role, api: str
) -> list[Message]:
    """The messages of a wire message, given each of its blocks with its parts.

    Runs of tool results in a user message are `tool` messages, apart from what the user says around them. Each has the blocks
    of its own run as wire form, and all the same `Native.group`. A cache mark goes with what is before it.
    """
    runs: list[tuple[Role, list[Any], list[Part]]] = []
    for block, parts in blocks:
        kind: Role = "tool" if role == "user" and _is_result(parts[0]) else role
        if not runs or (runs[-1][0] != kind and not isinstance(parts[0], CacheMark)):
            runs.append((kind, [], []))
        runs[-1][1].append(block)
        runs[-1][2].extend(parts)
    if len(runs) < 2:
        return [whole(raw, runs[0][0] if runs else role, tuple(runs[0][2]) if runs else (), api)]
    group = new_id()
    return [whole({**raw, key: held}, kind, tuple(parts), api, group) for kind, held, parts in runs]


def _is_result(part: Part) -> bool:
    return isinstance(part, ToolResult) and part.executor == "client"


def note_beside(message: Message, losses: Losses) -> None:
    """Note what stands beside the parts of a message of another api, where a list of blocks has no place for it.

    The name of a result's message is that of the function, which the call says.
    """
    if message.name is not None and message.role != "tool":
        losses.add(LossKind.NAME, message, -1, "the name is left out")
    if message.phase is not None:
        losses.add(LossKind.PHASE, message, -1, "the phase is left out")


@define
class WireMessages:
    """Joins what has to be one message of the wire, and nothing else.

    Neighbours of one `lane` become one message where one of them is new to this api, as apis want roles to alternate, or where
    both come from one message of the wire (`Native.group`). Two that were messages of their own on this wire stay so.
    """

    #: The key of the list of blocks.
    key: str
    messages: list[dict[str, Any]] = field(factory=list[dict[str, Any]])
    #: Blocks that have to wait for the end of a run of results.
    waiting: list[Any] = field(factory=list[Any])
    _lane: str | None = None
    _own: bool = False
    _group: str | None = None

    def add(self, value: dict[str, Any], *, lane: str | None, own: bool, group: str | None = None) -> None:
        """Add a message that is the caller's to give away. `own` says that it was decoded from this api."""
        together = self._group is not None and self._group == group
        if self.messages and (together or (self._lane == lane and not (own and self._own))):
            held = self.messages[-1]
            held[self.key] = [*_blocks(held.get(self.key)), *_blocks(value.get(self.key))]
            own = own and self._own
        else:
            self.messages.append(value)
        self._lane, self._own, self._group = lane, own, group

    def end_results(self) -> None:
        """Add what waited for the end of a run of results, as a user message."""
        blocks, self.waiting = self.waiting, []
        if blocks:
            self.add({"role": "user", self.key: blocks}, lane="user", own=False)


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content or []
