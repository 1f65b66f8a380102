"""Broken adapters are caught by just the rules that they name, with a text that helps; healthy ones by none."""

from types import SimpleNamespace

import pytest

from contextport.conformance_tests import kills
from contextport.conformance_tests.__main__ import main
from contextport.conformance_tests.broken import BROKEN, HEALTHY, Broken, rules_kept_by, verdict
from contextport.conformance_tests.rules import Status, run_rule
from contextport.conformance_tests.suites import SUITES

#: Each suite over a healthy adapter, with the rules of the ports that the adapter provides.
HEALTHY_RULES = [(suite, rule) for suite in HEALTHY for rule in rules_kept_by(suite)]
#: The others take minutes more: `python -m contextport.conformance_tests --kills --exact` runs them as well.
_QUICK = (
    "stores",
    "store_states",
    "vector_stores",
    "counters",
    "sinks_and_limits",
    "codecs",
    "models",
    "classifiers",
    "manager_shapes",
    "compacting_managers",
    "memories",
    "memory_backends",
    "memory_statuses",
    "summarizers",
    "lexical_indexes",
    "retrievers",
    "retriever_histories",
    "embedders",
    "vector_indexes",
    "mode_policies",
    "mode_signals",
)


def test_every_rule_has_a_healthy_adapter() -> None:
    assert {rule.id for suite in HEALTHY for rule in suite.rules} == {rule.id for _, rule in HEALTHY_RULES}


@pytest.mark.parametrize(("suite", "rule"), HEALTHY_RULES, ids=lambda value: getattr(value, "id", ""))
def test_rule_holds_on_a_healthy_adapter(suite: type, rule: object) -> None:
    result = run_rule(suite(), rule)  # type: ignore[arg-type]
    assert result.status is Status.PASSED, result.detail


@pytest.mark.parametrize("one", BROKEN, ids=lambda one: one.name)
def test_broken_adapter_is_caught(one: Broken) -> None:
    """By the rules that it names; where that is quick, by no other rule of its suite."""
    found = verdict(one, others=one.name.partition(".")[0] in _QUICK)
    assert set(found) == one.must_fail
    for rule, text in found.items():
        assert text.startswith(f"{rule}: ")
        assert "\nThe adapter: " in text
        assert "\nLikely cause: " in text


def text_of(name: str, rule: str) -> str:
    one = next(one for one in BROKEN if one.name == name)
    return verdict(one, others=False)[rule]


def test_failure_of_a_strategy_shows_a_small_input() -> None:
    text = text_of("strategies.DropsTheLastResult", "STRATEGY-5")
    given = text.partition("smallest found:\n")[2].partition("  output")[0].splitlines()
    assert "Each tool call in the output has its result" in text
    assert len(given) <= 6, text
    assert any(" call c" in line for line in given)


def test_failure_of_a_store_shows_a_short_walk() -> None:
    text = text_of("stores.CountsRecords", "STORE-8")
    assert "the head does not agree with the log" in text or text.count("await store.") <= 2


def test_command_prints_the_sum_last(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a few of them: the whole is what the tests above do one by one."""
    few = BROKEN[:8]
    rules = [rule for suite in SUITES for rule in suite.rules if any(rule.id in one.must_fail for one in few)]
    monkeypatch.setattr(kills, "BROKEN", few)
    monkeypatch.setattr(kills, "HEALTHY", HEALTHY[:1])
    monkeypatch.setattr(kills, "SUITES", [SimpleNamespace(rules=rules)])
    assert main(["--kills"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"{len(rules)} rules, 8 broken adapters, 0 survived"
    assert sum(": killed by " in line and "killed by none" not in line for line in lines) == 8
    assert sum("every rule holds" in line for line in lines) == 1


def test_rule_without_a_killer_makes_the_command_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kills, "BROKEN", [one for one in BROKEN if "STORE-1" not in one.must_fail][:1])
    assert kills.kills() == 1
