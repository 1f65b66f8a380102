"""Bedrock Converse: the request fields `system` and `messages`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from contextport.contracts import (
    Encoded,
    InvalidArgument,
    InvalidMessage,
    Json,
    LossKind,
    Message,
    MessageCodec,
    Role,
    implements,
)

from .bedrock_blocks import API, decode_blocks
from .bedrock_encoding import BedrockEncoder
from .call_ids import map_ids
from .foreign import Losses, request_list, unedited
from .system_field import SYSTEM_ROLES, among_messages, field_prompt, field_value, leading_prompts, with_field
from .wire_bytes import copy_wire, to_wire
from .wire_messages import WireMessages, note_beside, separated

__all__ = ["BedrockConverseCodec"]

_ROLES: dict[Any, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_FREE = frozenset({"input", "json"})
_call_id = re.compile(r"[a-zA-Z0-9_.:-]{1,64}").fullmatch


@implements(MessageCodec)
class BedrockConverseCodec:
    """Messages of Bedrock, as `client.converse` of the AWS SDK takes them: `{"system": [...], "messages": [...]}`.

    Bytes. The SDK wants images, documents and redacted reasoning as bytes, which JSON does not have. `decode` takes bytes, and
    also base64 text, as the HTTP body has it. A decoded part has base64 in `data` or `encrypted`; in `raw` and `Native.raw` bytes
    are `{"$bytes": "<base64>"}`, so that a message can be stored. `encode` gives bytes back as bytes and text as text; what came
    from another api has bytes, for the SDK. With `media_as="base64"` all of them are base64 text, and the request is JSON, which
    is the form of the HTTP body, not of the SDK.

    Decoding. The `system` field is a system message, and so is a message of role `system` in the middle. Calls of one message
    are parts of one message. A user message with tool results is a `tool` message of the results and a `user` message of the
    rest, joined by `Native.group`. `cachePoint` is a `CacheMark`; text for a guardrail and text with citations are `Text`. Other
    blocks are `Opaque`.

    Encoding. System and developer messages at the start become the `system` field; later ones go along as user messages
    (`LossKind.ROLE`), unless they were decoded as messages of role `system`. Results of a run of tool messages stand in one user
    message, together with the words of the user that follow, as roles have to alternate; two messages that were neighbours of
    one role on the wire stay so. JSON objects in results are `json`, other JSON is text. Media have a place in user messages,
    and all but sound in results. Empty texts, and messages left with nothing to say, are left out.
    """

    def __init__(self, *, media_as: Literal["bytes", "base64"] = "bytes") -> None:
        if media_as not in ("bytes", "base64"):
            raise InvalidArgument(f"media_as is {media_as!r}; it must be 'bytes' or 'base64'")
        self._as_bytes = media_as == "bytes"

    @property
    def api(self) -> str:
        return API

    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        given = request_list(request, "messages")
        messages: list[Message] = []
        if "system" in request:
            value = copy_wire(request["system"], "system", free=_FREE)
            parts = [parts[0] for _, parts in decode_blocks(value, "system")]
            messages.append(field_prompt(request, "system", value, parts, api=API, list_key="messages"))
        for n, value in enumerate(given):
            messages.extend(_decoded(value, f"messages[{n}]"))
        return tuple(messages)

    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        losses = Losses()
        ids = map_ids(messages, api=API, allowed=_allowed, prefix="tooluse_", length=40)
        prompts = leading_prompts(messages, API)
        system = self._system(prompts, losses)
        wire = WireMessages("content")
        for message in messages[len(prompts) :]:
            if message.role != "tool":
                wire.end_results()
            native = unedited(message, API)
            if native is not None and among_messages(message, API):
                wire.add(self._wire(native.raw), lane=native.raw.get("role"), own=True, group=native.group)
            else:
                self._add(message, ids, losses, wire)
        wire.end_results()
        request = with_field(prompts, system, key="system", list_key="messages", messages=wire.messages, api=API)
        return losses.encoded(request, strict=strict)

    def _wire(self, value: Json) -> Any:
        return to_wire(value, free=_FREE, as_bytes=self._as_bytes)

    def _add(self, message: Message, ids: Mapping[str, str], losses: Losses, wire: WireMessages) -> None:
        """Add a message that is built anew; one that has nothing to say there is left out."""
        own = among_messages(message, API)
        if not own:
            note_beside(message, losses)
        encoder = BedrockEncoder(message=message, ids=ids, losses=losses)
        blocks = self._wire(encoder.blocks())
        wire.waiting.extend(self._wire(encoder.moved))
        if not blocks:
            return
        native = message.native
        if native is not None and own:
            value = {**self._wire({**native.raw, "content": []}), "content": blocks}
            wire.add(value, lane=value.get("role"), own=True, group=native.group)
            return
        role = "assistant" if message.role == "assistant" else "user"
        if message.role in SYSTEM_ROLES:
            losses.add(LossKind.ROLE, message, -1, f"a {message.role} message after the start went along as a user message")
        wire.add({"role": role, "content": blocks}, lane=role, own=False)

    def _system(self, prompts: Sequence[Message], losses: Losses) -> Json:
        """The system field: None for no prompt, the very value of an unedited one, else the blocks of all."""
        found: list[Any] = []
        for prompt in prompts:
            value = field_value(prompt, API)
            if isinstance(value, list) and unedited(prompt, API):
                found.extend(self._wire(value))
                if len(prompts) == 1:
                    return found
                continue
            if prompt.role == "developer":
                losses.add(LossKind.ROLE, prompt, -1, "a developer message went along as the system prompt")
            note_beside(prompt, losses)
            found.extend(self._wire(BedrockEncoder(message=prompt, ids={}, losses=losses).blocks()))
        return found or None


def _allowed(call_id: str) -> bool:
    return _call_id(call_id) is not None


def _decoded(value: Json, path: str) -> list[Message]:
    """The message or messages of one wire message: results are apart from what the user says."""
    if not isinstance(value, Mapping):
        raise InvalidMessage(f"{path} is a {type(value).__name__}; it must be a message with role and content", path=path)
    raw: dict[str, Any] = copy_wire(value, path, free=_FREE)
    given = raw.get("role")
    role = _ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        raise InvalidMessage(f"{path}.role is {given!r}; it must be one of {', '.join(_ROLES)}", path=f"{path}.role")
    return separated(raw, "content", decode_blocks(raw.get("content"), f"{path}.content"), role=role, api=API)
