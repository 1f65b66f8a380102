"""Answers in the form of Anthropic's Messages API: read into a `Completion`, and put together from the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from attrs import evolve

from contextport.contracts import Json, Message, ToolCall
from contextport.contracts.codec import MessageCodec
from contextport.contracts.model import Completion
from contextport.contracts.stop_reasons import stop_reason
from contextport.contracts.usage import usage_from

from .answers import with_own_ids, with_parts
from .sdk_failure import UnreadableAnswer

__all__ = ["ClaudeAnswerStream", "claude_tool", "completion_of"]

_API = "anthropic.messages"


def completion_of(
    answer: Mapping[str, Any], codec: MessageCodec, *, broken: Mapping[int, str] | None = None, window: int | None = None
) -> Completion:
    """Read a `message` object. `broken` holds, by the index of its block, the arguments of calls that were cut in a stream.

    In an answer that came at once the arguments are an object, so a cut cannot be seen: the last call is taken for cut when the
    answer was cut within it. Raises `UnreadableAnswer` where there is no content in it.
    """
    blocks: Json = answer.get("content")
    if not isinstance(blocks, list):
        raise UnreadableAnswer("the answer holds no content", dict(answer))
    content = _named([_block(block) for block in cast(list[Any], blocks)])
    raw_stop = str(answer.get("stop_reason") or "")
    message = _message(content, codec)
    if broken is None and stop_reason(_API, raw_stop).is_cut and content and content[-1].get("type") == "tool_use":
        message = _with_cut(message, {str(content[-1].get("id")): None})
    elif broken:
        message = _with_cut(message, {str(content[n].get("id")): arguments for n, arguments in broken.items()})
    reported: Json = answer.get("usage")
    usage = usage_from(_API, reported) if isinstance(reported, dict) and reported else None
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    reason = stop_reason(_API, raw_stop, calls=calls, usage=usage, window=window)
    return Completion(message=message, stop=reason, raw_stop=raw_stop, usage=usage, model=str(answer.get("model") or ""))


def _block(raw: Json) -> dict[str, Any]:
    """A block as it may be sent back: the null of a text without citations says nothing."""
    if not isinstance(raw, dict):
        raise UnreadableAnswer(f"a block of the answer is {type(raw).__name__}", raw)
    block = cast(dict[str, Any], raw)
    return {key: value for key, value in block.items() if not (key == "citations" and value is None)}


def _named(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks with an id of its own for each call of a tool of the host."""
    calls = iter(with_own_ids([block for block in content if block.get("type") == "tool_use"], "toolu_"))
    return [next(calls) if block.get("type") == "tool_use" else block for block in content]


def _message(content: list[dict[str, Any]], codec: MessageCodec) -> Message:
    if not content:
        return Message(role="assistant", parts=())
    (message,) = codec.decode({"messages": [{"role": "assistant", "content": content}]})
    return message


def _with_cut(message: Message, cut: Mapping[str, str | None]) -> Message:
    """Mark the calls with these ids as cut; a text stands for the arguments that came, of which the wire form has no place."""
    parts = list(message.parts)
    for n, part in enumerate(parts):
        if isinstance(part, ToolCall) and part.call_id in cut:
            arguments = cut[part.call_id]
            part = evolve(part, complete=False)
            parts[n] = part if arguments is None else evolve(part, arguments=arguments, raw=None)
    return with_parts(message, tuple(parts), same_on_the_wire=all(arguments is None for arguments in cut.values()))


def claude_tool(tool: Json) -> Json:
    """A tool schema of the chat form as one of Anthropic. What is not a function of that form goes along as it is."""
    function: Json = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    if not isinstance(function, dict):
        return tool
    outer, inner = cast(dict[str, Any], tool), cast(dict[str, Any], function)
    converted = {"name": inner.get("name"), "input_schema": inner.get("parameters") or {"type": "object", "properties": {}}}
    known = {key: inner[key] for key in ("description", "strict") if inner.get(key) is not None}
    beside = {key: value for key, value in outer.items() if key not in ("type", "function")}
    return {**converted, **known, **beside}


class ClaudeAnswerStream:
    """The events of a streamed answer, put together so that it equals the answer that comes at once."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._stopped = False

    def add(self, event: Mapping[str, Any]) -> str:
        """Take in one event; returns the visible text that it brought."""
        match event.get("type"):
            case "message_start":
                self._answer.update(event.get("message") or {})
            case "content_block_start":
                block = dict(event.get("content_block") or {})
                self._blocks[int(event["index"])] = block
                return _visible(block)
            case "content_block_delta":
                return self._add_delta(int(event["index"]), event.get("delta") or {})
            case "message_delta":
                self._answer.update({key: value for key, value in (event.get("delta") or {}).items() if value is not None})
                reported = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
                self._answer["usage"] = {**(self._answer.get("usage") or {}), **reported}
            case "message_stop":
                self._stopped = True
            case _:
                pass  # kinds of events may be added at any time
        return ""

    def _add_delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        match delta.get("type"):
            case "input_json_delta":
                self._inputs[index] = self._inputs.get(index, "") + str(delta.get("partial_json") or "")
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
            case _:
                _go_on(block, delta)
        return _visible(delta)

    def answer(self) -> dict[str, Any]:
        """The whole `message`. Raises `UnreadableAnswer` if its end has not come: the stream broke."""
        if not self._stopped:
            raise UnreadableAnswer("the stream ended before the answer did: no message_stop came")
        broken = self._broken()
        for index, text in self._inputs.items():
            if index not in broken:
                self._blocks[index]["input"] = json.loads(text) if text.strip() else {}
        return {**self._answer, "content": [self._blocks[index] for index in sorted(self._blocks)]}

    @property
    def broken(self) -> dict[int, str]:
        """The arguments of calls that are not whole, by the place of their block."""
        places = {index: place for place, index in enumerate(sorted(self._blocks))}
        return {places[index]: text for index, text in self._broken().items()}

    def _broken(self) -> dict[int, str]:
        """The same by the index of the block: between indexes there may be gaps."""
        cut = stop_reason(_API, str(self._answer.get("stop_reason") or "")).is_cut
        last = max(self._blocks, default=0)
        given = {index: self._inputs.get(index, "") for index, block in self._blocks.items() if "input" in block}
        return {index: text for index, text in given.items() if not _is_object(text, empty=not (cut and index == last))}


def _is_object(text: str, *, empty: bool) -> bool:
    if not text.strip():
        return empty
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _visible(piece: Mapping[str, Any]) -> str:
    text = piece.get("text")
    return text if isinstance(text, str) and piece.get("type") in ("text", "text_delta") else ""


def _go_on(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Continue the fields of a block: text, thinking and its signature, and whatever a later kind of delta brings."""
    for key, value in delta.items():
        if key != "type" and value is not None:
            have = block.get(key)
            block[key] = have + value if isinstance(have, str) and isinstance(value, str) else value
