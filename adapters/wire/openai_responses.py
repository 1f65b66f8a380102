"""OpenAI Responses: the request fields `input` and `instructions`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from contextport.contracts import (
    Encoded,
    InvalidMessage,
    Json,
    LossKind,
    Message,
    MessageCodec,
    Native,
    Text,
    ToolCall,
    copy_json,
    implements,
)
from contextport.contracts.json_values import encodable

from .call_ids import map_ids
from .foreign import Losses, is_custom_call, request_list, unedited
from .openai_responses_encoding import ItemEncoder
from .openai_responses_items import API, decode_items

__all__ = ["OpenAIResponsesCodec"]

_FIELDS = ("instructions", "input")
_allowed_id = re.compile(r"[!-~]{1,64}").fullmatch  # longer ids are refused with string_above_max_length


@implements(MessageCodec)
class OpenAIResponsesCodec:
    """Items of the Responses API, as `client.responses.create` takes them: `{"instructions": ..., "input": [...]}`.

    Decoding. `instructions` is a system message. Neighbouring items that a model puts out (reasoning, messages, calls, and all
    of unknown type) are one assistant message, so that calls made together stay together; each output of a call is a message
    of its own. `ToolCall.call_id` is the item's `call_id`, `item_id` its `id`. Calls that the host runs, such as
    `computer_call`, are tool calls of the name `computer`; those that the server ran, references and compactions are `Opaque`.

    Encoding. System messages become items in their places, apart from one that was `instructions`. Text of an assistant that
    was no item here is a message item of its own, as its parts need ids that only the server gives. Reasoning of other apis is
    left out. Ids of calls have at most 64 printable ASCII characters. Sound and video have no place.
    """

    @property
    def api(self) -> str:
        return API

    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        if isinstance(request, Mapping) and "instructions" in request:
            messages = [_instructions(request)]
            if "input" not in request:
                return tuple(messages)
        else:
            messages = []
        given = request.get("input") if isinstance(request, Mapping) else None
        if isinstance(given, str):
            parts = (Text(given),) if given else ()
            return (*messages, Message(role="user", parts=parts, native=Native(api=API, raw=given, parts=parts)))
        return (*messages, *decode_items(copy_json(request_list(request, "input"), "input")))

    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        losses = Losses()
        ids = map_ids(messages, api=API, allowed=lambda one: _allowed_id(one) is not None, prefix="call_", length=29)
        holder = next((message for message in messages if _is_instructions(message)), None)
        kinds: dict[str, str] | None = None
        items: list[Any] = []
        if holder is not None and holder is not messages[0]:
            losses.add(LossKind.ORDER, holder, -1, "instructions stand before all messages")
        for message in messages:
            if message is holder:
                continue
            native = unedited(message, API)
            if native is not None and isinstance(native.raw, list):
                items += cast(list[Any], encodable(native.raw))
            elif native is not None and isinstance(native.raw, str) and len(messages) == 1 + (holder is not None):
                return losses.encoded(_request(holder, encodable(native.raw), losses), strict=strict)
            else:
                kinds = _kinds(messages) if kinds is None else kinds
                items += encodable(ItemEncoder(message=message, ids=ids, kinds=kinds, losses=losses).items())
        return losses.encoded(_request(holder, items, losses), strict=strict)


def _instructions(request: Mapping[str, Json]) -> Message:
    """The system message; its wire form is the request with the input left out, as the order of the two may be either."""
    value = request["instructions"]
    if value is not None and not isinstance(value, str):
        raise InvalidMessage(f"instructions is a {type(value).__name__}; it must be a string or null", path="instructions")
    raw = {key: value if key == "instructions" else None for key in request if key in _FIELDS}
    parts = (Text(value),) if value else ()
    return Message(role="system", parts=parts, native=Native(api=API, raw=raw, parts=parts))


def _is_instructions(message: Message) -> bool:
    native = message.native
    return native is not None and native.api == API and isinstance(native.raw, dict)


def _request(holder: Message | None, given: Any, losses: Losses) -> dict[str, Any]:
    """The request of the message that stands for `instructions`, if there is one, and of the input."""
    if holder is None or holder.native is None:
        return {"input": given}
    request: dict[str, Any] = dict(holder.native.raw)
    if unedited(holder, API) is None:
        request["instructions"] = _text_of(holder, losses)
    if given or "input" in request:
        request["input"] = given
    return cast(dict[str, Any], {**request, "instructions": encodable(request["instructions"])})


def _text_of(message: Message, losses: Losses) -> str:
    for n, part in enumerate(message.parts):
        if not isinstance(part, Text):
            losses.add(LossKind.OPAQUE, message, n, f"{type(part).__name__} has no place in instructions")
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def _kinds(messages: Sequence[Message]) -> dict[str, str]:
    """The type of each call that is no function call, by id: its result is of a type of its own too."""
    kinds: dict[str, str] = {}
    for message in messages:
        for call in message.parts:
            if type(call) is ToolCall and isinstance(call.raw, dict):
                if is_custom_call(call):
                    kinds[call.call_id] = "custom_tool_call"
                elif message.native is not None and message.native.api == API:
                    kinds[call.call_id] = call.raw["type"]
    return kinds
