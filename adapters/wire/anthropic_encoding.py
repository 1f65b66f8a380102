"""Neutral parts as content blocks of Anthropic Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs
from attrs import frozen

from contextport.contracts import (
    CacheMark,
    Json,
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

from .anthropic_blocks import API, cache_mark, decode_block
from .foreign import Losses, arguments_object, own_raw
from .media_types import media_mime, plain_text

__all__ = ["BlockEncoder"]

_ORIGINS = (API, "anthropic")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_UNMARKABLE = ("thinking", "redacted_thinking")


@frozen(kw_only=True)
class BlockEncoder:
    """Encodes the parts of one message; `ids` gives call ids in the form of the api where they are of another.

    A part decoded from this api has its raw block used for as long as that says what the part says. Where it does not, the new
    block is laid over it, so that keys unknown to us are kept.
    """

    message: Message
    ids: Mapping[str, str]
    losses: Losses

    def blocks(self) -> list[dict[str, Any]]:
        """The blocks of the message; a `CacheMark` becomes the `cache_control` of the block before it."""
        blocks: list[dict[str, Any]] = []
        parts = self.message.parts
        for n, part in enumerate(parts):
            if isinstance(part, CacheMark):
                self._mark(blocks, part, n)
                continue
            block = self._block(part, n)
            if block is not None:
                if not isinstance(parts[n + 1] if n + 1 < len(parts) else None, CacheMark):
                    block.pop("cache_control", None)
                blocks.append(block)
        return blocks

    def _lost(self, kind: LossKind, part: int, detail: str) -> None:
        self.losses.add(kind, self.message, part, detail)

    def _mark(self, blocks: list[dict[str, Any]], mark: CacheMark, n: int) -> None:
        if not blocks or blocks[-1]["type"] in _UNMARKABLE:
            self._lost(LossKind.CACHE_MARK, n, "no block before it can carry the mark")
        elif cache_mark(blocks[-1]) != mark:
            blocks[-1]["cache_control"] = {"type": "ephemeral"} if mark.ttl is None else {"type": "ephemeral", "ttl": mark.ttl}

    def _block(self, part: Part, n: int) -> dict[str, Any] | None:
        raw = own_raw(self.message, part, API)
        if raw is not None and _says(raw, part):
            return cast(dict[str, Any], encodable(raw))
        match part:
            case Text():
                return self._text(part, raw, n)
            case ToolCall():
                return self._call(part, raw, n)
            case ToolResult():
                return self._result(part, raw, n)
            case Media():
                return self._media(part, n)
            case Thinking():
                return self._thinking(part, n)
            case Refusal():
                self._lost(LossKind.REFUSAL, n, "went along as text")
                return _text_block(part.text) if part.text else None
            case JsonPart():
                self._lost(LossKind.STRUCTURE, n, "went along as text")
                return _text_block(dump_json(part.value))
            case Opaque():
                return self._opaque(part, n)
            case CacheMark():
                return None

    def _text(self, part: Text, raw: dict[str, Any] | None, n: int) -> dict[str, Any] | None:
        if not part.text:
            return None  # the api takes no empty text
        block = _over(raw, _text_block(part.text))
        block.pop("citations", None)
        if part.citations and raw is not None:
            block["citations"] = encodable(list(part.citations))
        elif part.citations:
            self._lost(LossKind.CITATIONS, n, "left out")
        return block

    def _call(self, part: ToolCall, raw: dict[str, Any] | None, n: int) -> dict[str, Any] | None:
        if part.executor == "server" and raw is None:
            self._lost(LossKind.SERVER_TOOL, n, "a call that another provider ran is left out")
            return None
        value, exact = arguments_object(part.arguments)
        if not exact:
            self._lost(LossKind.ARGUMENTS, n, "the exact string cannot be had back from the object")
        if part.namespace is not None and raw is None:
            self._lost(LossKind.NAME, n, "the namespace is left out")
        call_id = self.ids.get(part.call_id, part.call_id)
        if call_id != part.call_id:
            self._lost(LossKind.ID, n, "mapped to the form of the api")
        kind = "tool_use" if raw is None else raw["type"]
        return _over(raw, encodable({"type": kind, "id": call_id, "name": part.name, "input": value}))

    def _result(self, part: ToolResult, raw: dict[str, Any] | None, n: int) -> dict[str, Any] | None:
        if part.executor == "server" and raw is None:
            self._lost(LossKind.SERVER_TOOL, n, "the result of a call that another provider ran is left out")
            return None
        call_id = self.ids.get(part.call_id, part.call_id)
        if call_id != part.call_id:
            self._lost(LossKind.ID, n, "mapped to the form of the api")
        fresh: dict[str, Any] = {"type": raw["type"] if raw else "tool_result", "tool_use_id": encodable(call_id)}
        content = self._result_content(part, n)
        if content is not None:
            fresh["content"] = content
        if part.status == "error" or (raw is not None and part.status is not None):
            fresh["is_error"] = part.status == "error"
        block = _over(raw, fresh)
        for key in ("content", "is_error"):
            if key not in fresh:
                block.pop(key, None)
        return block

    def _result_content(self, result: ToolResult, n: int) -> Json:
        """None for no content, a string for one plain text, else a list of blocks."""
        blocks = [block for inner in result.parts if (block := self._block(inner, n)) is not None]
        plain = len(result.parts) == len(blocks) == 1 and isinstance(result.parts[0], Text) and result.parts[0].raw is None
        return blocks[0]["text"] if plain else blocks or None

    def _media(self, part: Media, n: int) -> dict[str, Any] | None:
        source = _source(part) if self.message.role in ("user", "tool") else None
        if source is None:
            self._lost(LossKind.MEDIA, n, f"{part.media} in a message of role {self.message.role} is left out")
            return None
        block: dict[str, Any] = {"type": part.media, "source": source}
        if part.name is not None and part.media == "document":
            block["title"] = encodable(part.name)
        return block

    def _thinking(self, part: Thinking, n: int) -> dict[str, Any] | None:
        if part.raw is None and part.origin is not None and part.origin[0] in _ORIGINS:
            if part.redacted and part.encrypted:
                return {"type": "redacted_thinking", "data": part.encrypted}
            if part.signature:
                return {"type": "thinking", "thinking": encodable(part.text or ""), "signature": part.signature}
        self._lost(LossKind.THINKING, n, "left out: it is not what this api signed")
        return None

    def _opaque(self, part: Opaque, n: int) -> dict[str, Any] | None:
        if part.api == API and isinstance(part.raw, dict):
            return cast(dict[str, Any], encodable(part.raw))
        self._lost(LossKind.OPAQUE, n, f"{part.type} of {part.api} is left out")
        return None


def _says(raw: dict[str, Any], part: Part) -> bool:
    """Whether the raw block still says what the part says."""
    again = decode_block(raw, "")
    if isinstance(again, Thinking) and isinstance(part, Thinking):
        part = attrs.evolve(part, origin=again.origin)
    return again == part


def _over(raw: dict[str, Any] | None, fresh: dict[str, Any]) -> dict[str, Any]:
    """The fresh block, laid over the raw one of its type."""
    return {**encodable(raw), **fresh} if raw is not None and raw.get("type") == fresh["type"] else fresh


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": encodable(text)}


def _source(media: Media) -> dict[str, Any] | None:
    """Where the bytes of an image or document are, or None where the api does not take them."""
    mime = media_mime(media)
    if media.data is not None:
        if media.media == "image":
            return {"type": "base64", "media_type": mime, "data": media.data} if mime in _IMAGES else None
        if mime == "application/pdf":
            return {"type": "base64", "media_type": mime, "data": media.data}
        if mime is not None and mime.startswith("text/"):
            text = plain_text(media)
            return None if text is None else {"type": "text", "media_type": "text/plain", "data": text}
        return None
    if media.url is not None and media.url.startswith(("https://", "http://")):
        return {"type": "url", "url": encodable(media.url)}
    return None
