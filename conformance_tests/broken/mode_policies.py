"""Policies of modes that break one thing each."""

from __future__ import annotations

import attrs

from contextport.conformance_tests.mode_situations import RuleLayers
from contextport.conformance_tests.reference_mode_policy import ReferenceModePolicy
from contextport.contracts import Mode, ModeDecision, ModeRules, ModeSituation

from .registry import broken

__all__: list[str] = []


@broken("MODE-1")
class DropsTheHistoryUnasked(ReferenceModePolicy):
    """Answers without the history when it is long, as if a new task had begun."""

    def without_reset(self, one: ModeSituation, rules: ModeRules) -> ModeDecision:
        made = super().without_reset(one, rules)
        long = made.mode is Mode.SUMMARY and one.mode is not Mode.FULL
        return ModeDecision(mode=Mode.ZERO_SHOT, reason="long") if long and one.mode is not Mode.SUMMARY else made


@broken("MODE-1 MODE-7")
class LooksUpWithoutTheHistory(ReferenceModePolicy):
    """Goes from SUMMARY to RETRIEVAL, and so loses what is being talked about."""

    def without_reset(self, one: ModeSituation, rules: ModeRules) -> ModeDecision:
        made = super().without_reset(one, rules)
        if made.reason == "called_for" and one.mode is Mode.SUMMARY:
            return ModeDecision(mode=Mode.RETRIEVAL, reason="called_for")
        return made


@broken("MODE-1")
class ResetsOnAHint(ReferenceModePolicy):
    """Begins anew for a question about something else."""

    def resets(self, one: ModeSituation, rules: ModeRules) -> bool:
        return super().resets(one, rules) or one.needs_knowledge.score >= rules.signal_score


@broken("MODE-1 MODE-5")
class DoesNotSayThatItResets(ReferenceModePolicy):
    def decide(self, situation: ModeSituation) -> ModeDecision:
        return attrs.evolve(super().decide(situation), resets=False)


@broken("MODE-2")
class RoundsTheOccupancy(ReferenceModePolicy):
    """Works with whole percents, which an infinite number has none of."""

    def occupancy(self, one: ModeSituation) -> float:
        return int(one.occupancy * 100) / 100


@broken("MODE-2")
class KeepsItsReasonsToItself(ReferenceModePolicy):
    def decide(self, situation: ModeSituation) -> ModeDecision:
        made = super().decide(situation)
        return attrs.evolve(made, reason="" if made.mode is situation.mode else made.reason)


@broken("MODE-3 MODE-7")
class WaitsForASecondSign(ReferenceModePolicy):
    """Looks something up only when the question before called for it too."""

    def __init__(self, layers: RuleLayers) -> None:
        super().__init__(layers)
        self.before = True

    def for_little_room(self, one: ModeSituation) -> Mode:
        before, self.before = self.before, one.can_search
        return super().for_little_room(one) if before or one.mode is Mode.HYBRID else Mode.SUMMARY


@broken("MODE-4")
class LooksUpInNothing(ReferenceModePolicy):
    def for_little_room(self, one: ModeSituation) -> Mode:
        return Mode.HYBRID


@broken("MODE-5")
class NeverFolds(ReferenceModePolicy):
    """Takes all windows for roomy ones, and leaves it to others to cut them."""

    def occupancy(self, one: ModeSituation) -> float:
        return 0.0


@broken("MODE-5")
class HasThresholdsOfItsOwn(ReferenceModePolicy):
    def without_reset(self, one: ModeSituation, rules: ModeRules) -> ModeDecision:
        return super().without_reset(one, attrs.evolve(rules, summary_from=0.5, hybrid_from=0.7))


@broken("MODE-5")
class NeverComesBackToFull(ReferenceModePolicy):
    def without_reset(self, one: ModeSituation, rules: ModeRules) -> ModeDecision:
        made = super().without_reset(one, rules)
        left = one.mode is Mode.SUMMARY and made.mode is Mode.FULL
        return ModeDecision(mode=Mode.SUMMARY, reason="was_summary") if left else made


@broken("MODE-6")
class KnowsNoTenants(ReferenceModePolicy):
    def rules_for(self, session_id: str) -> ModeRules:
        return ModeRules(**{**self.layers.default, **self.layers.sessions.get(session_id, {})})


@broken("MODE-6")
class LetsTheTenantOverruleTheSession(ReferenceModePolicy):
    def rules_for(self, session_id: str) -> ModeRules:
        own = self.layers.sessions.get(session_id, {})
        return ModeRules(**{**self.layers.default, **own, **self.layers.tenants.get(self.layers.tenant_of(session_id) or "", {})})


@broken("MODE-6")
class TakesOneLayerAsAWhole(ReferenceModePolicy):
    """The nearest layer that states anything replaces those below it."""

    def rules_for(self, session_id: str) -> ModeRules:
        tenant = self.layers.tenants.get(self.layers.tenant_of(session_id) or "", {})
        return ModeRules(**(self.layers.sessions.get(session_id) or tenant or self.layers.default))


@broken("MODE-6")
class TakesATenantForASession(ReferenceModePolicy):
    """A session that is called like a tenant gets the tenant's rules."""

    def rules_for(self, session_id: str) -> ModeRules:
        tenant = self.layers.tenants.get(session_id, {})
        return attrs.evolve(super().rules_for(session_id), **tenant)


@broken("MODE-7")
class GoesBackAndForth(ReferenceModePolicy):
    """Leaves HYBRID once it has been in it, whatever called for it."""

    def without_reset(self, one: ModeSituation, rules: ModeRules) -> ModeDecision:
        made = super().without_reset(one, rules)
        return ModeDecision(mode=Mode.SUMMARY, reason="was_hybrid") if one.mode is Mode.HYBRID is made.mode else made


@broken("MODE-7")
class LeavesANewTaskAtOnce(ReferenceModePolicy):
    """The first question of a task is not known as such."""

    def without_reset(self, one: ModeSituation, rules: ModeRules) -> ModeDecision:
        return super().without_reset(attrs.evolve(one, first_of_task=False), rules)
