"""Each shape of text: that it is told, and what of it stays. The right values are written out by hand."""

import re
from collections.abc import Callable

import pytest

from contextport.strategies import shorten_text
from contextport.strategies.tool_results import SHAPES, shape_of, shrink_text
from contextport.strategies.tool_results.shapes import Cut
from contextport.strategies.tool_results.telling_lines import error_lines

HOW = "repeat the call to see them, if it only reads"


def within(characters: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= characters


PYTEST = "\n".join(
    [
        "============================= test session starts ==============================",
        "collected 61 items",
        "",
        *[f"tests/test_math.py::test_{n} PASSED" for n in range(60)],
        "tests/test_math.py::test_half FAILED",
        "",
        "=================================== FAILURES ===================================",
        "    def test_half():",
        ">       assert half(3) == 2",
        "E       assert 1.5 == 2",
        "",
        "tests/test_math.py:12: AssertionError",
        "=========================== short test summary info ============================",
        "FAILED tests/test_math.py::test_half - assert 1.5 == 2",
        "========================= 1 failed, 60 passed in 0.21s =========================",
        "",
    ]
)
UNITTEST = (
    "".join(f"test_{n} (calc.TestCalc.test_{n}) ... ok\n" for n in range(40))
    + "FAIL: test_sub (calc.TestCalc.test_sub)\n"
    + "Traceback (most recent call last):\n"
    + '  File "calc.py", line 9, in test_sub\n'
    + "AssertionError: 2 != 1\n"
    + "Ran 41 tests in 0.001s\n\nFAILED (failures=1)\n"
)
GO = (
    "".join(f"=== RUN   TestAdd{n}\n--- PASS: TestAdd{n} (0.00s)\n" for n in range(40))
    + "    calc_test.go:14: got 3, want 2\n--- FAIL: TestSub (0.00s)\nFAIL\nFAIL\texample.com/calc\t0.004s\n"
)
JEST = (
    "FAIL  src/b.test.js\n"
    + "".join(f"  ✓ adds number {n} (2 ms)\n" for n in range(40))
    + "  ✕ subtracts (3 ms)\n\n  ● subtracts\n\n    Expected: 1\n    Received: 2\n\n"
    + "Test Suites: 1 failed, 1 total\nTests:       1 failed, 40 passed, 41 total\n"
)
CARGO = (
    "running 41 tests\n"
    + "".join(f"test math::adds_{n} ... ok\n" for n in range(40))
    + "test math::subtracts ... FAILED\n\nthread 'math::subtracts' panicked at src/lib.rs:9:5:\n  left: 3\n right: 2\n\n"
    + "test result: FAILED. 40 passed; 1 failed; 0 ignored; finished in 0.00s\n"
)
LOG = "".join(
    "2024-05-01 12:00:07 WARNING disk 91 full\n"
    if n == 7
    else "2024-05-01 12:00:09 ERROR no route to host 10.0.0.9\n"
    if n == 9
    else f"2024-05-01 12:00:{n:02d} INFO request {n} done\n"
    for n in range(40)
)
DIFF = (
    "diff --git a/one.py b/one.py\nindex 1a2b3c..4d5e6f 100644\n--- a/one.py\n+++ b/one.py\n@@ -1,40 +1,40 @@\n"
    + "".join(f" same line {n}\n-old line {n}\n+new line {n}\n" for n in range(20))
    + "diff --git a/two.py b/two.py\n--- a/two.py\n+++ b/two.py\n@@ -5,1 +5,2 @@\n kept\n+added\n"
)
LS = "total 48\n" + "".join(f"-rw-r--r-- 1 root root {n * 10} May  1 12:00 file_{n}.txt\n" for n in range(50))
FIND = "".join(f"./src/package/module_{n}.py\n" for n in range(50))
TREE = ".\n├── docs\n│   ├── index.md\n│   └── usage.md\n├── src\n│   └── main.py\n└── tests\n"
CSV = "id,name,price\n" + "".join(f"{n},article {n},{n}.50\n" for n in range(50))
MARKDOWN = "| id | name |\n|----|------|\n" + "".join(f"| {n} | article {n} |\n" for n in range(50))
COLUMNS = "NAME       READY   STATUS    AGE\n" + "".join(
    f"pod-{n:03d}    1/1     {'Error  ' if n == 25 else 'Running'}   3d\n" for n in range(50)
)
PROSE = "".join(f"Paragraph {n} tells of a journey.\n" for n in range(50))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json", '{"a": 1}'),
        ("json", ' [1, 2, {"b": null}]\n'),
        ("diff", DIFF),
        ("suite_report", PYTEST),
        ("suite_report", UNITTEST),
        ("suite_report", GO),
        ("suite_report", JEST),
        ("suite_report", CARGO),
        ("log", LOG),
        ("log", "".join(f"time=12:00 level=info msg=start n={n}\n" for n in range(9))),
        ("listing", LS),
        ("listing", FIND),
        ("listing", TREE),
        ("table", CSV),
        ("table", CSV.replace(",", "\t")),
        ("table", MARKDOWN),
        ("table", COLUMNS),
        ("plain", PROSE),
        ("plain", ""),
        ("plain", "12"),
        ("plain", '{"a": 1'),
        ("plain", "words, with, commas\nand, no, table"),
    ],
)
def test_shape_is_told(name: str, text: str) -> None:
    assert shape_of(text).name == name


