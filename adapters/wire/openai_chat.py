"""OpenAI Chat Completions: the request field `messages`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from contextport.contracts import (
    Encoded,
    InvalidMessage,
    Json,
    Message,
    MessageCodec,
    copy_json,
    implements,
)
from contextport.contracts.chat_format import API, decode
from contextport.contracts.json_values import encodable

from .call_ids import map_ids
from .foreign import Losses, beneath, not_a_mapping, request_list, unedited
from .openai_chat_encoding import ChatEncoder

__all__ = ["OpenAIChatCodec"]

_LONGEST_ID = 40  # characters; longer ids are refused with string_above_max_length


@implements(MessageCodec)
class OpenAIChatCodec:
    """Messages of Chat Completions, as `client.chat.completions.create` and compatible servers take them: `{"messages": [...]}`.

    Decoding is that of `from_chat`: what compatible servers add (`reasoning_content`, unknown keys, parts of other providers in
    the content) is carried along.

    Encoding. Each tool result becomes a message of its own. Media in results, which may hold text only, stands in a user message
    after the run of results (`LossKind.MEDIA_MOVED`). Text that comes after a call changes places with it (`LossKind.ORDER`).
    Reasoning of other apis is left out. Ids of calls have at most 40 printable ASCII characters. Messages that are left with
    nothing to say are left out.
    """

    @property
    def api(self) -> str:
        return API

    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        return tuple([_decoded(value, n) for n, value in enumerate(request_list(request, "messages"))])

    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        losses = Losses()
        ids = map_ids(messages, api=API, allowed=_allowed)
        said: list[dict[str, Any]] = []
        moved: list[dict[str, Any]] = []  # media of the results of the run so far
        for message in messages:
            if moved and message.role != "tool":
                said.append({"role": "user", "content": moved})
                moved = []
            native = unedited(message, API)
            if native is not None:
                said.append(encodable(native.raw))
            else:
                encoder = ChatEncoder(message=message, ids=ids, losses=losses)
                said.extend(cast(list[dict[str, Any]], encodable(encoder.messages())))
                moved.extend(encoder.moved)
        if moved:
            said.append({"role": "user", "content": moved})
        return losses.encoded({"messages": said}, strict=strict)


def _decoded(value: Json, n: int) -> Message:
    if not isinstance(value, Mapping):
        raise not_a_mapping(f"messages[{n}]", value, "a message with a role")
    try:
        return decode(copy_json(value))
    except InvalidMessage as error:
        raise beneath(f"messages[{n}]", error) from error


_printable = re.compile(rf"[!-~]{{1,{_LONGEST_ID}}}").fullmatch


def _allowed(call_id: str) -> bool:
    return _printable(call_id) is not None
