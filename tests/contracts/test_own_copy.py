"""Messages made by hand: checked field by field, and shared with nobody."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import attrs
import pytest

from contextport.contracts import (
    CacheMark,
    Importance,
    InvalidMessage,
    JsonPart,
    Kind,
    Media,
    Message,
    Native,
    Opaque,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_message,
    from_chat,
    load_message,
    own_copy,
    to_chat,
)

HUGE = 10**4300  # one digit more than Python writes


def message(*parts: Any, **more: Any) -> Message:
    return Message(role="assistant", parts=parts, **more)


def call(**more: Any) -> ToolCall:
    fields: dict[str, Any] = {"call_id": "c", "name": "f", "arguments": "{}", **more}
    return ToolCall(**fields)


def result(parts: Any = (), **more: Any) -> ToolResult:
    return ToolResult(call_id="c", parts=parts, **more)


BAD: list[tuple[Callable[[], Message], str]] = [
    (lambda: message(5), "parts[0]"),
    (lambda: message("text"), "parts[0]"),
    (lambda: message(Text("fine"), Text), "parts[1]"),
    (lambda: message(created_at=object()), "created_at"),
    (lambda: message(created_at="now"), "created_at"),
    (lambda: message(created_at=True), "created_at"),
    (lambda: message(created_at=float("nan")), "created_at"),
    (lambda: message(created_at=HUGE), "created_at"),
    (lambda: message(metadata={"n": [HUGE]}), "metadata.n[0]"),
    (lambda: message(metadata={"n": -HUGE}), "metadata.n"),
    (lambda: message(metadata={"n": object()}), "metadata.n"),
    (lambda: message(metadata=[("n", 1)]), "metadata"),
    (lambda: message(metadata=None), "metadata"),
    (lambda: message(status=object()), "status"),
    (lambda: message(phase=5), "phase"),
    (lambda: message(name=5), "name"),
    (lambda: message(pinned="yes"), "pinned"),
    (lambda: message(kind="chat"), "kind"),
    (lambda: message(importance=5), "importance"),
    (lambda: message(importance="high"), "importance"),
    (lambda: message(importance=HUGE), "importance"),
    (lambda: message(result(status=HUGE)), "parts[0].status"),
    (lambda: message(importance=True), "importance"),
    (lambda: message(importance=None), "importance"),
    (lambda: message(native=5), "native"),
    (lambda: message(native=Native(api="other", raw=object(), parts=())), "native.raw"),
    (lambda: message(native=Native(api=5, raw={}, parts=())), "native.api"),  # type: ignore[arg-type]
    (lambda: message(native=Native(api="openai.chat", raw="text", parts=())), "native.raw"),
    (lambda: message(native=Native(api="openai.chat", raw={}, parts=())), "role"),
    (lambda: message(Text(5)), "parts[0].text"),  # type: ignore[arg-type]
    (lambda: message(Text("x", citations="abc")), "parts[0].citations"),  # type: ignore[arg-type]
    (lambda: message(Text("x", citations=({}, object()))), "parts[0].citations[1]"),
    (lambda: message(Text("x", raw={"a": {1, 2}})), "parts[0].raw.a"),
    (lambda: message(Refusal(None)), "parts[0].text"),  # type: ignore[arg-type]
    (lambda: message(CacheMark(5)), "parts[0].ttl"),  # type: ignore[arg-type]
    (lambda: message(JsonPart(object())), "parts[0].value"),
    (lambda: message(JsonPart({"n": HUGE})), "parts[0].value.n"),
    (lambda: message(call(arguments={"a": 1})), "parts[0].arguments"),
    (lambda: message(call(arguments=None)), "parts[0].arguments"),
    (lambda: message(call(call_id=5)), "parts[0].call_id"),
    (lambda: message(call(executor="host")), "parts[0].executor"),
    (lambda: message(call(complete=1)), "parts[0].complete"),
    (lambda: message(result("abc")), "parts[0].parts"),
    (lambda: message(result(["abc"])), "parts[0].parts"),
    (lambda: message(result(("abc",))), "parts[0].parts[0]"),
    (lambda: message(result((call(),))), "parts[0].parts[0]"),
    (lambda: message(result((Text(5),))), "parts[0].parts[0].text"),  # type: ignore[arg-type]
    (lambda: message(result(status="fine")), "parts[0].status"),
    (lambda: message(result(status=[])), "parts[0].status"),
    (lambda: message(Media(media="hologram")), "parts[0].media"),  # type: ignore[arg-type]
    (lambda: message(Media(media="audio", data=b"AAAA")), "parts[0].data"),  # type: ignore[arg-type]
    (lambda: message(Media(media="image", size_px=(1,))), "parts[0].size_px"),  # type: ignore[arg-type]
    (lambda: message(Media(media="image", size_px=(1, "2"))), "parts[0].size_px[1]"),  # type: ignore[arg-type]
    (lambda: message(Media(media="image", size_px=(-1, 2))), "parts[0].size_px[0]"),
    (lambda: message(Thinking(summary="abc")), "parts[0].summary"),  # type: ignore[arg-type]
    (lambda: message(Thinking(encrypted=5)), "parts[0].encrypted"),  # type: ignore[arg-type]
    (lambda: message(Thinking(binding="tight")), "parts[0].binding"),  # type: ignore[arg-type]
    (lambda: message(Thinking(origin=("a",))), "parts[0].origin"),  # type: ignore[arg-type]
    (lambda: message(Opaque(api="a", type=5, raw={})), "parts[0].type"),  # type: ignore[arg-type]
    (lambda: message(Opaque(api="a", type="b", raw=object())), "parts[0].raw"),
]


@pytest.mark.parametrize(("make", "path"), BAD, ids=lambda value: value if isinstance(value, str) else "")
def test_a_field_of_another_type_is_refused_with_its_path(make: Callable[[], Message], path: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        own_copy(make())
    assert caught.value.path == path


def whole() -> Message:
    """A message with every kind of part and every field, all of it JSON that could be changed."""
    inner = (Text("t", ({"c": []},), {"r": []}), JsonPart([{}]), Opaque(api="a", type="b", raw={"r": [1]}, pair_id="i"))
    return Message(
        role="assistant",
        kind=Kind.INTERRUPT,
        name="n",
        pinned=True,
        importance=Importance.DECISION,
        phase="p",
        status="s",
        created_at=1.5,
        metadata={"k": [1, {"z": None}]},
        native=Native(api="other", raw={"w": [{}]}, parts=()),
        parts=(
            *inner,
            Media(
                media="image",
                data="AAAA",
                url="u",
                file_id="f",
                mime="image/png",
                name="n",
                detail="low",
                size_px=(0, 2),
                raw={"i": {}},
            ),
            call(item_id="i", namespace="s", executor="server", complete=False, raw={"t": []}),
            result(inner, status="error", name="f", executor="server", raw={"u": {}}),
            Thinking(
                text="t",
                summary=("s",),
                signature="g",
                encrypted="e",
                redacted=True,
                binding="item",
                item_id="i",
                origin=("a", "b"),
                raw={"v": []},
            ),
            Refusal("no"),
            CacheMark("5m"),
        ),
    )


def changeable(value: Any) -> list[int]:
    """The identity of everything in the value that can be changed."""
    if isinstance(value, dict):
        return [id(value), *(one for item in value.values() for one in changeable(item))]
    if isinstance(value, list):
        return [id(value), *(one for item in value for one in changeable(item))]
    if isinstance(value, tuple):
        return [one for item in value for one in changeable(item)]
    if attrs.has(type(value)):
        return [one for field in attrs.fields(type(value)) for one in changeable(getattr(value, field.name))]
    return []


MADE = [whole(), Message.user("plain"), from_chat({"role": "user", "content": [{"type": "x", "y": []}], "metadata": {"k": {}}})]


@pytest.mark.parametrize("given", MADE, ids=["every field", "plain", "decoded"])
def test_the_copy_is_equal_and_shares_nothing_that_can_be_changed(given: Message) -> None:
    copied = own_copy(given)
    assert copied == given
    assert dump_message(copied) == dump_message(given)
    mine = changeable(given)
    assert mine
    assert not set(mine) & set(changeable(copied))


def test_every_field_of_every_part_is_copied() -> None:
    """A field added to a part or to the message would else be lost on the way in."""
    for original, copied in zip(whole().parts, own_copy(whole()).parts, strict=True):
        for field in attrs.fields(type(original)):
            assert getattr(original, field.name) != field.default, f"the test has no {type(original).__name__}.{field.name}"
            assert getattr(copied, field.name) == getattr(original, field.name)


def test_an_edit_and_the_wire_form_survive_the_copy() -> None:
    wire = {"content": "as sent", "role": "user", "custom": {"k": [1]}}
    decoded = from_chat(wire)
    pinned = own_copy(attrs.evolve(decoded, pinned=True))
    assert pinned.pinned
    assert to_chat([pinned]) == [wire]
    edited = own_copy(attrs.evolve(decoded, parts=(Text("cut"),)))
    assert to_chat([edited]) == [{**wire, "content": "cut"}]


def test_an_edit_that_leaves_nothing_survives_copy_and_storage() -> None:
    emptied = attrs.evolve(from_chat({"role": "assistant", "content": "gone"}), parts=())
    for message in (own_copy(emptied), load_message(dump_message(emptied)), own_copy(load_message(dump_message(emptied)))):
        assert to_chat([message]) == [{"role": "assistant", "content": None}]


def test_parts_that_the_wire_form_does_not_have_are_not_believed() -> None:
    parts = (Text("claimed"),)
    lie = Message(
        role="user", parts=parts, native=Native(api="openai.chat", raw={"role": "user", "content": "true"}, parts=parts)
    )
    assert own_copy(lie).text == "true"


def test_plain_values_come_out_of_subclasses() -> None:
    class Name(StrEnum):
        KIM = "Kim"

    copied = own_copy(Message.user("x", name=Name.KIM, importance=2, metadata=MappingProxyType({"k": (1, 2)})))
    assert type(copied.name) is str
    assert copied.importance is Importance.REQUIREMENT
    assert copied.metadata == {"k": [1, 2]}
    assert type(copied.metadata) is dict


def test_an_integer_of_4300_digits_is_stored() -> None:
    large = 10**4300 - 1
    assert load_message(dump_message(own_copy(message(metadata={"n": large})))).metadata == {"n": large}
