"""Whether to fold now: thresholds, minimum gain, cool-down, and what it costs (R83 to R91, D14, D17)."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from contextport.contracts import Json

from .policy import FoldPolicy
from .prices import CacheState, break_even_turns, invalidated_tokens

__all__ = ["FoldDecision", "FoldReason", "FruitlessTry", "fold_decision"]


class FoldReason(StrEnum):
    """Why a fold is made or not; stable codes."""

    # not made
    BELOW_LIGHT = "below_light"
    NOTHING_TO_FOLD = "nothing_to_fold"  # all there is has to stay
    GAIN_TOO_SMALL = "gain_too_small"
    COOLING_DOWN = "cooling_down"  # the last try came to nothing, not long ago
    IN_FLIGHT = "in_flight"  # one is being made
    POSTPONED_BY_COST = "postponed_by_cost"  # it would not pay for itself before the next one
    # made
    BROUGHT_FORWARD_BY_COLD_CACHE = "brought_forward_by_cold_cache"  # it pays because the prefix has to be read anew anyway
    LIGHT = "light"
    HEAVY = "heavy"
    ASKED = "asked"  # a host or an overflow asks for it


@frozen(kw_only=True)
class FruitlessTry:
    """The last try to fold, if it came to nothing: it `failed`, or else freed too little.

    `seconds` have passed since, and the window grew by `grown` tokens.
    """

    failed: bool
    seconds: float
    grown: int


@frozen(kw_only=True)
class FoldDecision:
    """Whether to `act`, whether a window should `wait` for the fold that is made or on its way, and why.

    `occupancy` is (used - system) / (limit - system). `gain` is how many tokens a fold is expected to free, `invalidated` how
    many it leaves that the provider has to read anew. `break_even` is the number of requests after which it has paid for
    itself, `expected_turns` the number that it may take; both are None where cost had no say.
    """

    act: bool
    wait: bool
    reason: FoldReason
    occupancy: float
    gain: int
    invalidated: int
    cache: CacheState
    break_even: float | None = None
    expected_turns: float | None = None

    def as_json(self) -> dict[str, Json]:
        """The decision as a JSON object, for receipts and events; turns and occupancy to three digits behind the point."""
        return {
            "act": self.act,
            "wait": self.wait,
            "reason": str(self.reason),
            "occupancy": round(self.occupancy, 3),
            "gain": self.gain,
            "invalidated": self.invalidated,
            "cache": str(self.cache),
            "break_even": None if self.break_even is None else round(self.break_even, 3),
            "expected_turns": None if self.expected_turns is None else round(self.expected_turns, 3),
        }


def fold_decision(
    policy: FoldPolicy,
    *,
    used: int,
    limit: int,
    system: int,
    foldable: int,
    expected_after: int,
    turns_since_fold: int,
    since_last_request: float | None = None,
    last_try: FruitlessTry | None = None,
    in_flight: bool = False,
    asked: bool = False,
) -> FoldDecision:
    """Whether to fold a window of `used` tokens, of which `system` are the system prompt and `limit` is the most.

    `foldable` of them may be folded; after a fold there would be `expected_after`, see `FoldPolicy.history_after`.
    `turns_since_fold` counts requests since the last fold, or since the conversation began: half of the messages since, where
    they are not counted. `since_last_request` is in seconds; None if this process has sent none. `last_try` is the last one, if
    it came to nothing. `asked` folds below the thresholds too, without regard to cost and cool-down.

    Cost speaks only from `light` to below `heavy`: it never delays a fold past that. Nothing is raised for any numbers.
    """
    gain = max(0, min(used - expected_after, foldable))
    cache = CacheState.of(since_last_request, policy.prices.ttl_seconds)
    occupancy = (used - system) / (limit - system) if limit > system else 1.0
    asked_or_heavy = asked or occupancy >= policy.heavy
    reason = _reason(policy, occupancy, limit - system, foldable, gain, last_try, in_flight, asked)
    break_even = expected = None
    if reason is FoldReason.LIGHT:
        expected = policy.expected_turns_after(turns_since_fold)
        turns = {state: _break_even(policy, state, used, limit, system, gain) for state in (cache, CacheState.WARM)}
        break_even = turns[cache]
        if break_even > expected:
            reason = FoldReason.POSTPONED_BY_COST
        elif turns[CacheState.WARM] > expected:
            reason = FoldReason.BROUGHT_FORWARD_BY_COLD_CACHE
    act = reason in _MADE
    return FoldDecision(
        act=act,
        wait=asked_or_heavy and (act or reason is FoldReason.IN_FLIGHT),
        reason=reason,
        occupancy=occupancy,
        gain=gain,
        invalidated=invalidated_tokens(after=used - gain, head=system),
        cache=cache,
        break_even=break_even,
        expected_turns=expected,
    )


_MADE = frozenset({FoldReason.BROUGHT_FORWARD_BY_COLD_CACHE, FoldReason.LIGHT, FoldReason.HEAVY, FoldReason.ASKED})


def _reason(
    policy: FoldPolicy,
    occupancy: float,
    room: int,
    foldable: int,
    gain: int,
    last_try: FruitlessTry | None,
    in_flight: bool,
    asked: bool,
) -> FoldReason:
    """The reason before cost has its say, which it has only where this is `LIGHT`."""
    if not asked and occupancy < policy.light:
        return FoldReason.BELOW_LIGHT
    if in_flight:
        return FoldReason.IN_FLIGHT
    if foldable <= 0 or room <= 0:
        return FoldReason.NOTHING_TO_FOLD
    if asked:
        return FoldReason.ASKED
    if gain < policy.min_gain_of(room):
        return FoldReason.GAIN_TOO_SMALL
    if last_try is not None and _cooling(policy, room, last_try):
        return FoldReason.COOLING_DOWN
    return FoldReason.HEAVY if occupancy >= policy.heavy else FoldReason.LIGHT


def _cooling(policy: FoldPolicy, room: int, last_try: FruitlessTry) -> bool:
    if last_try.failed:
        return last_try.seconds < policy.cooldown_seconds
    return last_try.grown < policy.cooldown_tokens(room)


def _break_even(policy: FoldPolicy, cache: CacheState, used: int, limit: int, system: int, gain: int) -> float:
    return break_even_turns(
        policy.prices.for_window(limit),
        live=used,
        after=used - gain,
        head=system,
        summary=policy.summary_cap(limit - system),
        cache=cache,
    )
