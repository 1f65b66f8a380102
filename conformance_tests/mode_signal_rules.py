"""The rules of `ModeSignal`."""

from __future__ import annotations

import copy
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from contextport.contracts import ModeSignal, Sensed, SensedTurn

from .mode_situations import turns
from .rules import rule

if TYPE_CHECKING:
    from .mode_suite import ModeSignalConformance as Suite

__all__: list[str] = []


def _shown(turn: SensedTurn) -> str:
    return f"the question {turn.question.text!r:.60} after {len(turn.before)} messages"


@rule("SIGNAL-1", ModeSignal, cause="evidence is added up without a bound, or a text is taken for one of some form.")
async def scores_are_from_0_to_1(suite: Suite) -> None:
    async with suite.adapter() as signal:
        for turn in turns():
            sensed = signal.sense(turn)
            assert isinstance(sensed, Sensed), f"sense returned {sensed!r} for {_shown(turn)}"
            assert 0 <= sensed.score <= 1, f"the score is {sensed.score!r} for {_shown(turn)}"


@contextmanager
def _cut_off() -> Generator[list[Any]]:
    """No connection can be made; the addresses that were tried are listed."""
    tried: list[Any] = []

    def refuse(_: socket.socket, address: Any) -> None:
        tried.append(address)
        raise ConnectionRefusedError("a signal asks no network")

    with patch.object(socket.socket, "connect", refuse), patch.object(socket.socket, "connect_ex", refuse):
        yield tried


@rule("SIGNAL-2", ModeSignal, cause="the signal remembers turns, looks at the clock, or asks a service.")
async def equal_turns_have_equal_scores(suite: Suite) -> None:
    async with suite.adapter() as signal, suite.adapter() as other:
        with _cut_off() as tried:
            first = [signal.sense(turn) for turn in turns()]
            turned = [other.sense(copy.deepcopy(turn)) for turn in reversed(list(turns()))]
            again = [signal.sense(turn) for turn in turns()]
        assert tried == [], f"sense tried to connect to {tried[:1]}"
        for turn, *scores in zip(turns(), first, again, reversed(turned), strict=True):
            assert scores[0] == scores[1] == scores[2], f"{_shown(turn)} got {scores}"


@rule("SIGNAL-3", ModeSignal, cause="the list of messages or what a message holds is worked on in place.")
async def turn_is_not_changed(suite: Suite) -> None:
    async with suite.adapter() as signal:
        for turn in turns():
            before = copy.deepcopy(turn)
            signal.sense(turn)
            assert repr(turn) == repr(before), f"sense changed {_shown(before)}"
            assert turn.question.metadata == before.question.metadata, f"sense changed the metadata of {_shown(before)}"
