"""Cases as data: our own, those of a file named in CONTEXTPORT_CASES, and whether the checks tell right from wrong."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import Budget, Message, StopReason, from_chat
from contextport.strategies.recovery import ContinuedOutput
from tests.cases.case import LATER_OPERATIONS, Case
from tests.cases.case_input import case_messages, expand
from tests.cases.check_registry import judge, known_checks
from tests.cases.child_process import registered_entries
from tests.cases.evidence import Dict, Evidence, Moment, Row
from tests.cases.runner import OPERATIONS, load_cases, run_case
from tests.cases.shortened_text import marker_of
from tests.cases.words_counter import WordsCounter

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "tests" / "cases" / "own_cases.json"
NAMED = os.environ.get("CONTEXTPORT_CASES") or ROOT.parent / "shared" / "cases" / "context_cases.json"


def cases_of(path: Path) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in load_cases(path)] if path.is_file() else []


def waits(case: Dict) -> bool:
    return Case.load(case).skip_reason is not None


@pytest.mark.parametrize("case", cases_of(OWN))
def test_own_case(case: Dict) -> None:
    result = run_case(case)
    assert result.status == ("skipped" if waits(case) else "passed"), result.line


@pytest.mark.parametrize("case", [one for one in cases_of(Path(NAMED)) if not waits(one.values[0])])
def test_case_of_another_file(case: Dict) -> None:
    result = run_case(case)
    assert result.status == "passed", result.line


# --- the runner ---------------------------------------------------------------------------------------------------------

GOOD: Dict = {
    "id": "good",
    "operation": "compress",
    "input": {"budget": 9, "messages": [{"id": "u1", "role": "user", "content": "One two"}]},
    "expect": [{"check": "output_equals_input"}],
}


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({}, "passed", ""),
        ({"expect": [{"check": "looks_nice"}]}, "failed", "unknown check looks_nice"),
        ({"expect": [{"check": "any_of", "of": [{"check": "not_empty"}, {"check": "looks_nice"}]}]}, "failed", "looks_nice"),
        ({"expect": [{"check": "not_empty", "surprise": 1}]}, "failed", "cannot be judged"),
        ({"expect": [{"check": "not_empty", "when": "after_lunch"}]}, "failed", "no moment 'after_lunch'"),
        ({"expect": []}, "failed", "nothing is expected"),
        ({"operation": "juggle"}, "failed", "unknown operation juggle"),
        ({"input": {**GOOD["input"], "strategy": "magic"}}, "failed", "strategy 'magic' is not known"),
        ({"input": {**GOOD["input"], "counter": "stones"}}, "failed", "counter 'stones' is not known"),
        ({"expect": [{"check": "ids_present", "ids": ["u2"]}]}, "failed", "missing: ['u2']"),
        ({"operation": "redis_ttl"}, "skipped", LATER_OPERATIONS["redis_ttl"]),
    ],
)
def test_runner_says_how_a_case_went(change: Dict, status: str, reason: str) -> None:
    result = run_case({**GOOD, **change})
    assert result.status == status
    assert reason in result.reason


@pytest.mark.parametrize(
    ("expected", "code", "last"),
    [("output_equals_input", 0, "1 passed, 0 failed, 0 skipped"), ("no", 1, "0 passed, 1 failed, 0 skipped")],
)
def test_command_prints_lines_and_a_count(expected: str, code: int, last: str, tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps([{**GOOD, "expect": [{"check": expected}]}]))
    done = subprocess.run([sys.executable, "tests/run_cases.py", str(file)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert done.stdout.splitlines()[-1] == last
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize("content", [None, "[1]", "{}", "nonsense"])
def test_command_refuses_what_is_no_case_file(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    if content is not None:
        file.write_text(content)
    done = subprocess.run([sys.executable, "tests/run_cases.py", str(file)], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


# --- the checks -----------------------------------------------------------------------------------------------------------


def example_evidence(case: Case, ids: list[str]) -> Evidence:
    """What a run would leave that returned just the input messages with these ids."""
    messages = case_messages(case.given)
    rows = [Row(id=wire["id"], kind=from_chat(wire).kind, pinned=bool(wire.get("pinned")), wire=wire) for wire in messages]
    returned = tuple(next(row for row in rows if row.id == one) for one in ids)
    moment = Moment(label="end", given=tuple(rows), rows=returned)
    budget = case.given.get("budget")
    return Evidence(given=case.given, counter=WordsCounter(), budget=budget, moments=[moment])


EXAMPLES = [
    (case, ids, side)
    for path in (OWN, Path(NAMED))
    for param in cases_of(path)
    for case in [param.values[0]]
    if case["operation"] in ("compress", "get_context") and case["input"].get("strategy") in (None, "truncation")
    for side in ("example_ok", "example_bad")
    for ids in ([case[side]] if side == "example_ok" and case.get(side) else case.get(side) or [])
]


@pytest.mark.parametrize(
    ("raw", "ids", "side"),
    [pytest.param(raw, ids, side, id=f"{raw['id']}-{side[8:]}-{','.join(ids)}") for raw, ids, side in EXAMPLES],
)
def test_checks_tell_the_examples_of_a_case_apart(raw: Dict, ids: list[str], side: str) -> None:
    case = Case.load(raw)
    evidence = example_evidence(case, ids)
    problems = [problem for one in case.expect if (problem := judge(one, evidence)) is not None]
    assert bool(problems) == (side == "example_bad"), problems


def evidence_of(given: list[Dict], returned: list[Dict], **more: Any) -> Evidence:
    def rows(wires: list[Dict]) -> tuple[Row, ...]:
        return tuple(Row(id=wire.get("id", "made"), kind=from_chat(wire).kind, pinned=False, wire=wire) for wire in wires)

    moment = Moment(label="end", given=rows(given), rows=rows(returned))
    return Evidence(counter=WordsCounter(), budget=10, moments=[moment], **more)


U1: Dict = {"id": "u1", "role": "user", "content": "one two three four five six seven eight"}
U2: Dict = {"id": "u2", "role": "user", "content": "nine ten"}
CALL: Dict = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
A1: Dict = {"id": "a1", "role": "assistant", "content": None, "tool_calls": [CALL]}
T1: Dict = {"id": "t1", "role": "tool", "tool_call_id": "c1", "content": "done"}
CUT = ContinuedOutput(message=Message.assistant("Half"), stop=StopReason.OUTPUT_LIMIT, truncated=True)
WHOLE = ContinuedOutput(message=Message.assistant("Whole"), stop=StopReason.END)
SHORT: Dict = {**U1, "content": "one two [5 words left out] eight"}


@pytest.mark.parametrize(
    ("expected", "good", "bad"),
    [
        ({"check": "pairing"}, [U1, A1, T1], [U1, A1, U2, T1]),
        ({"check": "result_has_call", "tool_call_id": "c1"}, [A1, T1], [T1]),
        ({"check": "starts_with_user"}, [{"role": "system", "content": "S"}, U1], [A1, T1]),
        ({"check": "order_kept"}, [U1, U2], [U2, U1]),
        ({"check": "no_duplicates"}, [U1, U2], [U1, U1]),
        ({"check": "not_empty"}, [U1], []),
        ({"check": "ids_present", "ids": ["u2"]}, [U2], [U1]),
        ({"check": "ids_exactly", "ids": ["u2"]}, [U2], [U1, U2]),
        ({"check": "ids_or_roles_exactly", "roles": ["user"]}, [U1], [U1, U2]),
        ({"check": "call_ids_exactly", "ids": ["c1"]}, [A1, T1], [U1]),
        ({"check": "kept_verbatim", "ids": ["u1"]}, [U1], [SHORT]),
        ({"check": "kept_messages_equal_input"}, [U2], [SHORT, U2]),
        ({"check": "contiguous_suffix"}, [U2], [U1]),
        ({"check": "no_gap"}, [U1, A1, T1, U2], [U2]),
        ({"check": "text_contains", "texts": ["nine"]}, [U2], [U1]),
        ({"check": "text_absent", "texts": ["nine"]}, [U1], [U2]),
        ({"check": "text_occurs_at_most", "text": "nine", "n": 1}, [U2], [U2, U2]),
        ({"check": "shortened_with_marker", "id": "u1"}, [SHORT], [U1]),
        ({"check": "shortened_with_marker", "id": "u1"}, [SHORT], [{**U1, "content": "one two seven eight"}]),
        ({"check": "shortened_with_marker", "id": "u1"}, [SHORT], [{**SHORT, "name": "other"}]),
        ({"check": "pieces_of_input"}, [SHORT], [{**U1, "content": "one two " * 9}]),
        ({"check": "utf8_encodable"}, [U1], [{**U1, "content": "\ud800"}]),
        ({"check": "no_new_replacement_char"}, [U1], [{**U1, "content": "one \ufffd"}]),
        ({"check": "part_types_absent", "types": ["x"]}, [U1], [{**U1, "content": [{"type": "x"}]}]),
        (
            {"check": "no_reasoning_only_message"},
            [{**A1, "content": [{"type": "thinking", "thinking": "hm"}]}],
            [{"id": "a1", "role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}],
        ),
        ({"check": "within_budget"}, [U1, U2], [U1, U2, T1]),
        ({"check": "output_tokens_at_most", "n": 2}, [U2], [U1]),
        ({"check": "tokens_not_increased"}, [U1], [U1, U1, U1]),
        ({"check": "last_user_kept"}, [U2], [U1]),
        ({"check": "output_equals_input"}, [U1, A1, T1, U2], [U1, U2]),
    ],
)
def test_check_passes_what_is_right_and_fails_what_is_not(expected: Dict, good: list[Dict], bad: list[Dict]) -> None:
    given = [U1, A1, T1, U2]
    assert judge(expected, evidence_of(given, good)) is None
    assert judge(expected, evidence_of(given, bad)) is not None


EARLIER: Dict = {"role": "user", "content": "<summary_so_far>\nWords were said\n</summary_so_far>"}


@pytest.mark.parametrize(
    ("requests", "right"),
    [
        ([[U1], [EARLIER, U2]], True),
        ([[U1], [U1, U2]], True),
        ([[U1], [{**EARLIER, "content": "[Conversation summary]\nWords were said"}, U2]], True),
        ([[U1], [U2]], False),
        ([[U1], [EARLIER, U2], [U2]], False),
        ([[U1]], False),
    ],
)
def test_a_second_summary_takes_up_the_first(requests: list[list[Dict]], right: bool) -> None:
    evidence = evidence_of([U1, U2], [U2], facts={"summariser_requests": requests})
    assert (judge({"check": "previous_summary_in_input"}, evidence) is None) == right


def test_what_was_summarised_by_then_is_no_gap() -> None:
    def gap(*told: list[Dict]) -> bool:
        evidence = evidence_of([U1, U2], [U2])
        evidence.last.told = told
        return judge({"check": "no_gap"}, evidence) is not None

    halves: list[list[Dict]] = [[{**U1, "content": "[user] one two three four"}], [{**U1, "content": "five six seven eight"}]]
    assert not gap([U1])
    assert not gap(*halves)
    assert gap()
    assert gap(halves[0])
    assert gap(*halves[::-1])


@pytest.mark.parametrize(
    ("expected", "good", "bad"),
    [
        ({"check": "counts_equal", "sets": ["a", "b"]}, {"counts": {"a": 4, "b": 4}}, {"counts": {"a": 4, "b": 5}}),
        (
            {"check": "counts_close", "a": "a", "b": ["b", "c"]},
            {"counts": {"a": 20, "b": 9, "c": 10}},
            {"counts": {"a": 20, "b": 9, "c": 5}},
        ),
        ({"check": "count_between", "set": "a", "min": 2, "max": 4}, {"counts": {"a": 4}}, {"counts": {"a": 5}}),
        (
            {"check": "count_difference_between", "a": "a", "b": "b", "min": 1},
            {"counts": {"a": 1, "b": 2}},
            {"counts": {"a": 2, "b": 2}},
        ),
        ({"check": "counter_text_calls", "max": 5}, {"texts_counted": 5}, {"texts_counted": 6}),
        ({"check": "equal_to_single_thread"}, {"threads_equal": True}, {"threads_equal": False}),
        ({"check": "registry_entries", "max": 5}, {"registry_entries": 5}, {"registry_entries": 6}),
        ({"check": "rss_growth_mb", "max": 5}, {"rss_growth_mb": 4.9}, {"rss_growth_mb": 5.1}),
        ({"check": "parsed_equals", "value": 1}, {"parsed": 1}, {"parsed": 2}),
        ({"check": "both_see"}, {"seen_by_each": [["a"], ["a"]]}, {"seen_by_each": [["a"], []]}),
        ({"check": "deterministic"}, {"repeated": [U1]}, {"repeated": [U2]}),
        ({"check": "model_calls", "max": 0}, {}, {"model_requests": [[U1]]}),
        ({"check": "summariser_saw", "texts": ["nine"]}, {"summariser_requests": [[U2]]}, {"summariser_requests": [[U1]]}),
        ({"check": "result_flag", "name": "truncated", "value": True}, {"result": CUT}, {"result": WHOLE}),
        ({"check": "result_text_equals", "text": "Half"}, {"result": CUT}, {"result": WHOLE}),
        ({"check": "sent_max_tokens_at_least", "n": 2}, {"sent_max_tokens": [2, 3]}, {"sent_max_tokens": [2, None]}),
        (
            {"check": "sent_total_at_most", "n": 9},
            {"model_requests": [[U2]], "sent_max_tokens": [7]},
            {"model_requests": [[U2]], "sent_max_tokens": [8]},
        ),
        (
            {"check": "requests_all_distinct"},
            {"model_requests": [[U2], [U2]], "sent_max_tokens": [7, 6]},
            {"model_requests": [[U2], [U2]]},
        ),
        (
            {"check": "summariser_request_has_role", "role": "user"},
            {"summariser_requests": [[U2]]},
            {"summariser_requests": [[A1]]},
        ),
    ],
)
def test_check_of_a_fact_passes_what_is_right_and_fails_what_is_not(expected: Dict, good: Dict, bad: Dict) -> None:
    assert judge(expected, evidence_of([U1], [U1], facts=good)) is None
    assert judge(expected, evidence_of([U1], [U1], facts=bad)) is not None


def test_checks_of_stored_answers_see_what_must_not_be_there() -> None:
    broken: Dict = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": "b'}}
    for wire, check in (
        ({"role": "assistant", "content": " "}, "no_empty_assistant_stored"),
        ({"role": "assistant", "content": None, "tool_calls": [broken]}, "no_unparsable_arguments_stored"),
    ):
        assert judge({"check": check}, evidence_of([U1], [U1], stored=list(evidence_of([U1], [U1, A1]).last.rows))) is None
        assert judge({"check": check}, evidence_of([U1], [U1], stored=list(evidence_of([U1], [U1, wire]).last.rows))) is not None
        assert judge({"check": check}, evidence_of([U1], [U1])) is not None


def test_check_that_no_run_can_answer_fails() -> None:
    unanswerable: list[Dict] = [
        {"check": "store_count", "n": 0},
        {"check": "stat_equals", "name": "window", "value": 1},
        {"check": "idempotent"},
        {"check": "raises", "error": "BudgetTooSmall"},
    ]
    for expected in unanswerable:
        assert judge(expected, evidence_of([U1], [U1])) is not None


@pytest.mark.parametrize("path", [OWN, Path(NAMED)])
def test_every_check_and_operation_of_a_file_is_known(path: Path) -> None:
    named = {name for param in cases_of(path) if not waits(param.values[0]) for name in check_names(param.values[0]["expect"])}
    operations = {param.values[0]["operation"] for param in cases_of(path) if not waits(param.values[0])}
    assert named - known_checks() == set()
    assert operations - set(OPERATIONS) == set()


def check_names(expect: list[Dict]) -> list[str]:
    return [name for one in expect for name in (one["check"], *check_names(one.get("of", [])))]


def test_entries_held_for_sessions_are_seen() -> None:
    manager = ContextEngine(store=MemoryContextStore(), counter=WordsCounter(), budget=Budget.of(100))

    async def use(sessions: int) -> None:
        for n in range(sessions):
            await manager.add_message(f"s{n}", {"role": "user", "content": "Hi"})
            await manager.get_context(f"s{n}")

    before = registered_entries(manager)
    asyncio.run(use(40))
    assert registered_entries(manager) >= before + 2 * 40  # the store's log and the manager's windows


def test_notation_is_written_out() -> None:
    value = {"a": [{"$repeat": ["xy", 3]}, {"$concat": ["1", {"$repeat": ["2", 2]}]}], "b": None}
    assert expand(value) == {"a": ["xyxyxy", "122"], "b": None}
    assert [len(m["content"].split()) for m in case_messages({"messages_spec": {"count": 3, "words": 2}})] == [2, 2, 2]
    with pytest.raises(ValueError, match="not understood"):
        case_messages({"messages_spec": {"fathoms": 3}})


def test_words_counter_counts_by_the_convention() -> None:
    parts = [
        {"type": "thinking", "thinking": "a b"},
        {"type": "text", "text": "c"},
        {"type": "image_url", "image_url": {"url": "x"}},
    ]
    call = {"id": "c", "type": "function", "function": {"name": "go", "arguments": '{"to": 1}'}}
    message = from_chat({"role": "assistant", "content": parts, "tool_calls": [call]})
    counter = WordsCounter()
    assert counter.count_message(message) == 2 + 1 + 10 + 3
    assert counter.texts_counted == 3
    assert WordsCounter(min_per_message=20).count_message(message) == 20


def test_marker_is_what_is_not_from_the_original() -> None:
    assert marker_of("ab[cut]yz", "abcdefwxyz") == "[cut]"
    assert marker_of("abyz", "abcdefwxyz") == ""
    assert marker_of("x" * 300, "y" * 400) is None
