"""Neutral parts as parts of Gemini contents, in snake case where they are new. Bytes are in their held form (`wire_bytes`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import attrs
from attrs import frozen

from contextport.contracts import (
    CacheMark,
    JsonPart,
    LossKind,
    Media,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextport.contracts.json_values import encodable

from .gemini_parts import API, PartDecoder, find_key, is_failure, is_made_id, is_plain
from .media_types import media_mime
from .part_encoding import Block, PartEncoder
from .system_field import SYSTEM_ROLES

__all__ = ["GeminiEncoder"]

_IN_RESPONSES = frozenset({"image", "document"})
_UNKNOWN_NAME = "unknown"


@frozen(kw_only=True)
class GeminiEncoder(PartEncoder):
    """Parts of one key beside their signature. `names` has the name of the function for the id of each call."""

    api: ClassVar[str] = API
    origins: ClassVar[frozenset[str]] = frozenset({API, "gemini", "google"})
    names: Mapping[str, str]

    def blocks(self) -> list[Block]:
        """The parts of the message; a signature without a text of its own goes to the part after it."""
        blocks: list[Block] = []
        signature: str | None = None
        for block in super().blocks():
            if block.keys() == {"thought_signature"}:
                signature = block["thought_signature"]
                continue
            if signature is not None and find_key(block, "thought_signature") is None:
                block["thought_signature"] = signature
            signature = None
            blocks.append(block)
        return [*blocks, {"text": "", "thought_signature": signature}] if signature is not None else blocks

    def mark(self, blocks: list[Block], mark: CacheMark, n: int) -> None:
        self.lost(LossKind.CACHE_MARK, n, "contents have no marks")

    def says(self, raw: Block, part: Part) -> bool:
        """Whether the raw part says what the part says; the id of a call that has none on the wire aside."""
        again = self.decode_again(raw)
        if isinstance(again, ToolCall) and isinstance(part, ToolCall) and _id(raw, "function_call") is None:
            again = attrs.evolve(again, call_id=part.call_id)
        if isinstance(again, ToolResult) and isinstance(part, ToolResult) and _id(raw, "function_response") is None:
            again = attrs.evolve(again, call_id=part.call_id)
        if isinstance(again, Thinking) and isinstance(part, Thinking):
            again = attrs.evolve(again, origin=part.origin)
        return again == part

    def decode_again(self, raw: Block) -> Part:
        return PartDecoder().decode(raw, "")

    def plain(self, text: str) -> Block:
        return {"text": encodable(text)}

    def text(self, part: Text, raw: Block | None, n: int) -> Block:
        self.citations(part, raw, n)
        return {**(_copy(raw) if raw is not None and "text" in raw else {}), **self.plain(part.text)}

    def call(self, part: ToolCall, raw: Block | None, n: int) -> Block:
        if part.namespace is not None:
            self.lost(LossKind.NAME, n, "the namespace is left out")
        value = {"name": encodable(part.name), "args": self.arguments(part, n)}
        return self._function(part, raw, "function_call", value)

    def result(self, part: ToolResult, raw: Block | None, n: int) -> Block:
        name = self.names.get(part.call_id) or part.name or _UNKNOWN_NAME
        key = None if raw is None else find_key(raw, "function_response")
        held = {} if raw is None or key is None else cast(dict[str, Any], raw[key])
        value: dict[str, Any] = {"name": encodable(name), "response": self._response(part, held.get("response"), n)}
        inside = [
            block
            for inner in part.parts
            if not isinstance(inner, Text | JsonPart) and (block := self._inside(inner, n)) is not None
        ]
        if inside or "parts" in held:
            value["parts"] = inside
        return self._function(part, raw, "function_response", value)

    def _function(self, part: ToolCall | ToolResult, raw: Block | None, kind: str, value: dict[str, Any]) -> Block:
        """A call or response laid over the raw one. A call that has no id on the wire gets none, nor does its response."""
        key = None if raw is None else find_key(raw, kind)
        if raw is not None and key is not None:
            if "id" in raw[key]:
                value["id"] = encodable(part.call_id)
            return {**_copy(raw), key: {**_copy(raw[key]), **value}}
        name = self.names.get(part.call_id, part.name)
        if is_made_id(part.call_id, name):
            return {kind: value}
        return {kind: {"id": encodable(part.call_id), **value}}

    def _response(self, result: ToolResult, held: Any, n: int) -> dict[str, Any]:
        """What a result says: an object of its own, a text under `output` or `error`, or a list of texts and JSON there."""
        said: list[Any] = []
        for inner in result.parts:
            if isinstance(inner, Text):
                self.citations(inner, None, n)
                said.append(inner.text)
            elif isinstance(inner, JsonPart):
                said.append(inner.value)
        failed = result.status == "error"
        only = said[0] if len(said) == 1 else None
        if isinstance(only, dict):
            own = cast(dict[str, Any], only)
            if own and not is_plain(own) and is_failure(own) == failed:
                return _copy(own)
        if not said:
            return {"error": ""} if failed else {}
        before = next(iter(cast(dict[str, Any], held))) if isinstance(held, dict) and is_plain(held) else "output"
        key = "error" if failed else "output" if before == "error" else before
        return {key: encodable(only if isinstance(only, str) else said)}

    def _inside(self, part: Part, n: int) -> Block | None:
        movable = isinstance(part, Media) and part.media not in _IN_RESPONSES and self.own.raw(part) is None
        if not (movable and isinstance(part, Media)):
            return self.block(part, n)
        self.move(part, n)
        return None

    def media(self, part: Media, n: int) -> Block | None:
        if self.message.role in SYSTEM_ROLES:
            return None
        mime = media_mime(part)
        if part.data is not None and mime is not None:
            return {"inline_data": {"mime_type": encodable(_usual_mime(mime)), "data": part.data}}
        if part.url is not None and part.url.startswith(("https://", "http://", "gs://")):
            return {"file_data": {"file_uri": encodable(part.url), **({"mime_type": encodable(mime)} if mime else {})}}
        return None

    def thinking(self, part: Thinking) -> Block | None:
        signed = {"thought_signature": encodable(part.signature)} if part.signature else {}
        if part.text:
            return {"text": encodable(part.text), "thought": True, **signed}
        return signed or None


def _usual_mime(mime: str) -> str:
    """The MIME type of sound that came as the name of a format."""
    return mime if "/" in mime else f"audio/{mime}"


def _id(raw: Block, kind: str) -> Any:
    key = find_key(raw, kind)
    return None if key is None else raw[key].get("id")


def _copy(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], encodable(value))
