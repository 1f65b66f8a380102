"""Requests of any wire form: those that codecs are tried on, and ways to look into one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs

from contextport.contracts import Json, Message, MessageCodec, Part, Text, ToolResult, dump_json, dump_message, load_message

from .codec_conversations import foreign, parallel
from .conversations import conversations

if TYPE_CHECKING:
    from .suites import MessageCodecConformance as Suite

__all__ = [
    "EDIT",
    "Request",
    "all_requests",
    "assert_same",
    "given_requests",
    "json_text",
    "leaves",
    "neutral",
    "scramble",
    "stored",
    "with_text",
]

EDIT = "edited words 8642"
Request = Mapping[str, Json]


def neutral(rounds: int = 1) -> Iterator[tuple[Message, ...]]:
    """Conversations that were not decoded from the codec's api, or only in part."""
    yield parallel("call_a", "call_b", "call_c")
    yield from foreign()
    yield from conversations(rounds)


def given_requests(suite: Suite) -> Iterator[tuple[Request, str]]:
    """The author's requests, copied, each with what to call it."""
    for n, request in enumerate(suite.requests()):
        yield copy.deepcopy(request), f"requests()[{n}]"


def all_requests(suite: Suite, codec: MessageCodec) -> Iterator[tuple[Request, str]]:
    """The author's requests, and those that the codec makes itself, each with what to call it."""
    yield from given_requests(suite)
    for n, messages in enumerate(neutral()):
        yield codec.encode(messages).request, f"what it made of conversation {n}"


def json_text(suite: Suite, request: Request) -> str:
    """The request as JSON text."""
    return dump_json(suite.as_json(request))


def stored(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages after a store had them."""
    return tuple(load_message(dump_message(message)) for message in messages)


def _first_difference(one: str, other: str) -> str:
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"at {at}: {one[max(0, at - 60) : at + 60]!r} became {other[max(0, at - 60) : at + 60]!r}"


def assert_same(one: str, other: str, what: str) -> None:
    """Fail, showing where, unless two texts are the same."""
    assert one == other, f"{what} is not what it was, {_first_difference(one, other)}"


def with_text(messages: tuple[Message, ...], at: int) -> tuple[Message, ...]:
    """The messages with the first text of one of them replaced, or with a text added where it has none."""
    message = messages[at]
    parts: list[Part] = list(message.parts)
    for n, part in enumerate(parts):
        if isinstance(part, Text):
            parts[n] = attrs.evolve(part, text=EDIT)
            break
        if isinstance(part, ToolResult) and part.executor == "client":
            kept = tuple(one for one in part.parts if not isinstance(one, Text))
            parts[n] = attrs.evolve(part, parts=(Text(EDIT), *kept))
            break
    else:
        parts.append(Text(EDIT))
    return (*messages[:at], attrs.evolve(message, parts=tuple(parts)), *messages[at + 1 :])


def leaves(value: Json) -> Iterator[str]:
    """All strings of a JSON value, its keys included; other values as JSON text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in cast(Mapping[str, Any], value).items():
            yield key
            yield from leaves(one)
    elif isinstance(value, list | tuple):
        for one in cast(Sequence[Any], value):
            yield from leaves(one)
    else:
        yield json.dumps(value)


def scramble(value: Any) -> None:
    """Change everything in a request that can be changed in place, inside objects as well."""
    known: set[int] = set()

    def walk(one: Any) -> None:
        if id(one) in known or one is None or isinstance(one, str | bytes | int | float):
            return
        known.add(id(one))
        if isinstance(one, dict):
            held = cast(dict[Any, Any], one)
            for inner in list(held.values()):
                walk(inner)
            for key in list(held):
                if isinstance(held[key], str):
                    held[key] = "scrambled"
            held["scrambled"] = True
        elif isinstance(one, list):
            for inner in list(cast(list[Any], one)):
                walk(inner)
            cast(list[Any], one).append("scrambled")
        elif isinstance(one, tuple):
            for inner in cast(tuple[Any, ...], one):
                walk(inner)
        elif hasattr(one, "__dict__") and not isinstance(one, type):
            for inner in list(vars(one).values()):
                walk(inner)

    walk(value)