def test_registry_ends_with_what_takes_everything() -> None:
    assert [shape.name for shape in SHAPES] == ["json", "diff", "suite_report", "log", "table", "listing", "plain"]


def test_pytest_keeps_what_failed_and_why() -> None:
    assert shrink_text(PYTEST, within(500)) == (
        f"[…65 lines left out; {HOW}…]\n"
        "=================================== FAILURES ===================================\n"
        "    def test_half():\n"
        ">       assert half(3) == 2\n"
        "E       assert 1.5 == 2\n"
        "\n"
        "tests/test_math.py:12: AssertionError\n"
        "=========================== short test summary info ============================\n"
        "FAILED tests/test_math.py::test_half - assert 1.5 == 2\n"
        "========================= 1 failed, 60 passed in 0.21s =========================\n"
    )


def test_unittest_keeps_what_failed_and_why() -> None:
    assert shrink_text(UNITTEST, within(266)) == (
        f"[…40 lines left out; {HOW}…]\n"
        "FAIL: test_sub (calc.TestCalc.test_sub)\n"
        "Traceback (most recent call last):\n"
        '  File "calc.py", line 9, in test_sub\n'
        "AssertionError: 2 != 1\n"
        "Ran 41 tests in 0.001s\n\nFAILED (failures=1)\n"
    )


def test_go_keeps_what_failed_and_why() -> None:
    assert shrink_text(GO, within(175)) == (
        f"[…80 lines left out; {HOW}…]\n"
        "    calc_test.go:14: got 3, want 2\n--- FAIL: TestSub (0.00s)\nFAIL\nFAIL\texample.com/calc\t0.004s\n"
    )


def test_jest_keeps_what_failed_and_why() -> None:
    assert shrink_text(JEST, within(240)) == (
        f"FAIL  src/b.test.js\n[…40 lines left out; {HOW}…]\n"
        "  ✕ subtracts (3 ms)\n\n  ● subtracts\n\n    Expected: 1\n    Received: 2\n\n"
        "Test Suites: 1 failed, 1 total\nTests:       1 failed, 40 passed, 41 total\n"
    )


def test_cargo_keeps_what_failed_and_why() -> None:
    assert shrink_text(CARGO, within(262)) == (
        f"[…41 lines left out; {HOW}…]\n"
        "test math::subtracts ... FAILED\n\nthread 'math::subtracts' panicked at src/lib.rs:9:5:\n  left: 3\n right: 2\n\n"
        "test result: FAILED. 40 passed; 1 failed; 0 ignored; finished in 0.00s\n"
    )


