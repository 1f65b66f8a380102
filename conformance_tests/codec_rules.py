"""The rules of `MessageCodec`."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs

from contextport.contracts import (
    Encoded,
    EncodingLossy,
    InvalidMessage,
    Json,
    LossKind,
    Message,
    MessageCodec,
    Opaque,
    Part,
    Text,
    ToolResult,
    dump_json,
    dump_message,
    load_message,
)

from .codec_conversations import (
    SECRETS,
    call_groups,
    foreign,
    leaves,
    pairs,
    parallel,
    said,
    same_call_ids,
    scramble,
    texts,
    unsayable,
    with_ids,
    without,
)
from .conversations import conversations
from .rules import NotChecked, rule

if TYPE_CHECKING:
    from .suites import MessageCodecConformance as Suite

__all__: list[str] = []

_EDIT = "edited words 8642"
_Request = Mapping[str, Json]


def _neutral(rounds: int = 1) -> Iterator[tuple[Message, ...]]:
    """Conversations that were not decoded from the codec's api, or only in part."""
    yield parallel("call_a", "call_b", "call_c")
    yield from foreign()
    yield from conversations(rounds)


def _given(suite: Suite) -> Iterator[tuple[_Request, str]]:
    """The author's requests, copied, each with what to call it."""
    for n, request in enumerate(suite.requests()):
        yield copy.deepcopy(request), f"requests()[{n}]"


def _requests(suite: Suite, codec: MessageCodec) -> Iterator[tuple[_Request, str]]:
    """The author's requests, and those that the codec makes itself, each with what to call it."""
    yield from _given(suite)
    for n, messages in enumerate(_neutral()):
        yield codec.encode(messages).request, f"what it made of conversation {n}"


def _text(suite: Suite, request: _Request) -> str:
    return dump_json(suite.as_json(request))


