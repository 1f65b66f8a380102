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

from contextport.adapters.command_line.main import _COMMANDS, main  # pyright: ignore[reportPrivateUsage]
from contextport.adapters.command_line.read_only_log import ReadOnlyLog
from contextport.adapters.command_line.terminal import Terminal
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.wiring import context_engine
from contextport.contracts import Message, Receipt, StoreUnavailable

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
        store = SqliteContextStore(database)
        engine = context_engine(budget=100_000, store=store)
        await engine.add_messages("long", json.loads(EXAMPLE.read_text("utf-8")))
        await engine.add_message("two\nlines", {"role": "user", "content": "Hello \x1b[31m there"})
        await store.close()

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


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "contextport.adapters.command_line.main", *arguments]


def beside(database: str | Path) -> dict[str, bytes]:
    """Every file of the database's directory, with its bytes."""
    return {path.name: path.read_bytes() for path in sorted(Path(database).parent.iterdir())}


def test_looking_leaves_every_byte_as_it_was(run: Any, log: str) -> None:
    before = beside(log)
    receipt = run("show", log, "long", "--budget", "2000", "--receipt")[1]
    for arguments in (("sessions", log), ("show", log, "long"), ("replay", log, receipt), ("show", log, "nobody")):
        run(*arguments)
        assert beside(log) == before
    assert list(before) == ["log.db"]


def test_looking_at_a_log_in_use_sees_what_is_not_yet_in_its_file_and_leaves_it_there(run: Any, tmp_path: Path) -> None:
    database = tmp_path / "used.db"
    store = SqliteContextStore(database)
    asyncio.run(context_engine(store=store, budget=1_000).add_message("live", {"role": "user", "content": "Hi"}))
    before = beside(database)
    code, out, _ = run("sessions", str(database))
    after = beside(database)
    asyncio.run(store.close())
    assert code == 0
    assert out.splitlines()[1].endswith("live")
    assert before["used.db-wal"]
    assert {name: held for name, held in after.items() if not name.endswith("-shm")} == {
        name: held for name, held in before.items() if not name.endswith("-shm")
    }


