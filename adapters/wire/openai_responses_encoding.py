"""Messages that are new to Responses, or were edited, as its items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

import attrs
from attrs import define, field, frozen

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

from .foreign import Losses, OwnForms, data_url, is_custom_call, result_text
from .media_types import media_mime
from .openai_responses_items import API, ARGUMENT_KEYS, CONTENT, OWN_OUTPUTS, decode_reasoning, decode_result

__all__ = ["ItemEncoder"]

_Item = dict[str, Any]
_ORIGINS = frozenset({API, "openai"})


@define
class _Open:
    """The message item that content is being put into; `base` is the item it had on the wire, if it had one."""

    base: _Item | None
    blocks: list[_Item] = field(factory=list[_Item])
    plain: bool = True


@frozen(kw_only=True)
class ItemEncoder:
    """Builds the items of one message. `kinds` are the types of calls that are no function calls, by id."""

    message: Message
    ids: Mapping[str, str]
    kinds: Mapping[str, str]
    losses: Losses

    @cached_property
    def own(self) -> OwnForms:
        """The wire forms that the parts of an edited message had."""
        return OwnForms.of(self.message, API)

    def items(self) -> list[_Item]:
        """The items, in the order of the parts."""
        message = self.message
        if message.name is not None:
            self._lost(LossKind.NAME, -1, "left out")
        if message.phase is not None and message.role != "assistant":
            self._lost(LossKind.PHASE, -1, "left out")
        items: list[_Item] = []
        opened: _Open | None = None
        used: set[int] = set()
        for n, part in enumerate(message.parts):
            if isinstance(part, ToolCall | ToolResult | Thinking) or (isinstance(part, Opaque) and part.api == API):
                item = self._item(part, n)
                if item is not None:
                    items += [*self._closed(opened), item]
                    opened = None
                continue
            block = self._block(part, n)
            if block is None:
                continue
            base = self._base(part, opened, used)
            if opened is None or (base is not opened.base and base is not None) or self._stands_alone(opened):
                items += self._closed(opened)
                opened = _Open(base)
                used |= {id(base)} if base is not None else set()
            opened.blocks.append(block)
            opened.plain = opened.plain and "text" in block and self.own.raw(part) is None
        return items + self._closed(opened)

    def _lost(self, kind: LossKind, part: int, detail: str) -> None:
        self.losses.add(kind, self.message, part, detail)

    # --- messages among the items

    @cached_property
    def _held(self) -> list[_Item]:
        """The message items that the message was on the wire."""
        native = self.message.native
        items = native.raw if native is not None and native.api == API and isinstance(native.raw, list) else []
        return [item for item in cast(list[_Item], items) if item.get("type") in (None, "message") and "role" in item]

    def _base(self, part: Part, opened: _Open | None, used: set[int]) -> _Item | None:
        """The item that a part's text stood in, or the only one there is; never one again that is closed, as ids are unique."""
        if not self._held:
            return None
        found = [item for item in self.own.items(part) if "role" in item] or (self._held if len(self._held) == 1 else [])
        if opened is not None and any(item is opened.base for item in found):
            return opened.base
        return next((item for item in found if id(item) not in used), None)

    def _stands_alone(self, opened: _Open) -> bool:
        """Whether no more may be added: a model's words without an item of their own are a string."""
        listed = opened.base is not None and isinstance(opened.base.get("content"), list)
        return self.message.role == "assistant" and not listed

    def _closed(self, opened: _Open | None) -> list[_Item]:
        if opened is None:
            return []
        message, base = self.message, opened.base
        if base is not None:
            one = opened.blocks[0]
            as_text = opened.plain and len(opened.blocks) == 1 and isinstance(base.get("content"), str)
            return [{**copy_json(base), "content": one["text"] if as_text else opened.blocks}]
        item: _Item = {"role": "user" if message.role == "tool" else message.role, "content": opened.blocks}
        if opened.plain and len(opened.blocks) == 1:
            item["content"] = opened.blocks[0]["text"]
        if message.role == "assistant" and message.phase is not None:
            item["phase"] = message.phase
        return [item]

    def _block(self, part: Part, n: int) -> Any:
        raw = self.own.raw(part)
        match part:
            case Text():
                return self._text(part.text, raw, n, part)
            case Refusal():
                return self._refusal(part, n)
            case JsonPart():
                self._lost(LossKind.STRUCTURE, n, "went along as text")
                return self._text(dump_json(part.value), None, n)
            case Media() if raw is not None:
                return copy_json(raw)
            case Media():
                block = _media(part) if self.message.role in ("user", "tool") else None
                if block is None:
                    self._lost(LossKind.MEDIA, n, f"{part.media} in this form has no place in a {self.message.role} message")
                return block
            case Opaque() if part.api == CONTENT:
                return copy_json(part.raw)
            case Opaque():
                return self._lost(LossKind.OPAQUE, n, f"{part.type} of {part.api} is left out")
            case CacheMark():
                return self._lost(LossKind.CACHE_MARK, n, "left out")
            case _:
                return None

    def _text(self, text: str, raw: _Item | None, n: int, part: Text | None = None) -> _Item:
        if raw is not None:
            return {**copy_json(raw), "text": text}
        if part is not None and part.citations:
            self._lost(LossKind.CITATIONS, n, "left out")
        if self.message.role == "assistant":
            return {"type": "output_text", "text": text, "annotations": []}
        return {"type": "input_text", "text": text}

    def _refusal(self, part: Refusal, n: int) -> _Item:
        base = self._base(part, None, set())
        if base is not None and isinstance(base.get("content"), list):
            return {"type": "refusal", "refusal": part.text}
        self._lost(LossKind.REFUSAL, n, "went along as text")
        return self._text(part.text, None, n)

    # --- other items

    def _item(self, part: ToolCall | ToolResult | Thinking | Opaque, n: int) -> _Item | None:
        raw = self.own.raw(part)
        if isinstance(part, Opaque):
            return cast(_Item, copy_json(part.raw))
        if isinstance(part, Thinking):
            return self._reasoning(part, raw, n)
        if part.executor == "server" and raw is None:
            self._lost(LossKind.SERVER_TOOL, n, "what another provider ran itself is left out")
            return None
        return self._call(part, raw, n) if isinstance(part, ToolCall) else self._result(part, raw, n)

    def _reasoning(self, part: Thinking, raw: _Item | None, n: int) -> _Item | None:
        if raw is not None and decode_reasoning(raw) == part:
            return cast(_Item, copy_json(raw))
        own = part.origin is not None and part.origin[0] in _ORIGINS and part.raw is None and part.item_id is not None
        if not own:
            self._lost(LossKind.THINKING, n, "left out: it is of another api, or was changed")
            return None
        summary = [{"type": "summary_text", "text": text} for text in part.summary]
        encrypted = {"encrypted_content": part.encrypted} if part.encrypted is not None else {}
        return {"type": "reasoning", "id": part.item_id, "summary": summary, **encrypted}

    def _call_id(self, part: ToolCall | ToolResult, n: int) -> str:
        mapped = self.ids.get(part.call_id)
        if mapped is None:
            return part.call_id
        self._lost(LossKind.ID, n, "mapped to at most 64 plain characters")
        return mapped

    def _call(self, call: ToolCall, raw: _Item | None, n: int) -> _Item:
        kind, key = ("custom_tool_call", "input") if is_custom_call(call) else ("function_call", "arguments")
        item: _Item = {"type": kind} if raw is None else copy_json(raw)
        item["call_id"] = self._call_id(call, n)
        if raw is None or "name" in item:
            item["name"] = call.name
        key = next((one for one in ARGUMENT_KEYS if item.get(one) is not None), key)
        if key not in item or isinstance(item[key], str):
            item[key] = call.arguments
        elif dump_json(item[key]) != call.arguments:
            item[key] = _parsed(call.arguments)
        if call.namespace is not None:
            item["namespace"] = call.namespace
        return item

    def _result(self, result: ToolResult, raw: _Item | None, n: int) -> _Item:
        if raw is not None and decode_result(raw, "") == attrs.evolve(result, raw=raw):
            return cast(_Item, copy_json(raw))
        kind = self.kinds.get(result.call_id, "function_call") if raw is None else raw["type"].removesuffix("_output")
        if kind in OWN_OUTPUTS:
            return self._own_output(result, raw, kind, n)
        blocks = [block for part in result.parts if (block := self._output_block(part, n)) is not None]
        alone = result.parts[0] if len(blocks) == len(result.parts) == 1 else None
        plain = isinstance(alone, JsonPart) or (isinstance(alone, Text) and self.own.raw(alone) is None)
        output: Any = blocks[0]["text"] if plain else blocks or ""
        if result.status == "error" and (raw is None or raw.get("status") != "failed"):
            self._lost(LossKind.STATUS, n, "that the result is an error is not said")
        base: _Item = {"type": f"{kind}_output"} if raw is None else copy_json(raw)
        return {**base, "call_id": self._call_id(result, n), "output": output}

    def _own_output(self, result: ToolResult, raw: _Item | None, kind: str, n: int) -> _Item:
        """The result of a call whose output has a form of its own, with what of it can be said in that."""
        item: _Item = {"type": f"{kind}_output"} if raw is None else copy_json(raw)
        item["id" if kind == "local_shell_call" and "call_id" not in item else "call_id"] = self._call_id(result, n)
        failed, said = result.status == "error", result_text(result)
        if kind == "computer_call":
            shown = [_media(part) for part in result.parts if isinstance(part, Media) and part.media == "image"]
            place = {key: one for key, one in (shown[-1] or {}).items() if key in ("image_url", "file_id")} if shown else {}
            if len(place) < len(result.parts):
                self._lost(LossKind.MEDIA if not place else LossKind.STRUCTURE, n, "the output of a computer is one screenshot")
            return {**item, "output": {"type": "computer_screenshot", **place}}
        if any(not isinstance(part, Text | JsonPart) for part in result.parts):
            self._lost(LossKind.MEDIA, n, "the output of a shell is text")
        if kind == "shell_call":
            ended = {"type": "exit", "exit_code": int(failed)}
            return {**item, "output": [{"stdout": said, "stderr": "", "outcome": ended}]}
        if kind == "apply_patch_call":
            item["status"] = "failed" if failed else "completed"
        elif failed:
            self._lost(LossKind.STATUS, n, "that the result is an error is not said")
        return {**item, "output": said}

    def _output_block(self, part: Part, n: int) -> Any:
        raw = self.own.raw(part)
        if isinstance(part, Text) and raw is None:
            if part.citations:
                self._lost(LossKind.CITATIONS, n, "left out")
            return {"type": "input_text", "text": part.text}
        if isinstance(part, JsonPart):
            self._lost(LossKind.STRUCTURE, n, "went along as text")
            return {"type": "input_text", "text": dump_json(part.value)}
        return self._block(part, n)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _media(media: Media) -> _Item | None:
    """Media as a part of what the user says or of a result, or None where the api does not take it: sound and video."""
    where = data_url(attrs.evolve(media, mime=media_mime(media)))
    if where is None and media.file_id is None:
        return None
    if media.media == "image":
        place = {"image_url": where} if where is not None else {"file_id": media.file_id}
        return {"type": "input_image", "detail": media.detail or "auto", **place}
    if media.media != "document":
        return None
    if media.data is not None:
        return {"type": "input_file", "filename": media.name or "document", "file_data": where}
    return {"type": "input_file", **({"file_url": media.url} if media.url is not None else {"file_id": media.file_id})}
