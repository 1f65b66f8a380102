"""Settings of folds: what is accepted, and what they mean in a large window and in a small one."""

from __future__ import annotations

from typing import Any

import pytest

from contextport.contracts import InvalidArgument
from contextport.strategies.folding.policy import FoldPolicy

DEFAULT = FoldPolicy()


def test_the_thresholds_are_those_of_the_requirements() -> None:
    assert (DEFAULT.light, DEFAULT.heavy, DEFAULT.keep_latest) == (0.60, 0.85, 8)
    assert DEFAULT.light / DEFAULT.target_share >= 2


@pytest.mark.parametrize(
    ("room", "summary", "facts", "gain", "cooldown"),
    [
        (119_000, 2_000, 4_000, 5_950, 5_950),
        (32_000, 2_000, 4_000, 1_600, 1_600),
        (8_000, 1_100, 1_600, 400, 400),
        (4_000, 700, 1_200, 200, 200),
        (2_000, 500, 1_000, 100, 100),
        (500, 125, 250, 25, 25),
        (12, 3, 6, 1, 1),
        (1, 0, 0, 1, 1),
        (0, 0, 0, 1, 1),
        (-5, 0, 0, 1, 1),
    ],
)
def test_caps_and_least_amounts(room: int, summary: int, facts: int, gain: int, cooldown: int) -> None:
    assert (DEFAULT.summary_cap(room), DEFAULT.facts_cap(room)) == (summary, facts)
    assert (DEFAULT.min_gain_of(room), DEFAULT.cooldown_tokens(room)) == (gain, cooldown)


@pytest.mark.parametrize(
    ("room", "latest", "after"),
    [
        (119_000, 1_500, 23_800),  # the target
        (119_000, 30_000, 36_000),  # the messages to keep, 2 000 and 4 000
        (119_000, 200_000, 45_666),  # a third for the messages, which are larger than that, 2 000 and 4 000
        (8_000, 500, 3_000),  # 500, and a third of the other 7 500, where 1 100 and 1 600 would be allowed
        (8_000, 4_000, 4_444),  # 2 666, and a third of the rest
        (500, 100, 233),
        (500, 0, 166),
    ],
)
def test_the_expected_size_after_a_fold(room: int, latest: int, after: int) -> None:
    assert DEFAULT.history_after(room, latest) == after


def test_at_heavy_a_fold_is_expected_to_free_a_quarter_at_least() -> None:
    for room in (12, 60, 500, 4_000, 8_000, 119_000, 1_000_000):
        for latest in (0, room // 10, room // 2, room, 2 * room):
            assert int(room * DEFAULT.heavy) - DEFAULT.history_after(room, latest) >= max(DEFAULT.min_gain_of(room), room // 4)


def test_half_of_the_requests_since_the_last_fold_are_expected_unless_the_policy_says() -> None:
    assert DEFAULT.expected_turns_after(30) == 15
    assert DEFAULT.expected_turns_after(0) == 0
    assert FoldPolicy(expected_turns=3.5).expected_turns_after(30) == 3.5


def test_half_of_the_requests_since_the_last_fold_make_the_cheapest_cycle() -> None:
    # Growth of 300 tokens a request, 20 000 left after a fold, reads at 0.1 and writes at 1.25: cost of a request on average,
    # for cycles of m requests. The rule acts at the first m where 20 000 * 1.15 / (300 m * 0.1) <= m / 2.
    cost = {m: (20_000 * 1.15) / m + 0.1 * 300 * m / 2 for m in range(1, 400)}
    rule = next(m for m in cost if 20_000 * 1.15 / (300 * m * 0.1) <= DEFAULT.expected_turns_after(m))
    assert cost[rule] <= 1.001 * min(cost.values())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"light": 0}, "light is 0"),
        ({"light": 1.2}, "light is 1.2"),
        ({"heavy": True}, "heavy is True"),
        ({"light": 0.9}, "target_share 0.2, light 0.9 and heavy 0.85 must grow"),
        ({"light": 0.85}, "must grow in this order"),
        ({"target_share": 0.6}, "target_share 0.6, light 0.6"),
        ({"target_share": 0}, "target_share is 0"),
        ({"heavy": 0.99}, "heavy 0.99 leaves less than summary_reserve 0.05"),
        ({"summary_share": 0.6}, "summary_share 0.6 and facts_share 0.5 are above 1 together"),
        ({"min_gain": -0.1}, "min_gain is -0.1"),
        ({"keep_latest": 0}, "keep_latest is 0"),
        ({"keep_latest": 2.5}, "keep_latest is 2.5"),
        ({"summary_tokens": 0}, "summary_tokens is 0"),
        ({"facts_tokens": "4k"}, "facts_tokens is '4k'"),
        ({"max_facts": 0}, "max_facts is 0"),
        ({"cooldown_seconds": -1}, "cooldown_seconds is -1"),
        ({"wait_seconds": float("inf")}, "wait_seconds is inf"),
        ({"wait_seconds": None}, "wait_seconds is None"),
        ({"expected_turns": float("nan")}, "expected_turns is nan"),
        ({"expected_turns": False}, "expected_turns is False"),
        ({"prices": 0.1}, "prices is 0.1; it must be Prices"),
    ],
)
def test_settings_outside_of_their_domain_are_refused_with_the_number(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        FoldPolicy(**wrong)


def test_what_is_zero_on_purpose_is_accepted() -> None:
    policy = FoldPolicy(min_gain=0, cooldown_seconds=0, cooldown_share=0, wait_seconds=0, summary_reserve=0, heavy=1.0)
    assert policy.min_gain_of(1000) == 1
