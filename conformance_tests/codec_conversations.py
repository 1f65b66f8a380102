"""Conversations that codecs are tried on, none of a codec's own api, and ways to look into a request of unknown form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from contextport.contracts import (
    CacheMark,
    JsonPart,
    Media,
    Message,
    Native,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_json,
)

__all__ = [
    "FOREIGN",
    "SECRETS",
    "arguments_of",
    "call_groups",
    "foreign",
    "pairs",
    "parallel",
    "said",
    "same_call_ids",
    "texts",
    "unsayable",
    "with_ids",
    "without",
]

FOREIGN = "stranger.wire"  # an api that no codec is of
SECRETS = ("c2lnbmF0dXJl-one", "c2lnbmF0dXJl-two", "ZW5jcnlwdGVk-three", "c2lnbmF0dXJl-four", "ZW5jcnlwdGVk-five")
_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEklEQVR42mNk+M/wHwMDAwMABQYBAmT0qQAAAABJRU5ErkJggg=="


def parallel(*ids: str) -> tuple[Message, ...]:
    """A question, one message with a call for each id, the results in another order, and an answer."""
    calls = tuple(ToolCall(call_id=one, name="find", arguments=f'{{"q":"query {n}"}}') for n, one in enumerate(ids))
    results = [Message.tool(one, f"found {n}", id=f"r{n}") for n, one in enumerate(ids)]
    return (
        Message.user("find them all", id="u"),
        Message.assistant("I look for all of them", *calls, id="a"),
        *reversed(results),
        Message.assistant("here they are", id="z"),
    )


def with_ids() -> Iterator[tuple[Message, ...]]:
    """Calls whose ids are long, odd, or almost alike."""
    yield parallel("call_1", "call_2", "call_3")
    yield parallel("x" * 200 + "1", "x" * 200 + "2", "x" * 200)
    yield parallel("functions.Bash:0", "functions.Bash:1", "functions_Bash_0")
    yield parallel("a b", "a_b", "a-b", "A b", "a.b")
    yield parallel("ид", "id", "号", "号 ", "\u00e9", "e\u0301")
    yield parallel("toolu_" + "0" * 24, "fc_" + "1" * 60, "call_" + "2" * 36)


def foreign() -> Iterator[tuple[Message, ...]]:
    """Conversations with what other apis know: reasoning with seals, media, error results, citations, unknown blocks."""
    ask = Message.user("a plain question", id="q")
    for n, thinking in enumerate(_thinking()):
        yield ask, Message(role="assistant", id=f"think{n}", parts=(thinking, Text(f"answer after thought {n}")))
    for n, parts in enumerate(_spoken()):
        yield ask, Message(role="assistant", id=f"said{n}", parts=parts), Message.user("and then?", id="q2")
    for n, media in enumerate(_media()):
        yield (
            Message(role="user", id=f"media{n}", parts=(Text(f"what is this, number {n}?"), media)),
            Message.assistant("a thing"),
        )
    for n, result in enumerate(_results()):
        call = ToolCall(call_id="call_r", name="find", arguments='{"q":"one"}')
        answer = Message(role="tool", id=f"result{n}", parts=(result,))
        yield ask, Message.assistant("", call, id="c"), answer, Message.assistant("done", id="d")
    yield _native_of_another_api()
    yield ask, Message.assistant("as Ann would say", id="named", name="ann"), Message.user("who?", id="bob", name="bob")
    yield ask, Message.assistant("on the way", id="phased", phase="commentary"), Message.user("go on", id="q2")


def _thinking() -> tuple[Thinking, ...]:
    one, two, three, four, five = SECRETS
    return (
        Thinking(text="a thought of another model", signature=one, binding="turn", origin=(FOREIGN, "m1")),
        Thinking(text="a thought of nobody", signature=two),
        Thinking(summary=("a summary",), encrypted=three, binding="item", item_id="rs_1", origin=(FOREIGN, "m1")),
        Thinking(
            text="raw",
            signature=four,
            raw={"type": "thinking", "thinking": "raw", "signature": four, "thought_signature": four},
            origin=(FOREIGN, "m1"),
        ),
        Thinking(encrypted=five, redacted=True, raw={"type": "redacted_thinking", "data": five, "encrypted_content": five}),
        Thinking(text="a thought without a seal"),
    )


def _spoken() -> tuple[tuple[Part, ...], ...]:
    call = ToolCall(call_id="call_s", name="search", arguments='{"q":"web"}', executor="server")
    found = ToolResult(call_id="call_s", parts=(Text("found on the web"),), executor="server")
    return (
        (Refusal("I cannot help with that"),),
        (Text("cited words", citations=({"url": "https://example.org/cited"},)),),
        (Text("marked words"), CacheMark(ttl="5m")),
        (Text("known words"), Opaque(api=FOREIGN, type="hologram", raw={"type": "hologram", "beam": "opaque-beam"})),
        (Text("let me search"), call, found, Text("that is what I found")),
        (Text("first paragraph"), Text("second paragraph")),
    )


def _media() -> tuple[Media, ...]:
    return (
        Media(media="image", data=_PNG, mime="image/png", size_px=(2, 2)),
        Media(media="image", url="https://example.org/picture.png", detail="low"),
        Media(media="image", file_id="file-abc"),
        Media(media="audio", data="UklGRg==", mime="audio/wav"),
        Media(media="video", url="https://example.org/film.mp4", mime="video/mp4"),
        Media(media="document", data="JVBERi0xLjQ=", mime="application/pdf", name="paper.pdf"),
        Media(media="document", url="https://example.org/paper.pdf", mime="application/pdf"),
    )


def _results() -> tuple[ToolResult, ...]:
    image = Media(media="image", data=_PNG, mime="image/png", size_px=(2, 2))
    strange = Opaque(api=FOREIGN, type="hologram", raw={"type": "hologram", "beam": "result-beam"})
    return (
        ToolResult(call_id="call_r", parts=(Text("it broke"),), status="error"),
        ToolResult(call_id="call_r", parts=(Text("see the image"), image)),
        ToolResult(call_id="call_r", parts=(image,)),
        ToolResult(call_id="call_r", parts=(JsonPart({"rows": [1, 2], "more": None}),), name="find"),
        ToolResult(call_id="call_r", parts=(Text("one"), JsonPart(["two"]), Text("three"))),
        ToolResult(call_id="call_r", parts=(Text("known"), strange)),
        ToolResult(call_id="call_r", parts=()),
    )


def _native_of_another_api() -> tuple[Message, ...]:
    """Messages decoded from elsewhere, whose wire form must not leak into a request."""
    thinking = Thinking(text="t", signature=SECRETS[0], raw={"seal": SECRETS[0]}, origin=(FOREIGN, "m"))
    call = ToolCall(call_id="call_n", name="find", arguments='{"q": 1}', raw={"kind": "call", "seal": SECRETS[1]})
    spoken: tuple[Part, ...] = (thinking, Text("native words", raw={"words": "native words", "seal": SECRETS[1]}), call)
    asked: tuple[Part, ...] = (Text("asked elsewhere", raw={"words": "asked elsewhere"}),)
    answered: tuple[Part, ...] = (ToolResult(call_id="call_n", parts=(Text("native result"),), raw={"seal": SECRETS[2]}),)
    rows: tuple[tuple[Any, str, tuple[Part, ...]], ...] = (
        ("user", "n0", asked),
        ("assistant", "n1", spoken),
        ("tool", "n2", answered),
    )
    return tuple(
        Message(role=role, id=id, parts=parts, native=Native(api=FOREIGN, raw={"all": SECRETS[3]}, parts=parts))
        for role, id, parts in rows
    )


def unsayable() -> tuple[Message, ...]:
    """Text that UTF-8 cannot hold, everywhere."""
    lone = "\ud83d"
    call = ToolCall(call_id=f"call{lone}", name="find", arguments=f'{{"q":"{lone}"}}')
    return (
        Message.system(f"system {lone}", id="s"),
        Message(role="user", id="u", parts=(Text(f"user {lone}", raw={"type": "text", "text": f"user {lone}"}),)),
        Message.assistant(f"assistant {lone}", call, id="a"),
        Message(role="tool", id="t", parts=(ToolResult(call_id=f"call{lone}", parts=(Text(f"tool {lone}"), JsonPart([lone]))),)),
        Message.assistant("end", id="e"),
    )


# --- what a conversation says ------------------------------------------------------------------------------------------


def said(messages: Sequence[Message]) -> list[str]:
    """All that is said in words, in order, blanks apart: texts, refusals, results; structured content as JSON text."""
    return [text for message in messages for text in texts(message.parts) if text.strip()]


def texts(parts: Sequence[Part]) -> Iterator[str]:
    """The texts of parts, those in results of the host included."""
    for part in parts:
        if isinstance(part, Text | Refusal):
            yield part.text
        elif isinstance(part, JsonPart):
            yield dump_json(part.value)
        elif isinstance(part, ToolResult) and part.executor == "client":
            yield from texts(part.parts)


def arguments_of(call: ToolCall) -> str:
    """The arguments as JSON of one spelling; {} for none, and what is no JSON as it is."""
    try:
        return json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except ValueError:
        return call.arguments


def call_groups(messages: Sequence[Message]) -> list[list[tuple[str, str]]]:
    """For each message with calls, their names and arguments."""
    return [[(call.name, arguments_of(call)) for call in message.tool_calls] for message in messages if message.tool_calls]


def pairs(messages: Sequence[Message]) -> list[tuple[str, str, list[str]]]:
    """(name, arguments, words of its results) of each call, paired by id. A form may hold the texts of a result as one."""
    results: dict[str, list[str]] = {}
    for message in messages:
        for result in message.tool_results:
            results.setdefault(result.call_id, []).extend(word for text in texts(result.parts) for word in text.split())
    calls = [call for message in messages for call in message.tool_calls]
    return [(call.name, arguments_of(call), results.get(call.call_id, [])) for call in calls]


def same_call_ids(messages: Sequence[Message]) -> bool:
    """Whether two calls have one id."""
    ids = [call.call_id for message in messages for call in message.tool_calls]
    return len(set(ids)) < len(ids)


def without(messages: Sequence[Message], at: int, part: int) -> tuple[Message, ...]:
    """The conversation without one part of one message."""
    message = messages[at]
    kept = tuple(one for n, one in enumerate(message.parts) if n != part)
    return (*messages[:at], attrs.evolve(message, parts=kept), *messages[at + 1 :])