def test_log_keeps_errors_then_ends_then_warnings() -> None:
    assert shrink_text(LOG, within(270)) == (
        "2024-05-01 12:00:00 INFO request 0 done\n"
        f"[…8 lines left out; {HOW}…]\n"
        "2024-05-01 12:00:09 ERROR no route to host 10.0.0.9\n"
        "[…29 lines left out…]\n"
        "2024-05-01 12:00:39 INFO request 39 done\n"
    )
    wider = shrink_text(LOG, within(330))
    assert wider is not None
    assert "WARNING disk 91 full\n" in wider


def test_errors_of_one_wording_are_kept_once_before_others() -> None:
    lines = [f"12:00:{n:02d} ERROR retry {n} of upload 7 failed\n" for n in range(50)]
    lines[40] = "12:00:40 FATAL out of memory\n"
    kept = shrink_text("".join(lines), within(260))
    assert kept is not None
    assert "ERROR retry 0 of upload 7 failed\n" in kept
    assert "FATAL out of memory\n" in kept


def test_diff_keeps_files_and_hunks_and_counts_the_rest() -> None:
    assert shrink_text(DIFF, within(275)) == (
        "diff --git a/one.py b/one.py\nindex 1a2b3c..4d5e6f 100644\n--- a/one.py\n+++ b/one.py\n@@ -1,40 +1,40 @@\n"
        f"[…60 lines left out; +20 -20; {HOW}…]\n"
        "diff --git a/two.py b/two.py\n--- a/two.py\n+++ b/two.py\n@@ -5,1 +5,2 @@\n kept\n+added\n"
    )


def test_listing_keeps_the_total_and_first_entries_and_counts_the_others() -> None:
    assert shrink_text(LS, within(190)) == (
        "total 48\n"
        "-rw-r--r-- 1 root root 0 May  1 12:00 file_0.txt\n"
        "-rw-r--r-- 1 root root 10 May  1 12:00 file_1.txt\n"
        f"[…48 entries left out; {HOW}…]\n"
    )


@pytest.mark.parametrize(
    ("text", "head", "last"),
    [
        (CSV, "id,name,price\n0,article 0,0.50\n1,article 1,1.50\n", "49,article 49,49.50\n"),
        (MARKDOWN, "| id | name |\n|----|------|\n| 0 | article 0 |\n| 1 | article 1 |\n", "| 49 | article 49 |\n"),
    ],
)
def test_table_keeps_its_head_and_rows_of_both_ends(text: str, head: str, last: str) -> None:
    room = len(head) + len(last) + len(f"[…47 rows left out; {HOW}…]\n")
    assert shrink_text(text, within(room)) == f"{head}[…47 rows left out; {HOW}…]\n{last}"


def test_table_keeps_rows_that_tell_of_an_error() -> None:
    kept = shrink_text(COLUMNS, within(180))
    assert kept is not None
    assert kept.startswith("NAME       READY   STATUS    AGE\n")
    assert "pod-025    1/1     Error     3d\n" in kept


def test_prose_keeps_head_and_tail() -> None:
    kept = shrink_text(PROSE, within(250))
    assert kept is not None
    assert kept.startswith("Paragraph 0 tells of a journey.\nParagraph 1 tells")
    assert kept.endswith("Paragraph 49 tells of a journey.\n")
    assert f"characters left out; {HOW}…]" in kept


def test_prose_keeps_errors_and_conclusions() -> None:
    text = PROSE.replace("Paragraph 25 tells of a journey.", "ValueError: the bridge is closed").replace(
        "Paragraph 35 tells of a journey.", "Result: 42 days"
    )
    assert shrink_text(text, within(230)) == (
        f"Paragraph 0 tells of a journey.\n[…24 lines left out; {HOW}…]\nValueError: the bridge is closed\n[…9 lines left out…]\n"
        "Result: 42 days\n[…13 lines left out…]\nParagraph 49 tells of a journey.\n"
    )


def test_long_lines_are_cut_when_few_would_fit() -> None:
    text = "".join(f"12:00:0{n} ERROR part {'xyzzy'[n % 5] * 2_000} failed\n" for n in range(6))
    kept = shrink_text(text, within(1_300))
    assert kept is not None
    assert kept.count("ERROR part") == 5
    assert "characters left out…]" in kept


