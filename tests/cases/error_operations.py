"""The operation on provider errors."""

from __future__ import annotations

from pathlib import Path

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.contracts.provider_error import ErrorKind, ErrorReading

from .case import Case
from .check_registry import Problem, of_run
from .evidence import Evidence

#: Coarse names of case files -> our kinds. What has no name there is `other`.
NAMES = {
    ErrorKind.RATE_LIMIT: "rate_limit",
    ErrorKind.TPM_SINGLE_REQUEST: "rate_limit",
    ErrorKind.QUOTA: "quota",
    ErrorKind.AUTH: "auth",
    ErrorKind.OVERLOAD: "overload",
    ErrorKind.TIMEOUT: "timeout",
    ErrorKind.PAYLOAD_BYTES: "payload_too_large",
    ErrorKind.OUTPUT_CAP: "output_cap",
    ErrorKind.CONTENT_FILTER: "content_filter",
}


async def classify_error(case: Case, folder: Path) -> list[Evidence]:
    """Classify the error of each row; a row may name the provider."""
    classifier = RuleErrorClassifier()
    rows = case.given.get("rows") or [case.given]
    readings = [(row, classifier.classify(row["error"], provider=row.get("provider") or "")) for row in rows]
    return [Evidence(given=case.given, facts={"readings": readings})]


def _agrees(reading: ErrorReading, name: str) -> bool:
    """Whether a reading is of the kind that a case names: coarsely, or by our own name of it."""
    if name == "context_overflow":
        return reading.is_overflow
    if name == "other":
        return not reading.is_overflow
    return name in (NAMES.get(reading.kind, "other"), reading.kind)


@of_run
def kinds_equal_expected(evidence: Evidence) -> Problem:
    wrong = [
        f"{row.get('name', 'the error')} is {reading.kind} ({reading.evidence}), not {row['expect_kind']}"
        for row, reading in evidence.facts["readings"]
        if not _agrees(reading, row["expect_kind"])
    ]
    return "; ".join(wrong) or None