@pytest.mark.parametrize("arguments", [("sessions",), ("show", "s"), ("replay", "receipt")])
def test_an_empty_file_stays_empty_and_is_refused(run: Any, log: str, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "empty.db"
    file.touch()
    name, *rest = arguments
    given = [run("show", log, "long", "--receipt")[1]] if rest == ["receipt"] else rest
    before = beside(file)
    code, out, err = run(name, str(file), *given)
    assert (code, out) == (1, "")
    assert err.splitlines() == [f"contextport: {file} is empty; give the SQLite file of a log"]
    assert beside(file) == before


def test_the_read_only_log_refuses_to_write(log: str) -> None:
    opened = ReadOnlyLog(log)

    async def writes() -> None:
        head = await opened.head("long")
        for attempt in (
            opened.append("long", ()),
            opened.put_state("long", "", expected=head.state_version),
            opened.clear("long"),
            opened.purge("long"),
        ):
            with pytest.raises(StoreUnavailable, match="for looking only"):
                await attempt
        await opened.close()

    asyncio.run(writes())


@pytest.mark.parametrize(("at", "shown"), [(1e20, "1e+20"), (-1e18, "-1e+18"), (0.0, "1970-01-01 00:00:00")])
def test_a_time_outside_the_calendar_is_shown_as_its_number(run: Any, tmp_path: Path, at: float, shown: str) -> None:
    database = tmp_path / "clock.db"

    async def fill() -> None:
        store = SqliteContextStore(database)
        await ContextEngine(store=store, counter=HeuristicTokenCounter(), clock=lambda: at).add_message("s", Message.user("Hi"))
        await store.close()

    asyncio.run(fill())
    code, out, _ = run("show", str(database), "s")
    assert code == 0
    assert f"     1 {shown:<19} " in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("budget", ["6000", "100000"])
def test_a_full_disk_is_one_line(budget: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(command("fit", str(EXAMPLE), "--budget", budget), stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "contextport: cannot write to standard output: No space left on device"
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def in_shell(redirected: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    shell = ["/bin/sh", "-c", f'exec "$@" {redirected}', "sh", *command(*arguments)]
    return subprocess.run(shell, capture_output=True, text=True)


def test_closed_streams() -> None:
    fit = ("fit", str(EXAMPLE), "--budget", "6000")
    done = in_shell(">&-", *fit)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("contextport: cannot write to standard output: ")
    done = in_shell("<&-", "fit", "-", "--budget", "9")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith("contextport: cannot read -: ")
    for redirected in ("2>&-", "2>/dev/full"):
        done = in_shell(redirected, *fit)
        assert done.returncode == 0, redirected
        assert json.loads(done.stdout)[-1] == json.loads(EXAMPLE.read_text("utf-8"))[-1]
    done = in_shell("2>&-", "fit", "no such file", "--budget", "9")
    assert (done.returncode, done.stdout) == (1, "")


def test_a_fault_of_ours_is_one_line_and_a_traceback_on_demand(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise KeyError("of ours")

    monkeypatch.setitem(_COMMANDS, "sessions", broken)
    monkeypatch.delenv("CONTEXTPORT_DEBUG", raising=False)
    code, out, err = run("sessions", "any")
    assert (code, out) == (70, "")
    assert err.startswith("contextport: unexpected KeyError: 'of ours'; please report it")
    assert len(err.splitlines()) == 1
    monkeypatch.setenv("CONTEXTPORT_DEBUG", "1")
    with pytest.raises(KeyError, match="of ours"):
        run("sessions", "any")


def test_byte_order_marks_of_input_and_receipts(run: Any, log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    receipt = run("show", log, "long", "--budget", "2000", "--receipt")[1]
    plain = run("replay", log, receipt)
    file = tmp_path / "receipt.json"
    file.write_text(receipt, encoding="utf-8-sig")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"\ufeff{receipt}"))
    for given in (str(file), "-", f"\ufeff{receipt}"):
        assert run("replay", log, given) == plain
    assert plain[0] == 0


def test_made_ids_do_not_meet_given_ones(run: Any, tmp_path: Path) -> None:
    given = [{"role": "user", "content": "a", "id": "#2"}, {"role": "assistant", "content": "b"}]
    given += [{"role": "user", "content": "c", "id": "#0"}]
    file = tmp_path / "ids.json"
    file.write_text(json.dumps(given))
    code, out, err = run("fit", str(file), "--budget", "100", "--system", "New")
    assert code == 0, err
    assert json.loads(out) == [{"role": "system", "content": "New"}, *given]


def test_repeated_messages_are_told_of(run: Any, tmp_path: Path) -> None:
    one = {"role": "user", "content": "a", "id": "x"}
    file = tmp_path / "twice.json"
    file.write_text(json.dumps([one, {"role": "assistant", "content": "b"}, one]))
    code, out, err = run("fit", str(file), "--budget", "100", "--format", "json")
    account = json.loads(out)["account"]
    assert code == 0
    assert (account["kept"], account["left_out"], account["repeated"]) == ([1, 2], [], [3])
    assert account["tokens_before"] == account["tokens_after"]
    assert "1 with an id that came before, kept once: #3" in err


@pytest.mark.parametrize(("margin", "allowed"), [("0", 6000), ("0.1", 5400), ("0.7", 1800)])
def test_margin_is_taken_off_the_budget(run: Any, margin: str, allowed: int) -> None:
    code, out, _ = run("fit", str(EXAMPLE), "--budget", "6000", "--margin", margin, "--format", "json")
    account = json.loads(out)["account"]
    assert code == 0
    assert account["tokens_after"] <= account["budget"] == allowed
    assert account["margin"] == float(margin)


@pytest.mark.parametrize("margin", ["1", "-0.1", "nan", "sNaN", "inf", "ten"])
def test_what_is_no_share_is_wrong_usage(margin: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["fit", str(EXAMPLE), "--budget", "6000", f"--margin={margin}"])
    assert stopped.value.code == 2
