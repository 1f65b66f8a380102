"""Classify a file of provider errors: `python tests/run_provider_errors.py FILE`.

Each template is filled in with several sets of numbers, wrapped as its package would raise it, and classified. The last line
gives the share of overflows that were found, of look-alikes that were taken for one, and of numbers that were read right.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from attrs import define, field

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.contracts.provider_error import ErrorClassifier, ErrorReading
from tests.errors.raising import as_raised
from tests.errors.rendering import Rendered, render

__all__ = ["Score", "load_entries", "score"]

ATTEMPTS = 6
#: Role in the file -> field of the reading. Roles that are not here have no field: indices, seconds, parts of the input.
FIELDS = {
    "limit": "limit",
    "output_limit": "limit",
    "tpm_limit": "limit",
    "limit_chars": "limit",
    "limit_bytes": "limit",
    "input": "input",
    "input_lower_bound": "input",
    "chars": "input",
    "bytes": "input",
    "output": "output",
    "total": "total",
    "total_lower_bound": "total",
    "excess": "excess",
}
UNITS = {"limit_chars": "characters", "chars": "characters", "limit_bytes": "bytes", "bytes": "bytes"}
#: Kinds whose numbers tell a caller what to do.
WITH_NUMBERS = {
    "input",
    "input_plus_output",
    "input_chars",
    "input_bytes",
    "output_cap",
    "payload_bytes",
    "silent",
    "output_truncated",
}


@define
class Score:
    """Counts over all renderings."""

    overflows: int = 0
    found: int = 0
    others: int = 0
    false_alarms: int = 0
    numbers: int = 0
    read: int = 0
    kinds: int = 0
    kinds_right: int = 0
    misses: list[str] = field(factory=list)

    @property
    def recall(self) -> float:
        return self.found / self.overflows if self.overflows else 1.0

    @property
    def false_alarm_rate(self) -> float:
        return self.false_alarms / self.others if self.others else 0.0

    @property
    def numbers_right(self) -> float:
        return self.read / self.numbers if self.numbers else 1.0


def load_entries(path: Path) -> list[dict[str, Any]]:
    """The entries of a file: a JSON array of objects."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(entries, list) or not all(isinstance(one, dict) and "message_template" in one for one in entries):
        raise ValueError(f"{path} is not a list of errors with a message_template each")
    return entries


def score(entries: list[dict[str, Any]], classifier: ErrorClassifier, *, name_provider: bool = True) -> Score:
    """Classify every entry `ATTEMPTS` times. `name_provider` False: the provider follows from the error alone."""
    result = Score()
    for entry in entries:
        for attempt in range(ATTEMPTS):
            rendered = render(entry, attempt)
            error = as_raised(entry, rendered, attempt)
            reading = classifier.classify(error, provider=entry["provider"] if name_provider else "")
            _judge(result, entry, rendered, reading, attempt)
    return result


def _judge(result: Score, entry: dict[str, Any], rendered: Rendered, reading: ErrorReading, attempt: int) -> None:
    wrong: list[str] = []
    if entry["is_overflow"]:
        result.overflows += 1
        result.found += reading.is_overflow
    else:
        result.others += 1
        result.false_alarms += reading.is_overflow
    if entry["is_overflow"] != reading.is_overflow:
        wrong.append("MISSED" if entry["is_overflow"] else "FALSE ALARM")
    result.kinds += 1
    result.kinds_right += reading.kind == entry["kind"]
    if reading.kind != entry["kind"]:
        wrong.append(f"kind {reading.kind}, not {entry['kind']}")
    if entry["kind"] in WITH_NUMBERS:
        wrong += _judge_numbers(result, rendered, reading)
    if wrong and not any(line.startswith(entry["id"] + ":") for line in result.misses):
        said = f"[{reading.evidence}] {rendered.message[:150]!r}"
        result.misses.append(f"{entry['id']}: attempt {attempt}: {'; '.join(wrong)} {said}")


def _judge_numbers(result: Score, rendered: Rendered, reading: ErrorReading) -> list[str]:
    wrong: list[str] = []
    seen: set[str] = set()
    for role, value in rendered.numbers:
        name = FIELDS.get(role)
        if name is None or role in seen:
            continue
        seen.add(role)
        result.numbers += 1
        got = getattr(reading, name)
        unit = UNITS.get(role, "tokens")
        # characters beside tokens have no field of their own: they must not stand in one of tokens
        right = got == value if unit == reading.unit else got != value
        right = right and (not role.endswith("lower_bound") or reading.is_lower_bound)
        result.read += right
        if not right:
            wrong.append(f"{role} {got}, not {value}")
    return wrong


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tests/run_provider_errors.py FILE", file=sys.stderr)
        return 2
    try:
        entries = load_entries(Path(arguments[0]))
    except (OSError, ValueError) as error:
        print(f"run_provider_errors: {error}", file=sys.stderr)
        return 2
    classifier = RuleErrorClassifier()
    result = score(entries, classifier)
    unnamed = score(entries, classifier, name_provider=False)
    for line in result.misses:
        print(line.encode("utf-8", "backslashreplace").decode())
    print(f"kinds {result.kinds_right / max(1, result.kinds):.3f}")
    print(f"provider not named: recall {unnamed.recall:.3f}, false alarms {unnamed.false_alarm_rate:.3f}")
    print(f"recall {result.recall:.3f}, false alarms {result.false_alarm_rate:.3f}, numbers {result.numbers_right:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
