"""What names no scope and no message is refused before it reaches a memory."""

from __future__ import annotations

from typing import Any

import pytest

from contextport.contracts import InvalidArgument
from contextport.contracts.memory import MemoryNote, MemoryScope


@pytest.mark.parametrize("scope", [{"subject": ""}, {"subject": None}, {"subject": "ann", "tenant": 5}])
def test_scope_needs_a_subject(scope: Any) -> None:
    with pytest.raises(InvalidArgument, match="subject"):
        MemoryScope(**scope)


@pytest.mark.parametrize(
    "wrong", [{"at": float("nan")}, {"at": float("inf")}, {"at": "now"}, {"epoch": "1"}, {"session_id": None}, {"message_id": 5}]
)
def test_note_names_a_message_and_a_time(wrong: Any) -> None:
    right: Any = {"session_id": "s", "epoch": 1, "message_id": "m", "at": 5.0}
    assert MemoryNote(**right).facts == ()
    with pytest.raises(InvalidArgument, match="note of message"):
        MemoryNote(**{**right, **wrong})
