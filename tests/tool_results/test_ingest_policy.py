"""What comes in of a tool result, by the kind of the tool, and the record that keeps the whole."""

from __future__ import annotations

import json
import re

import attrs
import pytest

from contextport.conformance_tests.exact_counters import CharactersCounter, WordsCounter
from contextport.contracts import (
    Importance,
    InvalidArgument,
    JsonPart,
    Kind,
    Message,
    Text,
    ToolCall,
    ToolResult,
    dump_message,
    from_chat,
    load_message,
    to_chat,
)
from contextport.strategies.tool_results import INGEST_RULES, IngestPolicy, IngestRule, original_of, original_record

HOW = "repeat the call to see them, if it only reads"
COUNTER = WordsCounter()
POLICY = IngestPolicy(COUNTER)
LINES = "".join(f"line {n}\n" for n in range(1, 20_001))


def call(name: str, **arguments: object) -> dict[str, ToolCall]:
    return {"c": ToolCall(call_id="c", name=name, arguments=json.dumps(arguments))}


def shortened(text: str, name: str, policy: IngestPolicy = POLICY, most: int | None = None, **arguments: object) -> str | None:
    message = policy.shortened(Message.tool("c", text, id="m"), call(name, **arguments), most=most)
    return None if message is None else message.text


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("bash", "command"),
        ("Bash", "command"),
        ("run_command", "command"),
        ("execute_bash", "command"),
        ("runInTerminal", "command"),
        ("mcp__shell__exec", "command"),
        ("Read", "file_read"),
        ("read_file", "file_read"),
        ("readTextFile", "file_read"),
        ("mcp__filesystem__read_text_file", "file_read"),
        ("functions.view_file", "file_read"),
        ("Write", "file_write"),
        ("write_file", "file_write"),
        ("MultiEdit", "file_write"),
        ("apply_patch", "file_write"),
        ("web_search", "search"),
        ("WebFetch", "search"),
        ("Grep", "search"),
        ("tavily_search_results", "search"),
        ("get_user_details", "other"),
        ("thread_list", "other"),
        ("spread", "other"),
        ("str_replace_based_edit_tool", "other"),
        ("", "other"),
    ],
)
def test_kind_of_a_tool_is_told_by_its_name(tool: str, kind: str) -> None:
    rule = POLICY.rule_for(tool)
    assert rule is not None
    assert rule.name == kind


def test_small_results_come_in_as_they_are() -> None:
    assert shortened("done\n" * 4_000, "bash") is None
    assert shortened("done\n" * 4_001, "bash") is not None


def test_command_keeps_head_and_tail() -> None:
    text = shortened(LINES, "bash")
    assert text is not None
    head, _, rest = text.partition("[…")
    marker, _, tail = rest.partition("…]")
    assert LINES.startswith(head)
    assert LINES.endswith(tail)
    assert abs(len(head) - len(tail)) <= 100
    assert marker == f"{len(LINES) - len(head) - len(tail)} characters left out; {HOW}"
    assert 3_980 <= COUNTER.count_text(text) <= 4_000


LOG = "".join(
    "2026-11-30 12:05:00 ERROR upstream 10.0.0.7 gave ConnectionResetError(104)\n"
    if n == 300
    else f"2026-11-30 12:{n // 60:02d}:{n % 60:02d} INFO request {n} took {n * 7 % 97} ms and gave {n * 31} bytes\n"
    for n in range(600)
)


@pytest.mark.parametrize("tool", ["bash", "get_logs"])
def test_a_log_keeps_its_one_error_and_both_ends(tool: str) -> None:
    text = shortened(LOG, tool, most=500)
    assert text is not None
    assert COUNTER.count_text(text) <= 500
    lines = text.splitlines()
    assert "2026-11-30 12:05:00 ERROR upstream 10.0.0.7 gave ConnectionResetError(104)" in lines
    assert lines[0] == LOG.splitlines()[0]
    assert lines[-1] == LOG.splitlines()[-1]
    missing = [int(line.split()[0].removeprefix("[…")) for line in lines if "lines left out" in line]
    assert len(missing) == 2
    assert sum(missing) + len(lines) - 2 == 600
    assert HOW in text


def test_a_report_of_a_test_run_keeps_its_summary_and_failures() -> None:
    run = [f"tests/test_math.py::test_{n} PASSED [ {n % 100}%]" for n in range(3_000)]
    failed = ["FAILED tests/test_math.py::test_half - assert 1.5 == 2", "======== 1 failed, 3000 passed in 2.21s ========"]
    after = [f"coverage of module {n} is {n % 100} percent" for n in range(3_000)]
    text = shortened("\n".join([*run, *failed, *after]), "run_tests", most=300)
    assert text is not None
    assert COUNTER.count_text(text) <= 300
    assert "\n".join(failed) in text
    assert text.endswith("\n" + after[-1])


