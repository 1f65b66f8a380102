"""What the types of the openai package say to a request, with no key beside those that they know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import attrs
import pydantic
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam

from contextport.conformance_tests.codec_conversations import foreign, unsayable, with_ids
from contextport.conformance_tests.conversations import conversations
from contextport.contracts import Message

__all__ = ["check_chat", "check_responses", "foreign_conversations"]

_KNOWN_KEYS_ONLY = pydantic.ConfigDict(extra="forbid")
_chat = pydantic.TypeAdapter[Any](list[ChatCompletionMessageParam], config=_KNOWN_KEYS_ONLY)
_items = pydantic.TypeAdapter[Any](list[ResponseInputItemParam], config=_KNOWN_KEYS_ONLY)


def _consume(value: Any) -> None:
    """Go through what pydantic checks only when it is looked at."""
    if isinstance(value, Mapping):
        for one in cast(Mapping[str, Any], value).values():
            _consume(one)
    elif isinstance(value, list) or type(value).__name__ == "ValidatorIterator":
        for one in cast(list[Any], value):
            _consume(one)


def check_chat(request: Mapping[str, Any]) -> None:
    assert list(request) == ["messages"]
    _consume(_chat.validate_python(request["messages"]))


def check_responses(request: Mapping[str, Any]) -> None:
    assert set(request) <= {"input", "instructions"}
    if isinstance(request.get("input", ""), list):
        _consume(_items.validate_python(request["input"]))


def foreign_conversations() -> Iterator[list[Message]]:
    """Conversations of no api: random ones, and those with all kinds of parts."""
    for messages in (*conversations(6), *foreign(), *with_ids(), unsayable()):
        yield [attrs.evolve(message, native=None) for message in messages]
