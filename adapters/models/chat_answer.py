"""Answers in the chat completions form: read into a `Completion`, and put together from the pieces of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from attrs import evolve

from contextport.contracts import Json, Message, Refusal, Text, ToolCall
from contextport.contracts.codec import MessageCodec
from contextport.contracts.model import Completion
from contextport.contracts.stop_reasons import stop_reason
from contextport.contracts.usage import usage_from

from .answers import whole_arguments, with_own_ids, with_parts
from .sdk_failure import UnreadableAnswer

__all__ = ["ChatAnswerStream", "completion_of"]

_API = "openai.chat"
_ONLY_IN_ANSWERS = frozenset({"annotations", "citations"})  # a request with them is refused by strict hosts
_CALLS = "tool_calls"
_WHOLE_AT_ONCE = frozenset(
    {"id", "type", "role", "name", "index", "format", "signature"}
)  # some hosts repeat these in each piece


def completion_of(answer: Mapping[str, Any], codec: MessageCodec, *, window: int | None = None) -> Completion:
    """Read a `chat.completion` object. `window` is the model's, in tokens, if known.

    Raises `UnreadableAnswer` where there is no choice in it, such as an error that came with status 200.
    """
    choice = next(iter(_choices(answer)), {})
    raw: Json = choice.get("message")
    if not isinstance(raw, dict):
        raise UnreadableAnswer("the answer holds no message", dict(answer))
    raw_stop = str(choice.get("finish_reason") or "")
    message = _message(cast(dict[str, Any], raw), codec, cut=stop_reason(_API, raw_stop).is_cut)
    reported: Json = answer.get("usage")
    usage = usage_from(_API, reported) if isinstance(reported, dict) and reported else None
    reason = stop_reason(
        _API,
        raw_stop,
        calls=[part for part in message.parts if isinstance(part, ToolCall)],
        refused=any(isinstance(part, Refusal) for part in message.parts),
        usage=usage,
        window=window,
    )
    return Completion(message=message, stop=reason, raw_stop=raw_stop, usage=usage, model=str(answer.get("model") or ""))


def _choices(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The choices of an answer or of a piece of one, that of the lowest index first; a few hosts do not begin at 0."""
    choices: Json = answer.get("choices")
    found = cast(list[Any], choices) if isinstance(choices, list) else []
    return sorted([cast(dict[str, Any], one) for one in found if isinstance(one, dict)], key=_index)


def _index(choice: dict[str, Any]) -> int:
    index: Json = choice.get("index")
    return index if isinstance(index, int) else 0


def _message(raw: dict[str, Any], codec: MessageCodec, *, cut: bool) -> Message:
    (message,) = codec.decode({"messages": [_as_request(raw)]})
    citations = raw.get("annotations") or ()
    parts = list(message.parts)
    for n, part in enumerate(parts):
        if isinstance(part, ToolCall):
            parts[n] = evolve(part, complete=_is_whole(part, cut=cut))
        elif isinstance(part, Text) and citations:
            parts[n], citations = evolve(part, citations=tuple(citations)), ()
    return with_parts(message, tuple(parts))


def _is_whole(call: ToolCall, *, cut: bool) -> bool:
    if isinstance(call.raw, dict) and "custom" in call.raw:  # its input is free text, so only the reason can tell
        return not cut
    return whole_arguments(call.arguments, cut=cut)


def _as_request(raw: dict[str, Any]) -> dict[str, Any]:
    """The message as it may be sent back: without nulls, and without what only answers have."""
    kept = {
        key: value
        for key, value in raw.items()
        if key not in _ONLY_IN_ANSWERS and value is not None and not (value == [] and key != "content")
    }
    request = {"content": None, **kept, "role": "assistant"}  # whatever the host calls it
    if isinstance(kept.get(_CALLS), list):
        request[_CALLS] = with_own_ids([_call(call) for call in kept[_CALLS]], "call_")
    if isinstance(kept.get("audio"), dict):
        request["audio"] = {"id": kept["audio"].get("id")}
    return request


