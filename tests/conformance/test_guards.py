"""What an author cannot do by accident, and what the report says, in runs of pytest like anybody's."""

from pathlib import Path

import pytest

from contextport.conformance_tests import plugin
from contextport.conformance_tests.suites import SUITES

from .sessions import Session, run_session

HEADER = """
import pytest
from contextport.conformance_tests import *
from contextport.conformance_tests.broken.counters import LeavesOutArguments
from contextport.conformance_tests.reference_counter import ReferenceCounter
from contextport.conformance_tests.reference_store import Backend, ReferenceStore
from contextport.contracts import KeepsVectors, LearnsFromUsage, ListsSessions
"""
HEALTHY = """
class TestCounter(TokenCounterConformance):
    def make_counter(self):
        return ReferenceCounter()
"""
LEAVES_OUT = """
class TestCounter(TokenCounterConformance):
    def make_counter(self):
        return LeavesOutArguments()
"""
DEVIATION = '    known_deviations = {"COUNTER-4": "arguments are not counted, see our issue 12"}\n'
TWO_SUITES = """
class TestStore(ContextStoreConformance):
    def make_store(self):
        return ReferenceStore()
"""


def test_healthy_adapter_is_a_success(tmp_path: Path) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY)
    assert session.exit_code == 0, session.output
    assert "conformance TestCounter (TokenCounter): success  15 passed" in session.output
    facts = session.suite("TestCounter")
    assert (facts["result"], facts["port"], facts["counts"]) == ("success", "TokenCounter", {"passed": 15})
    assert facts["adapter"] == {
        "adapter": "ReferenceCounter",
        "module": "contextport.conformance_tests.reference_counter",
        "provides": ["LearnsFromUsage"],
    }
    assert session.report["suite"].startswith("contextport ")
    assert session.report["format"] == 1


def test_broken_adapter_is_a_failure_that_explains_itself(tmp_path: Path) -> None:
    session = run_session(tmp_path, HEADER + LEAVES_OUT)
    assert session.exit_code == 1
    assert "COUNTER-4: `count_message` counts all that the model reads" in session.output
    assert "the arguments of a tool call is not counted" in session.output
    assert "Likely cause: the counter looks at content alone" in session.output
    assert session.suite("TestCounter")["result"] == "failure"
    assert "the arguments of a tool call is not counted" in session.suite("TestCounter")["rules"]["COUNTER-4"]["reason"]


def test_known_deviation_is_partial(tmp_path: Path) -> None:
    session = run_session(tmp_path, HEADER + LEAVES_OUT + DEVIATION)
    assert session.exit_code == 0, session.output
    assert "conformance TestCounter (TokenCounter): partial  1 deviation, 14 passed" in session.output
    assert (
        session.suite("TestCounter")["rules"]["COUNTER-4"]["reason"] == "COUNTER-4: arguments are not counted, see our issue 12"
    )


def test_known_deviation_that_is_over_fails(tmp_path: Path) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY + DEVIATION)
    assert session.exit_code == 1
    assert "COUNTER-4 holds now: take it out of known_deviations" in session.output


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('    known_deviations = {"COUNTER-99": "there is no such rule at all"}', "COUNTER-99"),
        ('    known_deviations = {"STORE-1": "it is a rule of another port"}', "STORE-1"),
        ('    known_deviations = {"COUNTER-4": "too short"}', "say why"),
        ("    def test_COUNTER_4_all_that_is_read_is_counted(self): pass", "sealed"),
        ("    test_COUNTER_1_every_text_counts_at_least_one = None", "sealed"),
        ("    def test_claims(self): pass", "sealed"),
        ("    claims = {ListsSessions}", "claims ListsSessions; the optional ports of TokenCounter are: LearnsFromUsage"),
    ],
)
def test_class_that_bends_a_rule_is_refused(tmp_path: Path, body: str, problem: str) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY + body)
    assert session.exit_code == 2, session.output
    assert "TypeError" in session.output
    assert problem in session.output


def test_grandchild_is_sealed_too(tmp_path: Path) -> None:
    grandchild = "class TestOther(TestCounter):\n    def test_COUNTER_1_every_text_counts_at_least_one(self): pass\n"
    session = run_session(tmp_path, HEADER + HEALTHY + grandchild)
    assert session.exit_code == 2, session.output


@pytest.mark.parametrize(
    ("claims", "code"), [("{LearnsFromUsage}", 0), ("frozenset()", 1), ("None", 0)], ids=["true", "too few", "not stated"]
)
def test_claims_equal_what_is_provided(tmp_path: Path, claims: str, code: int) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY + f"    claims = {claims}\n")
    assert session.exit_code == code, session.output
    assert session.status("TestCounter", "claims") == ("failed" if code else "passed")


def test_lost_ability_is_noticed(tmp_path: Path) -> None:
    lost = """
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
class TestCounter(TokenCounterConformance):
    claims = {LearnsFromUsage}
    def make_counter(self):
        return HeuristicTokenCounter()
"""
    session = run_session(tmp_path, HEADER + lost)
    assert session.exit_code == 1
    assert "claims says ['LearnsFromUsage'], HeuristicTokenCounter provides []" in session.output


