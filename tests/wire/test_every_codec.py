"""Every codec on generated and real conversations, and every pair of codecs on what the one reads and the other writes."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
from openai.types.chat import ChatCompletionMessage

from contextport.adapters.command_line.conversation_files import read_conversation
from contextport.conformance_tests.codec_conversations import (
    call_groups,
    foreign,
    pairs,
    said,
    with_ids,
)
from contextport.conformance_tests.codec_requests import leaves
from contextport.conformance_tests.conversations import conversations
from contextport.contracts import (
    EncodingLossy,
    InvalidMessage,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    dump_message,
    from_chat,
    load_message,
)
from contextport.strategies.atoms import arrange

from .codecs import CODECS, Tried

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
PAIRS = [pair for pair in product(CODECS, CODECS) if pair[0] != pair[1]]


def assert_stable(tried: Tried, messages: Sequence[Message]) -> None:
    """What is made of the messages comes back unchanged, also when it was stored, and says all that they say."""
    encoded = tried.codec.encode(messages)
    wanted = tried.text(encoded.request)
    found = tried.codec.decode(encoded.request)
    stored = [load_message(dump_message(message)) for message in found]
    assert tried.text(tried.codec.encode(found, strict=True).request) == wanted
    assert tried.text(tried.codec.encode(stored, strict=True).request) == wanted
    assert_all_is_said(messages, found)


def assert_all_is_said(messages: Sequence[Message], found: Sequence[Message]) -> None:
    rest = "\0".join(said(found))
    for text in sorted(said(messages), key=len, reverse=True):
        assert text in rest, f"{text[:200]!r} is not said"
        rest = rest.replace(text, "", 1)
    assert [len(group) for group in call_groups(messages)] == [len(group) for group in call_groups(found)]
    assert _asked_pairs(messages) == _asked_pairs(found)


def _asked_pairs(messages: Sequence[Message]) -> list[tuple[str, str, list[str]]]:
    return sorted((name, asked(text), answer) for name, text, answer in pairs(messages))


def asked(arguments: str) -> str:
    """The arguments of a call; those that are no object stand in one where an api takes nothing else."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    wrapped = isinstance(value, dict) and list(cast(dict[str, Any], value)) == ["arguments"]
    return str(value["arguments"]) if wrapped else json.dumps(value, sort_keys=True)


def assert_losses_are_listed(tried: Tried, messages: Sequence[Message]) -> None:
    losses = tried.codec.encode(messages).losses
    if losses:
        with pytest.raises(EncodingLossy) as caught:
            tried.codec.encode(messages, strict=True)
        assert caught.value.details["losses"] == losses
    sizes = {message.id: len(message.parts) for message in messages}
    assert all(-1 <= loss.part < sizes[loss.message_id] for loss in losses)


@pytest.mark.parametrize("api", CODECS)
def test_generated_conversations(api: str) -> None:
    for messages in (*conversations(4), *foreign(), *with_ids()):
        assert_stable(CODECS[api], messages)
        assert_losses_are_listed(CODECS[api], messages)


@cache
def real_conversations() -> tuple[tuple[Message, ...], ...]:
    return tuple(_real_conversations())


def _real_conversations() -> Iterator[tuple[Message, ...]]:
    """All conversations of the folder of real ones, where it lies beside the repository."""
    for path in sorted(SHARED.glob("*/*.*")):
        if path.parent.name in ("locomo", "taubench", "sweagent") and not path.name.startswith("LICENSE"):
            for text in _single_conversations(path):
                yield tuple(arrange(read_conversation("-", io.StringIO(text)).messages))
        elif path.parent.name == "kdconv" and path.suffix == ".json":
            for one in json.loads(path.read_text(encoding="utf-8")):
                turns = enumerate(turn["message"] for turn in one["messages"])
                yield tuple(from_chat({"role": "assistant" if n % 2 else "user", "content": text}) for n, text in turns)
        elif path.name.startswith("memory_bank"):
            for person in json.loads(path.read_text(encoding="utf-8")).values():
                yield tuple(_memory_bank(person["history"]))


