"""Items of OpenAI Responses as neutral messages: what the model put out in one go is one message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from contextport.contracts import (
    InvalidMessage,
    Json,
    JsonPart,
    Media,
    Message,
    Native,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_json,
)
from contextport.contracts.image_header import image_size

from .foreign import split_data_url

__all__ = [
    "API",
    "ARGUMENT_KEYS",
    "CONTENT",
    "OWN_OUTPUTS",
    "decode_content",
    "decode_items",
    "decode_reasoning",
    "decode_result",
    "said_by",
]

API = "openai.responses"
CONTENT = f"{API}.content"  # api of an opaque part that stands in the content of a message, not among the items
#: Where items hold what is asked of a tool: a string, or an object that goes along as JSON text.
ARGUMENT_KEYS = ("arguments", "input", "action", "actions", "operation")
#: Calls that the host runs whose output is no text or list of parts.
OWN_OUTPUTS = frozenset({"computer_call", "local_shell_call", "shell_call", "apply_patch_call"})

_ROLES: dict[Any, Role] = {"user": "user", "system": "system", "developer": "developer", "assistant": "assistant"}
#: Items that no model puts out, with the role of those who do.
_HOST_ITEMS: dict[Any, Role] = {
    "mcp_approval_response": "user",
    "additional_tools": "developer",
    "configuration_update": "developer",
    "compaction_trigger": "developer",
}
_Item = dict[str, Any]


def decode_items(items: Sequence[Json]) -> list[Message]:
    """The messages of items that are the codec's own. Raises `InvalidMessage` with the path of what is wrong."""
    messages: list[Message] = []
    run: list[tuple[_Item, str]] = []
    for n, value in enumerate(items):
        path = f"input[{n}]"
        if not isinstance(value, dict):
            raise InvalidMessage(f"{path} is a {type(value).__name__}; it must be an item with a type or a role", path=path)
        item = cast(_Item, value)
        role = said_by(item, path)
        if role == "assistant" and item.get("type") != "compaction":
            run.append((item, path))
            continue
        if run:
            messages.append(_model_output(run))
            run = []
        messages.append(_single(item, role, path))
    if run:
        messages.append(_model_output(run))
    return messages


def said_by(item: _Item, path: str) -> Role:
    """Who put an item into the conversation. What a model put out, of known type or not, is the assistant's."""
    kind = item.get("type")
    if kind is None and "role" not in item and isinstance(item.get("id"), str):
        return "assistant"  # an item reference may leave its type out
    if kind is None or kind == "message":
        role = _ROLES.get(item.get("role")) if isinstance(item.get("role"), str) else None
        if role is None:
            raise InvalidMessage(
                f"{path}.role is {item.get('role')!r}; it must be one of {', '.join(_ROLES)}", path=f"{path}.role"
            )
        return role
    if not isinstance(kind, str):
        raise InvalidMessage(f"{path}.type is a {type(kind).__name__}; it must be a string", path=f"{path}.type")
    if _is_result(item, kind):
        return "tool"
    return _HOST_ITEMS.get(kind, "assistant")


def _is_result(item: _Item, kind: str) -> bool:
    if kind == "function_call_output" or kind == "custom_tool_call_output":
        return True
    paired = isinstance(item.get("call_id", item.get("id") if kind == "local_shell_call_output" else None), str)
    return paired and kind.endswith("_output") and kind != "program_output" and item.get("execution") != "server"


def _single(item: _Item, role: Role, path: str) -> Message:
    parts: tuple[Part, ...]
    if role == "tool":
        parts = (decode_result(item, path),)
    elif item.get("type") in (None, "message"):
        parts = decode_content(item.get("content"), f"{path}.content")
    else:
        parts = (_opaque(item),)
    status = item.get("status")
    return Message(
        role=role,
        parts=parts,
        status=status if isinstance(status, str) else None,
        native=Native(api=API, raw=[item], parts=parts),
    )


def _model_output(run: Sequence[tuple[_Item, str]]) -> Message:
    """One message of all that was put out in one go, so that parallel calls stay together."""
    found: list[Part] = []
    phase = status = None
    for item, path in run:
        kind = item.get("type")
        if kind == "function_call":
            found.append(_call(item, path))
        elif kind == "reasoning":
            found.append(decode_reasoning(item))
        elif kind == "message" or "role" in item:
            found.extend(decode_content(item.get("content"), f"{path}.content"))
            phase = item["phase"] if isinstance(item.get("phase"), str) else phase
        elif _is_client_call(item):
            found.append(_call(item, path))
        else:
            found.append(_opaque(item))
        status = item["status"] if isinstance(item.get("status"), str) else status
    parts = tuple(found)
    native = Native(api=API, raw=[item for item, _ in run], parts=parts)
    return Message(role="assistant", parts=parts, phase=phase, status=status, native=native)


def _is_client_call(item: _Item) -> bool:
    kind = item.get("type")
    if not isinstance(kind, str) or not isinstance(item.get("call_id"), str):
        return False
    return kind.endswith("_call") and item.get("execution") != "server"


def _opaque(item: _Item) -> Opaque:
    pair = item.get("call_id", item.get("approval_request_id"))
    if item.get("type") == "mcp_approval_request":
        pair = item.get("id")
    kind = item.get("type")
    name = kind if isinstance(kind, str) else "item_reference"
    return Opaque(api=API, type=name, raw=item, pair_id=pair if isinstance(pair, str) else None)


def decode_reasoning(item: _Item) -> Thinking:
    """The reasoning that an item holds."""
    summary, content = _texts(item.get("summary")), _texts(item.get("content"))
    return Thinking(
        text="\n".join(content) or None,
        summary=summary,
        encrypted=_string_or_none(item, "encrypted_content"),
        binding="item",
        item_id=_string_or_none(item, "id"),
        origin=(API, ""),
        raw=item,
    )


