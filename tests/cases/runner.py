"""Runs the cases of a file and says how each went."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, cast

from attrs import frozen

from . import (
    answer_checks,
    counter_operations,
    error_operations,
    message_checks,
    number_checks,
    recovery_operations,
    store_checks,
    store_operations,
    strategy_operations,
)
from .case import Case
from .check_registry import judge
from .evidence import Dict, Evidence

__all__ = ["Result", "load_cases", "run_case"]

#: Imported for what they register.
CHECKS = (answer_checks, message_checks, number_checks, store_checks)
OPERATIONS: dict[str, strategy_operations.Operation] = {
    **strategy_operations.OPERATIONS,
    **store_operations.OPERATIONS,
    **recovery_operations.OPERATIONS,
    "get_context_stats": strategy_operations.OPERATIONS["get_context"],
    "get_context_for_model": strategy_operations.OPERATIONS["get_context"],
    "classify_error": error_operations.classify_error,
    "estimate_tokens": counter_operations.estimate_tokens,
    "estimate_tokens_threads": counter_operations.estimate_tokens_threads,
}


@frozen(kw_only=True)
class Result:
    """How one case went, and why, in one line."""

    case_id: str
    status: Literal["passed", "failed", "skipped"]
    reason: str = ""

    @property
    def line(self) -> str:
        return " ".join(f"{self.status:<7} {self.case_id} {self.reason}".split())


def load_cases(path: Path) -> list[Dict]:
    """The cases of a file: a JSON array of objects."""
    cases = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(cases, list) or not all(isinstance(case, dict) and "operation" in case for case in cases):
        raise ValueError(f"{path} is not a list of cases with an operation each")
    return cast(list[Dict], cases)


def run_case(raw: Dict) -> Result:
    """Run one case on everything it names. It passes when every check holds of every run."""
    case_id = str(raw.get("id", "?"))
    try:
        case = Case.load(raw)
        if case.skip_reason is not None:
            return Result(case_id=case.id, status="skipped", reason=case.skip_reason)
        operation = OPERATIONS.get(case.operation)
        if operation is None:
            return Result(case_id=case.id, status="failed", reason=f"unknown operation {case.operation}")
        with tempfile.TemporaryDirectory() as folder:
            evidence = asyncio.run(operation(case, Path(folder)))
    except Exception as error:  # a case that cannot be run has failed
        return Result(case_id=case_id, status="failed", reason=f"{type(error).__name__}: {error}")
    problems = list(_problems(case, evidence))
    if not evidence or not case.expect:
        problems.append("nothing was run or nothing is expected")
    return Result(case_id=case.id, status="failed" if problems else "passed", reason="; ".join(problems)[:500])


def _problems(case: Case, evidence: list[Evidence]) -> Iterator[str]:
    for run in evidence:
        for expected in case.expect:
            problem = judge(expected, run)
            if problem is not None:
                yield f"[{run.variant}] {problem}" if run.variant else problem
