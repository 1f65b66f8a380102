"""Reads a conversation from a file, whatever of the usual shapes it has, into messages in OpenAI chat form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TextIO, cast

import attrs
from attrs import frozen

from contextport.contracts import InvalidArgument, InvalidMessage, Json, Message, from_chat

from .report import first_line

__all__ = ["ACCEPTED", "BYTE_ORDER_MARK", "Conversation", "free_id", "read_conversation"]

ACCEPTED = (
    'a JSON array of chat messages, {"messages": [...]}, JSON lines of messages or of {"messages": [...]}, '
    "a LoCoMo file, a tau-bench result or few-shot file, a SWE-agent .traj file"
)
BYTE_ORDER_MARK = "\ufeff"
Dict = dict[str, Any]


@frozen(kw_only=True)
class Conversation:
    """Messages in their order; `shape` says for people what the file was, `of` how many conversations it holds."""

    messages: tuple[Message, ...]
    shape: str
    index: int
    of: int


def read_conversation(path: str, stdin: TextIO, index: int | None = None) -> Conversation:
    """The conversation at `path`, `-` being `stdin`; `index` picks one where a file holds several, the first by default.

    Raises `InvalidArgument` when the file cannot be read or has no known shape, `InvalidMessage` naming the wrong message.
    """
    value, by_line = _parse(_text(path, stdin), path)
    shape, conversations = _recognise(value, by_line, path)
    chosen = index or 0
    if not 0 <= chosen < len(conversations):
        raise InvalidArgument(
            f"{path} holds {len(conversations)} conversations; --index is {chosen}, give 0 to {len(conversations) - 1}",
            name="index",
            value=chosen,
        )
    messages = _messages(conversations[chosen](), path)
    return Conversation(messages=messages, shape=shape, index=chosen, of=len(conversations))


def _text(path: str, stdin: TextIO) -> str:
    try:
        text = (stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")).removeprefix(BYTE_ORDER_MARK)
    except OSError as error:
        raise InvalidArgument(f"cannot read {path}: {error.strerror or error}", name="file", value=path) from error
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}", name="file", value=path
        ) from error
    except ValueError as error:  # no name of a file, or a stream that is closed
        raise InvalidArgument(f"cannot read {path}: {error}", name="file", value=path) from error
    if not text.strip():
        raise InvalidArgument(f"{path} is empty; give {ACCEPTED}", name="file", value=path)
    return text


def _parse(text: str, path: str) -> tuple[Json, bool]:
    """The JSON value of the text, or the list of the values of its lines; and whether it is the latter."""
    try:
        return json.loads(text), False
    except RecursionError as error:
        raise InvalidArgument(f"{path} is nested too deeply to be a conversation", name="file", value=path) from error
    except ValueError as whole:
        numbered = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        values: list[Json] = []
        for n, line in numbered:
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                detail = whole if n == numbered[0][0] else f"line {n}: {error}"
                raise InvalidArgument(f"{path} is not JSON: {detail}; give {ACCEPTED}", name="file", value=path) from error
        return values, True


_Load = Callable[[], Sequence[Json]]


def _recognise(value: Json, by_line: bool, path: str) -> tuple[str, list[_Load]]:
    """What the value is, and a loader for each conversation in it."""
    items = cast(list[Json], value) if isinstance(value, list) else [value]
    if isinstance(value, list) and not items:
        return "OpenAI chat", [list]
    if all(isinstance(item, dict) for item in items) and items:
        dicts = cast(list[Dict], items)
        if all("role" in item for item in dicts):
            return "OpenAI chat", [lambda: dicts]
        for key, shape, load in _SHAPES:
            if all(key in item for item in dicts):
                return shape, [lambda item=item, load=load: load(item) for item in dicts]  # type: ignore[misc]
    said = _described(value, of="JSON lines" if by_line else "an array")
    raise InvalidArgument(f"{path} is no conversation that is known: it is {said}; give {ACCEPTED}", name="file")


def _described(value: Json, of: str = "an array", depth: int = 3) -> str:
    """What a value is, in words; `of` names it where it is a list, `depth` says how many lists are looked into."""
    if isinstance(value, dict):
        keys = list(cast(Dict, value))
        shown = ", ".join(first_line(repr(key), 40) for key in keys[:6])
        return f"an object with {shown or 'no keys'}{f' and {len(keys) - 6} more' if len(keys) > 6 else ''}"
    if value is None:
        return "null"
    if not isinstance(value, list):
        return f"a {type(value).__name__}"
    items = cast(list[Json], value)
    if not items or not depth:
        return f"{of} of {len(items)} items" if items else f"{of} without items"
    odd = next((n for n, item in enumerate(items) if not (isinstance(item, dict) and "role" in item)), 0)
    return f"{of} whose item {odd} is {_described(items[odd], depth=depth - 1)}"


def _messages(raws: Sequence[Json], path: str) -> tuple[Message, ...]:
    """Messages without an id are named by their place, so that the same file gives the same ids."""
    given = {raw["id"] for raw in cast(list[Any], raws) if isinstance(raw, dict) and isinstance(raw.get("id"), str)}
    return tuple(_message(raw, number, path, given) for number, raw in enumerate(raws, 1))


def _message(raw: Json, number: int, path: str, given: set[str]) -> Message:
    if not isinstance(raw, dict) or "role" not in raw:
        raise InvalidMessage(
            f"message {number} of {path} is no chat message: it is {_described(raw)}, a role is missing; give {ACCEPTED}",
            path="role",
            number=number,
        )
    try:
        message = from_chat(cast(Dict, raw))
    except InvalidMessage as error:
        raise InvalidMessage(f"message {number}: {error}", path=error.path, number=number) from error
    return message if message.id in given else attrs.evolve(message, id=free_id(number, given))


def free_id(number: int, given: Collection[str]) -> str:
    """An id for the message at place `number` that none of the `given` ones is: `#3`, else `##3` and so on."""
    made = f"#{number}"
    while made in given:
        made = f"#{made}"
    return made


# --- shapes -----------------------------------------------------------------------------------------------------------


def _chat(item: Dict) -> Sequence[Json]:
    return _list(item, "messages")


def _tau_bench(item: Dict) -> Sequence[Json]:
    return _list(item, "traj")


def _list(item: Dict, key: str) -> list[Json]:
    if not isinstance(item[key], list):
        raise InvalidArgument(f"{key!r} is {_described(item[key])}; it must be an array", name=key)
    return cast(list[Json], item[key])


def _swe_agent(item: Dict) -> Sequence[Json]:
    """SWE-agent's own keys are left out; an observation answers the calls in its `tool_call_ids`, the first with its text.

    An observation that answers no call is said by the user, as SWE-agent does it for models without tool calls.
    """
    messages: list[Json] = []
    for step in _list(item, "history"):
        if not isinstance(step, dict):
            messages.append(step)
            continue
        held = cast(Dict, step)
        kept = {key: held[key] for key in ("role", "content", "name", "tool_calls", "tool_call_id") if held.get(key) is not None}
        ids = held.get("tool_call_ids")
        if held.get("role") != "tool" or (not ids and "tool_call_id" in kept):
            messages.append(kept)
        elif not ids:
            messages.append({"role": "user", "content": kept.get("content", "")})
        else:
            for n, call_id in enumerate(_list(held, "tool_call_ids")):
                messages.append({**kept, "tool_call_id": call_id, "content": kept.get("content") if n == 0 else ""})
    return messages


_LOCOMO_SESSION = re.compile(r"session_([0-9]{1,9})")


def _locomo(item: Dict) -> Sequence[Json]:
    """The first speaker is the user, the second the assistant; each session opens with its date, each photo with its caption."""
    conversation = item["conversation"]
    if not isinstance(conversation, dict) or "speaker_a" not in conversation:
        raise InvalidArgument("'conversation' has no speaker_a; it is not of a LoCoMo file", name="conversation")
    held = cast(Dict, conversation)
    found = [match for match in map(_LOCOMO_SESSION.fullmatch, held) if match]
    messages: list[Json] = []
    for session in sorted(found, key=lambda match: int(match[1])):
        date = held.get(f"{session[0]}_date_time")
        for n, turn in enumerate(_list(held, session[0])):
            if not isinstance(turn, dict):
                said = f"{session[0]!r} has {_described(turn)} as item {n}; a LoCoMo turn is an object with speaker and text"
                raise InvalidArgument(said, name=session[0])
            messages.append(_locomo_turn(cast(Dict, turn), held["speaker_a"], date if n == 0 else None))
    return messages


def _locomo_turn(turn: Dict, user: Json, date: Json) -> Dict:
    text = turn.get("text", "")
    if turn.get("blip_caption"):
        text = f"{text}\n[photo: {turn['blip_caption']}]"
    if date:
        text = f"[{date}]\n{text}"
    role = "user" if turn.get("speaker") == user else "assistant"
    return {"id": turn.get("dia_id"), "role": role, "name": turn.get("speaker"), "content": text}


_SPEAKERS = ("system", "user", "assistant", "tool")


def _few_shot(item: Dict) -> Sequence[Json]:
    """A transcript as text. Its tool calls were not written down: each result gets a call of the name `unrecorded`."""
    display = item["messages_display"]
    if not isinstance(display, str):
        raise InvalidArgument(f"'messages_display' is {_described(display)}; it must be text", name="messages_display")
    said: list[tuple[str, str]] = []
    for line in display.split("\n"):
        speaker, colon, text = line.partition(": ")
        if colon and speaker in _SPEAKERS:
            said.append((speaker, text))
        elif said:
            said[-1] = (said[-1][0], f"{said[-1][1]}\n{line}")
    messages: list[Dict] = []
    for role, text in said:
        if role == "tool":
            caller: Dict | None = next((m for m in reversed(messages) if m["role"] != "tool"), None)
            if caller is None or caller["role"] != "assistant":
                caller = {"role": "assistant", "content": None}
                messages.append(caller)
            call_id = f"call_{len(messages)}"
            function = {"name": "unrecorded", "arguments": "{}"}
            caller.setdefault("tool_calls", []).append({"id": call_id, "type": "function", "function": function})
            messages.append({"role": "tool", "tool_call_id": call_id, "content": text})
        else:
            messages.append({"role": role, "content": None if (role, text) == ("assistant", "None") else text})
    return messages


_SHAPES: tuple[tuple[str, str, Callable[[Dict], Sequence[Json]]], ...] = (
    ("messages", "OpenAI chat", _chat),
    ("history", "SWE-agent", _swe_agent),
    ("traj", "tau-bench", _tau_bench),
    ("messages_display", "tau-bench few-shot", _few_shot),
    ("conversation", "LoCoMo", _locomo),
)
