"""Anthropic Messages: the request fields `system` and `messages`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from contextport.contracts import (
    Encoded,
    InvalidMessage,
    Json,
    LossKind,
    Message,
    MessageCodec,
    Part,
    Role,
    Text,
    copy_json,
    implements,
)
from contextport.contracts.json_values import encodable

from .anthropic_blocks import API, decode_blocks
from .anthropic_encoding import AnthropicEncoder
from .call_ids import map_ids
from .foreign import Losses, not_a_mapping, request_list, unedited
from .system_field import SYSTEM_ROLES, among_messages, field_prompt, field_value, leading_prompts, with_field
from .wire_messages import WireMessages, note_beside, separated, whole

__all__ = ["AnthropicCodec"]

_ROLES: dict[Any, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_call_id = re.compile(r"[a-zA-Z0-9_-]+").fullmatch


@implements(MessageCodec)
class AnthropicCodec:
    """Messages of the Anthropic API, as `client.messages.create` takes them: `{"system": ..., "messages": [...]}`.

    Decoding. The `system` field, a string or blocks, is a system message, and so is a message of role `system` in the middle.
    Calls of one message are parts of one message. A user message with tool results is a `tool` message of the results and a
    `user` message of the rest, joined by `Native.group`. `cache_control` of a block is a `CacheMark` after its part; inside a
    tool result it stays in the `raw` of the inner part. Blocks of other types than text, image, document, thinking and those
    of calls and results are `Opaque`; the result of a server's tool has the id of its call as `pair_id`.

    Encoding. System and developer messages at the start become the `system` field; later ones go along as user messages
    (`LossKind.ROLE`), unless they were decoded as messages of role `system`, or `middle_system` says that the model takes such
    messages, as Opus 4.8 does; where they may stand is the profile's matter. Results of a run of tool messages stand in one
    user message, and neighbours of one role are joined where one of them is new to this api. Ids are of letters, digits, `_`
    and `-`. Only images and documents have a place, in user messages and in results. Empty texts, and messages left with
    nothing to say, are left out.
    """

    def __init__(self, *, middle_system: bool = False) -> None:
        self._middle_role = "system" if middle_system else "user"

    @property
    def api(self) -> str:
        return API

    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        given = request_list(request, "messages")
        messages: list[Message] = []
        if "system" in request:
            value = copy_json(request["system"], "system")
            messages.append(field_prompt(request, "system", value, _prompt_parts(value), api=API, list_key="messages"))
        for n, value in enumerate(given):
            messages.extend(_decoded(value, f"messages[{n}]"))
        return tuple(messages)

    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        losses = Losses()
        ids = map_ids(messages, api=API, allowed=_allowed, prefix="toolu_", length=30)
        prompts = leading_prompts(messages, API)
        wire = WireMessages("content")
        for message in messages[len(prompts) :]:
            native = unedited(message, API)
            if native is not None and among_messages(message, API):
                wire.add(encodable(native.raw), lane=native.raw.get("role"), own=True, group=native.group)
            else:
                self._add(message, ids, losses, wire)
        system = _system(prompts, losses)
        request = with_field(prompts, system, key="system", list_key="messages", messages=wire.messages, api=API)
        return losses.encoded(request, strict=strict)

    def _add(self, message: Message, ids: Mapping[str, str], losses: Losses, wire: WireMessages) -> None:
        """Add a message that is built anew; one that has nothing to say there is left out."""
        own = among_messages(message, API)
        if not own:
            note_beside(message, losses)
        blocks = AnthropicEncoder(message=message, ids=ids, losses=losses).blocks()
        if not blocks:
            return
        native = message.native
        if native is not None and own:
            value = {**encodable(native.raw), "content": _content(blocks, as_text=isinstance(native.raw.get("content"), str))}
            wire.add(value, lane=value.get("role"), own=True, group=native.group)
            return
        role = "assistant" if message.role == "assistant" else "user"
        if message.role in SYSTEM_ROLES:
            role = self._middle_role
            if role != message.role:
                losses.add(
                    LossKind.ROLE, message, -1, f"a {message.role} message after the start went along as one of role {role}"
                )
        wire.add({"role": role, "content": _content(blocks, as_text=True)}, lane=role, own=False)


def _allowed(call_id: str) -> bool:
    return _call_id(call_id) is not None


# --- decoding ---------------------------------------------------------------------------------------------------------


def _decoded(value: Json, path: str) -> list[Message]:
    """The message or messages of one wire message: results are apart from what the user says."""
    if not isinstance(value, Mapping):
        raise not_a_mapping(path, value, "a message with role and content")
    raw: dict[str, Any] = copy_json(value, path)
    given = raw.get("role")
    role = _ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        raise InvalidMessage(f"{path}.role is {given!r}; it must be one of {', '.join(_ROLES)}", path=f"{path}.role")
    content, path = raw.get("content"), f"{path}.content"
    if isinstance(content, str):
        return [whole(raw, role, (Text(content),) if content else (), API)]
    return separated(raw, "content", decode_blocks(content, path), role=role, api=API)


def _prompt_parts(value: Json) -> list[Part]:
    if isinstance(value, str):
        return [Text(value)] if value else []
    return [part for _, parts in decode_blocks(value, "system") for part in parts]


# --- encoding ---------------------------------------------------------------------------------------------------------


def _content(blocks: list[dict[str, Any]], *, as_text: bool) -> Json:
    """The blocks, or one plain text as a string."""
    return blocks[0]["text"] if as_text and len(blocks) == 1 and blocks[0].keys() == {"type", "text"} else blocks


def _system(prompts: Sequence[Message], losses: Losses) -> Json:
    """The system field: None for no prompt, the very value of an unedited one, a string for one text without marks."""
    found: list[dict[str, Any]] = []
    as_text = True
    for prompt in prompts:
        value = field_value(prompt, API)
        if len(prompts) == 1 and value is not None and unedited(prompt, API):
            return encodable(value)
        as_text = as_text and not isinstance(value, list)
        if prompt.role == "developer":
            losses.add(LossKind.ROLE, prompt, -1, "a developer message went along as the system prompt")
        note_beside(prompt, losses)
        found.extend(AnthropicEncoder(message=prompt, ids={}, losses=losses).blocks())
    return _content(found, as_text=as_text) if found else None
