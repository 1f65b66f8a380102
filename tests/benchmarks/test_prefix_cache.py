"""What `benchmarks/cache_cost.py` measures with: requests by their common prefix, and fixed policies by their sizes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from cache_cost_policies import FixedPolicy, Sizes, sliding_window
from prefix_cache import Requests, input_cost, piece

A, B, C = (piece({"role": "user", "content": letter * 10}, 10) for letter in "abc")


def test_the_prefix_ends_within_the_first_message_that_differs() -> None:
    made = Requests()
    longer = piece({"role": "user", "content": "bbbbbbbbbb and more"}, 10)
    for window in ([A], [A, B], [A, longer], [C, longer]):
        made.send(window)
    assert made.totals == [10, 20, 20, 20]
    same = len(b'{"content": "bbbbbbbbbb') * 10 // len(longer[0])
    start = len(b'{"content": "') * 10 // len(C[0])
    assert made.shared == [0, 10, 10 + same, start]


@pytest.mark.parametrize(
    ("minimum", "cost"),
    [
        (0, 100 * 1.25 + 100 * 0.1 + 50 * 1.25),
        (100, 100 * 1.25 + 100 * 0.1 + 50 * 1.25),
        (101, 100 * 1.0 + 150 * 1.25),  # the first prompt was not cached
        (151, 100 + 150),
    ],
)
def test_what_is_shared_is_read_and_the_rest_written_from_the_minimum_on(minimum: int, cost: float) -> None:
    made = Requests(totals=[100, 150], shared=[0, 100])
    assert input_cost([made], read=0.1, write=1.25, minimum=minimum) == pytest.approx(cost)


#: A system prompt of 10 and messages of 10; requests after 1, 3, 5, 7 and 9 of them.
SIZES = Sizes.of(10, ["user", "assistant"] * 5, [10] * 10)


def test_a_sliding_window_loses_its_prefix_at_every_request_once_it_is_full() -> None:
    made = sliding_window(SIZES, 50)
    assert made.totals == [20, 40, 50, 50, 50]
    assert made.shared == [0, 20, 10, 10, 10]


def test_a_fixed_policy_loses_it_at_its_folds_alone() -> None:
    made = FixedPolicy(1.0, 0.5).run(SIZES, 60, summary=5, keep_latest=1)
    # 50 of 50 are reached with five messages: two of them and a summary of 5 are the half
    assert made.totals == [20, 40, 35, 55, 35]
    assert made.shared == [0, 20, 10, 35, 10]


def test_the_messages_to_keep_stop_a_fold() -> None:
    made = FixedPolicy(1.0, 0.5).run(SIZES, 60, summary=5, keep_latest=4)
    assert made.totals == [20, 40, 55, 55, 55]


def test_no_window_begins_with_a_result() -> None:
    sizes = Sizes.of(0, ["user", "assistant", "tool", "assistant"], [10, 10, 10, 10])
    assert sizes.starts == (0, 1, 3)
    assert sliding_window(sizes, 15).totals == [10, 20]  # the call cannot go without its result, nor the newest message
