"""The rules of `ModePolicy`."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import attrs

from contextport.contracts import (
    TRANSITIONS,
    Control,
    Mode,
    ModeDecision,
    ModePath,
    ModePolicy,
    ModeRules,
    ModeSituation,
    Sensed,
)

from .mode_situations import LAYERS, RuleLayers, rules_of, situations
from .rules import rule

if TYPE_CHECKING:
    from .mode_suite import ModePolicyConformance as Suite

__all__: list[str] = []

_RESETS_TO = frozenset({Mode.FULL, Mode.RETRIEVAL})  # besides what the table has
_SOUGHT = frozenset({Mode.RETRIEVAL, Mode.HYBRID})
_SHORTENED = frozenset({Mode.SUMMARY, Mode.HYBRID})
_NO = Sensed(score=0.0)


async def _decided(suite: Suite) -> AsyncIterator[tuple[ModePolicy, ModeRules, ModeSituation, ModeDecision]]:
    """Every kind of situation under all rules, with what is decided."""
    for layers in LAYERS:
        async with suite.policy(layers) as policy:
            rules = rules_of(layers)
            for one in situations():
                yield policy, rules, one, policy.decide(one)


def _counts(sensed: Sensed, rules: ModeRules) -> bool:
    return sensed.score >= rules.signal_score


def _called(one: ModeSituation, rules: ModeRules) -> bool:
    return _counts(one.asks_early, rules) or _counts(one.needs_knowledge, rules)


@rule("MODE-1", ModePolicy, cause="a mode is chosen by the occupancy alone, whichever the session is in.")
async def transitions_are_legal(suite: Suite) -> None:
    async for _, rules, one, made in _decided(suite):
        step = f"{one.mode} -> {made.mode}"
        known = made.mode is one.mode or (one.mode, made.mode) in TRANSITIONS
        assert known or (made.resets and made.mode in _RESETS_TO), f"{step} is no transition, decided for {one}"
        if made.resets:
            assert _counts(one.new_task, rules), f"{step} resets without a new task, for {one}"
        else:
            path = TRANSITIONS.get((one.mode, made.mode))
            assert path is not ModePath.RESET, f"{step} is a reset and does not say so, for {one}"


_NUMBERS = (math.nan, math.inf, -math.inf, -5.0, 0.0, 1e308, 10**30)


@rule("MODE-2", ModePolicy, cause="a number is compared or rounded without regard to what it may be, or a reason is forgotten.")
async def every_situation_gets_a_decision(suite: Suite) -> None:
    async for _, _, one, made in _decided(suite):
        assert isinstance(made, ModeDecision), f"decide returned {made!r} for {one}"
        assert isinstance(made.mode, Mode), f"decide chose {made.mode!r}, which is no mode, for {one}"
        assert made.reason, f"decide gave no reason for {one}"
    async with suite.policy(LAYERS[0]) as policy:
        for number in _NUMBERS:
            for mode in Mode:
                strange = Sensed(score=number, reason="\ud800")
                one = ModeSituation(
                    session_id="\u0000 \udfff" * 1_000,
                    mode=mode,
                    occupancy=number,
                    new_task=strange,
                    asks_early=strange,
                    needs_knowledge=strange,
                    has_knowledge=True,
                )
                for asked in (one, attrs.evolve(one, new_task=_NO), attrs.evolve(one, occupancy=0.1)):
                    made = policy.decide(asked)
                    assert made.reason, f"decide gave no reason for the number {number}"


@rule("MODE-3", ModePolicy, cause="the policy remembers what it decided before, for the session or at all.")
async def equal_situations_get_equal_decisions(suite: Suite) -> None:
    for layers in LAYERS:
        async with suite.policy(layers) as policy, suite.policy(layers) as other:
            first = [policy.decide(one) for one in situations()]
            turned = [other.decide(one) for one in reversed(situations())]
            for one, made, again in zip(situations(), first, reversed(turned), strict=True):
                assert made == again, f"{one} got {made}, and in another order {again}"


@rule("MODE-4", ModePolicy, cause="HYBRID is chosen by the occupancy, whether or not there is a retriever.")
async def nothing_is_sought_where_nothing_can_be(suite: Suite) -> None:
    async for _, _, one, made in _decided(suite):
        if not one.can_search and not one.has_knowledge:
            assert made.mode not in _SOUGHT, f"{made.mode} was decided on with nothing to search, for {one}"


@rule("MODE-5", ModePolicy, cause="thresholds are fixed, compared with the wrong sign, or a mode is never left.")
async def modes_follow_the_occupancy(suite: Suite) -> None:
    async for _, rules, one, made in _decided(suite):
        if made.mode is Mode.FULL and not made.resets:
            assert not one.occupancy >= rules.hybrid_from, (
                f"FULL was decided on at {one.occupancy:g}; HYBRID begins at {rules.hybrid_from:g}, for {one}"
            )
        if made.mode in _SHORTENED and one.occupancy < rules.summary_from and not one.has_folded:
            assert _called(one, rules), f"{made.mode} was decided on at {one.occupancy:g} for no reason of {rules}, for {one}"


@rule("MODE-6", ModePolicy, cause="a layer takes the place of the one below as a whole, or tenants are not looked up.")
async def session_holds_over_tenant_over_default(suite: Suite) -> None:
    layers = RuleLayers(
        default={"keep_messages": 10, "min_score": 0.25, "control": Control.MANUAL},
        tenants={"acme": {"keep_messages": 12, "start": Mode.SUMMARY}, "void": {}},
        sessions={"acme/vip": {"keep_messages": 15}, "lone": {"control": Control.SEMI_AUTOMATIC}, "acme": {}},
        tenant_of=lambda session_id: session_id.partition("/")[0] if "/" in session_id else None,
    )
    plain = ModeRules(keep_messages=10, min_score=0.25, control=Control.MANUAL)
    acme = attrs.evolve(plain, keep_messages=12, start=Mode.SUMMARY)
    wanted = {
        "nobody": plain,
        "acme": plain,
        "void/1": plain,
        "other/1": plain,
        "acme/1": acme,
        "acme/vip": attrs.evolve(acme, keep_messages=15),
        "lone": attrs.evolve(plain, control=Control.SEMI_AUTOMATIC),
    }
    async with suite.policy(layers) as policy:
        for session_id, rules in wanted.items():
            found = policy.rules_for(session_id)
            assert found == rules, f"the rules of session {session_id!r} are {found}, not {rules}"
    async with suite.policy(RuleLayers()) as policy:
        assert policy.rules_for("any") == ModeRules(), f"with nothing stated the rules are {policy.rules_for('any')}"


@rule("MODE-7", ModePolicy, cause="a mode is left for the same reason for which it was chosen.")
async def decisions_settle(suite: Suite) -> None:
    async for policy, _, one, made in _decided(suite):
        again = policy.decide(attrs.evolve(one, mode=made.mode))
        assert again.mode is made.mode, f"{one.mode} -> {made.mode} went on to {again.mode} ({again.reason}), for {one}"
        if made.resets:
            begun = attrs.evolve(one, mode=made.mode, new_task=_NO, first_of_task=True, has_folded=False, occupancy=0.0)
            after = policy.decide(begun)
            assert after.mode is made.mode, f"the reset to {made.mode} went on to {after.mode} ({after.reason}), for {begun}"