def _stored(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(load_message(dump_message(message)) for message in messages)


def _first_difference(one: str, other: str) -> str:
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"at {at}: {one[max(0, at - 60) : at + 60]!r} became {other[max(0, at - 60) : at + 60]!r}"


def _assert_same(one: str, other: str, what: str) -> None:
    assert one == other, f"{what} is not what it was, {_first_difference(one, other)}"


@rule("CODEC-1", MessageCodec, cause="the wire form is rebuilt from parts although nothing was edited, or keys are put in order.")
async def an_unedited_request_comes_back(suite: Suite) -> None:
    codec = await suite.make()
    for request, name in _requests(suite, codec):
        wanted = _text(suite, request)
        beside = {**copy.deepcopy(request), "x_not_of_the_conversation": {"n": 1}}
        messages = codec.decode(request)
        for given, how in ((messages, "decoded and encoded"), (_stored(messages), "stored in between")):
            encoded = codec.encode(given)
            _assert_same(wanted, _text(suite, encoded.request), f"{name}, {how},")
            assert encoded.losses == (), f"{name}, {how}, has losses: {encoded.losses}"
        _assert_same(wanted, _text(suite, codec.encode(codec.decode(beside)).request), f"{name}, with a field of other meaning,")
    if not suite.requests():
        raise NotChecked("write requests: requests of the codec's api as hosts have them, so that they can be tried")


@rule("CODEC-2", MessageCodec, cause="the request's own objects are put into messages, or those of messages into a request.")
async def nothing_is_shared(suite: Suite) -> None:
    codec = await suite.make()
    for request, name in _requests(suite, codec):
        given = _text(suite, request)
        messages = codec.decode(request)
        _assert_same(given, _text(suite, request), f"{name} after decode")
        before = _text(suite, codec.encode(messages).request)
        held = [dump_message(message) for message in messages]
        scramble(request)
        assert [dump_message(message) for message in messages] == held, f"changing {name} changed what was decoded from it"
        encoded = codec.encode(messages).request
        scramble(encoded)
        assert [dump_message(message) for message in messages] == held, f"changing what was encoded changed messages of {name}"
        _assert_same(before, _text(suite, codec.encode(messages).request), f"{name}, encoded again")


@rule("CODEC-3", MessageCodec, cause="each call becomes a message of its own, or a result is paired by its place.")
async def calls_made_together_stay_together(suite: Suite) -> None:
    codec = await suite.make()
    for wanted in _neutral():
        found = codec.decode(codec.encode(wanted).request)
        assert call_groups(found) == call_groups(wanted), f"the calls {call_groups(wanted)} came back as {call_groups(found)}"
        if not same_call_ids(wanted):
            assert pairs(found) == pairs(wanted), f"(name, arguments, results) {pairs(wanted)} came back as {pairs(found)}"
    for request, name in _given(suite):
        called: set[str] = set()
        for message in codec.decode(request):
            stray = [result.call_id for result in message.tool_results if result.call_id not in called]
            assert not stray, f"in {name} results have ids without a call before: {stray}"
            ids = [call.call_id for call in message.tool_calls]
            apart = all(ids) and not called & set(ids)
            assert apart, f"in {name} the calls {ids} have no id of their own"
            called |= set(ids)


@rule("CODEC-4", MessageCodec, cause="a block of unknown type is skipped, or lost when another block of its message is edited.")
async def unknown_blocks_are_carried(suite: Suite) -> None:
    codec = await suite.make()
    for messages in foreign():
        encoded = codec.encode(messages)
        for message in messages:
            for opaque in _opaque(message.parts):
                there = opaque.raw["beam"] in set(leaves(suite.as_json(encoded.request)))
                lost = any(loss.message_id == message.id for loss in encoded.losses)
                assert there or lost, f"a part of unknown type is neither in the request nor a loss: {opaque}"
    requests = copy.deepcopy(suite.unknown_blocks())
    for n, request in enumerate(requests):
        messages = codec.decode(request)
        holders = [(at, one) for at, message in enumerate(messages) for one in _opaque(message.parts)]
        assert holders, f"unknown_blocks()[{n}] was decoded without any Opaque part"
        for at, opaque in holders:
            assert _holds(suite.as_json(request), opaque.raw), f"unknown_blocks()[{n}] was decoded with {opaque.raw} changed"
            for given, how in ((messages, "encoding"), (_with_text(messages, at), "editing another part of its message")):
                there = _holds(suite.as_json(codec.encode(given).request), opaque.raw)
                assert there, f"unknown_blocks()[{n}]: {how} changed or lost {opaque.raw}"
    if not requests:
        raise NotChecked("write unknown_blocks: requests with a block of a type that nobody knows yet")


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
    for messages in _neutral(2):
        encoded = codec.encode(messages)
        found = codec.decode(encoded.request)
        _assert_said(said(messages), said(found), exactly=not encoded.losses)
        assert pairs(found) == pairs(messages), f"(name, arguments, results) {pairs(messages)} are {pairs(found)} in the request"
        _assert_losses_are_placed(messages, encoded)
    for messages in foreign():
        _assert_listed(suite, codec, messages)


def _assert_said(wanted: Sequence[str], heard: Sequence[str], *, exactly: bool) -> None:
    """Each text is said as often as it should be; `exactly`, in that order, and nothing else."""
    rest = "\0".join(heard)
    for text in sorted(wanted, key=len, reverse=True):
        assert text in rest, f"{text!r} is not in the request, which says {heard}"
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
    request = _text(suite, encoded.request)
    lossy = {loss.message_id for loss in encoded.losses}
    for at, message in enumerate(messages):
        for what, other in _reduced(messages, at):
            if _text(suite, codec.encode(other).request) == request:
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
    for messages in _neutral():
        encoded = codec.encode(messages)
        try:
            strict = codec.encode(messages, strict=True)
        except EncodingLossy as error:
            assert encoded.losses, "strict=True raised EncodingLossy where there is no loss"
            named = tuple(error.details.get("losses", ()))
            assert named == encoded.losses, f"EncodingLossy names {named}, the losses are {encoded.losses}"
        else:
            assert not encoded.losses, f"strict=True did not raise, and the losses are {encoded.losses}"
            _assert_same(_text(suite, encoded.request), _text(suite, strict.request), "what strict=True made")


@rule("CODEC-7", MessageCodec, cause="the wire form of a reasoning part is copied without asking which api it is of.")
async def signatures_stay_at_home(suite: Suite) -> None:
    codec = await suite.make()
    for messages in _neutral():
        for given in (messages, _stored(messages)):
            found = [leaf for leaf in leaves(suite.as_json(codec.encode(given).request)) if _tells(leaf)]
            assert not found, f"a signature or encrypted reasoning of another api is in the request: {found[0][:200]!r}"


def _tells(leaf: str) -> bool:
    return any(secret in leaf for secret in SECRETS)


@rule("CODEC-8", MessageCodec, cause="a value is indexed before its type was looked at, or the error has no path.")
async def what_is_no_message_is_refused(suite: Suite) -> None:
    codec = await suite.make()
    good = codec.encode(parallel("call_a")).request
    wrong: list[tuple[str, Any]] = [("", 5), ("", None), ("", [good])]
    for key in good:
        wrong += [(key, {**good, key: value}) for value in (5, [5], [object()], [None], {1: 2}, [{"\ud800": object()}])]
    wrong += [("", request) for request in suite.invalid_requests()]
    for path, request in wrong:
        where = _path_of_refusal(codec, request)
        assert isinstance(where, str), f"the error on {request!r:.200} has no path"
        assert where.startswith(path), f"the error on {request!r:.200} has the path {where!r}, which leads not to {path}"


def _path_of_refusal(codec: MessageCodec, request: Any) -> Any:
    try:
        found = codec.decode(request)
    except InvalidMessage as error:
        return error.details.get("path")
    except Exception as error:
        raise AssertionError(f"decode({request!r:.200}) raised {type(error).__name__}: {error}") from error
    raise AssertionError(f"decode({request!r:.200}) raised nothing and returned {found!r:.200}")


@rule("CODEC-9", MessageCodec, cause="lone surrogates are passed on, or a value of the request is no JSON.")
async def a_request_is_utf8(suite: Suite) -> None:
    codec = await suite.make()
    for messages in (unsayable(), *_neutral()):
        request = suite.as_json(codec.encode(messages).request)
        try:
            written = json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, TypeError) as error:
            raise AssertionError(f"a request cannot be written as UTF-8 JSON: {error}") from error
        if messages[0].id == "s":
            missing = [word for word in ("system", "user", "assistant", "tool") if f"{word} \ufffd" not in written.decode()]
            assert not missing, f"text of {missing} with a lone surrogate is not in the request with U+FFFD for it"