def test_plain_output_keeps_error_lines_between_its_ends() -> None:
    lines = [f"compiled unit {n} without trouble" for n in range(3_000)]
    lines[1_000] = "ld: cannot find -lssl"
    lines[2_000] = "make: *** [app] failed with 2"
    text = shortened("\n".join(lines), "bash", most=400)
    assert text is not None
    assert 390 <= COUNTER.count_text(text) <= 400
    whole = "\n".join(lines)
    head, first, one, second, two, third, tail = re.split(r"\[…(\d+) characters left out[^…]*…\]", text)
    assert (one, two) == (f"\n{lines[1_000]}\n", f"\n{lines[2_000]}\n")
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert int(second) == len("\n".join(lines[1_001:2_000]))
    assert len(head) + int(first) + len(one) + int(second) + len(two) + int(third) + len(tail) == len(whole)
    assert text.count(HOW) == 1


def test_only_a_few_error_lines_stand_between_the_ends() -> None:
    names = ["alder", "birch", "cedar", "elm", "fir", "gum", "hazel", "ivy", "juniper"]
    lines = [f"unit {n} is done" for n in range(5_000)]
    for n, name in enumerate(names):
        lines[1_000 + 300 * n] = f"{name} failed"
    text = shortened("\n".join(lines), "bash", most=2_000)
    assert text is not None
    assert [line for line in text.split("\n") if line.endswith("failed")] == [f"{name} failed" for name in names[:5]]


def test_a_file_that_was_read_keeps_its_head_though_errors_follow() -> None:
    text = shortened(LOG, "read_file", most=500, path="app.log")
    assert text is not None
    assert LOG.startswith(text.partition("[…")[0])
    assert re.search(r"read app.log again from line \d+…\]$", text)


def test_search_keeps_head_and_tail() -> None:
    text = shortened(LINES, "web_search")
    assert text is not None
    assert text.startswith("line 1\n")
    assert text.endswith("line 20000\n")


def test_file_read_keeps_the_head_and_says_where_to_go_on() -> None:
    text = shortened(LINES, "read_file", path="src/app.py")
    assert text is not None
    head, _, marker = text.partition("[…")
    lines = head.count("\n")
    assert LINES.startswith(head)
    assert 3_900 <= lines <= 4_000
    assert marker == f"{len(LINES) - len(head)} characters left out; read src/app.py again from line {lines + 1}…]"


def test_file_read_goes_on_from_where_the_call_began() -> None:
    whole = shortened(LINES, "Read", file_path="a.py")
    later = shortened(LINES, "Read", file_path="a.py", offset=500)
    assert whole is not None
    assert later is not None
    first = int(whole.rpartition("line ")[2].removesuffix("…]"))
    assert later.endswith(f"read a.py again from line {first + 499}…]")


@pytest.mark.parametrize("arguments", ["", "[1]", "{", '{"path": 7}', json.dumps({"path": "x" * 300}), '{"path": "a\\nb"}'])
def test_file_read_without_a_usable_path_still_says_where(arguments: str) -> None:
    calls = {"c": ToolCall(call_id="c", name="read_file", arguments=arguments)}
    message = POLICY.shortened(Message.tool("c", LINES, id="m"), calls)
    assert message is not None
    assert "; read the file again from line " in message.text[-80:]


def test_file_write_is_untouched() -> None:
    assert shortened(LINES, "write_file") is None


@pytest.mark.parametrize(("most", "limit"), [(None, 4_000), (9_000, 4_000), (1_000, 1_000), (64, 64), (63, 64), (0, 64)])
def test_the_lower_of_two_limits_holds_and_it_is_not_below_64(most: int | None, limit: int) -> None:
    text = shortened("done\n" * 5_000, "bash", most=most)
    assert text is not None
    assert limit - 10 <= COUNTER.count_text(text) <= limit
    assert shortened("done\n" * limit, "bash", most=most) is None
    assert shortened(LINES, "write_file", most=most) is None


def test_other_tools_have_a_generous_limit() -> None:
    assert shortened("word " * 10_000, "get_report") is None
    text = shortened("word " * 10_001, "get_report")
    assert text is not None
    assert COUNTER.count_text(text) <= 10_000


def test_a_result_without_its_call_goes_by_its_own_name() -> None:
    result = ToolResult(call_id="x", parts=(Text(LINES),), name="write_file")
    message = Message(role="tool", parts=(result,), id="m")
    assert POLICY.shortened(message, {}) is None
    assert POLICY.shortened(attrs.evolve(message, parts=(attrs.evolve(result, name="bash"),)), {}) is not None


def test_json_stays_json() -> None:
    value = {"id": "#1", "rows": [{"n": n, "text": "some words here"} for n in range(3_000)]}
    for text in (json.dumps(value), json.dumps(value, indent=2)):
        for tool in ("read_file", "bash", "get_report"):
            found = shortened(text, tool)
            assert found is not None
            assert json.loads(found)["id"] == "#1"
    message = Message(role="tool", parts=(ToolResult(call_id="c", parts=(JsonPart(value),)),), id="m")
    policy = IngestPolicy(CharactersCounter())
    short = policy.shortened(message, call("get_report"))
    assert short is not None
    [part] = short.tool_results[0].parts
    assert isinstance(part, JsonPart)
    assert part.value["id"] == "#1"
    assert len(part.value["rows"]) < 3_000


