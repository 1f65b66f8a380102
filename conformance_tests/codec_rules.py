"""The rules of `MessageCodec` on what comes back, and on what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from contextport.contracts import (
    InvalidMessage,
    Json,
    Message,
    MessageCodec,
    dump_message,
)

from .codec_conversations import (
    call_groups,
    pairs,
    parallel,
    said,
    same_call_ids,
    texts,
    unsayable,
)
from .codec_requests import (
    EDIT,
    all_requests,
    assert_same,
    given_requests,
    json_text,
    leaves,
    neutral,
    scramble,
    stored,
    with_text,
)
from .rules import NotChecked, rule

if TYPE_CHECKING:
    from .suites import MessageCodecConformance as Suite

__all__: list[str] = []


@rule("CODEC-1", MessageCodec, cause="the wire form is rebuilt from parts although nothing was edited, or keys are put in order.")
async def an_unedited_request_comes_back(suite: Suite) -> None:
    codec = await suite.make()
    for request, name in all_requests(suite, codec):
        wanted = json_text(suite, request)
        beside = {**copy.deepcopy(request), "x_not_of_the_conversation": {"n": 1}}
        messages = codec.decode(request)
        for given, how in ((messages, "decoded and encoded"), (stored(messages), "stored in between")):
            encoded = codec.encode(given)
            assert_same(wanted, json_text(suite, encoded.request), f"{name}, {how},")
            assert encoded.losses == (), f"{name}, {how}, has losses: {encoded.losses}"
        assert_same(
            wanted, json_text(suite, codec.encode(codec.decode(beside)).request), f"{name}, with a field of other meaning,"
        )
    if not suite.requests():
        raise NotChecked("write requests: requests of the codec's api as hosts have them, so that they can be tried")


@rule("CODEC-2", MessageCodec, cause="the request's own objects are put into messages, or those of messages into a request.")
async def nothing_is_shared(suite: Suite) -> None:
    codec = await suite.make()
    for request, name in all_requests(suite, codec):
        given = json_text(suite, request)
        messages = codec.decode(request)
        assert_same(given, json_text(suite, request), f"{name} after decode")
        before = json_text(suite, codec.encode(messages).request)
        held = [dump_message(message) for message in messages]
        scramble(request)
        assert [dump_message(message) for message in messages] == held, f"changing {name} changed what was decoded from it"
        encoded = codec.encode(messages).request
        scramble(encoded)
        assert [dump_message(message) for message in messages] == held, f"changing what was encoded changed messages of {name}"
        assert_same(before, json_text(suite, codec.encode(messages).request), f"{name}, encoded again")


@rule("CODEC-3", MessageCodec, cause="each call becomes a message of its own, or a result is paired by its place.")
async def calls_made_together_stay_together(suite: Suite) -> None:
    codec = await suite.make()
    for wanted in neutral():
        found = codec.decode(codec.encode(wanted).request)
        assert call_groups(found) == call_groups(wanted), (
            f"the calls {call_groups(wanted)} came back as {call_groups(found)}; one that its provider answered itself "
            "(executor 'server') must not come back as one for the host"
        )
        if not same_call_ids(wanted):
            assert pairs(found) == pairs(wanted), (
                f"(name, arguments, texts of its results) {pairs(wanted)} came back as {pairs(found)}"
            )
    for request, name in given_requests(suite):
        called: set[str] = set()
        for message in codec.decode(request):
            stray = [result.call_id for result in message.tool_results if result.call_id not in called]
            assert not stray, f"in {name} results have ids without a call before: {stray}"
            ids = [call.call_id for call in message.tool_calls]
            apart = all(ids) and not called & set(ids)
            assert apart, f"in {name} the calls {ids} have no id of their own"
            called |= set(ids)


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
    for messages in (unsayable(), *neutral()):
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
    for request, name in all_requests(suite, codec):
        messages = codec.decode(request)
        before = suite.as_json(codec.encode(messages).request)
        for at, message in enumerate(messages):
            if not any(text.strip() for text in texts(message.parts)):
                continue
            tried += 1
            edited = with_text(messages, at)
            for given in (edited, stored(edited)):
                after = suite.as_json(codec.encode(given).request)
                _assert_edited(messages, at, before, after, codec.decode(codec.encode(given).request), f"{name}, message {at}")
    assert tried, "no decoded message has a text"


def _assert_edited(
    messages: tuple[Message, ...], at: int, before: Json, after: Json, found: Sequence[Message], name: str
) -> None:
    assert EDIT in set(leaves(after)), f"{name}: the new text is not in the request"
    heard = said(found)
    above, below = said(messages[:at]), said(messages[at + 1 :])
    kept = heard[: len(above)] == above and heard[len(heard) - len(below) :] == below
    assert kept, f"{name} was edited, and others that said {above} and {below} now say {heard}"
    assert pairs(found) == pairs(with_text(messages, at)), f"{name} was edited, and calls or results changed"
    own = messages[at].native
    lost = set(leaves(before)) - set(leaves(after)) - set(leaves(own.raw if own is not None else None))
    assert not lost, f"{name} was edited, and what others said on the wire is gone: {sorted(lost)[:5]}"


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
    for request, name in given_requests(suite):
        for message in codec.decode(request):
            if message.role == "system" and message.text:
                there = set(leaves(suite.as_json(codec.encode((message, *parallel("call_a"))).request)))
                assert message.text.split("\n")[0] in "\n".join(there), f"the system message of {name} is not encoded"