def test_absence_is_recorded_and_no_fault(tmp_path: Path) -> None:
    plain = """
from contextport.adapters.stores.memory_store import MemoryContextStore
class TestStore(ContextStoreConformance):
    claims = {KeepsVectors, ListsSessions}
    def make_store(self):
        return MemoryContextStore()
"""
    session = run_session(tmp_path, HEADER + plain)
    assert session.exit_code == 0, session.output
    assert session.suite("TestStore")["result"] == "success"
    assert [session.status("TestStore", rule) for rule in ("STORE-20", "STORE-21", "STORE-22")] == ["passed", "absent", "absent"]


def test_what_was_not_run_makes_it_partial(tmp_path: Path) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY, "-k", "not COUNTER_3 and not COUNTER_9")
    assert session.exit_code == 0, session.output
    assert session.suite("TestCounter")["result"] == "partial"
    assert [session.status("TestCounter", rule) for rule in ("COUNTER-3", "COUNTER-4", "COUNTER-9")] == [
        "not run",
        "passed",
        "not run",
    ]


def test_skipped_class_is_partial_and_xfailed_class_a_failure(tmp_path: Path) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY.replace("class", "@pytest.mark.skip\nclass"))
    assert session.suite("TestCounter")["result"] == "partial"
    session = run_session(tmp_path, HEADER + LEAVES_OUT.replace("class", "@pytest.mark.xfail\nclass"))
    assert session.suite("TestCounter")["result"] == "failure"


def test_method_to_write_is_named(tmp_path: Path) -> None:
    session = run_session(tmp_path, HEADER + "class TestCounter(TokenCounterConformance): pass\n")
    assert session.exit_code == 1
    assert "write make_counter: return a counter" in session.output
    assert "COUNTER-4: `count_message` counts all" in session.output
    assert_no_likely_cause(session)


def test_wrong_signature_has_no_likely_cause(tmp_path: Path) -> None:
    renamed = """
class Renamed(ReferenceCounter):
    def count_text(self, words):
        return len(words)
class TestCounter(TokenCounterConformance):
    def make_counter(self):
        return Renamed()
"""
    session = run_session(tmp_path, HEADER + renamed)
    assert session.exit_code == 1
    assert "Renamed does not provide TokenCounter: count_text has no parameter text" in session.output
    assert_no_likely_cause(session)


def assert_no_likely_cause(session: Session) -> None:
    """All rules failed, and neither the output nor the report names the cause of any one."""
    rules = session.suite("TestCounter")["rules"]
    assert {facts["status"] for facts in rules.values()} == {"failed"}
    assert "Likely cause" not in session.output
    assert [rule for rule, facts in rules.items() if "Likely cause" in facts["reason"]] == []


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_report_is_the_same_with_workers(tmp_path: Path, options: tuple[str, ...]) -> None:
    session = run_session(tmp_path, HEADER + LEAVES_OUT + DEVIATION + TWO_SUITES, *options)
    assert session.exit_code == 0, session.output
    assert session.suite("TestCounter")["counts"] == {"deviation": 1, "passed": 14}
    assert session.suite("TestStore")["counts"] == {"absent": 10, "not run": 3, "passed": 20}
    assert session.suite("TestStore")["rules"]["STORE-21"]["reason"].startswith("write reopen_store")
    assert session.suite("TestStore")["adapter"]["provides"] == ["ListsSessions", "Durable", "SharedAcrossProcesses"]
    assert session.output.count("conformance Test") == 2


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_deselected_suite_is_in_the_report(tmp_path: Path, options: tuple[str, ...]) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY + TWO_SUITES, "-k", "TestCounter", *options)
    assert session.suite("TestStore")["counts"] == {"not run": 33}
    assert session.suite("TestStore")["result"] == "partial"


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_required_suite_must_run(tmp_path: Path, options: tuple[str, ...]) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY, "--conformance-require=TokenCounter", *options)
    assert session.exit_code == 0, session.output
    session = run_session(tmp_path, HEADER + HEALTHY, "--conformance-require=TokenCounter,ContextStore", *options)
    assert session.exit_code == 1
    assert "no suite of ContextStore ran" in session.output
    session = run_session(tmp_path, HEADER + HEALTHY, "--conformance-require=TokenCounter", "-k", "no_such_test", *options)
    assert session.exit_code == 1
    assert "no suite of TokenCounter ran" in session.output


def test_every_suite_has_a_port_that_can_be_required() -> None:
    assert [suite.port.__name__ for suite in SUITES] == list(plugin._PORTS)  # pyright: ignore[reportPrivateUsage]


def test_required_port_must_exist(tmp_path: Path) -> None:
    session = run_session(tmp_path, HEADER + HEALTHY, "--conformance-require=Tokenizer")
    assert session.exit_code == 4
    assert "Tokenizer is no port; the ports are ContextStore, TokenCounter" in session.output


def test_other_tests_are_left_alone(tmp_path: Path) -> None:
    session = run_session(tmp_path, "def test_mine(): assert True\n")
    assert session.exit_code == 0
    assert "conformance" not in session.output.replace("--conformance-report", "")
    assert session.report["suites"] == {}


def test_plugin_loads_nothing_heavy(tmp_path: Path) -> None:
    source = """
import sys
def test_mine():
    loaded = [name for name in sys.modules if name.startswith("contextport")]
    assert sorted(loaded) == ["contextport", "contextport.conformance_tests", "contextport.conformance_tests.plugin"]
    assert "attr" not in sys.modules and "zope.interface" not in sys.modules
"""
    session = run_session(tmp_path, source, "-p", "no:xdist")
    assert session.exit_code == 0, session.output
