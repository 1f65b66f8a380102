"""Checks of sizes, statistics, time, errors and equality over calls."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from contextport import contracts
from contextport.contracts import BudgetTooSmall, ContextPortError, ContextStats, Kind, StrategyFailed, SummaryFailed

from .check_registry import Problem, of_moment, of_run
from .evidence import Evidence, Moment

#: Names of errors in case files, which are placeholders, and ours of the same meaning.
ERRORS: dict[str, type[Exception] | tuple[type[Exception], ...]] = {
    "BudgetTooSmall": BudgetTooSmall,
    "BudgetExceeded": BudgetTooSmall,
    "StrategyError": StrategyFailed,
    "SummaryFailed": (SummaryFailed, StrategyFailed),
}


def _between(value: float, least: float | None, most: float | None) -> Problem:
    low, high = least is not None and value < least, most is not None and value > most
    return f"{value} is not between {least} and {most}" if low or high else None


@of_moment
def within_budget(evidence: Evidence, at: Moment) -> Problem:
    if evidence.budget is None:
        raise ValueError("the case has no budget")
    tokens = evidence.count(at.wire)
    return None if tokens <= evidence.budget else f"{tokens} tokens, the budget is {evidence.budget}"


@of_moment
def output_tokens_at_most(evidence: Evidence, at: Moment, n: int) -> Problem:
    tokens = evidence.count(at.wire)
    return None if tokens <= n else f"{tokens} tokens"


@of_moment
def total_within_window(evidence: Evidence, at: Moment) -> Problem:
    total = evidence.count(at.wire) + evidence.tool_tokens + evidence.output_reserve
    window = evidence.given["window"]
    return None if total <= window else f"{total} tokens, the window is {window}"


@of_moment
def tokens_not_increased(evidence: Evidence, at: Moment) -> Problem:
    before, after = evidence.count(row.wire for row in at.given), evidence.count(at.wire)
    return None if after <= before else f"{before} tokens became {after}"


@of_moment
def returns_over_budget_flagged(evidence: Evidence, at: Moment) -> Problem:
    return None if at.flagged and at.rows else "the result does not say that it is over its budget"


@of_moment
def stat_equals(evidence: Evidence, at: Moment, name: str, value: Any) -> Problem:
    found = _stats(at).as_dict()[name]
    return None if found == value else f"{name} is {found}, not {value}"


@of_moment
def stat_at_least(evidence: Evidence, at: Moment, name: str, value: Any) -> Problem:
    found = _stats(at).as_dict()[name]
    return None if found >= value else f"{name} is {found}, less than {value}"


@of_moment
def stats_non_negative(evidence: Evidence, at: Moment) -> Problem:
    numbers = {name: one for name, one in _stats(at).as_dict().items() if isinstance(one, int | float)}
    negative = {name: one for name, one in numbers.items() if one < 0}
    return f"negative: {negative}" if negative else None


@of_moment
def stats_match_recount(evidence: Evidence, at: Moment) -> Problem:
    stats, tokens = _stats(at), evidence.count(at.wire)
    if stats.token_count != tokens:
        return f"token_count is {stats.token_count}, a recount gives {tokens}"
    return None if stats.message_count == len(at.rows) else f"message_count is {stats.message_count} of {len(at.rows)}"


@of_moment
def stats_consistent(evidence: Evidence, at: Moment) -> Problem:
    """No figure contradicts another or what was returned."""
    stats = _stats(at)
    problem = stats_match_recount(evidence, at) or stats_non_negative(evidence, at)
    if problem is not None:
        return problem
    if stats.original_message_count != len(at.given):
        return f"original_message_count is {stats.original_message_count} of {len(at.given)}"
    left_alone = [row.wire for row in at.given] == [row.wire for row in at.rows if row.kind is not Kind.STAND_IN]
    return None if stats.is_compressed != left_alone else f"is_compressed is {stats.is_compressed}"


def _stats(at: Moment) -> ContextStats:
    if at.stats is None:
        raise ValueError("this operation asks for no stats")
    return at.stats


@of_run
def prefix_changes_at_most(evidence: Evidence, n: int) -> Problem:
    """Over the last `measure_last_turns` turns, how often the first kept message is another one than the moment before."""
    turns = evidence.given.get("measure_last_turns")
    moments = evidence.moments if turns is None else evidence.moments[_start_of_last_turns(evidence, turns) :]
    firsts = [_first_kept(one) for one in moments]
    changes = sum(1 for before, after in pairwise(firsts) if before != after)
    return None if changes <= n else f"the first kept message changed {changes} times in {len(firsts)} calls"


def _start_of_last_turns(evidence: Evidence, turns: int) -> int:
    opened = [k for k, one in enumerate(evidence.moments) if one.given[-1].wire["role"] == "user"]
    return opened[-turns] if len(opened) >= turns else 0


def _first_kept(at: Moment) -> str | None:
    system = {row.id for row in at.given if row.wire["role"] in ("system", "developer")}
    return next((one for one in at.kept_ids if one not in system), None)


@of_run
def output_tokens_stable_over_calls(evidence: Evidence) -> Problem:
    again = evidence.count(evidence.again or [])
    now = evidence.count(evidence.last.wire)
    return None if again == now else f"{now} tokens at one call, {again} at the next"


@of_run
def deterministic(evidence: Evidence) -> Problem:
    return None if evidence.facts["repeated"] == evidence.last.wire else "the same input gave another output"


@of_run
def idempotent(evidence: Evidence) -> Problem:
    return None if evidence.again == evidence.last.wire else f"a second time gives {evidence.again}"


@of_run
def input_unchanged(evidence: Evidence) -> Problem:
    if evidence.caller_before is None:
        raise ValueError("this operation has no caller's objects")
    return None if evidence.caller_before == evidence.caller_after else "the caller's objects were changed"


@of_run
def state_unchanged(evidence: Evidence) -> Problem:
    if evidence.log_before is None:
        raise ValueError("this operation has no store")
    return None if evidence.log_before == evidence.log_after else "what is stored was changed"


@of_run
def store_unchanged(evidence: Evidence) -> Problem:
    return state_unchanged(evidence)


@of_run
def context_equal_before_after(evidence: Evidence) -> Problem:
    before, after = evidence.moments[0], evidence.last
    return None if before.wire == after.wire else f"{before.wire} became {after.wire}"


@of_run
def no_exception(evidence: Evidence) -> Problem:
    return f"{type(evidence.errors[0]).__name__}: {evidence.errors[0]}" if evidence.errors else None


@of_run
def raises(evidence: Evidence, error: str, fields: Iterable[str] = (), cause: str | None = None) -> Problem:
    """A typed error of that meaning. A strategy says `cannot_fit`; the manager that uses it raises, and that is judged."""
    wanted = ERRORS.get(error) or getattr(contracts, error, None)
    if wanted is None:
        return f"no error of ours stands for {error}"
    found = next((one for one in evidence.errors if isinstance(one, wanted)), None) or evidence.facts.get("manager_error")
    if not isinstance(found, wanted) or not isinstance(found, ContextPortError):
        return f"raised were {evidence.errors}"
    if cause is not None and found.__cause__ is None:
        return "it has no cause"
    missing = [name for name in fields if getattr(found, name, None) is None]
    return f"{type(found).__name__} lacks {missing}" if missing else None


@of_run
def max_seconds(evidence: Evidence, n: float) -> Problem:
    return None if evidence.seconds <= n else f"it took {evidence.seconds:.2f} s"


@of_run
def counter_text_calls(evidence: Evidence, max: int, min: int | None = None) -> Problem:
    return _between(evidence.facts["texts_counted"], min, max)


def _count(evidence: Evidence, names: str | list[str]) -> int:
    counts = evidence.facts["counts"]
    return sum(counts[name] for name in ([names] if isinstance(names, str) else names))


@of_run
def counts_equal(evidence: Evidence, sets: list[str]) -> Problem:
    found = {name: _count(evidence, name) for name in sets}
    return None if len(set(found.values())) == 1 else f"counts are {found}"


@of_run
def counts_close(
    evidence: Evidence,
    sets: list[str] | None = None,
    a: str | list[str] | None = None,
    b: str | list[str] | None = None,
    tolerance: float = 0.1,
) -> Problem:
    """Counts that differ by at most the share `tolerance` of the larger one; a list of sets is summed."""
    compared: list[str] | list[str | list[str]] = sets if sets is not None else [one for one in (a, b) if one is not None]
    found = [_count(evidence, one) for one in compared]
    return None if len(found) > 1 and max(found) - min(found) <= tolerance * max(found) else f"counts are {found}"


@of_run
def count_between(evidence: Evidence, set: str, min: int | None = None, max: int | None = None) -> Problem:
    return _between(_count(evidence, set), min, max)


@of_run
def count_difference_between(evidence: Evidence, a: str, b: str, min: int | None = None, max: int | None = None) -> Problem:
    return _between(_count(evidence, b) - _count(evidence, a), min, max)


@of_run
def equal_to_single_thread(evidence: Evidence) -> Problem:
    return None if evidence.facts["threads_equal"] else "a count in a thread differs from that of one thread alone"


@of_run
def registry_entries(evidence: Evidence, max: int) -> Problem:
    return _between(evidence.facts["registry_entries"], None, max)


@of_run
def rss_growth_mb(evidence: Evidence, max: float) -> Problem:
    return _between(evidence.facts["rss_growth_mb"], None, max)
