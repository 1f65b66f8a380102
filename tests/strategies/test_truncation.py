"""What the truncation strategies keep."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import attrs
import pytest

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    Importance,
    InvalidArgument,
    Kind,
    Message,
    Outcome,
    Text,
    Thinking,
    ToolCall,
)
from contextport.strategies import KeepRecentTokens, KeepRecentTurns, Pipeline, ShortenLongMessages, gap_marker, omitted_by
from tests.cases.words_counter import WordsCounter

from .conversations import assistant, calling, generated, result, user, words


def compress(messages: Sequence[Message], budget: int, strategy: CompressionStrategy | None = None) -> Compression:
    return asyncio.run((strategy or KeepRecentTokens(WordsCounter(), target_share=1.0)).compress(messages, budget))


def ids(compression: Compression) -> list[str]:
    return [message.id for message in compression.messages if message.kind is not Kind.GAP]


CHAT = [message for n in range(10) for message in (user(f"u{n}", 5), assistant(f"a{n}", 5))]


def test_the_newest_steps_stay_and_a_gap_message_says_what_is_missing() -> None:
    kept = compress(CHAT, 27)
    assert ids(kept) == ["u8", "a8", "u9", "a9"]
    assert kept.outcome is Outcome.SMALLER
    assert omitted_by(kept.messages[0]) == (16, 80)
    assert kept.omitted == tuple(m.id for m in CHAT[:16])
    assert kept.messages[0].text == "[16 earlier messages left out here]"


def test_in_a_small_budget_the_gap_message_gives_way_to_content() -> None:
    kept = compress(CHAT, 10)
    assert [m.id for m in kept.messages] == ["u9", "a9"]
    assert not kept.extendable


def test_in_a_larger_budget_a_step_gives_way_to_the_gap_message() -> None:
    many = [attrs.evolve(CHAT[n % 20], id=f"{n}") for n in range(200)]
    kept = compress(many, 130)
    assert kept.messages[0].kind is Kind.GAP
    assert kept.tokens == 126


def test_one_question_with_a_hundred_tool_rounds_keeps_the_question_and_the_newest_rounds() -> None:
    rounds = [m for n in range(100) for m in (calling(f"a{n}", f"c{n}"), result(f"t{n}", f"c{n}", 8))]
    kept = compress([user("u", 6), *rounds], 54)
    assert ids(kept) == ["u", "a96", "t96", "a97", "t97", "a98", "t98", "a99", "t99"]
    assert kept.messages[1].kind is Kind.GAP


def test_pins_stay_in_their_places_with_the_question_of_their_turn() -> None:
    conversation = list(CHAT)
    conversation[5] = attrs.evolve(conversation[5], pinned=True)
    kept = compress(conversation, 40)
    assert ids(kept)[:2] == ["u2", "a2"]
    assert ids(kept)[-2:] == ["u9", "a9"]


def test_a_pinned_result_keeps_its_whole_step() -> None:
    loop = [user("u0", 2), calling("a0", "c0", "c1"), result("t0", "c0"), attrs.evolve(result("t1", "c1"), pinned=True)]
    kept = compress([*loop, *CHAT], 50)
    assert ids(kept)[:4] == ["u0", "a0", "t0", "t1"]


def test_above_half_of_the_budget_older_pins_give_way_and_the_question_never_does() -> None:
    pinned = [attrs.evolve(message, pinned=True) for message in CHAT]
    kept = compress(pinned, 40)
    assert "u9" in ids(kept)
    assert kept.tokens <= 40
    assert ids(kept) == sorted(ids(kept), key=lambda id: [m.id for m in CHAT].index(id))


def test_claims_are_served_pins_first_then_importance() -> None:
    conversation = list(CHAT)
    conversation[0] = attrs.evolve(conversation[0], pinned=True)
    conversation[2] = attrs.evolve(conversation[2], importance=Importance.CONCLUSION)
    conversation[4] = attrs.evolve(conversation[4], importance=Importance.DECISION)
    assert {"u0", "u2"} <= set(ids(compress(conversation, 21)))
    assert "u1" not in ids(compress(conversation, 21))


def test_interrupts_stay_with_their_turn_and_are_never_the_question() -> None:
    nudge = user("i", 2, kind=Kind.INTERRUPT)
    loop = [m for n in range(10) for m in (calling(f"a{n}", f"c{n}"), result(f"t{n}", f"c{n}", 8))]
    kept = compress([user("u", 6), *loop[:4], nudge, *loop[4:]], 40)
    assert ids(kept)[:2] == ["u", "i"]
    dropped = compress([user("u", 6), *loop[:4], nudge, *loop[4:], *CHAT], 27)
    assert "i" not in ids(dropped)


def test_system_messages_stay_wherever_they_stand() -> None:
    late = Message.system("be brief now", id="s2")
    kept = compress([Message.system("be kind", id="s1"), *CHAT[:10], late, *CHAT[10:]], 40)
    assert [m.id for m in kept.messages if m.role == "system"] == ["s1", "s2"]
    assert kept.messages[0].id == "s1"


def test_the_newest_step_is_shortened_only_when_leaving_out_is_not_enough() -> None:
    big = [user("u", 3), calling("a1", "c1"), result("t1", "c1", 3), calling("a2", "c2"), result("t2", "c2", 200)]
    kept = compress(big, 40)
    assert ids(kept) == ["u", "a2", "t2"]
    assert [one.message_id for one in kept.shortened] == ["t2"]
    assert kept.tokens <= 40
    assert compress(big, 210).shortened == ()


def test_an_oversize_question_is_shortened_and_one_that_cannot_be_is_reported() -> None:
    assert compress([user("u", 500)], 50).outcome is Outcome.SMALLER
    assert compress([user("u", 500)], 2).outcome is Outcome.CANNOT_FIT
    assert compress([Message.system(words(100)), user("u", 5)], 50).outcome is Outcome.CANNOT_FIT


def test_reasoning_is_whole_or_absent() -> None:
    thinking = Thinking(text="plan it well", signature="c2ln", binding="turn")
    call = ToolCall(call_id="c", name="find", arguments="{}")
    step = Message(role="assistant", id="a", parts=(thinking, Text("looking"), call))
    for budget in range(40):
        kept = compress([*CHAT, user("u", 3), step, result("t", "c", 5)], budget)
        assert all(m == step for m in kept.messages if m.id == "a")


def test_the_window_start_moves_seldom() -> None:
    strategy = KeepRecentTokens(WordsCounter())
    changes, last, most = 0, "", 600
    for n in range(10, most, 2):
        grown = [attrs.evolve(CHAT[k % 20], id=f"{CHAT[k % 20].role[0]}{k}") for k in range(n)]
        first = ids(compress(grown, 100, strategy))[0]
        changes += first != last
        last = first
    assert changes <= 5 * most // 25, "at most once for every quarter of the budget"
    assert changes > 50


def test_a_result_that_is_extendable_is_what_the_strategy_would_give_for_more() -> None:
    checked = 0
    for seed in range(25):
        strategy = KeepRecentTokens(WordsCounter(), target_share=random.Random(seed).choice((0.5, 0.75, 0.9)))
        conversation, budget = generated(seed, 14), random.Random(seed).choice((60, 120, 250))
        for cut in range(1, len(conversation)):
            if conversation[cut].tool_results:
                continue
            before = asyncio.run(strategy.compress(conversation[:cut], budget))
            later = next((k for k in range(cut + 1, len(conversation)) if not conversation[k].tool_results), len(conversation))
            grown = (*before.messages, *conversation[cut:later])
            if before.extendable and strategy.estimate_tokens(grown) <= budget:
                assert asyncio.run(strategy.compress(conversation[:later], budget)).messages == grown
                checked += 1
    assert checked > 200


def test_turns_are_kept_by_count_and_give_way_to_the_budget() -> None:
    assert ids(compress(CHAT, 60, KeepRecentTurns(WordsCounter(), turns=3))) == ["u7", "a7", "u8", "a8", "u9", "a9"]
    assert ids(compress(CHAT, 60, KeepRecentTurns(WordsCounter(), messages=3))) == ["u8", "a8", "u9", "a9"]
    assert ids(compress(CHAT, 27, KeepRecentTurns(WordsCounter(), turns=3))) == ["u8", "a8", "u9", "a9"]


def test_a_pipeline_shortens_before_it_leaves_out_and_reports_both() -> None:
    long = [user("first", 5), assistant("long", 200), *CHAT[:8]]
    strategy = Pipeline(ShortenLongMessages(WordsCounter(), 20), KeepRecentTokens(WordsCounter(), target_share=1.0))
    roomy, tight = compress(long, 80, strategy), compress(long, 40, strategy)
    assert ids(roomy) == [m.id for m in long]
    assert [one.message_id for one in roomy.shortened] == ["long"]
    assert "long" in tight.omitted
    assert tight.shortened == ()


def test_the_reason_says_whether_anything_was_shortened() -> None:
    strategy = ShortenLongMessages(WordsCounter(), 20)
    assert compress(CHAT, 10, strategy).reason == "no message of over 20 tokens could be shortened"
    assert "were shortened: " in compress([user("long", 200), *CHAT], 100, strategy).reason


def test_a_gap_message_from_an_earlier_cut_is_counted_on() -> None:
    kept = compress([gap_marker(100, 5_000), *CHAT], 27)
    assert omitted_by(kept.messages[0]) == (116, 5_080)


@pytest.mark.parametrize("kind", [KeepRecentTokens, KeepRecentTurns, ShortenLongMessages])
def test_a_negative_budget_is_refused(kind: type[KeepRecentTokens]) -> None:
    with pytest.raises(InvalidArgument, match="-1"):
        compress(CHAT, -1, kind(WordsCounter()))


@pytest.mark.parametrize("share", [0, -0.5, 1.5])
def test_a_target_outside_the_budget_is_refused(share: float) -> None:
    with pytest.raises(InvalidArgument):
        KeepRecentTokens(WordsCounter(), target_share=share)


def test_the_cost_of_one_call_is_linear() -> None:
    counter = WordsCounter()
    many = [attrs.evolve(CHAT[n % 20], id=str(n)) for n in range(4_000)]
    compress(many, 500, KeepRecentTokens(counter, target_share=1.0))
    assert counter.texts_counted <= 4_000 + 4
