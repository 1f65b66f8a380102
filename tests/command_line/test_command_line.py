"""The command `contextport`, as a person or a script uses it."""

import asyncio
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.command_line.main import main
from contextport.adapters.command_line.terminal import Terminal
from contextport.adapters.wiring import context_engine
from contextport.contracts import Receipt

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "long_conversation.json"
Run = tuple[int, str, str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: str) -> Run:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A log of two sessions; one is longer than the budgets below."""
    database = tmp_path / "log.db"

    async def fill() -> None:
        engine = context_engine(budget=100_000, database=database)
        await engine.add_messages("long", json.loads(EXAMPLE.read_text("utf-8")))
        await engine.add_message("two\nlines", {"role": "user", "content": "Hello \x1b[31m there"})

    asyncio.run(fill())
    return str(database)


def test_fit_prints_the_window_and_tells_about_it(run: Any) -> None:
    code, out, err = run("fit", str(EXAMPLE), "--budget", "6,000")
    given, window = json.loads(EXAMPLE.read_text("utf-8")), json.loads(out)
    assert code == 0
    assert window[0] == given[0]
    assert window[-1] == given[-1]
    assert len(window) < len(given)
    assert [message for message in window if message not in given] == [
        {"role": "user", "content": f"[{len(given) - len(window) + 1} earlier messages left out here]"}
    ]
    for label in ("tokens", "counted by", "kept", "left out", "added", "why"):
        assert f"  {label}" in err
    assert "6,000 allowed" in err
    assert "\x1b" not in err


def test_fit_as_json_has_an_account_that_agrees_with_the_messages(run: Any) -> None:
    code, out, _ = run("fit", str(EXAMPLE), "--budget", "3000", "--format", "json")
    value, given = json.loads(out), json.loads(EXAMPLE.read_text("utf-8"))
    account = value["account"]
    assert code == 0
    assert account["tokens_after"] <= account["budget"] == 3000 < account["tokens_before"]
    assert sorted(account["kept"] + account["left_out"]) == list(range(1, len(given) + 1))
    assert [given[n - 1] for n in account["kept"]] == [message for message in value["messages"] if message in given]
    assert [made["kind"] for made in account["made"]] == ["gap"]


def test_fit_of_what_fits_gives_it_back(run: Any) -> None:
    code, out, err = run("fit", str(EXAMPLE), "--budget", "100000")
    assert code == 0
    assert json.loads(out) == json.loads(EXAMPLE.read_text("utf-8"))
    assert "everything fits" in err


def test_fit_shortens_a_question_that_is_too_long(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    file.write_text(json.dumps([{"role": "user", "content": "leaf " * 5000}]))
    code, out, err = run("fit", str(file), "--budget", "200", "--format", "json")
    [shortened] = json.loads(out)["account"]["shortened"]
    assert code == 0
    assert shortened["chars_after"] < shortened["chars_before"] == 25_000
    assert "#1 user, 25,000 characters to" in err


@pytest.mark.parametrize("strategy", ["recent", "turns", "shorten"])
def test_every_strategy_fits(run: Any, strategy: str) -> None:
    code, out, _ = run("fit", str(EXAMPLE), "--budget", "5000", "--strategy", strategy, "--format", "json")
    assert code == 0
    assert json.loads(out)["account"]["tokens_after"] <= 5000


@pytest.mark.parametrize(
    ("messages", "places"),
    [
        ([{"role": "system", "content": "Old"}, {"role": "user", "content": "Hi"}], [1, 2]),
        ([{"role": "user", "content": "Hi"}], [0, 1]),
    ],
)
def test_system_option_replaces_or_adds_the_prompt(run: Any, tmp_path: Path, messages: list[Any], places: list[int]) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(messages))
    code, out, _ = run("fit", str(file), "--budget", "100", "--system", "New", "--format", "json")
    value = json.loads(out)
    assert code == 0
    assert value["messages"] == [{"role": "system", "content": "New"}, {"role": "user", "content": "Hi"}]
    assert value["account"]["kept"] == places


def test_receipt_option_writes_a_receipt(run: Any, tmp_path: Path) -> None:
    code, _, _ = run("fit", str(EXAMPLE), "--budget", "6000", "--receipt", str(tmp_path / "receipt.json"))
    receipt = Receipt.from_json((tmp_path / "receipt.json").read_text())
    assert code == 0
    assert receipt.version == len(json.loads(EXAMPLE.read_text("utf-8")))
    assert run("fit", str(EXAMPLE), "--budget", "6000", "--receipt", str(tmp_path))[0] == 1


def test_standard_input_is_read(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('[{"role": "user", "content": "从标准输入"}]'))
    code, out, _ = run("fit", "-", "--budget", "100")
    assert code == 0
    assert json.loads(out) == [{"role": "user", "content": "从标准输入"}]


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "no such file", "--budget", "9"),
        ("fit", str(EXAMPLE), "--budget", "0"),
        ("fit", str(EXAMPLE), "--budget", "-5"),
        ("fit", str(EXAMPLE), "--budget", "40"),
        ("fit", str(EXAMPLE), "--budget", "6000", "--index", "1"),
        ("fit", str(EXAMPLE), "--budget", "6000", "--counter", "guess"),
        ("fit", str(EXAMPLE), "--budget", "6000", "--counter", "heuristic:klingon"),
        ("fit", str(EXAMPLE), "--budget", "6000", "--counter", f"hf:{EXAMPLE}"),
        ("fit", str(EXAMPLE), "--budget", "6000", "--counter", f"tiktoken:{EXAMPLE}"),
        ("sessions", "no such file"),
        ("sessions", str(EXAMPLE)),
        ("replay", str(EXAMPLE), '{"receipt": 1}'),
        ("replay", str(EXAMPLE), "no such file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_1(run: Any, arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("contextport: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [(), ("fit",), ("fit", "x"), ("fit", "x", "--budget", "many"), ("dance",)])
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: contextport" in capsys.readouterr().err


def test_sessions_are_listed_in_one_line_each(run: Any, log: str) -> None:
    code, out, _ = run("sessions", log)
    assert code == 0
    assert [line.split("  ")[-1] for line in out.splitlines()[1:]] == ["long", "two\\nlines"]
    assert "211" in out.splitlines()[1]


def test_show_prints_log_and_window(run: Any, log: str) -> None:
    code, out, _ = run("show", log, "long", "--budget", "2000")
    log_part, _, window = out.partition("\n[\n")
    marks = [line[0] for line in log_part.splitlines() if line[2:8].strip().isdigit()]
    assert code == 0
    assert len(marks) == 212
    assert marks.count("+") == len(json.loads(f"[{window}")) - 1  # all but the gap message are in the log
    assert "of 2,000 tokens" in out


def test_show_keeps_control_characters_from_the_terminal(run: Any, log: str) -> None:
    _, out, _ = run("show", log, "two\nlines")
    assert "\x1b" not in out
    assert "\\x1b[31m" in out


def test_receipt_of_show_replays_what_was_seen(run: Any, log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, shown, _ = run("show", log, "long", "--budget", "2000")
    code, receipt, _ = run("show", log, "long", "--budget", "2000", "--receipt")
    assert code == 0
    assert len(receipt.splitlines()) == 1
    (tmp_path / "receipt.json").write_text(receipt)
    monkeypatch.setattr(sys, "stdin", io.StringIO(receipt))
    for given in (receipt, str(tmp_path / "receipt.json"), "-"):
        code, out, _ = run("replay", log, given)
        assert code == 0
        assert out == "[\n" + shown.partition("\n[\n")[2]


def test_unknown_session_and_foreign_receipt_are_errors(run: Any, log: str) -> None:
    code, _, err = run("show", log, "nobody")
    assert code == 1
    assert "no session 'nobody'" in err
    receipt = json.loads(run("show", log, "long", "--receipt")[1])
    code, _, err = run("replay", log, json.dumps({**receipt, "digest": "0" * 64}))
    assert code == 1
    assert "digest" in err


def test_looking_changes_nothing(run: Any, log: str) -> None:
    before = run("sessions", log)
    run("show", log, "long", "--budget", "2000")
    assert run("sessions", log) == before
    assert run("show", log, "nobody", "--budget", "2000")[0] == 1
    assert run("sessions", log) == before


def test_reader_that_goes_away_is_no_error_message() -> None:
    command = [sys.executable, "-m", "contextport.adapters.command_line.main", "fit", str(EXAMPLE), "--budget", "100000"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_and_colour_are_for_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen, file = Screen(), io.StringIO()
    for stream in (screen, file):
        terminal = Terminal(out=stream, err=stream)
        terminal.progress(500, 5_000, "counted")
        terminal.progress(500, 1_000, "counted")
        terminal.tell(terminal.heading("Title"))
    assert screen.getvalue().count("counted") == 1
    assert "\x1b[1mTitle" in screen.getvalue()
    assert file.getvalue() == "Title\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Terminal(out=screen, err=screen).heading("Title") == "Title"


def test_output_is_utf8_whatever_the_locale() -> None:
    command = [sys.executable, "-m", "contextport.adapters.command_line.main", "fit", str(EXAMPLE), "--budget", "100000"]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode("utf-8")) == json.loads(EXAMPLE.read_text("utf-8"))


def test_a_real_terminal_gets_a_bold_heading() -> None:
    command = [sys.executable, "-m", "contextport.adapters.command_line.main", "fit", str(EXAMPLE), "--budget", "6000"]
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment)
    os.close(theirs)
    told = os.read(ours, 65536)
    os.close(ours)
    assert done.returncode == 0
    assert told.startswith(b"\x1b[1m")
