"""What holds for every profile and every window: the result is valid, final, and says all that the user said."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import attrs
import pytest

from contextport.conformance_tests.conversations import is_complete
from contextport.contracts import Kind, Message, Text, Thinking, dump_message
from contextport.contracts.profile import ProviderProfile
from contextport.strategies import KeepRecentTokens
from contextport.strategies.provider_rules import PROFILES, check, repair
from tests.cases.words_counter import WordsCounter

from .real_conversations import needs_data, real_conversations
from .windows import CODECS, plain, windows

COUNT = 40
EVERY = pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
LIBRARY = {Kind.SUMMARY, Kind.FACTS, Kind.RETRIEVED, Kind.GAP}


def same(one: Sequence[Message], other: Sequence[Message]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def words(messages: Sequence[Message]) -> set[str]:
    return {part.text for message in messages for part in message.parts if isinstance(part, Text)}


@EVERY
def test_a_repaired_window_is_valid_and_repaired_once_and_for_all(profile: ProviderProfile) -> None:
    for window in windows(profile, COUNT):
        repaired = repair(window, profile)
        assert check(repaired.messages, profile) == ()
        again = repair(repaired.messages, profile)
        assert same(again.messages, repaired.messages)
        assert again.repairs == ()


@EVERY
def test_what_is_valid_is_not_touched(profile: ProviderProfile) -> None:
    valid = 0
    for window in windows(profile, COUNT, seed=1):
        if not check(window, profile):
            valid += 1
            assert same(repair(window, profile).messages, window)
        wire = CODECS[profile.api].encode(repair(window, profile).messages).request
        history = CODECS[profile.api].decode(wire)
        if not check(history, profile):
            valid += 1
            assert same(repair(history, profile).messages, history)
            assert CODECS[profile.api].encode(repair(history, profile).messages).request == wire
    assert valid > COUNT / 2


@EVERY
def test_messages_that_break_no_rule_stay_the_same_objects(profile: ProviderProfile) -> None:
    for conversation in plain():
        given = {id(message) for message in conversation}
        repaired = repair(conversation, profile)
        edited = [message for message in repaired.messages if id(message) not in given]
        blamed = len(repaired.repairs)
        assert len(edited) <= 3 * blamed


@EVERY
def test_the_input_is_not_changed(profile: ProviderProfile) -> None:
    for window in windows(profile, 15, seed=2):
        before = [dump_message(message) for message in window]
        repair(window, profile)
        assert [dump_message(message) for message in window] == before


@EVERY
def test_the_same_window_is_repaired_in_the_same_way(profile: ProviderProfile) -> None:
    for window in windows(profile, 15, seed=3):
        assert repair(window, profile) == repair(list(window), profile)


@EVERY
def test_no_words_of_the_user_and_the_library_are_lost(profile: ProviderProfile) -> None:
    for window in windows(profile, COUNT, seed=4):
        after = words(repair(window, profile).messages)
        for message in window:
            if message.role in ("user", "system", "developer") or message.kind in LIBRARY:
                said = {part.text for part in message.parts if isinstance(part, Text) and part.text.strip()}
                assert {text for text in said if text not in after and text.rstrip() not in after} == set()


@EVERY
def test_answered_calls_and_their_results_are_kept(profile: ProviderProfile) -> None:
    for conversation in filter(is_complete, plain()):
        repaired = repair(conversation, profile).messages
        assert is_complete(repaired)
        told = "\n".join(message.text for message in repaired)
        for message in conversation:
            assert all(result.parts[0].text in told for result in message.tool_results if isinstance(result.parts[0], Text))
            assert not message.tool_calls or any(
                len(one.tool_calls) == len(message.tool_calls) or f"called {message.tool_calls[0].name}" in one.text
                for one in repaired
            )


@EVERY
def test_what_the_library_says_has_the_role_of_the_profile(profile: ProviderProfile) -> None:
    for role in ("user", "system"):
        wanted = attrs.evolve(profile, summary_role=role)
        for kind in LIBRARY:
            for given in ("user", "system", "assistant"):
                told = Message(role=given, parts=(Text("told"),), id="s", kind=kind)
                window = (Message.system("rules", id="r"), Message.user("hi", id="u"), told, Message.user("more", id="u2"))
                holders = [m for m in repair(window, wanted).messages if Text("told") in m.parts]
                assert [holder.role for holder in holders] == [role if role in wanted.roles else "user"]


@needs_data
@EVERY
def test_real_conversations_are_valid_however_they_are_cut(profile: ProviderProfile) -> None:
    conversations = real_conversations()
    rng = random.Random(profile.name)
    for conversation in rng.sample(conversations, min(25, len(conversations))):
        messages = conversation[-120:]
        budget = rng.randint(50, 2000)
        cut = asyncio.run(KeepRecentTokens(WordsCounter()).compress(messages, budget)).messages
        for window in (messages, cut, messages[rng.randrange(len(messages)) :]):
            repaired = repair(window, profile)
            assert check(repaired.messages, profile) == ()
            assert same(repair(repaired.messages, profile).messages, repaired.messages)


# --- reasoning that is bound to its prefix ----------------------------------------------------------------------------

BOUND = PROFILES["anthropic.prefix_bound"]
DROPPED = attrs.evolve(BOUND, stale_thinking="drop")


def thought(n: int) -> Message:
    part = Thinking(text="so", signature=f"s{n}", origin=("anthropic", ""), binding="prefix")
    return Message(role="assistant", parts=(part, Text(f"answer {n}")), id=f"a{n}")


def log(turns: int = 4) -> tuple[Message, ...]:
    prompt = Message(role="system", parts=(Text("rules"),), id="p", kind=Kind.SYSTEM_PROMPT)
    return (prompt, *(message for n in range(turns) for message in (Message.user(f"q {n}", id=f"u{n}"), thought(n))))


ASKED = Message.user("and now?", id="now")


def test_an_unedited_prefix_leaves_reasoning_valid() -> None:
    whole = (*log(), ASKED)
    repaired = repair(whole, BOUND, original=whole)
    assert same(repaired.messages, whole)
    assert (repaired.stale_thinking_from, repaired.needs) == (None, ())


@pytest.mark.parametrize(
    "edited",
    [
        lambda whole: (whole[0], *whole[3:]),  # left out
        lambda whole: (whole[0], attrs.evolve(whole[1], parts=(Text("other"),)), *whole[2:]),  # edited
        lambda whole: (whole[0], Message.user("[2 left out]", id="g", kind=Kind.GAP), *whole[1:]),  # inserted
        lambda whole: (attrs.evolve(whole[0], id="p2"), *whole[1:]),  # another system prompt
    ],
    ids=["left out", "edited", "inserted", "prompt"],
)
def test_the_first_stale_reasoning_is_named_and_the_provider_told(edited: object) -> None:
    whole = (*log(), ASKED)
    window: tuple[Message, ...] = edited(whole)  # type: ignore[operator]
    first = next(message.id for message in window if message.role == "assistant")
    repaired = repair(window, BOUND, original=whole)
    assert same(repaired.messages, window)
    assert repaired.stale_thinking_from == first
    assert repaired.needs == ("drop_block",)
    dropped = repair(window, DROPPED, original=whole)
    assert dropped.needs == ()
    assert not any(isinstance(part, Thinking) for message in dropped.messages for part in message.parts)
    assert check(dropped.messages, DROPPED, original=whole) == ()
    assert words(dropped.messages) == words(window)


def test_reasoning_before_the_edit_stays() -> None:
    whole = (*log(), ASKED)
    window = (*whole[:3], attrs.evolve(whole[3], parts=(Text("other"),)), *whole[4:])
    dropped = repair(window, DROPPED, original=whole)
    kept = [message.id for message in dropped.messages for part in message.parts if isinstance(part, Thinking)]
    assert kept == ["a0"]
    assert repair(window, BOUND, original=whole).stale_thinking_from == "a1"


def test_reasoning_under_an_earlier_prompt_is_stale_and_under_the_newest_is_not() -> None:
    old, said = log()[0], log()[1:]
    new = attrs.evolve(old, id="p2", parts=(Text("other rules"),))
    whole = (old, *said[:4], new, *said[4:], ASKED)
    window = (new, *said, ASKED)
    assert repair(window, BOUND, original=whole).stale_thinking_from == "a0"
    plain_start = [attrs.evolve(message, parts=message.parts[-1:]) for message in said[:4]]
    assert repair((new, *plain_start, *said[4:], ASKED), BOUND, original=(old, *plain_start, new, *said[4:])).needs == ()


def test_without_the_log_a_gap_tells_that_something_is_missing() -> None:
    gap = Message.user("[2 earlier messages left out here]", id="g", kind=Kind.GAP)
    window = (log()[0], gap, *log()[3:], ASKED)
    assert repair(window, BOUND).stale_thinking_from == "a1"
    assert repair((*log(), ASKED), BOUND).stale_thinking_from is None


def test_other_profiles_have_no_stale_reasoning() -> None:
    window = (log()[0], *log()[3:], ASKED)
    repaired = repair(window, PROFILES["anthropic.no_prefill"], original=(*log(), ASKED))
    assert (repaired.stale_thinking_from, repaired.needs) == (None, ())
    assert same(repaired.messages, window)