@pytest.mark.parametrize(
    ("line", "tells"),
    [
        ("TypeError: x is None", True),
        ("3 Failures", True),
        ("Request timed out", True),
        ("a time out of 5 s", True),
        ("TIMEOUT", True),
        ("thread main panicked", True),
        ("Fehler beim Lesen", True),
        ("файл: Ошибка", True),
        ("连接失败", True),
        ("no errors", False),
        ("0 failed", False),
        ("all is well", False),
    ],
)
def test_lines_that_tell_of_errors_are_told(line: str, tells: bool) -> None:
    assert error_lines([line]) == [0] * tells


def test_long_lines_are_not_cut_inside_a_marker() -> None:
    line = f"12:00:00 ERROR {'xyzzy' * 130}[…900 characters left out…]{'yzzyx' * 130} failed\n"
    kept = shrink_text(line * 6, within(2_500))
    assert kept is not None
    assert "…" not in re.sub(r"\[…\d+ \w+ left out[^…\n]*…\]", "", kept)
    head, _, rest = line.partition("[…900")
    pieces = re.fullmatch(r"(.*)\[…(\d+) characters left out…\](.*\n)", kept.splitlines(keepends=True)[0])
    assert pieces is not None
    assert len(pieces[1]) + int(pieces[2]) + len(pieces[3]) == len(head) + 900 + len(rest.partition("…]")[2])


def test_a_marker_counts_what_earlier_markers_stand_for() -> None:
    once = shrink_text(FIND, within(400))
    assert once is not None
    twice = shrink_text(once, within(200))
    assert twice is not None
    kept = [line for line in twice.splitlines() if line.startswith("./src")]
    assert f"[…{50 - len(kept)} entries left out" in twice


@pytest.mark.parametrize(("again", "least"), [(shrink_text, 130), (shorten_text, 230)])
def test_a_report_that_is_shortened_twice_keeps_its_summary(again: Cut, least: int) -> None:
    lost = 0
    for limit in range(300, len(PYTEST), 41):
        once = shrink_text(PYTEST, within(limit))
        assert once is not None
        for lower in range(least, limit, 23):
            twice = again(once, within(lower))
            assert twice is not None
            assert "1 failed, 60 passed in 0.21s" in twice
            assert "…" not in re.sub(r"\[…\d+ \w+ left out[^…\n]*…\]", "", twice)
            lost += "FAILED tests/test_math.py::test_half - assert 1.5 == 2" not in twice
    assert lost > 0, "some of these are too small for more than the summary"


def test_a_report_in_very_little_room_keeps_the_end_with_its_summary() -> None:
    short = shrink_text(PYTEST, within(90))
    assert short is not None
    assert short.startswith("[…")
    assert "1 failed, 60 passed in 0.21s" in short


def test_a_report_among_other_output_keeps_errors_and_both_ends() -> None:
    noise = [f"serving request {n}" for n in range(400)]
    noise[200] = "ERROR: upstream gave ConnectionResetError"
    lines = ["booting", *noise, "OK", *[f"stopping worker {n}" for n in range(100)]]
    short = shrink_text("\n".join(lines), within(700))
    assert short is not None
    kept = short.split("\n")
    assert kept[0] == "booting"
    assert kept[-1] == "stopping worker 99"
    assert {"OK", "ERROR: upstream gave ConnectionResetError"} <= {*kept}


@pytest.mark.parametrize("text", [PYTEST, LOG, DIFF, LS, FIND, CSV, MARKDOWN, COLUMNS, PROSE, "word " * 400, "好" * 900])
def test_whatever_fits_is_found_for_every_limit(text: str) -> None:
    shrunk = [shrink_text(text, within(limit)) for limit in range(0, len(text), 37)]
    sizes = [len(one) for one in shrunk if one is not None]
    assert all(one is None or len(one) <= 37 * n for n, one in enumerate(shrunk))
    assert shrunk[0] is None
    assert all(one is not None for one in shrunk[4:])
    assert sizes[-1] > len(text) // 2