@rule("CODEC-10", MessageCodec, cause="one edited message makes the codec rebuild others, or its old content is used.")
async def an_edit_changes_one_message(suite: Suite) -> None:
    codec = await suite.make()
    tried = 0
    for request, name in _requests(suite, codec):
        messages = codec.decode(request)
        before = suite.as_json(codec.encode(messages).request)
        for at, message in enumerate(messages):
            if not any(text.strip() for text in texts(message.parts)):
                continue
            tried += 1
            edited = _with_text(messages, at)
            for given in (edited, _stored(edited)):
                after = suite.as_json(codec.encode(given).request)
                _assert_edited(messages, at, before, after, codec.decode(codec.encode(given).request), f"{name}, message {at}")
    assert tried, "no decoded message has a text"


def _with_text(messages: tuple[Message, ...], at: int) -> tuple[Message, ...]:
    """The messages with the first text of one of them replaced, or with a text added where it has none."""
    message = messages[at]
    parts: list[Part] = list(message.parts)
    for n, part in enumerate(parts):
        if isinstance(part, Text):
            parts[n] = attrs.evolve(part, text=_EDIT)
            break
        if isinstance(part, ToolResult) and part.executor == "client":
            kept = tuple(one for one in part.parts if not isinstance(one, Text))
            parts[n] = attrs.evolve(part, parts=(Text(_EDIT), *kept))
            break
    else:
        parts.append(Text(_EDIT))
    return (*messages[:at], attrs.evolve(message, parts=tuple(parts)), *messages[at + 1 :])


