"""Signals that break one thing each."""

from __future__ import annotations

import contextlib
import itertools
import socket
from typing import Any, cast

import attrs

from contextport.conformance_tests.reference_mode_policy import ReferenceModeSignal
from contextport.contracts import Sensed, SensedTurn

from .registry import broken

__all__: list[str] = []


@broken("SIGNAL-1")
class AddsUpItsEvidence(ReferenceModeSignal):
    def sense(self, turn: SensedTurn) -> Sensed:
        sensed = super().sense(turn)
        return attrs.evolve(sensed, score=sensed.score + 0.3 * min(turn.known_facts, 1))


@broken("SIGNAL-1 SIGNAL-2 SIGNAL-3")
class ReadsTheFirstWord(ReferenceModeSignal):
    """Fails where there is none."""

    def sense(self, turn: SensedTurn) -> Sensed:
        first = turn.question.text.split()[0]
        return Sensed(score=0.9 if first.lower() == "what" else 0.0, reason="word")


@broken("SIGNAL-1")
class HandsOnWhatASearchFound(ReferenceModeSignal):
    """Scores of a search are taken as they are."""

    def sense(self, turn: SensedTurn) -> Sensed:
        best = turn.found[0] if turn.found else 0.0
        return attrs.evolve(super().sense(turn), score=best)


@broken("SIGNAL-2")
class GrowsSurer(ReferenceModeSignal):
    def __init__(self) -> None:
        self.asked = itertools.count()

    def sense(self, turn: SensedTurn) -> Sensed:
        return attrs.evolve(super().sense(turn), score=1 - 1 / (2 + next(self.asked)))


@broken("SIGNAL-2")
class AsksAService(ReferenceModeSignal):
    """Asks a server, and makes do without an answer."""

    def sense(self, turn: SensedTurn) -> Sensed:
        with contextlib.suppress(OSError), socket.socket() as wire:
            wire.settimeout(0.001)
            wire.connect(("127.0.0.1", 9))
        return super().sense(turn)


@broken("SIGNAL-3")
class TakesMessagesFromTheTurn(ReferenceModeSignal):
    def sense(self, turn: SensedTurn) -> Sensed:
        if isinstance(turn.before, list):
            cast(list[Any], turn.before).clear()
        return super().sense(turn)


@broken("SIGNAL-3")
class NotesItsScoreInTheQuestion(ReferenceModeSignal):
    def sense(self, turn: SensedTurn) -> Sensed:
        sensed = super().sense(turn)
        cast(dict[str, Any], turn.question.metadata)["score"] = sensed.score
        return sensed
