"""Facts of what tools wrote that is no JSON: what failed and what came out, and little of what is only process."""

from __future__ import annotations

import json

import pytest

from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.messages import Message
from contextport.strategies.facts import extract_facts

LOG = [f"2027-02-11T10:00:{n % 60:02}Z INFO  worker-{n % 7} job {9000 + n} done in {n} ms" for n in range(300)]
LOG[171] = "2027-02-11T10:06:11Z ERROR worker-4 job 9371 failed: ConnectionResetError: peer db-7.internal closed (txn 7f3a-0001)"
TESTS = [
    *[f"tests/test_{n}.py::test_case_{n} PASSED" for n in range(200)],
    "FAILED tests/test_37.py::test_refund - AssertionError: assert 12.5 == 13.0",
    "1 failed, 200 passed in 12.3s",
]
CODE = [f"def f{n}(x):\n    return x + {n}" for n in range(300)]
FILES = [f"src/module_{n}.py" for n in range(300)]


def facts_of(text: str) -> list[Fact]:
    return list(extract_facts([Message.tool("c", text, id="m")]))


def texts_of(text: str, *kinds: FactKind) -> list[str]:
    return [fact.text for fact in facts_of(text) if not kinds or fact.kind in kinds]


@pytest.mark.parametrize("lines", [LOG, TESTS, CODE, FILES])
def test_long_output_gives_few_values(lines: list[str]) -> None:
    facts = facts_of("\n".join(lines))
    assert len([fact for fact in facts if fact.kind is not FactKind.CONCLUSION]) <= 20
    assert len(facts) <= 26


def test_of_a_log_the_error_is_kept() -> None:
    texts = texts_of("\n".join(LOG))
    assert LOG[171] in texts
    assert {"worker-4", "db-7.internal", "7f3a-0001"} <= set(texts)
    assert not any("9000" in text or "INFO" in text for text in texts)


def test_of_a_test_run_the_failure_and_the_sum_are_kept() -> None:
    assert texts_of("\n".join(TESTS), FactKind.CONCLUSION) == TESTS[-2:]
    assert "tests/test_37.py" in texts_of("\n".join(TESTS), FactKind.PATH)
    assert "tests/test_3.py" not in texts_of("\n".join(TESTS), FactKind.PATH)


def test_errors_come_before_other_values_where_there_are_too_many() -> None:
    lines = [f"{'abcdefghijklmnopqrstuvwxyz'[n]} opened conf/part_{n}.yaml" for n in range(26)]
    assert "conf/broken.yaml" in texts_of("\n".join([*lines, "错误: conf/broken.yaml 找不到"]), FactKind.PATH)
    assert "conf/broken.yaml" in texts_of("\n".join([*lines, "Error: conf/broken.yaml cannot be read"]), FactKind.PATH)


def test_a_short_answer_is_read_as_it_is() -> None:
    assert {"TR-9", "Anna Smith"} <= set(texts_of("The parcel TR-9 was handed to Anna Smith.\nIt weighs 3 kg."))


@pytest.mark.parametrize(
    "marker",
    [
        "[…244 entries left out; repeat the call to see them, if it only reads…]",
        "[…12 lines left out…]",
        "[…1843 characters left out; see ORD-9…]",
    ],
)
def test_what_the_library_writes_where_it_left_something_out_is_no_fact(marker: str) -> None:
    for text in (f"Order AB-1 is ready.\n{marker}\nOrder AB-2 is late.", json.dumps({"orders": ["AB-1", marker, "AB-2"]})):
        facts = facts_of(text)
        assert {"AB-1", "AB-2"} <= {fact.text for fact in facts}
        assert not [fact for fact in facts if "left out" in fact.text or fact.text in ("244", "12", "1843", "ORD-9")]
    long = json.dumps(
        {"note": f"A note of many words about order AB-1 that goes on and on{marker}and ends with order AB-2 there."}
    )
    assert not [fact for fact in facts_of(long) if "left out" in fact.text or fact.text in ("244", "12", "1843", "ORD-9")]
    said = extract_facts([Message.user(f"Never delete the orders {marker} of Anna Smith.", id="m")])
    assert not [fact for fact in said if "left out" in fact.text or fact.text in ("244", "12", "1843", "ORD-9")]
