"""Neutral parts as content blocks of Bedrock Converse. Bytes are in their held form (`wire_bytes`)."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, ClassVar, cast

from attrs import frozen

from contextport.contracts import CacheMark, JsonPart, LossKind, Media, Part, Text, Thinking, ToolCall, ToolResult
from contextport.contracts.json_values import encodable

from .bedrock_blocks import API, FORMATS, decode_block
from .media_types import media_mime
from .part_encoding import Block, PartEncoder
from .wire_bytes import tagged

__all__ = ["BedrockEncoder"]

_OTHER_NAMES = {"image/jpg": "jpeg", "audio/mp3": "mp3", "mp3": "mp3", "wav": "wav", "audio/x-wav": "wav"}
_IN_RESULTS = frozenset({"image", "document", "video"})
_not_in_names = re.compile(r"[^a-zA-Z0-9\-()\[\]]+")


@frozen(kw_only=True)
class BedrockEncoder(PartEncoder):
    """Blocks of one key; a `CacheMark` is a block of its own, and none comes first in a message."""

    api: ClassVar[str] = API
    origins: ClassVar[frozenset[str]] = frozenset({API, "bedrock"})

    def mark(self, blocks: list[Block], mark: CacheMark, n: int) -> None:
        if blocks:
            blocks.append({"cachePoint": {"type": "default", **self.ttl(mark, n)}})
        else:
            self.lost(LossKind.CACHE_MARK, n, "no block before it")

    def decode_again(self, raw: Block) -> Part:
        return decode_block(raw, "")

    def plain(self, text: str) -> Block:
        return {"text": encodable(text)}

    def text(self, part: Text, raw: Block | None, n: int) -> Block:
        citations = self.citations(part, raw, n)
        if raw is None or "text" in raw:
            return self.plain(part.text)
        if "guardContent" in raw:
            held = cast(dict[str, Any], raw["guardContent"]["text"])
            return {"guardContent": {"text": {**encodable(held), "text": encodable(part.text)}}}
        return {"citationsContent": {"content": [self.plain(part.text)], **({"citations": citations} if citations else {})}}

    def call(self, part: ToolCall, raw: Block | None, n: int) -> Block:
        if part.namespace is not None:
            self.lost(LossKind.NAME, n, "the namespace is left out")
        held = _held(raw, "toolUse")
        call = {"toolUseId": self.call_id(part, n), "name": part.name}
        return {"toolUse": {**held, **encodable(call), "input": self.arguments(part, n)}}

    def result(self, part: ToolResult, raw: Block | None, n: int) -> Block:
        held = _held(raw, "toolResult")
        held.update({"toolUseId": encodable(self.call_id(part, n)), "content": self._result_content(part, raw, n)})
        if part.status is not None:
            held["status"] = "error" if part.status == "error" else "success"
        else:
            held.pop("status", None)
        return {"toolResult": held}

    def _result_content(self, result: ToolResult, raw: Block | None, n: int) -> list[Block]:
        blocks: list[Block] = []
        for inner in result.parts:
            if isinstance(inner, JsonPart) and (isinstance(inner.value, dict) or raw is not None):
                blocks.append({"json": encodable(inner.value)})
            elif isinstance(inner, Media) and inner.media not in _IN_RESULTS:
                self.move(inner, n)
            elif (block := self.block(inner, n)) is not None:
                blocks.append(block)
        return blocks

    def media(self, part: Media, n: int) -> Block | None:
        if self.message.role not in ("user", "tool"):
            return None
        mime = media_mime(part) or ""
        known = (name for name, one in FORMATS[part.media].items() if one == mime)
        format = next(known, None) or _OTHER_NAMES.get(mime)
        source = _source(part)
        if source is None or format not in FORMATS[part.media]:
            return None
        block: Block = {"format": format, "source": source}
        if part.media == "document":
            block["name"] = _not_in_names.sub(" ", part.name or "").strip()[:200] or "document"
            if part.name is not None and part.name != block["name"]:
                self.lost(LossKind.NAME, n, "the name of a document has characters that the api does not take")
        return {part.media: block}

    def thinking(self, part: Thinking) -> Block | None:
        if part.redacted and part.encrypted and _is_base64(part.encrypted):
            return {"reasoningContent": {"redactedContent": tagged(part.encrypted)}}
        if part.text is None or not part.signature:
            return None
        return {"reasoningContent": {"reasoningText": encodable({"text": part.text, "signature": part.signature})}}


def _held(raw: Block | None, key: str) -> dict[str, Any]:
    """A copy of what a raw block holds under its key; empty for a new one."""
    return cast(dict[str, Any], encodable(raw[key])) if raw is not None and isinstance(raw.get(key), dict) else {}


def _source(media: Media) -> dict[str, Any] | None:
    if media.data is not None:
        return {"bytes": tagged(media.data)} if _is_base64(media.data) else None
    if media.url is not None and media.url.startswith("s3://"):
        return {"s3Location": {"uri": encodable(media.url)}}
    return None


def _is_base64(text: str) -> bool:
    """Whether the text can be decoded, to at least one byte."""
    try:
        return bool(base64.b64decode(text))
    except (binascii.Error, ValueError):
        return False
