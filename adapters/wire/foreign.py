"""What every codec asks of messages that another api, or a host's own code, wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from contextport.contracts import (
    Encoded,
    EncodingLossy,
    InvalidMessage,
    Json,
    JsonPart,
    Loss,
    LossKind,
    Media,
    Message,
    Native,
    Part,
    Text,
    ToolCall,
    ToolResult,
    copy_json,
    dump_json,
)
from contextport.contracts.json_values import encodable

__all__ = [
    "Losses",
    "arguments_object",
    "beneath",
    "data_url",
    "is_custom_call",
    "own_raw",
    "request_list",
    "result_text",
    "split_data_url",
    "unedited",
]


class Losses:
    """The losses of one call of `encode`, in their order."""

    def __init__(self) -> None:
        self._found: list[Loss] = []

    def add(self, kind: LossKind, message: Message, part: int = -1, detail: str = "") -> None:
        """Note a loss. `detail` says what became of it, without any content of the message."""
        self._found.append(Loss(kind=kind, message_id=message.id, part=part, detail=detail))

    def encoded(self, request: dict[str, Any], *, strict: bool) -> Encoded:
        """The request with the losses. Raises `EncodingLossy` where there are some and none is allowed."""
        if strict and self._found:
            kinds = ", ".join(sorted({str(loss.kind) for loss in self._found}))
            raise EncodingLossy(
                f"the request cannot say {len(self._found)} things of the conversation ({kinds}); see `losses`, "
                "take them out, or encode with strict=False",
                losses=tuple(self._found),
            )
        return Encoded(request=request, losses=tuple(self._found))


def unedited(message: Message, api: str) -> Native | None:
    """The wire form of a message that goes out in `api` as it came in; None where it must be built anew."""
    native = message.native
    return native if native is not None and native.api == api and native.parts is message.parts else None


def own_raw(message: Message, part: Part, api: str) -> dict[str, Any] | None:
    """The wire part that an edited message's part came from, to be copied; None if it is not of `api`, or was put in later.

    A part says not of which api its `raw` is, so it must be found in the wire form of its message.
    """
    raw = getattr(part, "raw", None)
    native = message.native
    if not isinstance(raw, dict) or native is None or native.api != api or not _holds(native.raw, raw):
        return None
    return cast(dict[str, Any], raw)


def _holds(value: Json, fragment: dict[str, Any]) -> bool:
    if isinstance(value, dict):
        return value == fragment or any(_holds(one, fragment) for one in cast(dict[str, Any], value).values())
    return isinstance(value, list) and any(_holds(one, fragment) for one in cast(list[Any], value))


def result_text(result: ToolResult) -> str:
    """What a tool result says as one text: its texts and its JSON, joined by line feeds."""
    said: list[str] = []
    for part in result.parts:
        if isinstance(part, Text):
            said.append(part.text)
        elif isinstance(part, JsonPart):
            said.append(dump_json(part.value))
    return "\n".join(said)


def arguments_object(arguments: str) -> tuple[dict[str, Any], bool]:
    """The arguments of a call as an object, and whether `dump_json` gives the exact string back (else: `LossKind.ARGUMENTS`).

    No arguments at all are `{}`. What is no JSON object stands whole under the key `arguments`, so that it is still said.
    """
    if not arguments.strip():
        return {}, arguments == ""
    try:
        value = copy_json(json.loads(arguments))  # the copy refuses what JSON in other hands has not, such as NaN
    except (ValueError, RecursionError):
        return {"arguments": encodable(arguments)}, False
    if not isinstance(value, dict):
        return {"arguments": encodable(arguments)}, False
    clean = encodable(value)
    return cast(dict[str, Any], clean), dump_json(clean) == arguments


def is_custom_call(call: ToolCall) -> bool:
    """Whether a call is one of OpenAI's custom tools, whose input is any text: chat and Responses both have them."""
    raw = call.raw
    return isinstance(raw, dict) and cast(dict[str, Any], raw).get("type") in ("custom", "custom_tool_call")


def data_url(media: Media) -> str | None:
    """Where the media is: its URL, or its data as a `data:` URL; None where there is only a file id."""
    if media.url:
        return media.url
    return f"data:{media.mime or 'application/octet-stream'};base64,{media.data}" if media.data else None


def split_data_url(url: str) -> tuple[str | None, str] | None:
    """(MIME type, base64) of a `data:` URL; None for any other URL."""
    if not url.startswith("data:"):
        return None
    head, _, data = url.partition(",")
    return head[5:].partition(";")[0] or None, data


def request_list(request: Mapping[str, Json], key: str) -> list[Any]:
    """The list under `key` of a request. Raises `InvalidMessage` where it is missing or no list."""
    if not isinstance(request, Mapping):
        raise InvalidMessage(f"a request is a mapping with {key!r}, not a {type(request).__name__}", path="")
    value = request.get(key)
    if isinstance(value, list | tuple):
        return cast(list[Any], value)
    found = f"a {type(value).__name__}" if key in request else "missing"
    raise InvalidMessage(f"{key} is {found}; it must be a list of messages", path=key)


def beneath(path: str, error: InvalidMessage) -> InvalidMessage:
    """The error with the place that it was found in put before its path: `messages[3]` and `content[0]`."""
    inner = str(error.details.get("path") or "")
    whole = f"{path}.{inner}" if inner and not inner.startswith("[") else path + inner
    return InvalidMessage(f"{path}: {error}", path=whole)
