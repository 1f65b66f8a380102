"""Reads a conversation from a file, whatever of the usual shapes it has, into messages in OpenAI chat form."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO, cast

import attrs
from attrs import frozen

from contextport.contracts import InvalidArgument, InvalidMessage, Json, Message, from_chat

__all__ = ["Conversation", "read_conversation"]

ACCEPTED = (
    'a JSON array of chat messages, {"messages": [...]}, JSON lines of messages or of {"messages": [...]}, '
    "a LoCoMo file, a tau-bench result or few-shot file, a SWE-agent .traj file"
)
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
    value = _parse(_text(path, stdin), path)
    shape, conversations = _recognise(value, path)
    chosen = index or 0
    if not 0 <= chosen < len(conversations):
        raise InvalidArgument(
            f"{path} holds {len(conversations)} conversations; --index is {chosen}, give 0 to {len(conversations) - 1}",
            name="index",
            value=chosen,
        )
    messages = tuple(_message(raw, n) for n, raw in enumerate(conversations[chosen](), 1))
    return Conversation(messages=messages, shape=shape, index=chosen, of=len(conversations))


def _text(path: str, stdin: TextIO) -> str:
    try:
        text = stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidArgument(f"cannot read {path}: {error.strerror or error}", name="file", value=path) from error
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}", name="file", value=path
        ) from error
    if not text.strip():
        raise InvalidArgument(f"{path} is empty; give {ACCEPTED}", name="file", value=path)
    return text


def _parse(text: str, path: str) -> Json:
    """The JSON value of the text; for JSON lines, the list of their values under the key `lines`."""
    try:
        return json.loads(text)
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
        return {"lines": values}


_Load = Callable[[], Sequence[Json]]


def _recognise(value: Json, path: str) -> tuple[str, list[_Load]]:
    """What the value is, and a loader for each conversation in it."""
    items = cast(list[Json], value) if isinstance(value, list) else [value]
    if isinstance(value, dict) and set(cast(Dict, value)) == {"lines"}:
        items = cast(list[Json], value["lines"])
    if isinstance(value, list) and not items:
        return "OpenAI chat", [list]
    if all(isinstance(item, dict) for item in items) and items:
        dicts = cast(list[Dict], items)
        if all("role" in item for item in dicts):
            return "OpenAI chat", [lambda: dicts]
        for key, shape, load in _SHAPES:
            if all(key in item for item in dicts):
                return shape, [lambda item=item, load=load: load(item) for item in dicts]  # type: ignore[misc]
    raise InvalidArgument(f"{path} is no conversation that is known: it is {_described(value)}; give {ACCEPTED}", name="file")


def _described(value: Json) -> str:
    if isinstance(value, dict):
        keys = list(cast(Dict, value))
        return f"an object with {', '.join(map(repr, keys[:6])) or 'no keys'}"
    if not isinstance(value, list):
        return f"a {type(value).__name__}"
    items = cast(list[Json], value)
    odd = next((n for n, item in enumerate(items) if not (isinstance(item, dict) and "role" in item)), 0)
    return f"an array whose item {odd} is {_described(items[odd])}"


def _message(raw: Json, number: int) -> Message:
    """Messages without an id are named by their place, so that the same file gives the same ids."""
    try:
        message = from_chat(raw)
    except InvalidMessage as error:
        raise InvalidMessage(f"message {number}: {error}", path=error.path, number=number) from error
    named = message.native is not None and message.native.raw.get("id") is not None
    return message if named else attrs.evolve(message, id=f"#{number}")


# --- shapes -----------------------------------------------------------------------------------------------------------


def _chat(item: Dict) -> Sequence[Json]:
    return _list(item, "messages")


def _tau_bench(item: Dict) -> Sequence[Json]:
    return _list(item, "traj")


def _list(item: Dict, key: str) -> list[Json]:
    if not isinstance(item[key], list):
        raise InvalidArgument(f"{key!r} is a {type(item[key]).__name__}; it must be an array of messages", name=key)
    return cast(list[Json], item[key])


def _swe_agent(item: Dict) -> Sequence[Json]:
    """SWE-agent's own keys are left out; an observation answers the calls in its `tool_call_ids`, the first with its text."""
    messages: list[Json] = []
    for step in _list(item, "history"):
        if not isinstance(step, dict):
            messages.append(step)
            continue
        held = cast(Dict, step)
        kept = {key: held[key] for key in ("role", "content", "name", "tool_calls", "tool_call_id") if held.get(key) is not None}
        ids = held.get("tool_call_ids")
        if held.get("role") == "tool" and isinstance(ids, list):
            for n, call_id in enumerate(cast(list[Json], ids)):
                messages.append({**kept, "tool_call_id": call_id, "content": kept.get("content") if n == 0 else ""})
        else:
            messages.append(kept)
    return messages


def _locomo(item: Dict) -> Sequence[Json]:
    """The first speaker is the user, the second the assistant; each session opens with its date, each photo with its caption."""
    conversation = item["conversation"]
    if not isinstance(conversation, dict) or "speaker_a" not in conversation:
        raise InvalidArgument("'conversation' has no speaker_a; it is not of a LoCoMo file", name="conversation")
    held = cast(Dict, conversation)
    numbers = sorted(int(key[8:]) for key in held if key.startswith("session_") and key[8:].isdigit())
    messages: list[Json] = []
    for number in numbers:
        date = held.get(f"session_{number}_date_time")
        for n, turn in enumerate(_list(held, f"session_{number}")):
            text = turn.get("text", "")
            if turn.get("blip_caption"):
                text = f"{text}\n[photo: {turn['blip_caption']}]"
            if n == 0 and date:
                text = f"[{date}]\n{text}"
            role = "user" if turn.get("speaker") == held["speaker_a"] else "assistant"
            messages.append({"id": turn.get("dia_id"), "role": role, "name": turn.get("speaker"), "content": text})
    return messages


_SPEAKERS = ("system", "user", "assistant", "tool")


def _few_shot(item: Dict) -> Sequence[Json]:
    """A transcript as text. Its tool calls were not written down: each result gets a call of the name `unrecorded`."""
    said: list[tuple[str, str]] = []
    for line in str(item["messages_display"]).split("\n"):
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
