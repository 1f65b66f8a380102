"""The checks by name, and how one is applied to a run. A check returns None, or one line that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .evidence import Dict, Evidence, Moment

Problem = str | None
MomentCheck = Callable[..., Problem]

_OF_MOMENTS: dict[str, MomentCheck] = {}
_OF_RUNS: dict[str, Callable[..., Problem]] = {}


def of_moment(check: MomentCheck) -> MomentCheck:
    """Register a check of what was returned at one moment: `check(evidence, moment, **parameters)`."""
    _OF_MOMENTS[check.__name__.removesuffix("_")] = check
    return check


def of_run(check: Callable[..., Problem]) -> Callable[..., Problem]:
    """Register a check of a whole run: `check(evidence, **parameters)`."""
    _OF_RUNS[check.__name__.removesuffix("_")] = check
    return check


def known_checks() -> set[str]:
    return {*_OF_MOMENTS, *_OF_RUNS, "all", "any_of"}


def judge(expected: Dict, evidence: Evidence) -> Problem:
    """Apply one entry of a case's `expect`."""
    parameters = dict(expected)
    name = parameters.pop("check")
    if name in ("all", "any_of"):
        return _combined(name, parameters["of"], evidence)
    check = _OF_RUNS.get(name)
    try:
        if check is not None:
            parameters.pop("when", None)
            return _named(name, check(evidence, **parameters))
        if name in _OF_MOMENTS:
            return _named(name, _at_moments(_OF_MOMENTS[name], parameters, evidence))
    except Exception as error:  # a wrong parameter or missing evidence: the case fails, with the reason
        ended = "".join(f" (the run ended with {type(one).__name__}: {one})" for one in evidence.errors[:1])
        return f"{name}: cannot be judged: {type(error).__name__}: {error}{ended}"
    return f"unknown check {name}"


def _named(name: str, problem: Problem) -> Problem:
    return None if problem is None else f"{name}: {problem}"


def _combined(name: str, of: list[Dict], evidence: Evidence) -> Problem:
    problems = [judge(one, evidence) for one in of]
    failed = [problem for problem in problems if problem is not None]
    unknown = [problem for problem in failed if problem.startswith("unknown check")]
    if unknown:
        return unknown[0]
    if name == "all":
        return failed[0] if failed else None
    return None if len(failed) < len(problems) else "none of: " + " | ".join(failed)


def _at_moments(check: MomentCheck, parameters: Dict, evidence: Evidence) -> Problem:
    when, exception = parameters.pop("when", "end"), parameters.pop("except_when", None)
    session = parameters.pop("session", None)
    chosen = _chosen(evidence, when if session is None else f"session:{session}")
    if not chosen:
        return f"there is no moment {session or when!r} in this operation"
    for one in chosen:
        if exception is not None and _excepted(exception, evidence, one):
            continue
        if one.error is not None:
            return f"at {one.label}: {type(one.error).__name__}: {one.error}"
        problem = check(evidence, one, **parameters)
        if problem is not None:
            return problem if len(evidence.moments) == 1 else f"at {one.label}: {problem}"
    return None


def _chosen(evidence: Evidence, when: str) -> list[Moment]:
    if when in ("every_turn", "always"):
        return evidence.moments
    if when == "end":
        return evidence.moments[-1:]
    if when == "after_recovery":
        when = "after_second"
    return [one for one in evidence.moments if one.label == when]


def _excepted(exception: str, evidence: Evidence, one: Moment) -> bool:
    if exception != "newest_user_message_alone_exceeds_budget":
        raise ValueError(f"except_when {exception!r} is not known")
    newest = [row.wire for row in one.given if row.wire.get("role") == "user"][-1:]
    return evidence.budget is not None and evidence.count(newest) > evidence.budget


def texts_of(value: Any) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts_of(item)]
    return [text for item in value for text in texts_of(item)] if isinstance(value, list) else []
