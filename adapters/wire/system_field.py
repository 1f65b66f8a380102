"""The system prompt where an api has a request field for it, apart from the list of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contextport.contracts import Json, Message, Native, Part

__all__ = ["SYSTEM_ROLES", "among_messages", "field_prompt", "field_value", "leading_prompts", "with_field"]

SYSTEM_ROLES = frozenset({"system", "developer"})
_FIELDS = ("system", "system_instruction", "systemInstruction")


def field_prompt(
    request: Mapping[str, Json], key: str, value: Json, parts: Sequence[Part], *, api: str, list_key: str
) -> Message:
    """The system message of a field. Its wire form is the field; an empty list before it says that it came after the messages."""
    keys = list(request)
    raw: dict[str, Any] = {list_key: []} if list_key in keys and keys.index(list_key) < keys.index(key) else {}
    raw[key] = value
    own = tuple(parts)
    return Message(role="system", parts=own, native=Native(api=api, raw=raw, parts=own))


def leading_prompts(messages: Sequence[Message], api: str) -> list[Message]:
    """The system messages at the start that go into the field: those that the wire had among its messages stay there."""
    prompts: list[Message] = []
    for message in messages:
        if message.role not in SYSTEM_ROLES or among_messages(message, api):
            break
        prompts.append(message)
    return prompts


def among_messages(message: Message, api: str) -> bool:
    """Whether the message was one of the list of messages of this api, and not its system field."""
    raw = _own_form(message, api)
    return raw is not None and raw.keys().isdisjoint(_FIELDS)


def field_value(message: Message, api: str) -> Json:
    """What stood in the system field that the message came from; None where it came from none of this api."""
    raw = _own_form(message, api) or {}
    return next((raw[key] for key in _FIELDS if key in raw), None)


def _own_form(message: Message, api: str) -> dict[str, Any] | None:
    native = message.native
    return native.raw if native is not None and native.api == api and isinstance(native.raw, dict) else None


def with_field(
    prompts: Sequence[Message], value: Json, *, key: str, list_key: str, messages: list[Any], api: str
) -> dict[str, Any]:
    """The request fields, in the order and by the name that the prompt came with; no system field for the value None."""
    if value is None:
        return {list_key: messages}
    raw = _own_form(prompts[0], api) or {}
    key = next((name for name in raw if name != list_key), key)
    return {list_key: messages, key: value} if list_key in raw else {key: value, list_key: messages}
