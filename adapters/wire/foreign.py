"""What every codec asks of messages that another api, or a host's own code, wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from attrs import define, field

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
    "OwnForms",
    "arguments_object",
    "beneath",
    "data_url",
    "is_custom_call",
    "not_a_mapping",
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


@define
class OwnForms:
    """Finds the wire parts that the parts of an edited message came from.

    A part says not of which api its `raw` is, so it must be found in the wire form of its message. That is indexed once, by what
    can be compared at a glance, as messages may have thousands of parts.
    """

    _native: Native | None
    #: By glance, each object of the wire form, and the item of its list that it stands in (itself, where the form is no list).
    _index: dict[Any, list[tuple[dict[str, Any], dict[str, Any]]]] | None = field(init=False, default=None)

    @classmethod
    def of(cls, message: Message, api: str) -> OwnForms:
        """The wire forms of a message's parts, none where it is not of `api`."""
        native = message.native
        return cls(native if native is not None and native.api == api else None)

    def raw(self, part: Part) -> dict[str, Any] | None:
        """The wire part that a part came from, to be copied; None if it is of another api, or was put in later."""
        raw = getattr(part, "raw", None)
        if self._native is None or not isinstance(raw, dict):
            return None
        fragment = cast(dict[str, Any], raw)
        return fragment if any(one is fragment or one == fragment for one, _ in self._alike(fragment)) else None

    def items(self, part: Part) -> list[dict[str, Any]]:
        """The items of the wire form, a list, that hold what a part came from: the very one, or all that it may have been."""
        raw = getattr(part, "raw", None)
        if self._native is None or not isinstance(raw, dict):
            return []
        alike = self._alike(cast(dict[str, Any], raw))
        same = [item for one, item in alike if one is raw]
        return same or [item for one, item in alike if one == raw]

    def _alike(self, fragment: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        if self._index is None:
            self._index = {}
            if self._native is not None:
                _index_objects(self._native.raw, None, self._index)
        return self._index.get(_glance(fragment), [])


def _index_objects(
    value: Json, item: dict[str, Any] | None, index: dict[Any, list[tuple[dict[str, Any], dict[str, Any]]]]
) -> None:
    if isinstance(value, dict):
        held = cast(dict[str, Any], value)
        item = held if item is None else item
        index.setdefault(_glance(held), []).append((held, item))
        for one in held.values():
            _index_objects(one, item, index)
    elif isinstance(value, list):
        for one in cast(list[Any], value):
            _index_objects(one, item, index)


def _glance(value: dict[str, Any]) -> frozenset[Any]:
    """The same for equal objects: all that they say, apart from what stands in lists."""
    return frozenset([(key, _said_at_a_glance(one)) for key, one in value.items()])


def _said_at_a_glance(value: Json) -> Any:
    if isinstance(value, dict):
        return _glance(cast(dict[str, Any], value))
    return len(cast(list[Any], value)) if isinstance(value, list) else value


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


def not_a_mapping(path: str, value: object, what: str) -> InvalidMessage:
    """The error for a value that should be a mapping; the objects of SDKs are told how to become one."""
    remedy = "; hand in what its model_dump(exclude_unset=True) gives" if hasattr(value, "model_dump") else ""
    return InvalidMessage(f"{path} is a {type(value).__name__}; it must be {what}{remedy}", path=path)


def beneath(path: str, error: InvalidMessage) -> InvalidMessage:
    """The error with the place that it was found in put before its path: `messages[3]` and `content[0]`."""
    inner = str(error.details.get("path") or "")
    whole = f"{path}.{inner}" if inner and not inner.startswith("[") else path + inner
    return InvalidMessage(f"{path}: {error}", path=whole)
