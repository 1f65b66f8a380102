"""What the providers' own packages say to a request, and what an edit may change in one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, cast

import attrs
import botocore.session
import botocore.validate
import pydantic
from anthropic.types import MessageParam, TextBlockParam
from anthropic.types.beta import BetaMessageParam
from google.genai import types as gemini

from contextport.conformance_tests.codec_conversations import foreign, unsayable, with_ids
from contextport.conformance_tests.conversations import conversations
from contextport.contracts import Message, MessageCodec, Part, Text, ToolResult, dump_json, dump_message, load_message

__all__ = [
    "assert_comes_back",
    "assert_edits_stay_inside",
    "check_anthropic",
    "check_anthropic_beta",
    "check_bedrock",
    "check_gemini",
    "foreign_conversations",
    "stored",
]

_messages = pydantic.TypeAdapter[Any](list[MessageParam])
_beta_messages = pydantic.TypeAdapter[Any](list[BetaMessageParam])
_system = pydantic.TypeAdapter[Any](str | list[TextBlockParam])


def _consume(value: Any) -> None:
    """Go through what pydantic checks only when it is looked at."""
    if isinstance(value, Mapping):
        for item in cast(Mapping[str, Any], value).values():
            _consume(item)
    elif isinstance(value, list | tuple | Iterator) or type(value).__name__ == "ValidatorIterator":
        for item in cast(list[Any], value):
            _consume(item)


def check_anthropic(request: Mapping[str, Any]) -> None:
    _consume(_messages.validate_python(request["messages"]))
    _consume(_system.validate_python(request.get("system", "")))


def check_anthropic_beta(request: Mapping[str, Any]) -> None:
    _consume(_beta_messages.validate_python(request["messages"]))
    _consume(_system.validate_python(request.get("system", "")))


def check_gemini(request: Mapping[str, Any]) -> None:
    for content in request["contents"]:
        gemini.Content.model_validate(content)
    instruction = request.get("system_instruction", request.get("systemInstruction"))
    gemini.GenerateContentConfig.model_validate({"system_instruction": instruction})


@cache
def _converse_shape() -> Any:
    return botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape


def check_bedrock(request: Mapping[str, Any]) -> None:
    report = botocore.validate.ParamValidator().validate({"modelId": "m", **request}, _converse_shape())
    assert not report.has_errors(), report.generate_report()


def foreign_conversations() -> Iterator[tuple[Message, ...]]:
    """Conversations of no api of ours: random ones, and those with all kinds of parts."""
    yield from conversations(6)
    yield from foreign()
    yield from with_ids()
    yield unsayable()


def stored(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(load_message(dump_message(message)) for message in messages)


def assert_comes_back(codec: MessageCodec, request: Mapping[str, Any], written: Callable[[Any], str] = dump_json) -> None:
    """The request is the same text after decode and encode, also when the messages were stored in between."""
    messages = codec.decode(request)
    for given in (messages, stored(messages)):
        assert written(codec.encode(given, strict=True).request) == written(request)


def assert_edits_stay_inside(codec: MessageCodec, request: Mapping[str, Any], written: Callable[[Any], str] = dump_json) -> int:
    """However one message is edited, all others have the wire form that they had. Returns how many edits were tried."""
    messages = codec.decode(request)
    tried = 0
    for at, message in enumerate(messages):
        for parts in _edits(message.parts):
            edited = (*messages[:at], attrs.evolve(message, parts=parts), *messages[at + 1 :])
            for given in (edited, stored(edited)):
                tried += 1
                found = codec.decode(codec.encode(given).request)
                assert len(found) == len(messages)
                for n, (one, before) in enumerate(zip(found, messages, strict=True)):
                    assert one.native is not None
                    assert before.native is not None
                    assert n == at or written(one.native.raw) == written(before.native.raw)
    return tried


def _edits(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """A text more, each text another, and each part but one left out."""
    if any(isinstance(part, ToolResult) for part in parts):
        yield tuple(
            attrs.evolve(part, parts=(*part.parts, Text("more"))) if isinstance(part, ToolResult) else part for part in parts
        )
    else:
        yield (*parts, Text("another text"))
    if any(isinstance(part, Text) for part in parts):
        yield tuple(attrs.evolve(part, text="other words") if isinstance(part, Text) else part for part in parts)
    if len(parts) > 2:
        for n in range(len(parts)):
            yield (*parts[:n], *parts[n + 1 :])
