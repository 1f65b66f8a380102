"""What the library's own parts are constructed with: refused at once, with the value and what it must be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.wiring import context_engine
from contextport.contracts import InvalidArgument, PortMismatch
from contextport.strategies import KeepRecentTokens, KeepRecentTurns, ShortenLongMessages

COUNTER = HeuristicTokenCounter()
NO_SHARE = ("x", None, True, -0.1, 1.1, float("nan"), [0.5])
NO_COUNT = ("x", True, 0, -1, 2.0, [2])
CASES: list[tuple[Callable[[Any], object], tuple[Any, ...]]] = [
    (lambda value: KeepRecentTokens(COUNTER, target_share=value), (*NO_SHARE, 0)),
    (lambda value: KeepRecentTurns(COUNTER, turns=value), NO_COUNT),
    (lambda value: KeepRecentTurns(COUNTER, messages=value), (*NO_COUNT, None)),
    (lambda value: ShortenLongMessages(COUNTER, max_message_tokens=value), (*NO_COUNT, None)),
    (lambda value: ShortenLongMessages(COUNTER, head_share=value), NO_SHARE),
    (lambda value: CalibratedTokenCounter(COUNTER, margin=value), ("x", True, 0.4, 3.1, float("nan"), [1.1])),
    (lambda value: context_engine(budget=value), ("8000", 8000.0, True, [8000], 8000j)),
    (SqliteContextStore, (5, None, b"log.db", [])),
]


@pytest.mark.parametrize(
    ("make", "value"), [(make, value) for make, values in CASES for value in values], ids=lambda value: repr(value)[:20]
)
def test_a_value_of_another_type_or_size_is_named_in_the_error(make: Callable[[Any], object], value: Any) -> None:
    with pytest.raises(InvalidArgument, match="must be") as caught:
        make(value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", ["a", None, True, -1, float("nan"), float("inf"), 10**30], ids=str)
def test_a_time_to_wait_is_a_number_of_seconds(value: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="busy_timeout is"):
        SqliteContextStore(tmp_path / "log.db", busy_timeout=value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [None, 5, "o200k", HeuristicTokenCounter], ids=str)
@pytest.mark.parametrize(
    "make", [KeepRecentTokens, KeepRecentTurns, ShortenLongMessages, CalibratedTokenCounter], ids=lambda make: make.__name__
)
def test_a_counter_has_to_be_one(make: Callable[[Any], object], value: Any) -> None:
    with pytest.raises(PortMismatch, match="does not provide TokenCounter"):
        make(value)


def test_the_ends_of_each_range_are_allowed(tmp_path: Path) -> None:
    assert KeepRecentTokens(COUNTER, target_share=1).target_share == 1
    assert KeepRecentTurns(COUNTER, turns=1, messages=1).turns == 1
    for share in (0, 1):
        assert ShortenLongMessages(COUNTER, max_message_tokens=1, head_share=share).head_share == share
    assert [CalibratedTokenCounter(COUNTER, margin=margin).token_ratio() for margin in (0.5, 3)] == [0.5, 3]
    assert SqliteContextStore(str(tmp_path / "log.db"), busy_timeout=0).durability == "process"