def _assert_edited(
    messages: tuple[Message, ...], at: int, before: Json, after: Json, found: Sequence[Message], name: str
) -> None:
    assert _EDIT in set(leaves(after)), f"{name}: the new text is not in the request"
    heard = said(found)
    above, below = said(messages[:at]), said(messages[at + 1 :])
    kept = heard[: len(above)] == above and heard[len(heard) - len(below) :] == below
    assert kept, f"{name} was edited, and others that said {above} and {below} now say {heard}"
    assert pairs(found) == pairs(_with_text(messages, at)), f"{name} was edited, and calls or results changed"
    own = messages[at].native
    lost = set(leaves(before)) - set(leaves(after)) - set(leaves(own.raw if own is not None else None))
    assert not lost, f"{name} was edited, and what others said on the wire is gone: {sorted(lost)[:5]}"


@rule("CODEC-11", MessageCodec, cause="ids are cut, or cleaned, to fit; or made at random, or by their place.")
async def ids_stay_apart(suite: Suite) -> None:
    codec = await suite.make()
    for wanted in with_ids():
        encoded = codec.encode(wanted)
        request = _text(suite, encoded.request)
        found = codec.decode(encoded.request)
        assert pairs(found) == pairs(wanted), f"ids of calls were mixed up: {pairs(wanted)} became {pairs(found)}"
        ids = [call.call_id for message in wanted for call in message.tool_calls]
        made = [call.call_id for message in found for call in message.tool_calls]
        assert len(set(made)) == len(ids), f"the ids {ids} became {made}"
        listed = any(loss.kind is LossKind.ID for loss in encoded.losses)
        assert made == ids or listed, f"the ids {ids} became {made}, and no loss says so"
        for other in (codec.encode(wanted), (await suite.make()).encode(wanted), codec.encode(_stored(wanted))):
            _assert_same(request, _text(suite, other.request), "the same conversation, encoded again,")
        taken = parallel(*ids, *(one for one in made if one not in ids))
        again = codec.decode(codec.encode(taken).request)
        assert pairs(again) == pairs(taken), f"an id that others are mapped to was mixed up: {pairs(taken)} became {pairs(again)}"
        assert len({call.call_id for message in again for call in message.tool_calls}) == len(pairs(taken))


@rule("CODEC-12", MessageCodec, cause="the system prompt is sent as a user message, or not read back.")
async def system_messages_come_back(suite: Suite) -> None:
    codec = await suite.make()
    conversation = (Message.system("You are a careful librarian.", id="s"), *parallel("call_a"))
    encoded = codec.encode(conversation)
    changed = [loss for loss in encoded.losses if loss.message_id == "s"]
    assert not changed, f"a system message at the start has losses: {changed}"
    found = codec.decode(encoded.request)
    system = [message for message in found if message.role == "system"]
    assert [message.text for message in system] == ["You are a careful librarian."], (
        f"the system message came back as {found[:1]}"
    )
    assert found[0].role == "system", f"the system message is not first: {[message.role for message in found]}"
    assert [message.role for message in found[1:]] == [message.role for message in conversation[1:]], (
        f"roles came back as {[message.role for message in found]}"
    )
    for request, name in _given(suite):
        for message in codec.decode(request):
            if message.role == "system" and message.text:
                there = set(leaves(suite.as_json(codec.encode((message, *parallel("call_a"))).request)))
                assert message.text.split("\n")[0] in "\n".join(there), f"the system message of {name} is not encoded"
