"""Conversations that went from one provider to another, in the wire forms of each: valid for all, however they are cut."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from functools import cache

import attrs
import pytest
from pydantic import ValidationError

from contextport.contracts import Message, Part, Text, dump_message, load_message
from contextport.contracts.profile import ProviderProfile
from contextport.strategies import KeepRecentTokens
from contextport.strategies.provider_rules import PROFILES, check, repair
from tests.cases.words_counter import WordsCounter
from tests.wire import codecs, openai_checks, sdk_checks

from .windows import CODECS
from .wire_checker import refusals

CHECKERS = {
    "openai.chat": openai_checks.check_chat,
    "openai.responses": openai_checks.check_responses,
    "anthropic.messages": sdk_checks.check_anthropic_beta,
    "gemini.generate_content": sdk_checks.check_gemini,
    "bedrock.converse": sdk_checks.check_bedrock,
}


def is_of_its_types(api: str, request: codecs.Request) -> bool:
    try:
        CHECKERS.get(api, dict)(request)
    except ValidationError:
        return False
    return True


@cache
def pieces() -> tuple[tuple[str, tuple[Message, ...]], ...]:
    """(api, messages) of each turn in the requests that the types of the providers' packages take."""
    found: list[tuple[str, tuple[Message, ...]]] = []
    for api, tried in codecs.CODECS.items():
        for request in tried.requests:
            if is_of_its_types(api, request):
                found += [(api, turn) for turn in turns(tried.codec.decode(request))]
    return tuple(found)


def turns(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    turn: list[Message] = []
    for message in messages:
        if message.opens_turn and turn:
            yield tuple(turn)
            turn = []
        turn.append(message)
    if turn:
        yield tuple(turn)


def histories(profile: ProviderProfile, count: int) -> Iterator[tuple[list[Message], list[Message]]]:
    """(log, window): turns of several providers or of this one alone, every other time stored, then cut or edited."""
    for n in range(count):
        rng = random.Random(f"{profile.name} mixed {n}")
        own = rng.random() < 0.4
        chosen = [turn for api, turn in pieces() if api == profile.api or not own]
        log = [one for turn in rng.sample(chosen, rng.randint(1, min(5, len(chosen)))) for one in turn]
        if n % 2:
            log = [load_message(dump_message(message)) for message in log]
        yield log, narrowed(rng, log)


def narrowed(rng: random.Random, log: list[Message]) -> list[Message]:
    kind, at = rng.randrange(5), rng.randrange(len(log))
    if kind == 0:
        return list(asyncio.run(KeepRecentTokens(WordsCounter()).compress(log, rng.randint(5, 150))).messages)
    if kind == 1:
        return log[at:]
    if kind == 2:
        return [message for message in log if rng.random() < 0.8]
    if kind == 3:
        return [*log[:at], attrs.evolve(log[at], parts=edited(rng, log[at])), *log[at + 1 :]]
    return log


def edited(rng: random.Random, message: Message) -> tuple[Part, ...]:
    parts = message.parts
    if parts and rng.random() < 0.4:
        gone = rng.randrange(len(parts))
        return (*parts[:gone], *parts[gone + 1 :])
    if rng.random() < 0.5:
        return tuple(attrs.evolve(part, text="other words") if isinstance(part, Text) else part for part in parts)
    return (*parts, Text("more"))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_every_history_is_taken(profile: ProviderProfile) -> None:
    for log, window in histories(profile, 30):
        repaired = repair(window, profile, original=log)
        assert check(repaired.messages, profile, original=log) == ()
        assert repair(repaired.messages, profile, original=log).repairs == ()
        request = CODECS[profile.api].encode(repaired.messages).request
        assert refusals(request, profile) == []
        if profile.api != "bedrock.converse":  # its types want bytes
            CHECKERS[profile.api](request)
        else:
            sdk_checks.check_bedrock(codecs.CODECS[profile.api].codec.encode(repaired.messages).request)
