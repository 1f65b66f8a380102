"""Messages that are new to Chat Completions, or were edited, in its form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import attrs
from attrs import field, frozen

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
from contextport.contracts.chat_format import API, decode

from .foreign import Losses, OwnForms, data_url, is_custom_call
from .media_types import media_mime

__all__ = ["ChatEncoder", "chat_media"]

_BESIDE = f"{API}.message"  # what stands beside the content, under a key of its own
_REASONING_KEYS = ("reasoning_content", "reasoning")
_IN_CONTENT = ("tool_use", "server_tool_use", "tool_result")  # other providers' places for calls and results
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3", "mp3": "mp3"}
_name = re.compile(r"[^\s<|\\/>]{1,64}").fullmatch


@frozen(kw_only=True)
class ChatEncoder:
    """Builds the chat messages of one message; media that may not stand there is put into `moved`, as user content."""

    message: Message
    ids: Mapping[str, str]
    losses: Losses
    moved: list[dict[str, Any]] = field(factory=list[dict[str, Any]])

    @cached_property
    def own(self) -> OwnForms:
        """The wire forms that the parts of an edited message had."""
        return OwnForms.of(self.message, API)

    def messages(self) -> list[dict[str, Any]]:
        """A tool message for each result, and one for all else that is said."""
        parts = self.message.parts
        results = [n for n, part in enumerate(parts) if isinstance(part, ToolResult) and not self._in_content(part)]
        built = [value for n in results if (value := self._result(cast(ToolResult, parts[n]), n, alone=len(parts) == 1))]
        if len(results) < len(parts) or not parts:
            spoken = self._spoken([n for n in range(len(parts)) if n not in results])
            built += [spoken] if spoken is not None else []
        return built

    def _lost(self, kind: LossKind, part: int, detail: str) -> None:
        self.losses.add(kind, self.message, part, detail)

    def _own(self) -> dict[str, Any]:
        """The wire form that an edited message of this api had, to be changed; {} for any other."""
        native = self.message.native
        return dict(native.raw) if native is not None and native.api == API else {}

    def _in_content(self, part: Part) -> bool:
        raw = self.own.raw(part)
        return raw is not None and raw.get("type") in _IN_CONTENT

    def _call_id(self, part: ToolCall | ToolResult, n: int) -> str:
        mapped = self.ids.get(part.call_id)
        if mapped is None:
            return part.call_id
        self._lost(LossKind.ID, n, "mapped to at most 40 plain characters")
        return mapped

    # --- results

    def _result(self, result: ToolResult, n: int, *, alone: bool) -> dict[str, Any] | None:
        if result.executor == "server":
            self._lost(LossKind.SERVER_TOOL, n, "the result of another provider's own tool is left out")
            return None
        own = self._own() if alone else {}
        content = self._content([(n, part) for part in result.parts], inside=True)
        value: dict[str, Any] = own or {"role": "tool"}
        if value["role"] != "function":
            value["tool_call_id"] = self._call_id(result, n)
        value["content"] = "" if content is None else content
        if "is_error" in value and result.status is not None:
            value["is_error"] = result.status == "error"
        elif result.status == "error":
            self._lost(LossKind.STATUS, n, "that the result is an error is not said")
        return value

    # --- what is spoken

    def _spoken(self, places: Sequence[int]) -> dict[str, Any] | None:
        message = self.message
        own = self._own()
        value: dict[str, Any] = own or {"role": "user" if message.role == "tool" else message.role, "content": None}
        said = [(n, message.parts[n]) for n in places]
        calls = [(n, part) for n, part in said if isinstance(part, ToolCall) and not self._in_content(part)]
        self._note_order(said)
        beside = self._beside(value, said) if own else set[int]()
        rest = [(n, part) for n, part in said if (n not in beside and not isinstance(part, ToolCall)) or self._in_content(part)]
        value["content"] = self._content(rest, inside=False)
        self._put_calls(value, [(n, part) for n, part in calls if n not in beside])
        if not own:
            self._put_name(value)
        says = value["content"] is not None or value.get("tool_calls") or value.get("function_call") or own
        if value["content"] is None and not value.get("tool_calls") and not own:
            value["content"] = ""
        return value if says or not message.parts else None

    def _put_name(self, value: dict[str, Any]) -> None:
        message = self.message
        if message.name is not None and _name(message.name):
            value["name"] = message.name
        elif message.name is not None:
            self._lost(LossKind.NAME, -1, "a name may have no spaces and at most 64 characters there")
        if message.phase is not None:
            self._lost(LossKind.PHASE, -1, "left out")

    def _note_order(self, said: Sequence[tuple[int, Part]]) -> None:
        called = False
        for n, part in said:
            if isinstance(part, ToolCall) and part.executor == "client" and not self._in_content(part):
                called = True
            elif called and isinstance(part, Text | Refusal | Media | JsonPart):
                return self._lost(LossKind.ORDER, n, "stands before the calls")
        return None

    def _beside(self, value: dict[str, Any], said: Sequence[tuple[int, Part]]) -> set[int]:
        """Takes out of an edited message's own form what its parts no longer say; the places of those that it still says."""
        kept: set[int] = set()
        native = self.message.native
        before = decode(native.raw, id=self.message.id).parts if native is not None else ()
        for key in _REASONING_KEYS:
            places = [n for n, part in said if isinstance(part, Thinking) and part.raw is None and part.text == value.get(key)]
            kept.update(places)
            if key in value and isinstance(value[key], str) and value[key] and not places:
                del value[key]
        refused = [n for n, part in said if isinstance(part, Refusal) and part.text == value.get("refusal")]
        kept.update(refused)
        if value.get("refusal") and not refused:
            value["refusal"] = None
        still = {n for n, part in said if isinstance(part, Opaque) and part.api == _BESIDE and part in before}
        kept |= still
        for part in before:
            if isinstance(part, Opaque) and part.api == _BESIDE and part not in [self.message.parts[n] for n in still]:
                del value[part.type]
        legacy = cast(Any, value.get("function_call"))
        if isinstance(legacy, dict):
            again = [(n, part) for n, part in said if isinstance(part, ToolCall) and part.call_id == f"function:{part.name}"]
            del value["function_call"]
            for n, call in again[:1]:
                value["function_call"] = {**copy_json(legacy), "name": call.name, "arguments": call.arguments}
                kept.add(n)
        return kept

    def _put_calls(self, value: dict[str, Any], calls: Sequence[tuple[int, ToolCall]]) -> None:
        encoded = [self._call(call, n) for n, call in calls if call.executor == "client"]
        for n, call in calls:
            if call.executor == "server":
                self._lost(LossKind.SERVER_TOOL, n, "a call of another provider's own tool is left out")
        if encoded:
            value["tool_calls"] = encoded
        else:
            value.pop("tool_calls", None)

    def _call(self, call: ToolCall, n: int) -> dict[str, Any]:
        if call.namespace is not None:
            self._lost(LossKind.NAME, n, "the namespace is left out")
        raw = self.own.raw(call)
        kind, said = ("custom", "input") if is_custom_call(call) else ("function", "arguments")
        value: dict[str, Any] = copy_json(raw) if raw is not None else {}
        value.update(id=self._call_id(call, n), type=value.get("type", kind))
        value[kind] = {**value.get(kind, {}), "name": call.name, said: call.arguments}
        return value

    # --- content

    def _content(self, said: Sequence[tuple[int, Part]], *, inside: bool) -> Any:
        """None for no content, a string for one text that was in no list, else content parts; `inside` results media is moved."""
        found = [(part, block) for n, part in said if (block := self._block(part, n, inside=inside)) is not None]
        if len(found) == 1 and isinstance(found[0][0], Text | JsonPart) and self.own.raw(found[0][0]) is None:
            return found[0][1]["text"]
        return [block for _, block in found] or None

    def _block(self, part: Part, n: int, *, inside: bool) -> Any:
        raw = self.own.raw(part)
        match part:
            case Text():
                return self._text(part, raw, n)
            case Thinking() if raw is not None and _says(raw, part):
                return copy_json(raw)
            case ToolCall() | Media() if raw is not None:
                return copy_json(raw)
            case ToolResult() if raw is not None:
                return {**copy_json(raw), "content": self._content([(n, inner) for inner in part.parts], inside=False)}
            case Media():
                return self._media(part, n, inside=inside)
            case Refusal():
                if self.message.role == "assistant":
                    return {"type": "refusal", "refusal": part.text}
                self._lost(LossKind.REFUSAL, n, "went along as text")
                return {"type": "text", "text": part.text}
            case JsonPart():
                self._lost(LossKind.STRUCTURE, n, "went along as text")
                return {"type": "text", "text": dump_json(part.value)}
            case Opaque() if part.api == API:
                return copy_json(part.raw)
            case Opaque():
                return self._lost(LossKind.OPAQUE, n, f"{part.type} of {part.api} is left out")
            case Thinking():
                return self._lost(LossKind.THINKING, n, "left out: it is of another api, or was changed")
            case CacheMark():
                return self._lost(LossKind.CACHE_MARK, n, "left out")
            case ToolCall() | ToolResult():
                return None

    def _text(self, part: Text, raw: Any, n: int) -> Any:
        if raw is not None:
            return {**copy_json(raw), "text": part.text}
        if part.citations:
            self._lost(LossKind.CITATIONS, n, "left out")
        return {"type": "text", "text": part.text}

    def _media(self, media: Media, n: int, *, inside: bool) -> Any:
        block = chat_media(media) if inside or self.message.role in ("user", "tool") else None
        if block is None:
            return self._lost(LossKind.MEDIA, n, f"{media.media} in this form has no place in a {self.message.role} message")
        if not inside:
            return block
        self._lost(LossKind.MEDIA_MOVED, n, "stands in a user message after the results")
        return self.moved.append(block)


def _says(raw: dict[str, Any], part: Part) -> bool:
    """Whether reasoning inside the content is as it was: it may be left out, never changed."""
    return decode({"role": "assistant", "content": [raw]}, id="again").parts == (part,)


def chat_media(media: Media) -> dict[str, Any] | None:
    """Media as a part of a user message, or None where the api does not take it: video, a document by URL."""
    where = data_url(attrs.evolve(media, mime=media_mime(media)))
    if media.media == "image" and where is not None:
        return {"type": "image_url", "image_url": {"url": where, **({"detail": media.detail} if media.detail else {})}}
    if media.media == "audio" and media.data is not None and media.mime in _AUDIO_FORMATS:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": _AUDIO_FORMATS[media.mime]}}
    if media.media == "document" and media.file_id is not None:
        return {"type": "file", "file": {"file_id": media.file_id}}
    if media.media == "document" and media.data is not None:
        data = media.data if media.data.startswith("data:") else where
        return {"type": "file", "file": {"filename": media.name or "document", "file_data": data}}
    return None