def test_only_tool_results_are_touched() -> None:
    said = Message.user(LINES, id="u")
    assert POLICY.shortened(said, call("bash")) is None
    mixed = Message(role="user", parts=(ToolResult(call_id="c", parts=(Text(LINES),)), Text(LINES)), id="m")
    short = POLICY.shortened(mixed, call("bash"))
    assert short is not None
    assert short.parts[1] == mixed.parts[1]
    assert short.id == "m"
    server = Message(role="assistant", parts=(ToolResult(call_id="c", parts=(Text(LINES),), executor="server"),), id="s")
    assert POLICY.shortened(server, call("bash")) is None


def test_pinned_and_important_results_come_in_whole() -> None:
    message = Message.tool("c", LINES, id="m")
    assert POLICY.shortened(attrs.evolve(message, pinned=True), call("bash")) is None
    assert POLICY.shortened(attrs.evolve(message, importance=Importance.CONCLUSION), call("bash")) is None
    assert POLICY.shortened(attrs.evolve(message, importance=Importance.PROCESS), call("bash")) is not None


def test_shortening_twice_does_nothing_more() -> None:
    for tool in ("bash", "read_file", "web_search", "get_report"):
        for text in (LINES, json.dumps([LINES] * 3), "好" * 90_000):
            policy = IngestPolicy(CharactersCounter())
            short = policy.shortened(Message.tool("c", text, id="m"), call(tool, path="[id]/page.tsx"))
            assert short is not None
            assert policy.shortened(short, call(tool, path="[id]/page.tsx")) is None


def test_cuts_fall_between_grapheme_clusters() -> None:
    family = "👩‍👩‍👧‍👦"
    policy = IngestPolicy(CharactersCounter(), [IngestRule(name="any", tools=("*",), max_tokens=150)])
    for lead in range(9):
        text = shortened("x" * lead + family * 100, "f", policy)
        assert text is not None
        head, _, rest = text.partition("[…")
        assert head.removeprefix("x" * lead).replace(family, "") == ""
        assert rest.partition("…]")[2].replace(family, "") == ""


def test_rules_are_replaced_and_added_by_name() -> None:
    policy = POLICY.with_rule(IngestRule(name="command", tools=("bash",), keep="tail", max_tokens=100))
    text = shortened(LINES, "bash", policy)
    assert text is not None
    assert text.startswith("[…")
    assert text.endswith("line 20000\n")
    assert [rule.name for rule in policy.rules] == [rule.name for rule in INGEST_RULES]
    policy = policy.with_rule(IngestRule(name="mine", tools=("write_*",), max_tokens=100))
    assert [rule.name for rule in policy.rules] == ["mine", *(rule.name for rule in INGEST_RULES)]
    assert shortened(LINES, "write_file", policy) is not None
    assert IngestPolicy(COUNTER, []).rule_for("bash") is None
    assert shortened(LINES, "bash", IngestPolicy(COUNTER, [])) is None


def test_wrong_rules_are_refused() -> None:
    rule = IngestRule(name="one", tools=("*",))
    with pytest.raises(InvalidArgument, match="two rules have one name"):
        IngestPolicy(COUNTER, [rule, rule])
    with pytest.raises(InvalidArgument, match="'bash' is no rule; rules must be a list of IngestRule"):
        IngestPolicy(COUNTER, ["bash"])  # type: ignore[list-item]
    with pytest.raises(InvalidArgument, match="4000 is no rule; rules must be a list of IngestRule"):
        IngestPolicy(COUNTER, 4_000)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="max_tokens is 0"):
        IngestRule(name="one", tools=("*",), max_tokens=0)
    with pytest.raises(InvalidArgument, match="keep is 'middle'"):
        IngestRule(name="one", tools=("*",), keep="middle")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="needs a name"):
        IngestRule(name="", tools=("*",))


def test_record_keeps_the_original_whole() -> None:
    original = attrs.evolve(from_chat({"role": "tool", "tool_call_id": "c", "content": LINES, "extra": {"host": 1}}), id="m")
    short = POLICY.shortened(original, call("bash"))
    assert short is not None
    record = original_record(original)
    assert (record.kind, record.id) == (Kind.RECORD, "m/original")
    assert record.metadata == {"original": dump_message(original)}
    stored = load_message(dump_message(record))
    assert original_of(stored) == original
    assert to_chat([original_of(stored)]) == to_chat([original])
    assert load_message(dump_message(short)).text == short.text
    for other in (short, attrs.evolve(record, kind=Kind.CHAT), attrs.evolve(record, metadata={})):
        with pytest.raises(InvalidArgument, match="not the record of an original"):
            original_of(other)
