"""The budget: both formulas, one rule."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from contextport.contracts import Budget, BudgetTooSmall, ContextPortError, InvalidArgument, Limits, MessageConflict


def test_both_formulas() -> None:
    assert Budget(window=128_000, **Budget.DEFAULT_RESERVES).history_budget == 119_000
    assert Budget.from_limits(Limits(window=128_000, max_output=64_000)).usable_input == 64_000
    assert Budget.from_limits(Limits()).usable_input == 64_000


def test_a_reserve_is_a_minimum_and_not_an_addition() -> None:
    budget = Budget(window=10_000, output_reserve=1_000, system_reserve=500, tool_reserve=300)
    assert budget.room() == budget.history_budget == 8_200
    assert budget.room(system=200, tools=200) == 8_200
    assert budget.room(system=600, tools=200) == 7_900
    assert budget.room(retrieved=1_000) == 7_500


def test_the_floor_never_exceeds_the_window() -> None:
    assert Budget.from_limits(Limits(window=8_000, max_output=6_000)).usable_input == 4_000
    assert Budget.from_limits(Limits(window=3_000, max_output=2_900)).usable_input < 3_000
    assert Budget.from_limits(Limits(window=1_000_000, max_output=64_000)).usable_input == 936_000


def test_a_separate_input_limit_counts() -> None:
    assert Budget(window=400_000, output_reserve=100_000, max_input=272_000).usable_input == 272_000


@pytest.mark.parametrize(
    "numbers",
    [{"window": 0}, {"window": 9, "output_reserve": 9}, {"window": 9, "system_reserve": 6, "tool_reserve": 5}],
)
def test_nothing_left_is_an_error_with_the_numbers(numbers: dict[str, Any]) -> None:
    with pytest.raises(BudgetTooSmall) as caught:
        Budget(**numbers)
    assert caught.value.needed > caught.value.available == numbers["window"]


@pytest.mark.parametrize("numbers", [{"window": -1}, {"window": 10.5}, {"window": True}, {"window": 10, "output_reserve": -1}])
def test_what_is_no_number_of_tokens_is_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        Budget(**numbers)


def test_errors_keep_their_numbers_across_processes() -> None:
    error = pickle.loads(pickle.dumps(BudgetTooSmall("too small", needed=5, available=3)))
    assert (type(error), error.needed, error.available, str(error)) == (BudgetTooSmall, 5, 3, "too small")
    assert isinstance(error, ContextPortError)
    with pytest.raises(AttributeError):
        _ = MessageConflict("x").needed
