"""Neutral parts as content blocks of Anthropic Messages."""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import frozen

from contextport.contracts import CacheMark, Json, LossKind, Media, Part, Text, Thinking, ToolCall, ToolResult
from contextport.contracts.json_values import encodable

from .anthropic_blocks import API, cache_mark, decode_block
from .media_types import media_mime, plain_text
from .part_encoding import Block, PartEncoder

__all__ = ["AnthropicEncoder"]

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_UNMARKABLE = ("thinking", "redacted_thinking")


@frozen(kw_only=True)
class AnthropicEncoder(PartEncoder):
    """Blocks with a `type`; a `CacheMark` becomes the `cache_control` of the block before it."""

    api: ClassVar[str] = API
    origins: ClassVar[frozenset[str]] = frozenset({API, "anthropic"})

    def block(self, part: Part, n: int) -> Block | None:
        """The block of a part, without the cache mark that it had: a part of the message says whether it has one now."""
        block = super().block(part, n)
        parts = self.message.parts
        marked = isinstance(parts[n + 1] if n + 1 < len(parts) else None, CacheMark)
        if block is not None and parts[n] is part and not marked and cache_mark(block) is not None:
            del block["cache_control"]
        return block

    def mark(self, blocks: list[Block], mark: CacheMark, n: int) -> None:
        if not blocks or blocks[-1]["type"] in _UNMARKABLE:
            self.lost(LossKind.CACHE_MARK, n, "no block before it can carry the mark")
        elif cache_mark(blocks[-1]) != mark:
            blocks[-1]["cache_control"] = {"type": "ephemeral", **self.ttl(mark, n)}

    def decode_again(self, raw: Block) -> Part:
        return decode_block(raw, "")

    def plain(self, text: str) -> Block:
        return {"type": "text", "text": encodable(text)}

    def text(self, part: Text, raw: Block | None, n: int) -> Block:
        block = _over(raw, self.plain(part.text))
        citations = self.citations(part, raw, n)
        if citations is not None:
            block["citations"] = citations
        else:
            block.pop("citations", None)
        return block

    def call(self, part: ToolCall, raw: Block | None, n: int) -> Block:
        if part.namespace is not None and raw is None:
            self.lost(LossKind.NAME, n, "the namespace is left out")
        block = {"type": "tool_use" if raw is None else raw["type"], "id": self.call_id(part, n), "name": part.name}
        return _over(raw, {**encodable(block), "input": self.arguments(part, n)})

    def result(self, part: ToolResult, raw: Block | None, n: int) -> Block:
        fresh: Block = {"type": "tool_result" if raw is None else raw["type"], "tool_use_id": encodable(self.call_id(part, n))}
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
        blocks = [block for inner in result.parts if (block := self.block(inner, n)) is not None]
        plain = len(result.parts) == len(blocks) == 1 and isinstance(result.parts[0], Text) and result.parts[0].raw is None
        return blocks[0]["text"] if plain else blocks or None

    def media(self, part: Media, n: int) -> Block | None:
        source = _source(part) if self.message.role in ("user", "tool") else None
        if source is None:
            return None
        named = part.name is not None and part.media == "document"
        return {"type": part.media, "source": source, **({"title": encodable(part.name)} if named else {})}

    def thinking(self, part: Thinking) -> Block | None:
        if part.redacted and part.encrypted:
            return {"type": "redacted_thinking", "data": encodable(part.encrypted)}
        if part.signature:
            return {"type": "thinking", "thinking": encodable(part.text or ""), "signature": encodable(part.signature)}
        return None


def _over(raw: Block | None, fresh: Block) -> Block:
    """The fresh block, laid over the raw one of its type."""
    return {**encodable(raw), **fresh} if raw is not None and raw.get("type") == fresh["type"] else fresh


def _source(media: Media) -> dict[str, Any] | None:
    """Where the bytes of an image or document are, or None where the api does not take them."""
    if media.media not in ("image", "document"):
        return None
    mime = media_mime(media)
    if media.data is not None:
        taken = mime in _IMAGES if media.media == "image" else mime == "application/pdf"
        if taken:
            return {"type": "base64", "media_type": mime, "data": media.data}
        text = plain_text(media) if media.media == "document" and mime is not None and mime.startswith("text/") else None
        return None if text is None else {"type": "text", "media_type": "text/plain", "data": text}
    if media.url is not None and media.url.startswith(("https://", "http://")):
        return {"type": "url", "url": encodable(media.url)}
    return None
