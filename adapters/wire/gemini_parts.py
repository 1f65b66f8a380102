"""Parts of Gemini contents as neutral parts. Keys may be in snake case and in camel case; bytes are in their held form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from attrs import define, field

from contextport.contracts import (
    InvalidMessage,
    Json,
    JsonPart,
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_json,
)
from contextport.contracts.image_header import image_size

from .wire_bytes import held_base64

__all__ = [
    "API",
    "RESPONSE_TEXTS",
    "CallNames",
    "PartDecoder",
    "find_key",
    "is_failure",
    "is_made_id",
    "is_plain",
    "made_id",
    "media_kind",
]

API = "gemini.generate_content"
#: Keys under which a response holds nothing but what a tool put out, or its error.
RESPONSE_TEXTS = ("output", "result", "error")
_ORIGIN = (API, "")  # a request does not say which model thought


def find_key(holder: dict[str, Any], snake: str) -> str | None:
    """The key of a value that is there, in the one writing or the other."""
    if holder.get(snake) is not None:
        return snake
    head, *rest = snake.split("_")
    camel = head + "".join(word.capitalize() for word in rest)
    return camel if holder.get(camel) is not None else None


def _value(holder: dict[str, Any], snake: str) -> Json:
    key = find_key(holder, snake)
    return None if key is None else holder[key]


def media_kind(mime: str) -> Any:
    """The kind of media that a MIME type is of."""
    kind = mime.partition("/")[0]
    return kind if kind in ("image", "audio", "video") else "document"


def made_id(name: str, nth: int) -> str:
    """The id of the nth call of a function in a request, where the wire has none."""
    return f"gemini:{name}:{nth}"


def is_made_id(call_id: str, name: str | None) -> bool:
    """Whether the id of a call was made here, so that the wire has none."""
    return call_id.startswith(f"gemini:{name}:")


@define
class CallNames:
    """Pairs calls without ids and responses by the name of the function, in their order."""

    _made: dict[str, int] = field(factory=dict[str, int])
    _open: list[tuple[str, str]] = field(factory=list[tuple[str, str]])
    _answered: bool = False

    def call(self, name: str, given: str | None) -> str:
        """The id of a call. One made after results begins a new step: older calls are answered no more."""
        if self._answered:
            self._open, self._answered = [], False
        call_id = given or self._next(name)
        self._open.append((name, call_id))
        return call_id

    def response(self, name: str, given: str | None, *, more: bool) -> str:
        """The id of the call that a response answers; with `more` to come, the call stays open."""
        self._answered = True
        found = next((one for one in self._open if (one[1] == given if given else one[0] == name)), None)
        if found is not None and not more:
            self._open.remove(found)
        return given or (found[1] if found is not None else self._next(name))

    def _next(self, name: str) -> str:
        nth = self._made.get(name, 0)
        self._made[name] = nth + 1
        return made_id(name, nth)


@define
class PartDecoder:
    """Decodes the parts of one request; calls are paired over all of them."""

    names: CallNames = field(factory=CallNames)
    _runs: int = 0

    def decode(self, part: Json, path: str) -> Part:
        """One part. A kind unknown here becomes `Opaque`.

        Raises `InvalidMessage` for what is no part, and for a text, call or response without what makes it one.
        """
        if not isinstance(part, dict) or not part:
            raise InvalidMessage(f"{path} is a {type(part).__name__}; it must be a part, such as {{'text': ...}}", path=path)
        raw = cast(dict[str, Any], part)
        key = next((key for key in raw if key in _DECODERS and raw[key] is not None), None)
        if key is None:
            return Opaque(api=API, type=next(iter(raw)), raw=raw)
        found = _DECODERS[key](self, raw, raw[key], f"{path}.{key}")
        return Opaque(api=API, type=key, raw=raw) if found is None else found

    def text(self, raw: dict[str, Any], value: Json, path: str) -> Part:
        if not isinstance(value, str):
            raise InvalidMessage(f"{path} is a {type(value).__name__}; it must be a string", path=path)
        if raw.get("thought") is not True:
            return Text(value, raw=raw)
        signature = held_base64(_value(raw, "thought_signature"))
        return Thinking(text=value, signature=signature, binding="turn", origin=_ORIGIN, raw=raw)

    def call(self, raw: dict[str, Any], value: Json, path: str) -> Part:
        held, name, given = _function(value, path)
        call_id = self.names.call(name, given)
        return ToolCall(call_id=call_id, name=name, arguments=dump_json(held.get("args") or {}), raw=raw)

    def response(self, raw: dict[str, Any], value: Json, path: str) -> Part:
        held, name, given = _function(value, path)
        said, status = _response(held.get("response"), path)
        media = held.get("parts") or []
        if not isinstance(media, list):
            raise InvalidMessage(f"{path}.parts is a {type(media).__name__}; it must be a list", path=f"{path}.parts")
        return ToolResult(
            call_id=self.names.response(name, given, more=_value(held, "will_continue") is True),
            name=name,
            parts=(*said, *[self._inside(one, f"{path}.parts[{n}]") for n, one in enumerate(cast(list[Any], media))]),
            status=status,
            raw=raw,
        )

    def _inside(self, part: Json, path: str) -> Text | Media | Opaque:
        found = self.decode(part, path)
        return found if isinstance(found, Text | Media | Opaque) else Opaque(api=API, type="part", raw=part)

    def inline(self, raw: dict[str, Any], value: Json, path: str) -> Part | None:
        held = _object(value, path)
        data, mime = held_base64(held.get("data")), _value(held, "mime_type")
        return None if data is None or not isinstance(mime, str) else _media(raw, held, mime, data=data)

    def file(self, raw: dict[str, Any], value: Json, path: str) -> Part | None:
        held = _object(value, path)
        url, mime = _value(held, "file_uri"), _value(held, "mime_type")
        return _media(raw, held, mime if isinstance(mime, str) else None, url=url) if isinstance(url, str) else None

    def server(self, raw: dict[str, Any], value: Json, path: str) -> Part:
        """A call that Gemini ran itself, or its result, with the id of the call, or a number where there is none."""
        held = _object(value, path)
        kind = next(key for key in raw if key in _DECODERS and raw[key] is not None)
        given = held.get("id")
        if not isinstance(given, str):
            self._runs += kind in _SERVER_CALLS
            given = f"gemini:run:{self._runs}"
        return Opaque(api=API, type=kind, raw=raw, pair_id=given)


def _object(value: Json, path: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    raise InvalidMessage(f"{path} is a {type(value).__name__}; it must be an object", path=path)


def _function(value: Json, path: str) -> tuple[dict[str, Any], str, str | None]:
    """(the object, its name, its id or None) of a function call or response."""
    held = _object(value, path)
    name, given = held.get("name"), held.get("id")
    if not isinstance(name, str) or not name:
        raise InvalidMessage(f"{path}.name is {name!r}; it must be the name of a function", path=f"{path}.name")
    return held, name, given if isinstance(given, str) and given else None


def _response(value: Json, path: str) -> tuple[tuple[Text | JsonPart, ...], Any]:
    """What a response says, and its status: text, or a list of texts and JSON, where a usual key is all, else JSON."""
    if not value:
        return (), None
    held = _object(value, f"{path}.response")
    status = "error" if is_failure(held) else None
    said = next(iter(held.values()))
    if not is_plain(held):
        return (JsonPart(held),), status
    if isinstance(said, str):
        return (Text(said),) if said else (), status
    return tuple([Text(one) if isinstance(one, str) else JsonPart(one) for one in cast(list[Any], said)]), status


def is_failure(response: dict[str, Any]) -> bool:
    """Whether a response is that of a tool that failed."""
    return response.get("error") is not None and response.get("output") is None


def is_plain(response: dict[str, Any]) -> bool:
    """Whether a response is no JSON of the tool's own, but a text or a list under a usual key."""
    if len(response) != 1:
        return False
    key, said = next(iter(response.items()))
    return key in RESPONSE_TEXTS and (isinstance(said, str) or (isinstance(said, list) and bool(cast(list[Any], said))))


def _media(
    raw: dict[str, Any], held: dict[str, Any], mime: str | None, *, data: str | None = None, url: str | None = None
) -> Media:
    kind, name = media_kind(mime or ""), _value(held, "display_name")
    return Media(
        media=kind,
        data=data,
        url=url,
        mime=mime,
        name=name if isinstance(name, str) else None,
        size_px=image_size(data) if data is not None and kind == "image" else None,
        raw=raw,
    )


_SERVER_CALLS = frozenset({"executable_code", "executableCode", "tool_call", "toolCall"})
_DECODERS: dict[str, Callable[[PartDecoder, dict[str, Any], Json, str], Part | None]] = {
    "text": PartDecoder.text,
    "function_call": PartDecoder.call,
    "functionCall": PartDecoder.call,
    "function_response": PartDecoder.response,
    "functionResponse": PartDecoder.response,
    "inline_data": PartDecoder.inline,
    "inlineData": PartDecoder.inline,
    "file_data": PartDecoder.file,
    "fileData": PartDecoder.file,
    **dict.fromkeys(_SERVER_CALLS, PartDecoder.server),
    **dict.fromkeys(("code_execution_result", "codeExecutionResult", "tool_response", "toolResponse"), PartDecoder.server),
}
