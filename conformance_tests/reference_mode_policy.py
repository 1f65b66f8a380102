"""A small policy and a small signal that keep every rule, for the broken ones to be made from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from contextport.contracts import (
    Mode,
    ModeDecision,
    ModePolicy,
    ModeRules,
    ModeSignal,
    ModeSituation,
    Sensed,
    SensedTurn,
    implements,
)

from .mode_situations import RuleLayers

__all__ = ["ReferenceModePolicy", "ReferenceModeSignal"]


def _merged(*layers: Mapping[str, Any]) -> ModeRules:
    """The rules of layers, the later ones over the earlier."""
    return _made(tuple([stated for layer in layers for stated in layer.items()]))


@cache
def _made(stated: tuple[tuple[str, Any], ...]) -> ModeRules:
    return ModeRules(**dict(stated))


@implements(ModePolicy)
class ReferenceModePolicy:
    """Each method answers one question."""

    def __init__(self, layers: RuleLayers) -> None:
        self.layers = layers

    def rules_for(self, session_id: str) -> ModeRules:
        tenant = self.layers.tenant_of(session_id)
        of_tenant = {} if tenant is None else self.layers.tenants.get(tenant, {})
        return _merged(self.layers.default, of_tenant, self.layers.sessions.get(session_id, {}))

    def decide(self, situation: ModeSituation) -> ModeDecision:
        rules = self.rules_for(situation.session_id)
        if self.resets(situation, rules):
            sought = self.called(situation, rules) and self.searchable(situation)
            return ModeDecision(mode=Mode.RETRIEVAL if sought else rules.reset_to, reason="new_task", resets=True)
        return self.without_reset(situation, rules)

    def without_reset(self, one: ModeSituation, rules: ModeRules) -> ModeDecision:
        """The mode of a task that goes on."""
        occupancy = self.occupancy(one)
        if one.first_of_task and (one.mode is Mode.ZERO_SHOT or (one.mode is Mode.RETRIEVAL and self.searchable(one))):
            return ModeDecision(mode=one.mode, reason="first_of_task")
        if self.called(one, rules) and self.searchable(one):
            return ModeDecision(mode=Mode.HYBRID, reason="called_for")
        if occupancy >= rules.hybrid_from:
            return ModeDecision(mode=self.for_little_room(one), reason="little_room")
        if occupancy >= rules.summary_from or one.has_folded:
            return ModeDecision(mode=Mode.SUMMARY, reason="less_room")
        return ModeDecision(mode=Mode.FULL, reason="room")

    def resets(self, one: ModeSituation, rules: ModeRules) -> bool:
        """Whether a new task begins."""
        return one.new_task.score >= rules.signal_score

    def called(self, one: ModeSituation, rules: ModeRules) -> bool:
        """Whether something is to be looked up."""
        return max(one.asks_early.score, one.needs_knowledge.score) >= rules.signal_score

    def searchable(self, one: ModeSituation) -> bool:
        """Whether something can be looked up."""
        return one.can_search or one.has_knowledge

    def occupancy(self, one: ModeSituation) -> float:
        """The occupancy; that of a full window if it is no number."""
        return math.inf if math.isnan(one.occupancy) else one.occupancy

    def for_little_room(self, one: ModeSituation) -> Mode:
        """The mode of a window that is nearly full."""
        return Mode.HYBRID if self.searchable(one) else Mode.SUMMARY


@implements(ModeSignal)
class ReferenceModeSignal:
    """Senses whether something is asked."""

    def sense(self, turn: SensedTurn) -> Sensed:
        asks = "?" in turn.question.text
        return Sensed(score=0.8 if asks else 0.1, reason="mark" if asks else "")