def _texts(value: Json) -> tuple[str, ...]:
    items = cast(list[Any], value) if isinstance(value, list) else []
    found = [cast(_Item, item).get("text") for item in items if isinstance(item, dict)]
    return tuple([text for text in found if isinstance(text, str)])


def _call(item: _Item, path: str) -> ToolCall:
    kind = item["type"]
    call_id, name = item.get("call_id"), item.get("name", kind.removesuffix("_call"))
    if not isinstance(call_id, str) or not call_id or not isinstance(name, str):
        raise InvalidMessage(f"{path} is a {kind} without call_id or name", path=path)
    key = next((key for key in ARGUMENT_KEYS if item.get(key) is not None), None)
    asked = "" if key is None else item[key]
    return ToolCall(
        call_id=call_id,
        name=name,
        arguments=asked if isinstance(asked, str) else dump_json(asked),
        item_id=_string_or_none(item, "id"),
        namespace=_string_or_none(item, "namespace"),
        complete=item.get("status") != "incomplete",
        raw=item,
    )


def decode_result(item: _Item, path: str) -> ToolResult:
    """The result that an item holds."""
    call_id = item.get("call_id", item.get("id") if item["type"] == "local_shell_call_output" else None)
    if not isinstance(call_id, str) or not call_id:
        raise InvalidMessage(f"{path} needs the call_id of the call that it answers", path=f"{path}.call_id")
    output = item.get("output", item.get("tools"))
    parts: tuple[Any, ...]
    if isinstance(output, str) or output is None:
        parts = (Text(output),) if output else ()
    elif isinstance(output, dict) and "type" in output:
        parts = _inside((cast(_Item, output),), path)
    elif isinstance(output, list) and all(isinstance(one, dict) and "type" in one for one in cast(list[Any], output)):
        parts = _inside(cast(list[_Item], output), path)
    else:
        parts = (JsonPart(output),)
    failed = item.get("status") == "failed"
    return ToolResult(
        call_id=call_id, parts=parts, status="error" if failed else None, name=_string_or_none(item, "name"), raw=item
    )


def _inside(blocks: Sequence[_Item], path: str) -> tuple[Any, ...]:
    decoded = decode_content(list(blocks), f"{path}.output")
    return tuple(
        part if isinstance(part, Text | Media | Opaque) else Opaque(api=CONTENT, type=str(block["type"]), raw=block)
        for part, block in zip(decoded, blocks, strict=True)
    )


def decode_content(content: Json, path: str) -> tuple[Part, ...]:
    """The parts of a message's content."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, list):
        raise InvalidMessage(f"{path} is a {type(content).__name__}; it must be a string or a list of parts", path=path)
    return tuple([_content_part(part, f"{path}[{n}]") for n, part in enumerate(cast(list[Any], content))])


def _content_part(value: Json, path: str) -> Part:
    if not isinstance(value, dict):
        raise InvalidMessage(f"{path} is a {type(value).__name__}; it must be an object with a type", path=path)
    raw = cast(_Item, value)
    kind = raw.get("type")
    decoder = _DECODERS.get(kind) if isinstance(kind, str) else None
    part = decoder(raw) if decoder is not None else None
    return Opaque(api=CONTENT, type=str(kind), raw=raw) if part is None else part


def _text(raw: _Item) -> Part | None:
    text, cited = raw.get("text"), raw.get("annotations")
    if not isinstance(text, str):
        return None
    return Text(text, citations=tuple(cast(list[Any], cited)) if cited and isinstance(cited, list) else (), raw=raw)


def _refusal(raw: _Item) -> Part | None:
    text = raw.get("refusal")
    return Refusal(text) if isinstance(text, str) else None


def _image(raw: _Item) -> Part | None:
    url, file_id = _string_or_none(raw, "image_url"), _string_or_none(raw, "file_id")
    held = split_data_url(url) if url is not None else None
    if url is None and file_id is None:
        return None
    return Media(
        media="image",
        data=held[1] if held else None,
        url=None if held else url,
        file_id=file_id if url is None else None,
        mime=held[0] if held else None,
        detail=_string_or_none(raw, "detail"),
        size_px=image_size(held[1]) if held else None,
        raw=raw,
    )


def _file(raw: _Item) -> Part | None:
    data, url, file_id = (_string_or_none(raw, key) for key in ("file_data", "file_url", "file_id"))
    if data is None and url is None and file_id is None:
        return None
    held = split_data_url(data) if data is not None else None
    return Media(
        media="document",
        data=held[1] if held else data,
        url=url if data is None else None,
        file_id=file_id if data is None and url is None else None,
        mime=held[0] if held else None,
        name=_string_or_none(raw, "filename"),
        raw=raw,
    )


def _audio(raw: _Item) -> Part | None:
    value = raw.get("input_audio")
    held = cast(_Item, value) if isinstance(value, dict) else {}
    data, form = _string_or_none(held, "data"), _string_or_none(held, "format")
    return None if data is None else Media(media="audio", data=data, mime=f"audio/{form}" if form else None, raw=raw)


def _string_or_none(raw: _Item, key: str) -> str | None:
    value = raw.get(key)
    return value if isinstance(value, str) else None


_DECODERS: dict[str, Callable[[_Item], Part | None]] = {
    "input_text": _text,
    "output_text": _text,
    "text": _text,
    "refusal": _refusal,
    "input_image": _image,
    "computer_screenshot": _image,
    "input_file": _file,
    "input_audio": _audio,
}
