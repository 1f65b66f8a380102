"""Receipts come from files and foreign systems: whatever is wrong with one is one kind of error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextport.contracts import Made, Message, Mode, Receipt, ReplayFailed, Span, dump_message

MADE = Message.user("made")
GOOD: dict[str, Any] = {
    "receipt": 1,
    "session_id": "s",
    "epoch": 2,
    "version": 7,
    "config": "c",
    "mode": "full",
    "slots": [dump_message(MADE), [3, 7]],
    "digest": "d",
}


def test_a_receipt_comes_back() -> None:
    receipt = Receipt.from_json(json.dumps(GOOD))
    assert receipt == Receipt(session_id="s", epoch=2, version=7, config="c", mode=Mode.FULL, slots=(Made(MADE), Span(3, 7)))
    assert json.loads(receipt.to_json()) == GOOD


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("receipt", 2),
        ("session_id", 5),
        ("session_id", ""),
        ("session_id", None),
        ("session_id", ["s"]),
        ("epoch", 0),
        ("epoch", 10**30),
        ("epoch", "1"),
        ("epoch", 1.0),
        ("epoch", True),
        ("version", -1),
        ("version", float("inf")),
        ("version", float("nan")),
        ("version", None),
        ("config", None),
        ("mode", "other"),
        ("mode", 5),
        ("mode", []),
        ("slots", "abc"),
        ("slots", {}),
        ("slots", None),
        ("slots", ["{}"]),
        ("slots", ["no message"]),
        ("slots", [5]),
        ("slots", [None]),
        ("slots", [{"0": 1, "1": 2}]),
        ("slots", [[]]),
        ("slots", [[1]]),
        ("slots", [[1, 2, 3]]),
        ("slots", [[1, "2"]]),
        ("slots", [[1.0, 2]]),
        ("slots", [[0, 2]]),
        ("slots", [[3, 2]]),
        ("slots", [[1, 10**30]]),
        ("digest", None),
        ("digest", 5),
    ],
)
def test_a_wrong_value_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ReplayFailed):
        Receipt.from_json(json.dumps({**GOOD, key: value}))


@pytest.mark.parametrize("key", GOOD)
def test_a_missing_value_is_refused(key: str) -> None:
    with pytest.raises(ReplayFailed):
        Receipt.from_json(json.dumps({name: value for name, value in GOOD.items() if name != key}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "5",
        "null",
        "[]",
        '"receipt"',
        "[" * 100_000,
        '{"receipt":' * 100_000,
        '{"receipt":1' + "0" * 5000 + "}",
        None,
        5,
        b"\xff",
    ],
    ids=lambda text: repr(text)[:20],
)
def test_what_is_no_object_is_refused(text: Any) -> None:
    with pytest.raises(ReplayFailed):
        Receipt.from_json(text)