def _single_conversations(path: Path) -> list[str]:
    """The text of a file, or of each conversation in it: a file is read as a whole for each one that is asked for."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [line for line in text.splitlines() if line.strip()]
    value = json.loads(text)
    return [json.dumps(one) for one in cast(list[Any], value)] if isinstance(value, list) else [text]


def _memory_bank(history: Any) -> Iterator[Message]:
    for day in history.values():
        for turn in day:
            yield from_chat({"role": "user", "content": turn["query"]})
            yield from_chat({"role": "assistant", "content": turn["response"]})


@pytest.mark.parametrize("api", CODECS)
@pytest.mark.skipif(not SHARED.is_dir(), reason="no folder of real conversations beside the repository")
def test_real_conversations(api: str) -> None:
    tried = 0
    for messages in real_conversations():
        assert_stable(CODECS[api], messages)
        tried += len(messages)
    assert tried > 10_000


# --- requests with something wrong in them ----------------------------------------------------------------------------


def damaged(rng: random.Random, value: Any) -> Any:
    """A copy with one value, at any depth, replaced by one of another type, or left out."""
    if isinstance(value, dict) and value:
        held = dict(cast(dict[str, Any], value))
        key, chance = rng.choice(list(held)), rng.random()
        if chance < 0.06:
            held[key] = rng.choice(_STRANGE)
        elif chance < 0.1:
            del held[key]
        else:
            held[key] = damaged(rng, held[key])
        return held
    if isinstance(value, list) and value:
        items = list(cast(list[Any], value))
        at = rng.randrange(len(items))
        items[at] = damaged(rng, items[at])
        return items
    return rng.choice(_STRANGE)


_STRANGE: tuple[Any, ...] = (None, 5, [], {}, "s", [None], {"type": 5}, True, [{}])


@pytest.mark.parametrize("api", CODECS)
def test_a_damaged_request_is_refused_or_comes_back_as_it_is(api: str) -> None:
    tried, rng = CODECS[api], random.Random(7)
    requests = [tried.as_json(request) for request in tried.requests if len(request) > 0]
    taken = 0
    for _ in range(400):
        request = damaged(rng, rng.choice(requests))
        try:
            messages = tried.codec.decode(request)
        except InvalidMessage:
            continue
        taken += 1
        encoded = tried.codec.encode(messages, strict=True).request
        stored = [load_message(dump_message(message)) for message in messages]
        assert tried.text(tried.codec.encode(stored, strict=True).request) == tried.text(encoded)
        assert api == "langchain.messages" or tried.text(encoded) == tried.text(
            {key: value for key, value in request.items() if key in encoded}
        )
        for n, message in enumerate(messages):
            tried.codec.encode([*messages[:n], attrs.evolve(message, parts=(*message.parts, Text("more"))), *messages[n + 1 :]])
    assert taken > 40


# --- from one api to another ------------------------------------------------------------------------------------------


def seals(parts: Sequence[Part]) -> Iterator[str]:
    """What proves where reasoning came from."""
    for part in parts:
        if isinstance(part, Thinking):
            yield from (seal for seal in (part.signature, part.encrypted) if seal)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_one_reads_another_writes(source: str, target: str) -> None:
    reader, writer = CODECS[source], CODECS[target]
    for request in reader.requests:
        messages = tuple(arrange(reader.codec.decode(request)))
        encoded = writer.codec.encode(messages)
        found = writer.codec.decode(encoded.request)
        assert_losses_are_listed(writer, messages)
        assert_stable(writer, messages)
        written = Counter(leaves(writer.as_json(encoded.request)))
        leaked = [seal for message in messages for seal in seals(message.parts) if any(seal in leaf for leaf in written)]
        assert not leaked
        thoughts = [message.id for message in messages if any(isinstance(part, Thinking) for part in message.parts)]
        assert set(thoughts) <= {loss.message_id for loss in encoded.losses}
        assert _answered(found) == _answered(messages)


def _answered(messages: Sequence[Message]) -> list[tuple[str, str, int]]:
    """(name, arguments, how many results) of each call, by id."""
    results = Counter(result.call_id for message in messages for result in message.tool_results)
    calls = [part for message in messages for part in message.parts if isinstance(part, ToolCall) and part.executor == "client"]
    return sorted((call.name, asked(call.arguments or "{}"), results[call.call_id]) for call in calls)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_there_and_back(source: str, target: str) -> None:
    """What went to another api and came back through it says the same to the first."""
    here, there = CODECS[source].codec, CODECS[target].codec
    for messages in conversations(1):
        gone = there.decode(there.encode(here.decode(here.encode(messages).request)).request)
        assert_all_is_said(messages, here.decode(here.encode(gone).request))


@pytest.mark.parametrize(
    ("api", "key"), [("openai.chat", "messages"), ("anthropic.messages", "messages"), ("gemini.generate_content", "contents")]
)
def test_an_object_of_an_sdk_is_told_how_to_become_a_dict(api: str, key: str) -> None:
    with pytest.raises(InvalidMessage, match=r"model_dump\(exclude_unset=True\)"):
        CODECS[api].codec.decode({key: [ChatCompletionMessage(role="assistant", content="hi")]})
