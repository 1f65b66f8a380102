"""Asking a policy of modes and its signals, which are foreign code: whatever they do, the conversation goes on."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from contextport.contracts import (
    TRANSITIONS,
    EventKind,
    Json,
    Mode,
    ModeDecision,
    ModePolicy,
    ModeRules,
    ModeSignal,
    ModeSituation,
    Sensed,
    SensedTurn,
)

from .window_plan import SHOWS_SNIPPETS

__all__ = ["ModeGuard"]

Report = Callable[[str, EventKind, dict[str, Json]], None]

_RESET_TO = frozenset({Mode.FULL, Mode.RETRIEVAL, Mode.ZERO_SHOT})
_MOST_SESSIONS = 1024  # sessions of which the last complaint is remembered


@define(kw_only=True)
class ModeGuard:
    """Stands before `policy`: what fails or breaks a rule is told in an event, once in a row, and nothing changes."""

    policy: ModePolicy
    report: Report
    _told: dict[str, tuple[str, str]] = field(init=False, factory=dict[str, tuple[str, str]])

    def rules_for(self, session_id: str) -> ModeRules:
        """The rules of the session; the defaults where there are none to be had."""
        try:
            rules = self.policy.rules_for(session_id)
        except Exception as error:
            self._tell(session_id, "MODE-6", type(error).__name__)
            return ModeRules()
        if isinstance(rules, ModeRules):
            return rules
        self._tell(session_id, "MODE-6", type(rules).__name__)
        return ModeRules()

    def decide(self, situation: ModeSituation) -> ModeDecision:
        """The policy's decision, or to stay."""
        stay = ModeDecision(mode=situation.mode, reason="policy_failed")
        try:
            decision = self.policy.decide(situation)
        except Exception as error:
            self._tell(situation.session_id, "MODE-2", type(error).__name__)
            return stay
        rule = _broken_rule(situation, decision)
        if rule:
            self._tell(situation.session_id, rule, "")
            return stay
        self._told.pop(situation.session_id, None)
        return decision

    def sense(self, session_id: str, signal: ModeSignal, turn: SensedTurn) -> Sensed:
        """What the signal says; nothing where it fails."""
        try:
            sensed: object = signal.sense(turn)
        except Exception as error:
            self._tell(session_id, "SIGNAL-1", type(error).__name__, type(signal).__name__)
            return Sensed(score=0.0)
        if isinstance(sensed, Sensed) and 0 <= sensed.score <= 1:
            return sensed
        self._tell(session_id, "SIGNAL-1", type(sensed).__name__, type(signal).__name__)
        return Sensed(score=0.0)

    def _tell(self, session_id: str, rule: str, error: str, name: str = "") -> None:
        if self._told.get(session_id) == (rule, error):
            return
        self._told[session_id] = rule, error
        if len(self._told) > _MOST_SESSIONS:
            del self._told[next(iter(self._told))]
        told: dict[str, Json] = {"strategy": name or type(self.policy).__name__, "rule": rule, "error": error}
        self.report(session_id, EventKind.STRATEGY_FAILED, told)


def _broken_rule(situation: ModeSituation, decision: object) -> str:
    """The rule that the decision breaks; empty for none."""
    if not isinstance(decision, ModeDecision) or not isinstance(decision.mode, Mode):
        return "MODE-2"
    step = situation.mode, decision.mode
    is_legal = decision.mode is situation.mode or step in TRANSITIONS or (decision.resets and decision.mode in _RESET_TO)
    if not is_legal:
        return "MODE-1"
    can_search = situation.can_search or situation.has_knowledge
    return "MODE-4" if decision.mode in SHOWS_SNIPPETS and decision.mode is not situation.mode and not can_search else ""
