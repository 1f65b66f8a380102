"""LangChain messages: the state key `messages`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from contextport.contracts import (
    Encoded,
    InvalidMessage,
    Json,
    Message,
    MessageCodec,
    Native,
    copy_json,
    implements,
    new_id,
)
from contextport.contracts.extras import needs_extra
from contextport.contracts.json_values import encodable

from .call_ids import map_ids
from .foreign import Losses, beneath, request_list, unedited
from .langchain_blocks import API, decode_parts, role_of
from .langchain_encoding import LangChainEncoder

with needs_extra("langchain"):
    from langchain_core.messages import (
        AIMessage,
        AIMessageChunk,
        BaseMessage,
        ChatMessage,
        ChatMessageChunk,
        FunctionMessage,
        FunctionMessageChunk,
        HumanMessage,
        HumanMessageChunk,
        SystemMessage,
        SystemMessageChunk,
        ToolMessage,
        ToolMessageChunk,
        convert_to_messages,
    )

__all__ = ["LangChainCodec"]

_CLASSES: dict[str, type[BaseMessage]] = {
    "human": HumanMessage,
    "ai": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
    "function": FunctionMessage,
    "chat": ChatMessage,
    "HumanMessageChunk": HumanMessageChunk,
    "AIMessageChunk": AIMessageChunk,
    "SystemMessageChunk": SystemMessageChunk,
    "ToolMessageChunk": ToolMessageChunk,
    "FunctionMessageChunk": FunctionMessageChunk,
    "ChatMessageChunk": ChatMessageChunk,
}


@implements(MessageCodec)
class LangChainCodec:
    """Messages as LangChain's models take and give them: `{"messages": [HumanMessage(...), AIMessage(...)]}`.

    Decoding takes message objects, their dumps (`model_dump()`, `message_to_dict`) and role dicts. All of a message must be
    JSON, the artifact of a tool message too. Arguments of calls are the exact string where `additional_kwargs` still has the
    provider's own form of them. A message's `id` becomes ours, unless another of the request has it.

    Encoding gives message objects; those that were not edited are equal to what was decoded. Media become blocks of the
    standard form (v1), in any message. Arguments that are no JSON object go along as invalid tool calls, as LangChain does it.
    Reasoning of other apis, and calls that a server ran, are left out. Text that comes after a call changes places with it.
    """

    @property
    def api(self) -> str:
        return API

    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        ids: set[str] = set()
        messages: list[Message] = []
        for n, value in enumerate(request_list(request, "messages")):
            path = f"messages[{n}]"
            raw = _dump(value, path)
            role = role_of(raw, path)
            parts = decode_parts(raw, role, path)
            given = raw.get("id")
            id = given if isinstance(given, str) and given and given not in ids else new_id()
            ids.add(id)
            native = Native(api=API, raw=raw, parts=parts)
            messages.append(Message(role=role, parts=parts, id=id, name=raw.get("name"), native=native))
        return tuple(messages)

    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        losses = Losses()
        ids = map_ids(messages, api=API, allowed=_allowed)
        built: list[BaseMessage] = []
        for message in messages:
            native = unedited(message, API)
            if native is not None:
                built.append(_object(encodable(native.raw)))
            else:
                encoder = LangChainEncoder(message=message, ids=ids, losses=losses)
                built.extend(_object(cast(dict[str, Any], encodable(value))) for value in encoder.messages())
        return losses.encoded({"messages": built}, strict=strict)


def _allowed(call_id: str) -> bool:
    return bool(call_id) and encodable(call_id) is call_id


def _object(value: dict[str, Any]) -> BaseMessage:
    return _CLASSES[value["type"]](**value)


def _dump(value: Any, path: str) -> dict[str, Any]:
    """A message as the dict that its class is made of. Raises `InvalidMessage`."""
    try:
        message = value if isinstance(value, BaseMessage) else _read(value)
        raw: dict[str, Any] = copy_json(message.model_dump(warnings=False))
    except InvalidMessage as error:
        raise beneath(path, error) from error
    except Exception as error:  # LangChain has no error of its own for what cannot be a message
        raise InvalidMessage(f"{path} cannot be a LangChain message: {type(error).__name__}", path=path) from error
    return raw


def _read(value: Any) -> BaseMessage:
    if not isinstance(value, Mapping):
        raise InvalidMessage(f"it is a {type(value).__name__}; it must be a message or its dump", path="")
    held: dict[str, Any] = copy_json(value)
    kind = held.get("type")
    if kind in _CLASSES and isinstance(held.get("data"), dict):
        return _CLASSES[kind](**held["data"])
    return _CLASSES[kind](**held) if kind in _CLASSES else convert_to_messages([held])[0]
