"""Whole files of provider errors: our own, and one that CONTEXTPORT_PROVIDER_ERRORS names.

`provider_errors_real.json` holds wordings as servers and clients have said them; `fidelity` tells those that were `observed` from
those `recalled` or `written` for the purpose.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.contracts.provider_error import ProviderFailure
from tests.errors.raising import as_raised
from tests.errors.rendering import render
from tests.run_provider_errors import load_entries, score

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "tests" / "errors" / "provider_errors_own.json"
REAL = ROOT / "tests" / "errors" / "provider_errors_real.json"
NAMED = Path(os.environ.get("CONTEXTPORT_PROVIDER_ERRORS") or ROOT.parent / "shared" / "cases" / "provider_errors.json")
FILES = [OWN, REAL, *([NAMED] if NAMED.is_file() else [])]


@pytest.mark.parametrize(
    ("path", "name_provider"),
    [*((path, True) for path in FILES), *((path, False) for path in FILES if path != REAL)],
    ids=lambda value: value.stem if isinstance(value, Path) else "named" if value else "not named",
)
def test_errors_are_read(path: Path, name_provider: bool) -> None:
    result = score(load_entries(path), RuleErrorClassifier(), name_provider=name_provider)
    assert result.overflows > 400
    assert result.recall >= 0.97, result.misses
    assert result.false_alarm_rate == 0, result.misses
    assert result.numbers_right >= 0.99, result.misses
    # many real look-alikes are near two kinds, such as an invariant and a parameter
    assert result.kinds_right / result.kinds >= (0.93 if path == REAL else 0.97), result.misses


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_remedies_fit_the_kinds(path: Path) -> None:
    """The remedy of the file, where the kind is an overflow: a caller acts on it."""
    for entry in load_entries(path):
        rendered = render(entry, 0)
        reading = RuleErrorClassifier().classify(as_raised(entry, rendered, 0), provider=entry["provider"])
        if entry["is_overflow"] and reading.kind == entry["kind"] != "input_plus_output":
            assert reading.remedy == entry["remedy"], entry["id"]


SHAPES: dict[str, Callable[[str], object]] = {
    "the text alone": RuntimeError,
    "a status of 400": lambda text: ProviderFailure(status=400, message=text),
    "a gateway's 503": lambda text: ProviderFailure(status=503, message=text),
    "a Python dict in the text": lambda text: RuntimeError(
        f"Error code: 400 - {{'error': {{'message': {text!r}, 'code': None}}}}"
    ),
    "JSON as text in a body": lambda text: {"status": 500, "body": json.dumps({"error": {"message": text}})},
    "a prefix": lambda text: RuntimeError(f"litellm.APIError: APIError: OpenAIException - {text}"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_words_are_enough(shape: str) -> None:
    """Without the provider's code, type and class, whatever the words come in."""
    found, false_alarms, overflows = 0, [], 0
    for entry in load_entries(REAL):
        reading = RuleErrorClassifier().classify(SHAPES[shape](render(entry, 0).message))
        if entry["is_overflow"]:
            overflows += 1
            found += reading.is_overflow
        elif reading.is_overflow:
            false_alarms.append((entry["id"], reading.evidence))
    assert not false_alarms
    assert found / overflows >= 0.99


def test_a_template_gives_the_same_text_each_time() -> None:
    entry = load_entries(OWN)[0]
    assert render(entry, 3) == render(entry, 3) != render(entry, 4)


def test_the_runner_prints_shares_last(tmp_path: Path) -> None:
    file = tmp_path / "errors.json"
    entries = load_entries(OWN)
    wrong = {**next(one for one in entries if one["id"] == "temperature"), "is_overflow": True}
    file.write_text(json.dumps([*entries[:5], wrong]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "run_provider_errors.py"), str(file)],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("temperature: attempt 0: MISSED")
    assert done.stdout.splitlines()[-1] == "recall 0.833, false alarms 0.000, numbers 1.000"


def test_the_runner_says_what_is_no_file_of_errors(tmp_path: Path) -> None:
    file = tmp_path / "errors.json"
    file.write_text("{}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "run_provider_errors.py"), str(file)], capture_output=True, text=True
    )
    assert (done.returncode, "is not a list of errors" in done.stderr) == (2, True)
