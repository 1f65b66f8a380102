"""Gemini: the request fields `contents` and `system_instruction`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

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
    ToolCall,
    implements,
)

from .foreign import Losses, not_a_mapping, request_list, unedited
from .gemini_encoding import GeminiEncoder
from .gemini_order import in_call_order
from .gemini_parts import API, PartDecoder
from .system_field import SYSTEM_ROLES, among_messages, field_prompt, field_value, leading_prompts, with_field
from .wire_bytes import copy_wire, to_wire
from .wire_messages import WireMessages, note_beside, separated

__all__ = ["GeminiCodec"]

_ROLES: dict[Any, Role] = {"user": "user", "model": "assistant", "function": "user", None: "user"}
_FREE = frozenset({"args", "response", "part_metadata", "partMetadata"})
_SYSTEM = ("system_instruction", "systemInstruction")


@implements(MessageCodec)
class GeminiCodec:
    """Messages of Gemini: `{"system_instruction": ..., "contents": [...]}`, as dicts.

    Keys of parts may be in snake case, as the SDK has them, or in camel case, as the HTTP body has them: they are given back as
    they came, and new ones are in snake case, which both take. Bytes of the SDK are held as `{"$bytes": "<base64>"}` in `raw` and
    given back as bytes; what came as base64 text stays text, and what comes from another api is text, which both take.

    Decoding. The system instruction, a string, a content or a list of parts, is a system message. Calls of one content are parts
    of one message. A call without an id is given `gemini:<name>:<n>` for the nth call of that name in the request; a response
    without one answers the first open call of its name. Responses are a `tool` message, apart from what the user says beside
    them (`Native.group`). A response of one text under `output`, `result` or `error` is that text, any other is JSON; one with
    `error` has the status error. Text with `thought` is `Thinking`; a signature of another part stays in the `raw` of that.
    Code execution and what Gemini ran itself are `Opaque`, call and result with one `pair_id`.

    Encoding. System and developer messages at the start become the instruction; later ones go along as user contents
    (`LossKind.ROLE`). Responses of a run of tool messages stand in one content of their own, with the function's name found by
    the call. An id that Gemini's own calls did not have is not sent; the responses of such calls go in the order of the calls.
    A `Thinking` of this api with a signature and no text signs the part after it. Images and documents in results are parts of
    the response. Empty texts, and messages left with nothing to say, are left out.
    """

    @property
    def api(self) -> str:
        return API

    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        given = request_list(request, "contents")
        messages: list[Message] = []
        for key in _SYSTEM:
            if key in request:
                value = copy_wire(request[key], key, free=_FREE)
                parts = _prompt_parts(value, key)
                messages.append(field_prompt(request, key, value, parts, api=API, list_key="contents"))
        if len(messages) > 1:
            raise InvalidMessage(f"the request has both {_SYSTEM[0]} and {_SYSTEM[1]}; give one", path=_SYSTEM[1])
        decoder = PartDecoder()
        for n, value in enumerate(given):
            messages.extend(_decoded(value, f"contents[{n}]", decoder))
        return tuple(messages)

    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        losses = Losses()
        messages = in_call_order(messages)
        names = {part.call_id: part.name for message in messages for part in message.parts if type(part) is ToolCall}
        prompts = leading_prompts(messages, API)
        system = _system(prompts, losses)
        wire = WireMessages("parts")
        for message in messages[len(prompts) :]:
            if message.role != "tool":
                wire.end_results()
            native = unedited(message, API)
            if native is not None and among_messages(message, API):
                wire.add(to_wire(native.raw, free=_FREE), lane=_lane(message), own=True, group=native.group)
            else:
                _add(message, names, losses, wire)
        wire.end_results()
        request = with_field(prompts, system, key=_SYSTEM[0], list_key="contents", messages=wire.messages, api=API)
        return losses.encoded(request, strict=strict)


def _decoded(value: Json, path: str, decoder: PartDecoder) -> list[Message]:
    """The message or messages of one content: responses are apart from what the user says."""
    if not isinstance(value, Mapping):
        raise not_a_mapping(path, value, "a content with role and parts")
    raw: dict[str, Any] = copy_wire(value, path, free=_FREE)
    given = raw.get("role")
    role = _ROLES.get(given) if given is None or isinstance(given, str) else None
    if role is None:
        raise InvalidMessage(f"{path}.role is {given!r}; it must be user or model", path=f"{path}.role")
    parts = _parts(raw.get("parts"), f"{path}.parts")
    blocks = [(part, (decoder.decode(part, f"{path}.parts[{n}]"),)) for n, part in enumerate(parts)]
    return separated(raw, "parts", blocks, role=role, api=API)


def _parts(value: Json, path: str) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list):
        return cast(list[Any], value)
    raise InvalidMessage(f"{path} is a {type(value).__name__}; it must be a list of parts", path=path)


def _prompt_parts(value: Json, path: str) -> list[Part]:
    """The parts of an instruction: a string, a content, or a list of parts and strings."""
    if isinstance(value, dict):
        given, path = _parts(cast(dict[str, Any], value).get("parts"), f"{path}.parts"), f"{path}.parts"
    elif value is None:
        raise InvalidMessage(f"{path} is null; leave it out", path=path)
    else:
        given = [value] if isinstance(value, str) else _parts(value, path)
    decoder = PartDecoder()
    found: list[Part] = []
    for n, one in enumerate(given):
        found.append(Text(one, raw=one) if isinstance(one, str) else decoder.decode(one, f"{path}[{n}]"))
    return [part for part in found if part != Text("", raw="")]


def _lane(message: Message) -> str:
    return "model" if message.role == "assistant" else "responses" if message.role == "tool" else "user"


def _add(message: Message, names: Mapping[str, str], losses: Losses, wire: WireMessages) -> None:
    """Add a message that is built anew; one that has nothing to say there is left out."""
    own = among_messages(message, API)
    if not own:
        note_beside(message, losses)
    encoder = GeminiEncoder(message=message, ids={}, losses=losses, names=names)
    parts = to_wire(encoder.blocks(), free=_FREE)
    wire.waiting.extend(encoder.moved)
    if not parts:
        return
    native = message.native
    if native is not None and own:
        value = {**to_wire({**native.raw, "parts": []}, free=_FREE), "parts": parts}
        wire.add(value, lane=_lane(message), own=True, group=native.group)
        return
    if message.role in SYSTEM_ROLES:
        losses.add(LossKind.ROLE, message, -1, f"a {message.role} message after the start went along as a user content")
    role = "model" if message.role == "assistant" else "user"
    lane = "responses" if message.tool_results else _lane(message)
    wire.add({"role": role, "parts": parts}, lane=lane, own=False)


def _system(prompts: Sequence[Message], losses: Losses) -> Json:
    """The instruction: None for no prompt, the very value of an unedited one, else a content with the parts of all."""
    found: list[Any] = []
    for prompt in prompts:
        value = field_value(prompt, API)
        if value is not None and len(prompts) == 1 and unedited(prompt, API):
            return to_wire(value, free=_FREE)
        if prompt.role == "developer":
            losses.add(LossKind.ROLE, prompt, -1, "a developer message went along as the system instruction")
        note_beside(prompt, losses)
        found.extend(to_wire(GeminiEncoder(message=prompt, ids={}, losses=losses, names={}).blocks(), free=_FREE))
    return {"parts": found} if found else None
