"""Windows of every shape that requests have been refused for, the same for the same seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import attrs

from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.bedrock_converse import BedrockConverseCodec
from contextport.adapters.wire.gemini_contents import GeminiCodec
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.adapters.wire.openai_responses import OpenAIResponsesCodec
from contextport.conformance_tests.conversations import conversations, long_tool_loop, tool_heavy
from contextport.conformance_tests.hard_conversations import disordered
from contextport.contracts import (
    CacheMark,
    Json,
    JsonPart,
    Kind,
    Media,
    Message,
    MessageCodec,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextport.contracts.profile import ProviderProfile
from contextport.strategies import KeepRecentTokens
from contextport.strategies.provider_rules import repair
from tests.cases.words_counter import WordsCounter

__all__ = ["CODECS", "call", "plain", "result", "windows", "without_native"]

CODECS: dict[str, MessageCodec] = {
    codec.api: codec
    for codec in (
        OpenAIChatCodec(),
        OpenAIResponsesCodec(),
        AnthropicCodec(),
        GeminiCodec(),
        BedrockConverseCodec(media_as="base64"),
    )
}
_IMAGE = Media(media="image", data="iVBORw0KGgo=", mime="image/png", size_px=(2, 2))
_MEDIA = (
    _IMAGE,
    Media(media="document", data="JVBERi0=", mime="application/pdf"),
    Media(media="audio", data="UklGRg==", mime="audio/wav"),
    Media(media="video", data="AAAAGGZ0eXA=", mime="video/mp4"),
)
_ODD_IDS = ("functions.find:0", "call_" + "x" * 60, "ключ", "a b", "c0", "abcdefghi")
_ODD_ARGUMENTS = ("", " ", "not json", "[1]", '{"a": NaN}', '{"cut": "off', "null", '{"a": 1}')
_LIBRARY = (Kind.SUMMARY, Kind.FACTS, Kind.RETRIEVED, Kind.GAP)


def call(id: str, arguments: str = "{}", name: str = "find", **more: Json) -> ToolCall:
    return ToolCall(call_id=id, name=name, arguments=arguments, **more)


def result(id: str, *parts: Text | Media | JsonPart | Opaque, text: str = "found", **more: Json) -> ToolResult:
    return ToolResult(call_id=id, parts=parts or (Text(text),), **more)


def without_native(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple([attrs.evolve(message, native=None) for message in messages])


@cache
def plain() -> tuple[tuple[Message, ...], ...]:
    """Conversations without anything odd about them, whole and in disorder."""
    return (*conversations(2), *disordered(1), tool_heavy(6), long_tool_loop(6), ())


def windows(profile: ProviderProfile, count: int, seed: int = 0) -> Iterator[tuple[Message, ...]]:
    """Windows for a profile: conversations made odd, some of them decoded from its own wire form, cut legally or anyhow."""
    for n in range(count):
        rng = random.Random(f"{profile.name} {seed} {n}")
        messages: Sequence[Message] = rng.choice(plain())
        if rng.random() < 0.8:
            messages = _odd(rng, messages, profile)
        if rng.random() < 0.3:
            messages = _decoded(messages, profile)
        cut = rng.random()
        if cut < 0.4 and messages:
            messages = messages[rng.randrange(len(messages)) :]
        elif cut < 0.7:
            budget = rng.randint(5, 120)
            messages = asyncio.run(KeepRecentTokens(WordsCounter()).compress(messages, budget)).messages
        elif cut < 0.8:
            messages = [message for message in messages if rng.random() < 0.8]
        yield tuple(messages)


def _decoded(messages: Sequence[Message], profile: ProviderProfile) -> Sequence[Message]:
    """The messages as the profile's own api gives them back once they were sent, so that they have its wire form."""
    codec = CODECS[profile.api]
    return codec.decode(codec.encode(repair(messages, profile).messages).request)


def _odd(rng: random.Random, messages: Sequence[Message], profile: ProviderProfile) -> list[Message]:
    out = [_odd_message(rng, message, profile) for message in messages]
    if rng.random() < 0.3:
        out = _with_odd_ids(rng, out)
    for _ in range(rng.choice((0, 0, 1, 2, 4))):
        out.insert(rng.randint(0, len(out)), _stranger(rng, len(out)))
    return out


def _odd_message(rng: random.Random, message: Message, profile: ProviderProfile) -> Message:
    parts = [_odd_part(rng, part, profile) for part in message.parts]
    for make in _ADDED:
        if rng.random() < 0.04:
            make(rng, message, parts, profile)
    if len(parts) == len(message.parts) and all(one is other for one, other in zip(parts, message.parts, strict=True)):
        return message
    return attrs.evolve(message, parts=tuple(parts))


