"""The default policy: which mode comes next, by rules that read like a table."""

from __future__ import annotations

import math

from attrs import frozen

from contextport.contracts.context import Mode
from contextport.contracts.modes import ModeDecision, ModePolicy, ModeRules, ModeSituation, Sensed
from contextport.contracts.port import implements

from .rules import RulesBook

__all__ = ["ModeMachine"]

_ALONE = frozenset({Mode.ZERO_SHOT, Mode.RETRIEVAL})  # modes that answer a question by itself, without the history
_FOLDED = frozenset({Mode.SUMMARY, Mode.HYBRID})


@implements(ModePolicy)
class ModeMachine:
    """Decides in this order, the first that applies:

    1. reset: a new task begins in `reset_to`; in RETRIEVAL if something has to be looked up for it, and can be;
    2. alone: in ZERO_SHOT and RETRIEVAL the first question of a task stays there; so do sessions that start in one of the two,
       until a question reaches back to what was said;
    3. plug-in: a factual question gets snippets (HYBRID), if something is folded that can be searched, or there is knowledge; so
       does one that reaches back, if there were tasks before;
    4. degrade: from `hybrid_from` on HYBRID, or SUMMARY if nothing can be searched; from `summary_from` on, or if something is
       folded, SUMMARY. HYBRID goes on for as long as the occupancy is in the upper half between the two, so as not to flap;
    5. recover: FULL, where nothing is folded and the occupancy is below `summary_from`.

    Each decision is one transition of `TRANSITIONS`, and settles at once. Without numbers (an occupancy that is not one) the
    window counts as full. The reason is a code, with the word of the signal after a colon: `asks_early:ledger`.

        policy = ModeMachine(ModeRules(summary_from=0.5))
        policy = ModeMachine(RulesBook.of(json.loads(text), tenant_of=lambda session_id: session_id.partition("/")[0]))
    """

    def __init__(self, rules: ModeRules | RulesBook | None = None) -> None:
        self._book = rules if isinstance(rules, RulesBook) else RulesBook(default=rules or ModeRules())

    def rules_for(self, session_id: str) -> ModeRules:
        return self._book.rules_for(session_id)

    def decide(self, situation: ModeSituation) -> ModeDecision:
        seen = _Seen.of(situation, self.rules_for(situation.session_id))
        return seen.reset() or seen.alone() or seen.plug_in() or seen.degrade() or seen.recover()


@frozen(kw_only=True)
class _Seen:
    """A situation as its rules see it. Each method is one rule, and answers None where it does not apply."""

    mode: Mode
    rules: ModeRules
    occupancy: float
    new_task: Sensed | None
    asks_early: Sensed | None
    needs_knowledge: Sensed | None
    first_of_task: bool
    has_folded: bool
    has_earlier: bool
    can_search: bool
    has_knowledge: bool

    @classmethod
    def of(cls, situation: ModeSituation, rules: ModeRules) -> _Seen:
        def counts(sensed: Sensed) -> Sensed | None:
            return sensed if sensed.score >= rules.signal_score and sensed.score > 0 else None

        return cls(
            mode=situation.mode,
            rules=rules,
            occupancy=math.inf if math.isnan(situation.occupancy) else situation.occupancy,
            new_task=counts(situation.new_task),
            asks_early=counts(situation.asks_early),
            needs_knowledge=counts(situation.needs_knowledge),
            first_of_task=situation.first_of_task,
            has_folded=situation.has_folded,
            has_earlier=situation.has_earlier,
            can_search=situation.can_search,
            has_knowledge=situation.has_knowledge,
        )

    @property
    def searchable(self) -> bool:
        return self.can_search or self.has_knowledge

    def lookup(self, *, history: bool) -> Sensed | None:
        """Why something is to be looked up for the question, if it can be: in knowledge, or if `history`, in what was said."""
        factual = self.asks_early or self.needs_knowledge
        return factual if self.has_knowledge or (history and self.can_search) else None

    def reset(self) -> ModeDecision | None:
        if self.new_task is None:
            return None
        needs = self.lookup(history=self.asks_early is not None) is not None
        at_home = self.rules.start is Mode.RETRIEVAL and self.searchable
        mode = Mode.RETRIEVAL if needs or at_home else self.rules.reset_to
        return ModeDecision(mode=mode, reason=_because("new_task", self.new_task), resets=True)

    def alone(self) -> ModeDecision | None:
        if self.mode not in _ALONE:
            return None
        if self.first_of_task and (self.mode is Mode.ZERO_SHOT or self.searchable):
            return ModeDecision(mode=self.mode, reason="first_of_task")
        if self.asks_early is not None:
            return None
        if self.rules.start is Mode.RETRIEVAL and self.searchable:
            return ModeDecision(mode=Mode.RETRIEVAL, reason="each_question_alone")
        if self.rules.start is not Mode.ZERO_SHOT:
            return None
        if (needed := self.lookup(history=False)) is not None:
            return ModeDecision(mode=Mode.RETRIEVAL, reason=_because("needs_knowledge", needed))
        return ModeDecision(mode=Mode.ZERO_SHOT, reason="each_question_alone")

    def plug_in(self) -> ModeDecision | None:
        folded = self.has_folded or self.occupancy >= self.rules.summary_from  # or about to be, with this window
        needed = self.lookup(history=folded or (self.has_earlier and self.asks_early is not None))
        if needed is None:
            return None
        code = "needs_knowledge" if self.asks_early is None else "asks_early"
        return ModeDecision(mode=Mode.HYBRID, reason=_because(code, needed))

    def degrade(self) -> ModeDecision | None:
        if self.occupancy >= self.rules.hybrid_from:
            return ModeDecision(mode=Mode.HYBRID if self.searchable else Mode.SUMMARY, reason="over_hybrid_from")
        halfway = (self.rules.summary_from + self.rules.hybrid_from) / 2
        if self.mode is Mode.HYBRID and self.occupancy >= halfway and self.searchable:
            return ModeDecision(mode=Mode.HYBRID, reason="still_high")
        if self.occupancy >= self.rules.summary_from:
            return ModeDecision(mode=Mode.SUMMARY, reason="over_summary_from")
        if self.has_folded:
            return ModeDecision(mode=Mode.SUMMARY, reason="has_folded")
        return None

    def recover(self) -> ModeDecision:
        return ModeDecision(mode=Mode.FULL, reason="all_fits" if self.mode in _FOLDED else "below_summary_from")


def _because(code: str, sensed: Sensed | None) -> str:
    return f"{code}:{sensed.reason}" if sensed is not None and sensed.reason else code