def _call(raw: dict[str, Any]) -> dict[str, Any]:
    """A call with what some compatible hosts leave out: the type, and the place of an id."""
    call = {key: value for key, value in raw.items() if key != "index" and value not in (None, "")}
    return {"id": None, "type": "function", **call}


class ChatAnswerStream:
    """The pieces of a streamed answer, put together so that it equals the answer that comes at once."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._answer: dict[str, Any] = {}
        self._finish: str | None = None
        self._index: int | None = None  # that of the choice which is read

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Take in one `chat.completion.chunk`; returns the visible text that it brought."""
        self._answer.update({key: chunk[key] for key in ("id", "model", "usage") if chunk.get(key)})
        choices = _choices(chunk)
        if self._index is None and choices:
            self._index = _index(choices[0])
        choice = next((one for one in choices if _index(one) == self._index), {})
        self._finish = choice.get("finish_reason") or self._finish
        delta: Json = choice.get("delta")
        if not isinstance(delta, dict):
            return ""
        _merge(self._message, cast(dict[str, Any], delta))
        return _visible(delta.get("content")) + _visible(delta.get("refusal"))

    def answer(self) -> dict[str, Any]:
        """The whole `chat.completion`. Raises `UnreadableAnswer` if no reason to finish has come: the stream broke."""
        if self._finish is None:
            raise UnreadableAnswer("the stream ended before the answer did: no finish_reason came")
        return {**self._answer, "choices": [{"index": 0, "message": self._message, "finish_reason": self._finish}]}


def _visible(content: Json) -> str:
    if isinstance(content, list):
        return "".join(_visible(part.get("text")) for part in cast(list[Any], content) if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _merge(into: dict[str, Any], delta: dict[str, Any]) -> None:
    """Add a delta: strings are continued, lists joined by the `index` of their items, objects merged."""
    for key, value in delta.items():
        have = into.get(key)
        if value is None or (key in _WHOLE_AT_ONCE and value == ""):
            into.setdefault(key, value)
        elif have is None or key in _WHOLE_AT_ONCE:
            into[key] = _begin(key, value)
        elif isinstance(have, dict) and isinstance(value, dict):
            _merge(cast(dict[str, Any], have), cast(dict[str, Any], value))
        elif isinstance(have, list) or isinstance(value, list):
            into[key] = _as_list(have)
            _merge_list(key, into[key], _as_list(value))
        else:
            into[key] = have + value if isinstance(have, str) and isinstance(value, str) else value


def _begin(key: str, value: Json) -> Json:
    """A copy to go on with; what came in one piece may already hold several pieces of one item."""
    if isinstance(value, list):
        begun: list[Any] = []
        _merge_list(key, begun, cast(list[Any], value))
        return begun
    if isinstance(value, dict):
        copied: dict[str, Any] = {}
        _merge(copied, cast(dict[str, Any], value))
        return copied
    return value


def _as_list(value: Json) -> list[Any]:
    if isinstance(value, list):
        return cast(list[Any], value)
    return [{"type": "text", "text": value}] if value else []


def _merge_list(key: str, into: list[Any], items: list[Any]) -> None:
    for item in items:
        if not isinstance(item, dict):
            into.append(item)
            continue
        begun = _begun(into, cast(dict[str, Any], item), is_call=key == _CALLS)
        if begun is None:
            begun = {}
            into.append(begun)
        _merge(begun, cast(dict[str, Any], item))


def _begun(items: list[Any], piece: dict[str, Any], *, is_call: bool) -> dict[str, Any] | None:
    """The item that a piece goes on with: the last of its index, unless another id says that it is the next one.

    Of calls without an index it is the last one, unless the piece names another id, or a function.
    """
    index, id = piece.get("index"), piece.get("id")
    if index is None and is_call and not (piece.get("function") or {}).get("name"):
        index = items[-1].get("index") if items and isinstance(items[-1], dict) else None
    elif index is None:
        return None
    for item in reversed(items):
        if isinstance(item, dict) and item.get("index") == index:
            return None if id and item.get("id") not in (None, "", id) else cast(dict[str, Any], item)
    return None
