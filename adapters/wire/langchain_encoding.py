"""Messages that are new to LangChain, or were edited, as the dicts that its messages are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from attrs import frozen

from contextport.contracts import (
    CacheMark,
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
    copy_json,
    dump_json,
)

from .foreign import Losses, OwnForms, arguments_object
from .langchain_blocks import API, decode_block, decode_parts, role_of
from .media_types import media_mime

__all__ = ["LangChainEncoder"]

_Dict = dict[str, Any]
_TYPES = {"user": "human", "assistant": "ai", "system": "system", "developer": "system", "tool": "human"}
_MEDIA = {"image": "image", "audio": "audio", "video": "video", "document": "file"}
_OF_CHUNKS = ("tool_call_chunks", "chunk_position")


@frozen(kw_only=True)
class LangChainEncoder:
    """Builds the dicts of one message: a `tool` dict for each result, and one for all else that is said."""

    message: Message
    ids: Mapping[str, str]
    losses: Losses

    @cached_property
    def own(self) -> OwnForms:
        """The wire forms that the parts of an edited message had."""
        return OwnForms.of(self.message, API)

    def messages(self) -> list[_Dict]:
        """The dicts, each with the `type` of its class."""
        parts = self.message.parts
        results = [n for n, part in enumerate(parts) if isinstance(part, ToolResult) and not self._server(part)]
        built = [self._result(cast(ToolResult, parts[n]), n, alone=len(parts) == 1) for n in results]
        if len(results) < len(parts) or not parts:
            spoken = self._spoken([(n, part) for n, part in enumerate(parts) if n not in results])
            built += [spoken] if spoken is not None else []
        return built

    def _lost(self, kind: LossKind, part: int, detail: str) -> None:
        self.losses.add(kind, self.message, part, detail)

    def _own(self) -> _Dict:
        native = self.message.native
        return dict(native.raw) if native is not None and native.api == API else {}

    @staticmethod
    def _server(part: ToolResult) -> bool:
        return part.executor == "server"

    def _call_id(self, part: ToolCall | ToolResult, n: int) -> str:
        mapped = self.ids.get(part.call_id)
        if mapped is None:
            return part.call_id
        self._lost(LossKind.ID, n, "mapped to plain characters")
        return mapped

    def _result(self, result: ToolResult, n: int, *, alone: bool) -> _Dict:
        own = self._own() if alone else {}
        value: _Dict = own or {"type": "tool"}
        value["content"] = self._content([(n, part) for part in result.parts])
        if value["type"] != "function":
            value["tool_call_id"] = self._call_id(result, n)
            value["status"] = "error" if result.status == "error" else "success"
        if result.name is not None:
            value["name"] = result.name
        return value

    def _spoken(self, said: Sequence[tuple[int, Part]]) -> _Dict | None:
        message = self.message
        own = self._own()
        value: _Dict = own or {"type": _TYPES[message.role]}
        if own:
            said = self._without_beside(value, said)
        else:
            self._put_beside(value)
        value["content"] = self._content(said)
        if message.role == "assistant":
            self._put_calls(value, said)
            self._note_order(said)
        says = own or value["content"] or value.get("tool_calls") or value.get("invalid_tool_calls")
        plainly_empty = all(isinstance(part, Text) for _, part in said)
        return value if says or plainly_empty else None

    def _put_beside(self, value: _Dict) -> None:
        message = self.message
        if message.name is not None:
            value["name"] = message.name
        if message.phase is not None:
            self._lost(LossKind.PHASE, -1, "left out")
        if message.role == "developer":
            value["additional_kwargs"] = {"__openai_role__": "developer"}

    def _without_beside(self, value: _Dict, said: Sequence[tuple[int, Part]]) -> Sequence[tuple[int, Part]]:
        """Leaves in `additional_kwargs` what an edited message still says, and returns the parts that are not said there."""
        native = self.message.native
        raw = native.raw if native is not None else {}
        before = decode_parts(raw, role_of(raw, ""), "")
        beside: _Dict = dict(value.get("additional_kwargs") or {})
        rest = list(said)
        for key, kind in (("reasoning_content", Thinking), ("refusal", Refusal)):
            told = [(n, part) for n, part in rest if isinstance(part, kind) and getattr(part, "raw", None) is None]
            same = [(n, part) for n, part in told if cast(Any, part).text == beside.get(key)]
            if beside.get(key) and not same:
                del beside[key]
            rest = [pair for pair in rest if pair not in same]
        if _calls(before) != _calls(self.message.parts):
            beside.pop("tool_calls", None)
            beside.pop("function_call", None)
        value["additional_kwargs"] = beside
        if value["type"] == "AIMessageChunk":  # its calls would be made anew from their chunks
            value["type"] = "ai"
            for key in _OF_CHUNKS:
                value.pop(key, None)
        return rest

    def _put_calls(self, value: _Dict, said: Sequence[tuple[int, Part]]) -> None:
        calls: list[_Dict] = []
        invalid: list[_Dict] = []
        legacy = (value.get("additional_kwargs") or {}).get("function_call")
        for n, part in said:
            if not isinstance(part, ToolCall) or part.executor == "server":
                continue
            if legacy is not None and part.call_id == f"function:{part.name}":
                continue
            if part.namespace is not None:
                self._lost(LossKind.NAME, n, "the namespace is left out")
            arguments, exact = arguments_object(part.arguments)
            call_id = self._call_id(part, n)
            if part.complete and (exact or arguments != {"arguments": part.arguments}):
                if not exact and self.own.raw(part) is None:
                    self._lost(LossKind.ARGUMENTS, n, "the exact string cannot be had back from the object")
                if invalid:
                    self._lost(LossKind.ORDER, n, "stands before calls whose arguments are no JSON object")
                calls.append({"name": part.name, "args": arguments, "id": call_id, "type": "tool_call"})
            else:
                entry: _Dict = {"name": part.name, "args": part.arguments, "id": call_id, "error": None}
                raw = self.own.raw(part)
                invalid.append({**entry, "type": "invalid_tool_call", **({"error": raw.get("error")} if raw else {})})
        value["tool_calls"], value["invalid_tool_calls"] = calls, invalid

    def _note_order(self, said: Sequence[tuple[int, Part]]) -> None:
        called = False
        for n, part in said:
            if isinstance(part, ToolCall) and part.executor == "client" and not self._placed(part):
                called = True
            elif called and isinstance(part, Text | Media | JsonPart | Refusal) and not self._own():
                return self._lost(LossKind.ORDER, n, "stands before the calls")
        return None

    # --- content

    def _placed(self, part: ToolCall) -> bool:
        """Whether a call has a block in the content as well."""
        native = self.message.native
        content = native.raw.get("content") if native is not None and native.api == API else None
        return isinstance(content, list) and part.raw is not None and part.raw in content

    def _content(self, said: Sequence[tuple[int, Part]]) -> Any:
        """A string for no text or a single plain one, else a list of blocks."""
        blocks = [(part, block) for n, part in said if (block := self._block(part, n)) is not None]
        if not blocks:
            return ""
        part, block = blocks[0]
        plain = len(blocks) == 1 and isinstance(part, Text | JsonPart) and self.own.raw(part) is None
        return block["text"] if plain else [block for _, block in blocks]

    def _block(self, part: Part, n: int) -> Any:
        raw = self.own.raw(part)
        match part:
            case Text():
                if raw is None and part.citations:
                    self._lost(LossKind.CITATIONS, n, "left out")
                return {**(copy_json(raw) if raw is not None else {"type": "text"}), "text": part.text}
            case ToolCall():
                return self._call_block(part, n)
            case Thinking() if raw is not None and decode_block(raw) == part:
                return copy_json(raw)
            case Media() | ToolResult() if raw is not None:
                return copy_json(raw)
            case Media():
                return self._media(part)
            case Thinking():
                return self._lost(LossKind.THINKING, n, "left out: it is of another api, or was changed")
            case ToolResult():
                return self._lost(LossKind.SERVER_TOOL, n, "what a provider ran itself is left out")
            case Refusal() if self.message.role == "assistant":
                return {"type": "refusal", "refusal": part.text}
            case Refusal():
                self._lost(LossKind.REFUSAL, n, "went along as text")
                return {"type": "text", "text": part.text}
            case JsonPart():
                self._lost(LossKind.STRUCTURE, n, "went along as text")
                return {"type": "text", "text": dump_json(part.value)}
            case CacheMark():
                return self._lost(LossKind.CACHE_MARK, n, "left out")
            case Opaque() if part.api == API:
                return copy_json(part.raw)
            case Opaque():
                return self._lost(LossKind.OPAQUE, n, f"{part.type} of {part.api} is left out")

    def _call_block(self, call: ToolCall, n: int) -> Any:
        if call.executor == "server":
            raw = self.own.raw(call)
            return self._lost(LossKind.SERVER_TOOL, n, "a call that a provider ran itself") if raw is None else copy_json(raw)
        if not self._placed(call):
            return None
        block: _Dict = copy_json(call.raw)
        key = next((key for key in ("args", "input", "arguments") if key in block), "args")
        asked = block.get(key)
        if (asked if isinstance(asked, str) else dump_json(asked)) != call.arguments:
            block[key] = call.arguments if isinstance(asked, str) else arguments_object(call.arguments)[0]
        return {**block, "name": call.name}

    def _media(self, media: Media) -> _Dict:
        """A block of v1. LangChain leaves it to each model's adapter what it takes."""
        place = {"url": media.url} if media.url is not None else {"file_id": media.file_id}
        mime = media_mime(media)
        if media.data is not None:
            place = {"base64": media.data}
        extras = {"filename": media.name, "detail": media.detail}
        extras = {key: one for key, one in extras.items() if one is not None}
        block: _Dict = {"type": _MEDIA[media.media], **place}
        return {**block, **({"mime_type": mime} if mime else {}), **({"extras": extras} if extras else {})}


def _calls(parts: Sequence[Part]) -> list[tuple[str, str, Any]]:
    return [(part.name, part.arguments, part.raw) for part in parts if isinstance(part, ToolCall)]
