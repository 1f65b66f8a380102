"""What the encoders of block lists have in common: one message's parts, each with the losses that its block has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, cast

import attrs
from attrs import field, frozen

from contextport.contracts import (
    CacheMark,
    InvalidMessage,
    JsonPart,
    LossKind,
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_json,
)
from contextport.contracts.json_values import encodable

from .foreign import Losses, OwnForms, arguments_object

__all__ = ["Block", "PartEncoder"]

Block = dict[str, Any]
_TTLS = frozenset({None, "5m", "1h"})


@frozen(kw_only=True)
class PartEncoder(ABC):
    """Encodes the parts of one message; `ids` gives call ids in the form of the api where they are of another.

    A part decoded from this api has its raw block used for as long as that says what the part says. Where it does not, the new
    block is laid over it, so that keys unknown to us are kept.
    """

    message: Message
    ids: Mapping[str, str]
    losses: Losses
    #: Blocks of media that have to stand in a user message after the results.
    moved: list[Block] = field(factory=list[Block])

    api: ClassVar[str]
    #: What `Thinking.origin` begins with when this api signed it.
    origins: ClassVar[frozenset[str]]

    @cached_property
    def own(self) -> OwnForms:
        """The wire forms that the parts of an edited message had."""
        return OwnForms.of(self.message, self.api)

    def blocks(self) -> list[Block]:
        """The blocks of the message, in the order of its parts."""
        blocks: list[Block] = []
        for n, part in enumerate(self.message.parts):
            if isinstance(part, CacheMark):
                self.mark(blocks, part, n)
                continue
            block = self.block(part, n)
            if block is not None:
                blocks.append(block)
        return blocks

    def block(self, part: Part, n: int) -> Block | None:
        """The block of a part, or None where it has no place or says nothing. Losses are noted at index `n`."""
        raw = self.own.raw(part)
        if raw is not None and self.says(raw, part):
            return cast(Block, encodable(raw))
        match part:
            case Text():
                return self.text(part, raw, n) if part.text else None
            case ToolCall() | ToolResult() if part.executor == "server" and raw is None:
                self.lost(LossKind.SERVER_TOOL, n, "what another provider ran itself is left out")
            case ToolCall():
                return self.call(part, raw, n)
            case ToolResult():
                return self.result(part, raw, n)
            case Media():
                block = self.media(part, n)
                if block is None:
                    self.lost(LossKind.MEDIA, n, f"{part.media} in this form has no place there")
                return block
            case Thinking():
                return self._thinking(part, n)
            case Refusal():
                self.lost(LossKind.REFUSAL, n, "went along as text")
                return self.plain(part.text) if part.text else None
            case JsonPart():
                self.lost(LossKind.STRUCTURE, n, "went along as text")
                return self.plain(dump_json(part.value))
            case Opaque():
                if part.api == self.api and isinstance(part.raw, dict):
                    return cast(Block, encodable(part.raw))
                self.lost(LossKind.OPAQUE, n, f"{part.type} of {part.api} is left out")
            case CacheMark():
                pass
        return None

    def says(self, raw: Block, part: Part) -> bool:
        """Whether the raw block that a part came from still says what the part says."""
        again = self.decode_again(raw)
        if isinstance(again, Thinking) and isinstance(part, Thinking):
            part = attrs.evolve(part, origin=again.origin)
        return again == part

    def lost(self, kind: LossKind, part: int, detail: str) -> None:
        """Note a loss at the index of a part."""
        self.losses.add(kind, self.message, part, detail)

    def move(self, part: Media, n: int) -> None:
        """Put media of a result after the run of results, if it has a place there."""
        block = self.media(part, n)
        if block is None:
            self.lost(LossKind.MEDIA, n, f"{part.media} in this form has no place there")
        else:
            self.moved.append(block)
            self.lost(LossKind.MEDIA_MOVED, n, "stands in a user message after the results")

    def call_id(self, part: ToolCall | ToolResult, n: int) -> str:
        """The id of a call in the form of the api."""
        mapped = self.ids.get(part.call_id)
        if mapped is None:
            return part.call_id
        self.lost(LossKind.ID, n, "mapped to the form of the api")
        return mapped

    def arguments(self, part: ToolCall, n: int) -> dict[str, Any]:
        """The arguments of a call as an object."""
        value, exact = arguments_object(part.arguments)
        if not exact:
            self.lost(LossKind.ARGUMENTS, n, "the exact string cannot be had back from the object")
        return value

    def citations(self, part: Text, raw: Block | None, n: int) -> list[Any] | None:
        """The citations that a block can have: those of this api."""
        if part.citations and raw is None:
            self.lost(LossKind.CITATIONS, n, "left out")
            return None
        return cast(list[Any], encodable(list(part.citations))) or None

    def ttl(self, mark: CacheMark, n: int) -> dict[str, str]:
        """How long a cache entry lives, where the api knows that time."""
        if mark.ttl not in _TTLS:
            self.lost(LossKind.CACHE_MARK, n, "its time to live is left out")
        return {"ttl": mark.ttl} if mark.ttl in ("5m", "1h") else {}

    def _thinking(self, part: Thinking, n: int) -> Block | None:
        """Reasoning that this api signed and that came in another message; all other is left out."""
        block: Block | None = None
        if part.origin is not None and part.origin[0] in self.origins:
            block = self.thinking(part) if part.raw is None else self._signed(part)
        if block is None:
            self.lost(LossKind.THINKING, n, "left out: it is not what this api signed")
        return block

    def _signed(self, part: Thinking) -> Block | None:
        """A copy of the raw block of reasoning, if it is one of this api and says the same."""
        try:
            return encodable(part.raw) if isinstance(part.raw, dict) and self.says(part.raw, part) else None
        except InvalidMessage:
            return None

    @abstractmethod
    def decode_again(self, raw: Block) -> Part:
        """The part of a raw block."""

    @abstractmethod
    def plain(self, text: str) -> Block:
        """The block of a text."""

    @abstractmethod
    def text(self, part: Text, raw: Block | None, n: int) -> Block:
        """The block of a text that has one or is new."""

    @abstractmethod
    def call(self, part: ToolCall, raw: Block | None, n: int) -> Block:
        """The block of a call."""

    @abstractmethod
    def result(self, part: ToolResult, raw: Block | None, n: int) -> Block:
        """The block of a result."""

    @abstractmethod
    def media(self, part: Media, n: int) -> Block | None:
        """The block of media, or None where the api does not take it in this message."""

    @abstractmethod
    def thinking(self, part: Thinking) -> Block | None:
        """The block of reasoning of this api, or None where it is not complete."""

    @abstractmethod
    def mark(self, blocks: list[Block], mark: CacheMark, n: int) -> None:
        """Put a cache breakpoint after what stands in `blocks`."""
