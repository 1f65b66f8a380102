"""Whether to fold: thresholds, minimum gain, cool-down, the cost of the provider's cache."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from contextport.strategies.folding.decision import FoldDecision, FoldReason, FruitlessTry, fold_decision
from contextport.strategies.folding.policy import FoldPolicy
from contextport.strategies.folding.prices import PRICES, CacheState

CLAUDE = FoldPolicy(prices=PRICES["anthropic"])
UNCACHED = FoldPolicy(prices=PRICES["uncached"])


def decide(policy: FoldPolicy = CLAUDE, **changes: Any) -> FoldDecision:
    """A window of 10 000 with 1 000 of system prompt, which a fold takes to 3 700; ten requests since the last fold."""
    given: dict[str, Any] = {
        "used": 7_300,
        "limit": 10_000,
        "system": 1_000,
        "foldable": 6_000,
        "expected_after": 3_700,
        "turns_since_fold": 10,
        "since_last_request": 10,
    }
    return fold_decision(policy, **(given | changes))


@pytest.mark.parametrize(
    ("used", "reason", "wait"),
    [
        (6_399, FoldReason.BELOW_LIGHT, False),
        (6_400, FoldReason.LIGHT, False),  # exactly 0.60 of 9 000
        (8_649, FoldReason.LIGHT, False),
        (8_650, FoldReason.HEAVY, True),  # exactly 0.85
        (20_000, FoldReason.HEAVY, True),
    ],
)
def test_a_threshold_applies_from_its_exact_value_on(used: int, reason: FoldReason, wait: bool) -> None:
    decision = decide(UNCACHED, used=used)
    assert (decision.reason, decision.wait) == (reason, wait)
    assert decision.act is (reason is not FoldReason.BELOW_LIGHT)
    assert decision.occupancy == (used - 1_000) / 9_000


def test_a_warm_cache_postpones_what_would_not_pay_before_the_next_fold() -> None:
    # (3 700 - 1 000) * 1.15 / (3 600 * 0.1) = 8.625 requests, more than half of ten
    decision = decide()
    assert (decision.act, decision.wait, decision.reason) == (False, False, FoldReason.POSTPONED_BY_COST)
    assert decision.break_even == pytest.approx(8.625)
    assert (decision.expected_turns, decision.cache) == (5, CacheState.WARM)
    assert (decision.gain, decision.invalidated) == (3_600, 2_700)


@pytest.mark.parametrize(("turns", "act"), [(17, False), (18, True)])
def test_what_pays_by_half_of_the_requests_since_the_last_fold_is_done_at_light(turns: int, act: bool) -> None:
    decision = decide(turns_since_fold=turns)
    assert decision.act is act
    assert decision.reason is (FoldReason.LIGHT if act else FoldReason.POSTPONED_BY_COST)


@pytest.mark.parametrize(("expected", "act"), [(8.0, False), (9.0, True)])
def test_a_policy_may_say_how_many_requests_are_to_come(expected: float, act: bool) -> None:
    assert decide(FoldPolicy(prices=PRICES["anthropic"], expected_turns=expected)).act is act


def test_a_cold_cache_brings_a_fold_forward() -> None:
    decision = decide(used=6_400, since_last_request=301)
    assert (decision.act, decision.wait, decision.reason) == (True, False, FoldReason.BROUGHT_FORWARD_BY_COLD_CACHE)
    assert (decision.break_even, decision.cache) == (0, CacheState.COLD)


def test_a_cold_cache_does_not_bring_it_forward_past_light() -> None:
    assert decide(used=6_399, since_last_request=1e6).reason is FoldReason.BELOW_LIGHT


def test_a_fold_that_pays_anyway_is_not_called_brought_forward() -> None:
    assert decide(turns_since_fold=18, since_last_request=301).reason is FoldReason.LIGHT


def test_a_dear_summary_may_not_pay_even_with_a_cold_cache() -> None:
    apart = FoldPolicy(prices=PRICES["deepseek"].summarized_by_same_model(reads_prefix=False))
    assert decide(apart, since_last_request=None).reason is FoldReason.POSTPONED_BY_COST
    with_ttl = FoldPolicy(prices=PRICES["groq"].summarized_by_same_model(reads_prefix=False))
    # (7 300 + 1 200 * 4 - 3 600) / (3 600 * 0.5) = 4.72 requests, more than half of nine
    cold = decide(with_ttl, since_last_request=1e6, turns_since_fold=9)
    assert cold.reason is FoldReason.POSTPONED_BY_COST
    assert cold.break_even == pytest.approx(8_500 / 1_800)


def test_an_unknown_cache_neither_brings_forward_nor_hurries() -> None:
    decision = decide(since_last_request=None)
    assert (decision.reason, decision.cache) == (FoldReason.POSTPONED_BY_COST, CacheState.UNKNOWN)


def test_cost_never_delays_past_heavy() -> None:
    decision = decide(used=8_650, turns_since_fold=0)
    assert (decision.act, decision.reason, decision.break_even) == (True, FoldReason.HEAVY, None)


def test_a_window_too_small_for_the_cache_is_folded_at_light() -> None:
    small = decide(used=380, limit=500, system=0, foldable=300, expected_after=300, turns_since_fold=0)
    assert (small.act, small.reason, small.break_even) == (True, FoldReason.LIGHT, 0)


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("used", [7_300, 9_999, 20_000])
def test_nothing_is_folded_where_nothing_can_be(asked: bool, used: int) -> None:
    decision = decide(used=used, foldable=0, asked=asked)
    assert (decision.act, decision.wait, decision.reason) == (False, False, FoldReason.NOTHING_TO_FOLD)


@pytest.mark.parametrize("limit", [1_000, 500, 0])
def test_nothing_is_folded_where_the_system_prompt_leaves_no_room(limit: int) -> None:
    assert decide(limit=limit).reason is FoldReason.NOTHING_TO_FOLD


@pytest.mark.parametrize(
    ("foldable", "after", "reason"),
    [
        (449, 3_700, FoldReason.GAIN_TOO_SMALL),  # 0.05 of 9 000 are 450
        (450, 3_700, FoldReason.HEAVY),
        (6_000, 8_551, FoldReason.GAIN_TOO_SMALL),
        (6_000, 8_550, FoldReason.HEAVY),
        (6_000, 9_999, FoldReason.GAIN_TOO_SMALL),
    ],
)
def test_a_small_gain_is_not_worth_a_fold_even_at_heavy(foldable: int, after: int, reason: FoldReason) -> None:
    decision = decide(used=9_000, foldable=foldable, expected_after=after)
    assert (decision.reason, decision.wait) == (reason, reason is FoldReason.HEAVY)


@pytest.mark.parametrize(
    ("last_try", "cooling"),
    [
        (None, False),
        (FruitlessTry(failed=True, seconds=59.9, grown=9_000), True),
        (FruitlessTry(failed=True, seconds=60, grown=0), False),
        (FruitlessTry(failed=False, seconds=1e6, grown=449), True),
        (FruitlessTry(failed=False, seconds=0, grown=450), False),
    ],
)
def test_after_a_try_that_came_to_nothing_there_is_a_pause(last_try: FruitlessTry | None, cooling: bool) -> None:
    for used in (7_300, 9_000):
        decision = decide(UNCACHED, used=used, last_try=last_try)
        assert decision.act is not cooling
        assert decision.wait is (used == 9_000 and not cooling)
        assert (decision.reason is FoldReason.COOLING_DOWN) is cooling
    assert decide(last_try=last_try, asked=True).act


@pytest.mark.parametrize(("used", "asked", "wait"), [(7_300, False, False), (8_650, False, True), (2_000, True, True)])
def test_a_fold_on_its_way_is_not_started_again_but_may_be_waited_for(used: int, asked: bool, wait: bool) -> None:
    decision = decide(used=used, asked=asked, in_flight=True)
    assert (decision.act, decision.wait, decision.reason) == (False, wait, FoldReason.IN_FLIGHT)


@pytest.mark.parametrize("used", [1_500, 7_300, 9_500])
def test_who_asks_gets_a_fold_at_any_size_and_waits_for_it(used: int) -> None:
    decision = decide(used=used, asked=True)
    assert (decision.act, decision.wait, decision.reason) == (True, True, FoldReason.ASKED)


def _arguments(rng: random.Random) -> dict[str, Any]:
    limit = rng.choice((200, 500, 4_000, 10_000, 119_000))
    last = FruitlessTry(failed=rng.random() < 0.5, seconds=rng.uniform(0, 120), grown=rng.randrange(limit))
    return {
        "limit": limit,
        "system": rng.randrange(limit // 3),
        "foldable": rng.choice((0, 2 * limit, 2 * limit)),  # what comes on top can be folded too
        "expected_after": rng.randrange(limit),
        "turns_since_fold": rng.randrange(60),
        "since_last_request": rng.choice((None, 1.0, 1e6)),
        "last_try": rng.choice((None, last)),
        "in_flight": rng.random() < 0.1,
        "asked": rng.random() < 0.1,
    }


@pytest.mark.parametrize("seed", range(20))
def test_more_in_the_window_never_turns_a_fold_away(seed: int) -> None:
    rng = random.Random(seed)
    acted = 0
    for _ in range(50):
        prices = rng.choice(tuple(PRICES.values()))
        policy = FoldPolicy(prices=rng.choice((prices, prices.summarized_by_same_model(reads_prefix=True))))
        given = _arguments(rng)
        steps = range(given["system"], 2 * given["limit"], max(1, given["limit"] // 97))
        decisions = [fold_decision(policy, used=used, **given) for used in steps]
        acts = [decision.act for decision in decisions]
        assert acts == sorted(acts)
        assert [d.wait for d in decisions] == sorted([d.wait for d in decisions])
        acted += any(acts)
    assert acted > 5


@pytest.mark.parametrize("seed", range(20))
def test_what_every_decision_keeps_to(seed: int) -> None:
    rng = random.Random(1000 + seed)
    for _ in range(200):
        policy = FoldPolicy(prices=rng.choice(tuple(PRICES.values())))
        given = _arguments(rng)
        used = rng.randrange(2 * given["limit"])
        decision = fold_decision(policy, used=used, **given)
        if decision.act:
            assert given["foldable"] > 0
            assert not given["in_flight"]
            assert decision.occupancy >= policy.light or given["asked"]
        if decision.wait:
            assert decision.occupancy >= policy.heavy or given["asked"]
        if decision.reason is FoldReason.POSTPONED_BY_COST:
            assert policy.light <= decision.occupancy < policy.heavy
            assert decision.break_even is not None
            assert decision.expected_turns is not None
            assert decision.break_even > decision.expected_turns
        del given["since_last_request"]
        warm, cold = (fold_decision(policy, used=used, since_last_request=since, **given) for since in (0, 1e9))
        assert cold.act >= warm.act


def test_no_loop_where_the_conversation_stands_still() -> None:
    """A fold that leaves the window where it was is tried once, and again only after the conversation has grown."""
    tries = 0
    last: FruitlessTry | None = None
    for request in range(100):
        grown = 4 * request
        decision = decide(
            used=8_800 + grown,
            turns_since_fold=request,
            last_try=last and FruitlessTry(failed=False, seconds=request, grown=grown - last.grown),
        )
        if decision.act:
            tries += 1
            last = FruitlessTry(failed=False, seconds=0, grown=grown)
    assert tries == 1


def test_the_json_form_is_plain_and_complete() -> None:
    value = decide().as_json()
    assert json.loads(json.dumps(value, allow_nan=False)) == {
        "act": False,
        "wait": False,
        "reason": "postponed_by_cost",
        "occupancy": 0.7,
        "gain": 3_600,
        "invalidated": 2_700,
        "cache": "warm",
        "break_even": 8.625,
        "expected_turns": 5.0,
    }
    assert decide(used=9_000).as_json()["break_even"] is None
