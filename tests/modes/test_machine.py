"""The mode machine: what it decides, and a walk over every kind of situation that there is."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from contextport.contracts.context import Mode
from contextport.contracts.modes import TRANSITIONS, ModeDecision, ModeRules, ModeSituation, Sensed
from contextport.strategies.modes import ModeMachine, RulesBook

ZERO, FULL, SUMMARY, RETRIEVAL, HYBRID = Mode.ZERO_SHOT, Mode.FULL, Mode.SUMMARY, Mode.RETRIEVAL, Mode.HYBRID
YES, NO = Sensed(score=1.0, reason="said"), Sensed(score=0.0)


def decided(mode: Mode, occupancy: float, rules: ModeRules | None = None, **more: Any) -> ModeDecision:
    situation = ModeSituation(session_id="s", mode=mode, occupancy=occupancy, **more)
    return ModeMachine(rules).decide(situation)


@pytest.mark.parametrize(
    ("occupancy", "can_search", "mode"),
    [
        (0.0, True, FULL),
        (0.599, True, FULL),
        (0.60, True, SUMMARY),
        (0.849, True, SUMMARY),
        (0.85, True, HYBRID),
        (0.85, False, SUMMARY),
        (3.0, True, HYBRID),
        (math.inf, False, SUMMARY),
        (math.nan, True, HYBRID),
        (-1.0, True, FULL),
    ],
)
def test_occupancy_decides_at_the_thresholds(occupancy: float, can_search: bool, mode: Mode) -> None:
    assert decided(FULL, occupancy, can_search=can_search).mode is mode


@pytest.mark.parametrize(
    ("mode", "more", "after", "reason"),
    [
        # D8: a factual question selects HYBRID when something has been folded, or knowledge is wired; else FULL holds it already.
        (FULL, {"asks_early": YES, "can_search": True}, FULL, "below_summary_from"),
        (SUMMARY, {"asks_early": YES, "can_search": True, "has_folded": True}, HYBRID, "asks_early:said"),
        (SUMMARY, {"asks_early": YES, "has_folded": True}, SUMMARY, "has_folded"),
        (FULL, {"needs_knowledge": YES, "has_knowledge": True}, HYBRID, "needs_knowledge:said"),
        (FULL, {"needs_knowledge": YES, "can_search": True}, FULL, "below_summary_from"),
        (FULL, {"asks_early": YES, "has_knowledge": True}, HYBRID, "asks_early:said"),
        # Afterwards back.
        (HYBRID, {"can_search": True, "has_folded": True}, SUMMARY, "has_folded"),
        (HYBRID, {"has_knowledge": True}, FULL, "all_fits"),
        (RETRIEVAL, {"has_knowledge": True}, FULL, "below_summary_from"),
        # W68: FULL only when nothing is folded.
        (SUMMARY, {}, FULL, "all_fits"),
        (SUMMARY, {"has_folded": True}, SUMMARY, "has_folded"),
        (FULL, {"has_folded": True}, SUMMARY, "has_folded"),
        # A task has its first question answered in the mode it began in.
        (ZERO, {"first_of_task": True}, ZERO, "first_of_task"),
        (ZERO, {}, FULL, "below_summary_from"),
        (RETRIEVAL, {"first_of_task": True, "has_knowledge": True}, RETRIEVAL, "first_of_task"),
        (RETRIEVAL, {"first_of_task": True}, FULL, "below_summary_from"),
    ],
)
def test_at_low_occupancy(mode: Mode, more: dict[str, Any], after: Mode, reason: str) -> None:
    assert decided(mode, 0.2, **more) == ModeDecision(mode=after, reason=reason)


@pytest.mark.parametrize(
    ("reset_to", "more", "after"),
    [
        (FULL, {}, FULL),
        (ZERO, {}, ZERO),
        (ZERO, {"needs_knowledge": YES, "has_knowledge": True}, RETRIEVAL),
        (FULL, {"needs_knowledge": YES, "can_search": True}, FULL),
        (FULL, {"asks_early": YES, "can_search": True}, RETRIEVAL),
        (FULL, {"asks_early": YES}, FULL),
    ],
)
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("occupancy", [0.1, 0.7, 2.0])
def test_new_task_resets_from_everywhere(occupancy: float, mode: Mode, reset_to: Mode, more: dict[str, Any], after: Mode) -> None:
    decision = decided(mode, occupancy, ModeRules(reset_to=reset_to), new_task=YES, has_folded=True, **more)
    assert decision == ModeDecision(mode=after, reason="new_task:said", resets=True)


def test_facts_are_looked_up_with_the_window_that_folds() -> None:
    """What is folded for this very window would be missed by the question that is asked with it."""
    assert decided(FULL, 0.6, asks_early=YES, can_search=True).mode is HYBRID


def test_hybrid_does_not_flap() -> None:
    walked = []
    mode = SUMMARY
    for occupancy in (0.84, 0.86, 0.84, 0.86, 0.73, 0.72, 0.84, 0.86):
        mode = decided(mode, occupancy, can_search=True, has_folded=True).mode
        walked.append(mode)
    assert walked == [SUMMARY, HYBRID, HYBRID, HYBRID, HYBRID, SUMMARY, SUMMARY, HYBRID]


def test_a_signal_counts_from_its_score_on() -> None:
    rules = ModeRules(signal_score=0.7)
    for score, mode in ((0.69, SUMMARY), (0.7, HYBRID), (math.nan, SUMMARY)):
        found = decided(SUMMARY, 0.1, rules, asks_early=Sensed(score=score), can_search=True, has_folded=True)
        assert found.mode is mode
    assert decided(FULL, 0.1, ModeRules(signal_score=0.0)) == ModeDecision(mode=FULL, reason="below_summary_from")


def walk(rules: ModeRules, mode: Mode, *questions: dict[str, Any]) -> list[Mode]:
    walked = []
    for question in questions:
        mode = decided(mode, 0.1, rules, **question).mode
        walked.append(mode)
    return walked


KNOWS: dict[str, Any] = {"needs_knowledge": YES, "has_knowledge": True}


def test_a_service_of_single_questions_stays_one() -> None:
    single = ModeRules(start=ZERO, reset_to=ZERO)
    assert walk(single, ZERO, {}, KNOWS, {}, {"asks_early": YES}, {}, {"new_task": YES}, {}) == [
        ZERO,
        RETRIEVAL,
        ZERO,
        FULL,
        FULL,
        ZERO,
        ZERO,
    ]
    library = ModeRules(start=RETRIEVAL)
    known: dict[str, Any] = {"has_knowledge": True}
    assert walk(library, RETRIEVAL, known, KNOWS, known | {"new_task": YES}, known) == [RETRIEVAL] * 4
    assert walk(library, RETRIEVAL, known | {"asks_early": YES}, known) == [HYBRID, FULL]
    assert walk(library, RETRIEVAL, {}) == [FULL]


def test_rules_are_those_of_the_session() -> None:
    stated = {
        "default": {"summary_from": 0.5},
        "tenants": {"t": {"summary_from": 0.3}},
        "sessions": {"s": {"summary_from": 0.1}},
    }
    book = RulesBook.of(stated, tenant_of=lambda session_id: session_id[0])
    machine = ModeMachine(book)
    assert [machine.rules_for(one).summary_from for one in ("x", "t1", "s")] == [0.5, 0.3, 0.1]
    modes = [machine.decide(ModeSituation(session_id=one, mode=FULL, occupancy=0.4)).mode for one in ("x", "t1", "s")]
    assert modes == [FULL, SUMMARY, SUMMARY]


# --- every kind of situation ----------------------------------------------------------------------------------------------

RULES = (
    ModeRules(),
    ModeRules(reset_to=ZERO),
    ModeRules(start=ZERO, reset_to=ZERO),
    ModeRules(start=RETRIEVAL),
    ModeRules(start=HYBRID, signal_score=1.0),
    ModeRules(start=SUMMARY, summary_from=0.5, hybrid_from=0.5),
    ModeRules(summary_from=1.0, hybrid_from=1.0, signal_score=0.0),
)
OCCUPANCIES = (-1.0, 0.0, 0.3, 0.59, 0.6, 0.72, 0.73, 0.8, 0.85, 1.0, 2.0, math.inf, math.nan)


def situations() -> Iterator[ModeSituation]:
    scores = (0.0, 0.5, 1.0)
    flags = (False, True)
    for mode, occupancy, new, early, needs, first, folded, search, knows in itertools.product(
        Mode, OCCUPANCIES, scores, scores, scores, flags, flags, flags, flags
    ):
        yield ModeSituation(
            session_id="s",
            mode=mode,
            occupancy=occupancy,
            new_task=Sensed(score=new),
            asks_early=Sensed(score=early),
            needs_knowledge=Sensed(score=needs),
            first_of_task=first,
            has_folded=folded,
            can_search=search,
            has_knowledge=knows,
        )


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_walk_over_all_situations(rules: ModeRules) -> None:
    machine = ModeMachine(rules)
    reached: set[Mode] = set()
    for one in situations():
        made = machine.decide(one)
        reached.add(made.mode)
        legal = made.mode is one.mode or (one.mode, made.mode) in TRANSITIONS or (made.resets and made.mode in (FULL, RETRIEVAL))
        assert legal, (one, made)
        assert made.reason, one
        assert made.resets == (one.new_task.score > 0 and one.new_task.score >= rules.signal_score), (one, made)
        assert one.can_search or one.has_knowledge or made.mode not in (RETRIEVAL, HYBRID), (one, made)
        assert made.mode is not FULL or made.resets or one.occupancy < rules.hybrid_from, (one, made)
        called = max(one.asks_early.score, one.needs_knowledge.score) >= rules.signal_score
        unasked = one.occupancy < rules.summary_from and not one.has_folded and not called
        assert not (unasked and made.mode in (SUMMARY, HYBRID)), (one, made)
        again = machine.decide(attrs.evolve(one, mode=made.mode))
        assert again.mode is made.mode, (one, made, again)
        if made.resets:
            begun = attrs.evolve(one, mode=made.mode, new_task=NO, first_of_task=True, has_folded=False, occupancy=0.0)
            after = machine.decide(begun)
            assert (after.mode, after.resets) == (made.mode, False), (one, made, after)
    assert {FULL, SUMMARY, RETRIEVAL, HYBRID} <= reached
    assert ZERO in reached or rules.reset_to is FULL


def test_every_mode_is_reached_from_the_start() -> None:
    """From FULL, by decisions alone, in a machine that begins new tasks in ZERO_SHOT."""
    machine = ModeMachine(ModeRules(reset_to=ZERO))
    after: dict[Mode, set[Mode]] = {mode: set() for mode in Mode}
    for one in situations():
        after[one.mode].add(machine.decide(one).mode)
    reached, new = set[Mode](), {FULL}
    while new:
        reached |= new
        new = {mode for known in new for mode in after[known]} - reached
    assert reached == set(Mode)


def test_every_transition_of_the_table_is_made_by_some_rules() -> None:
    made = {(one.mode, machine.decide(one).mode) for machine in map(ModeMachine, RULES) for one in situations()}
    assert set(TRANSITIONS) <= made
