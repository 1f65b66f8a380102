"""The rules of `MessageCodec` on what is said, what is lost, and what must stay at home."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs

from contextport.contracts import (
    Encoded,
    EncodingLossy,
    Json,
    LossKind,
    Message,
    MessageCodec,
    Opaque,
    Part,
    Text,
    ToolResult,
)

from .codec_conversations import (
    SECRETS,
    foreign,
    pairs,
    parallel,
    said,
    with_ids,
    without,
)
from .codec_requests import assert_same, json_text, leaves, neutral, stored, with_text
from .rules import NotChecked, rule

if TYPE_CHECKING:
    from .suites import MessageCodecConformance as Suite

__all__: list[str] = []


@rule("CODEC-4", MessageCodec, cause="a block of unknown type is skipped, or lost when another block of its message is edited.")
async def unknown_blocks_are_carried(suite: Suite) -> None:
    codec = await suite.make()
    for messages in foreign():
        encoded = codec.encode(messages)
        for message in messages:
            for opaque in _opaque(message.parts):
                there = opaque.raw["beam"] in set(leaves(suite.as_json(encoded.request)))
                lost = any(loss.message_id == message.id for loss in encoded.losses)
                assert there or lost, (
                    f"a part of unknown type is neither in the request nor a loss of its message: {opaque} in the "
                    f"{_holder(message)}"
                )
    requests = copy.deepcopy(suite.unknown_blocks())
    for n, request in enumerate(requests):
        messages = codec.decode(request)
        holders = [(at, one) for at, message in enumerate(messages) for one in _opaque(message.parts)]
        assert holders, f"unknown_blocks()[{n}] was decoded without any Opaque part"
        for at, opaque in holders:
            assert _holds(suite.as_json(request), opaque.raw), f"unknown_blocks()[{n}] was decoded with {opaque.raw} changed"
            for given, how in ((messages, "encoding"), (with_text(messages, at), "editing another part of its message")):
                there = _holds(suite.as_json(codec.encode(given).request), opaque.raw)
                assert there, f"unknown_blocks()[{n}]: {how} changed or lost {opaque.raw}"
    if not requests:
        raise NotChecked("write unknown_blocks: requests with a block of a type that nobody knows yet")


def _holder(message: Message) -> str:
    return f"{message.role} message {message.id!r} with {', '.join(type(part).__name__ for part in message.parts) or 'no part'}"


def _opaque(parts: Sequence[Part]) -> Iterator[Opaque]:
    for part in parts:
        if isinstance(part, Opaque):
            yield part
        elif isinstance(part, ToolResult):
            yield from _opaque(part.parts)


def _holds(value: Json, fragment: Json) -> bool:
    """Whether a JSON value contains the other, its keys in any order."""
    if value == fragment:
        return True
    if isinstance(value, Mapping):
        return any(_holds(one, fragment) for one in cast(Mapping[str, Any], value).values())
    return isinstance(value, list | tuple) and any(_holds(one, fragment) for one in cast(Sequence[Any], value))


@rule("CODEC-5", MessageCodec, cause="a kind of part has no branch in the encoder, or its loss was forgotten.")
async def all_is_said_or_listed(suite: Suite) -> None:
    codec = await suite.make()
    for messages in neutral(2):
        encoded = codec.encode(messages)
        found = codec.decode(encoded.request)
        _assert_said(messages, said(found), exactly=not encoded.losses)
        assert pairs(found) == pairs(messages), (
            f"(name, arguments, texts of its results) {pairs(messages)} are {pairs(found)} in the request"
        )
        _assert_losses_are_placed(messages, encoded)
    for messages in foreign():
        _assert_listed(suite, codec, messages)


def _assert_said(messages: Sequence[Message], heard: Sequence[str], *, exactly: bool) -> None:
    """Each text is said as often as it should be; `exactly`, in that order, and nothing else."""
    wanted, rest = said(messages), "\0".join(heard)
    for text in sorted(wanted, key=len, reverse=True):
        holder = next((_holder(message) for message in messages if text in said((message,))), "")
        assert text in rest, f"{text!r} of the {holder} is not in the request, which is read back as {heard}"
        rest = rest.replace(text, "", 1)
    same = "".join("".join(wanted).split()) == "".join("".join(heard).split())
    assert same or not exactly, f"without a loss, {wanted} are said as {heard}"


def _assert_losses_are_placed(messages: Sequence[Message], encoded: Encoded) -> None:
    sizes = {message.id: len(message.parts) for message in messages}
    for loss in encoded.losses:
        known = isinstance(loss.kind, LossKind) and -1 <= loss.part < sizes.get(loss.message_id, -1)
        assert known, f"{loss} names no part of the conversation"


def _assert_listed(suite: Suite, codec: MessageCodec, messages: tuple[Message, ...]) -> None:
    """What makes no difference to the request must be a loss."""
    encoded = codec.encode(messages)
    request = json_text(suite, encoded.request)
    lossy = {loss.message_id for loss in encoded.losses}
    for at, message in enumerate(messages):
        for what, other in _reduced(messages, at):
            if json_text(suite, codec.encode(other).request) == request:
                assert message.id in lossy, f"{what} of {message} is not in the request, and no loss says so"


def _reduced(messages: tuple[Message, ...], at: int) -> Iterator[tuple[str, tuple[Message, ...]]]:
    """The conversation with one thing of one message taken out, for each."""
    message = messages[at]

    def changed(**fields: Any) -> tuple[Message, ...]:
        return (*messages[:at], attrs.evolve(message, **fields), *messages[at + 1 :])

    for n, part in enumerate(message.parts):
        what = f"part {n}, a {type(part).__name__},"
        rest = (message.parts[:n], message.parts[n + 1 :])
        if isinstance(part, Text) and part.citations:
            yield f"the citation in {what}", changed(parts=(*rest[0], attrs.evolve(part, citations=()), *rest[1]))
        elif isinstance(part, ToolResult) and part.executor == "client":
            if part.status is not None:
                yield f"the status of {what}", changed(parts=(*rest[0], attrs.evolve(part, status=None), *rest[1]))
            for inner in range(len(part.parts)):
                kept = part.parts[:inner] + part.parts[inner + 1 :]
                yield (
                    f"the {type(part.parts[inner]).__name__} in {what}",
                    changed(parts=(*rest[0], attrs.evolve(part, parts=kept), *rest[1])),
                )
        else:
            yield what, without(messages, at, n)
    if message.name is not None:
        yield "the name", changed(name=None)
    if message.phase is not None:
        yield "the phase", changed(phase=None)


@rule("CODEC-6", MessageCodec, cause="strict is not looked at, or looked at for some kinds of loss only.")
async def strict_raises_where_something_is_lost(suite: Suite) -> None:
    codec = await suite.make()
    for messages in neutral():
        encoded = codec.encode(messages)
        try:
            strict = codec.encode(messages, strict=True)
        except EncodingLossy as error:
            assert encoded.losses, "strict=True raised EncodingLossy where there is no loss"
            named = tuple(error.details.get("losses", ()))
            assert named == encoded.losses, f"EncodingLossy names {named}, the losses are {encoded.losses}"
        else:
            assert not encoded.losses, f"strict=True did not raise, and the losses are {encoded.losses}"
            assert_same(json_text(suite, encoded.request), json_text(suite, strict.request), "what strict=True made")


@rule("CODEC-7", MessageCodec, cause="the wire form of a reasoning part is copied without asking which api it is of.")
async def signatures_stay_at_home(suite: Suite) -> None:
    codec = await suite.make()
    for messages in neutral():
        for given in (messages, stored(messages)):
            found = [leaf for leaf in leaves(suite.as_json(codec.encode(given).request)) if _tells(leaf)]
            assert not found, f"a signature or encrypted reasoning of another api is in the request: {found[0][:200]!r}"


def _tells(leaf: str) -> bool:
    return any(secret in leaf for secret in SECRETS)


@rule("CODEC-11", MessageCodec, cause="ids are cut, or cleaned, to fit; or made at random, or by their place.")
async def ids_stay_apart(suite: Suite) -> None:
    codec = await suite.make()
    for wanted in with_ids():
        encoded = codec.encode(wanted)
        request = json_text(suite, encoded.request)
        found = codec.decode(encoded.request)
        assert pairs(found) == pairs(wanted), f"ids of calls were mixed up: {pairs(wanted)} became {pairs(found)}"
        ids = [call.call_id for message in wanted for call in message.tool_calls]
        made = [call.call_id for message in found for call in message.tool_calls]
        assert len(set(made)) == len(ids), f"the ids {ids} became {made}"
        listed = any(loss.kind is LossKind.ID for loss in encoded.losses)
        assert made == ids or listed, f"the ids {ids} became {made}, and no loss says so"
        for other in (codec.encode(wanted), (await suite.make()).encode(wanted), codec.encode(stored(wanted))):
            assert_same(request, json_text(suite, other.request), "the same conversation, encoded again,")
        taken = parallel(*ids, *(one for one in made if one not in ids))
        again = codec.decode(codec.encode(taken).request)
        assert pairs(again) == pairs(taken), f"an id that others are mapped to was mixed up: {pairs(taken)} became {pairs(again)}"
        assert len({call.call_id for message in again for call in message.tool_calls}) == len(pairs(taken))