def _odd_part(rng: random.Random, part: Part, profile: ProviderProfile) -> Part:
    if isinstance(part, Thinking) and rng.random() < 0.8:
        own = sorted(profile.signed_by)[0] if profile.signed_by else "openai.chat"
        origin = rng.choice(((own, ""), (own, "some-model"), ("elsewhere", "model-b"), None))
        return attrs.evolve(part, origin=origin, signature=rng.choice(("c2ln", "c2ln", None)), raw=None)
    if rng.random() > 0.08:
        return part
    if isinstance(part, ToolCall):
        return attrs.evolve(part, arguments=rng.choice(_ODD_ARGUMENTS), complete=rng.random() < 0.5, raw=None)
    if isinstance(part, ToolResult):
        inside = rng.choice(((), (Text(""),), (Text(" "), _IMAGE), (JsonPart({"a": [1]}),), (Text("seen"), _IMAGE)))
        return attrs.evolve(part, parts=inside, status=rng.choice(("ok", "error", None)), raw=None)
    if isinstance(part, Text):
        return attrs.evolve(part, text=rng.choice(("", " \n", part.text + " ")), raw=None)
    return part


def _add_text(rng: random.Random, message: Message, parts: list[Part], profile: ProviderProfile) -> None:
    parts.insert(rng.randint(0, len(parts)), Text(rng.choice(("", " ", "more"))))


def _add_media(rng: random.Random, message: Message, parts: list[Part], profile: ProviderProfile) -> None:
    media = rng.choice(_MEDIA)
    parts.append(attrs.evolve(media, size_px=rng.choice(((2, 2), (9000, 10), None))))


def _add_mark(rng: random.Random, message: Message, parts: list[Part], profile: ProviderProfile) -> None:
    parts.insert(rng.randint(0, len(parts)), CacheMark(rng.choice((None, "5m", "1h"))))


def _add_opaque(rng: random.Random, message: Message, parts: list[Part], profile: ProviderProfile) -> None:
    api = rng.choice((profile.api, "elsewhere"))
    kind = rng.choice(("novelty", "compaction"))
    parts.append(Opaque(api=api, type=kind, raw={"type": kind}, pair_id=rng.choice((None, None, "s1"))))


def _add_served(rng: random.Random, message: Message, parts: list[Part], profile: ProviderProfile) -> None:
    if message.role == "assistant":
        parts.append(call("s9", executor="server"))
        if rng.random() < 0.6:
            parts.append(result("s9", executor="server"))


def _add_thinking(rng: random.Random, message: Message, parts: list[Part], profile: ProviderProfile) -> None:
    if message.role == "assistant":
        own = sorted(profile.signed_by)[0] if profile.signed_by else "openai.chat"
        parts.insert(rng.randint(0, len(parts)), Thinking(text="so", signature="c2ln", origin=(own, "")))


def _add_refusal(rng: random.Random, message: Message, parts: list[Part], profile: ProviderProfile) -> None:
    if message.role == "assistant":
        parts.append(Refusal(rng.choice(("no", ""))))


_ADDED: tuple[Callable[[random.Random, Message, list[Part], ProviderProfile], None], ...] = (
    _add_text,
    _add_media,
    _add_mark,
    _add_opaque,
    _add_served,
    _add_thinking,
    _add_refusal,
)


def _with_odd_ids(rng: random.Random, messages: Sequence[Message]) -> list[Message]:
    """Some call ids renamed, with their results: to ids of another form, or to one that is there already."""
    new: dict[str, str] = {}
    for message in messages:
        for one in message.tool_calls:
            if rng.random() < 0.5:
                new[one.call_id] = rng.choice(_ODD_IDS)

    def renamed(part: Part) -> Part:
        if isinstance(part, ToolCall | ToolResult) and part.call_id in new:
            return attrs.evolve(part, call_id=new[part.call_id], raw=None)
        return part

    return [
        attrs.evolve(message, parts=tuple([renamed(part) for part in message.parts]))
        if any(isinstance(part, ToolCall | ToolResult) and part.call_id in new for part in message.parts)
        else message
        for message in messages
    ]


def _stranger(rng: random.Random, n: int) -> Message:
    """A message that the library or a host puts in: a summary, a gap message, a system message."""
    if rng.random() < 0.5:
        role = rng.choice(("user", "system", "assistant", "user"))
        kind = rng.choice(_LIBRARY)
        return Message(role=role, parts=(Text(f"[library text {n}]"),), id=f"x{n}", kind=kind)  # type: ignore[arg-type]
    return Message.system(f"rule {n}", id=f"x{n}") if rng.random() < 0.7 else Message.assistant(f"aside {n} ", id=f"x{n}")
