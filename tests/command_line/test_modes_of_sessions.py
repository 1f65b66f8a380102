"""`contextport show` and `export` on sessions whose modes changed, in files that a manager wrote."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.command_line.main import main
from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.retrieval.history_retriever import HistoryRetriever
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Control, Draft, Kind, Message, Mode, ModeRules
from contextport.strategies.modes import ModeMachine
from tests.managers.folding_sessions import COUNTER, PROMPT, SESSION, engine, log_of, say, turns

Run = tuple[int, str, str]
Work = Callable[[ContextEngine], Awaitable[object]]
TIME = re.compile(r" \d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: str) -> Run:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """A function that has a manager with modes work on a new file, and returns its path."""

    def write(work: Work, rules: ModeRules | None = None, budget: int = 620, *, searches: bool = False) -> str:
        path = tmp_path / "log.db"

        async def fill() -> None:
            store = SqliteContextStore(path)
            retriever = HistoryRetriever(store, COUNTER, Fts5LexicalIndex()) if searches else None
            manager = engine(store, budget=budget, modes=ModeMachine(rules), retriever=retriever)
            await work(manager)
            await manager.settle()
            await store.close()

        asyncio.run(fill())
        return str(path)

    return write


def modes_part(out: str) -> list[str]:
    part = out.partition("\nmodes\n")[2].partition("\nwindow")[0]
    return [TIME.sub(" TIME", line) for line in part.splitlines()]


async def automatic_then_by_hand(manager: ContextEngine) -> None:
    await say(manager, turns(20))
    await manager.get_context(SESSION)
    await manager.set_mode(SESSION, Mode.FULL)


def test_show_tells_the_mode_and_every_change_of_it(run: Any, written: Any) -> None:
    code, out, _ = run("show", written(automatic_then_by_hand), SESSION)
    now, *changes = modes_part(out)
    assert code == 0
    assert now == "  now in mode full; a person decides (manual)"
    assert [re.sub(r"entry \d+", "entry N", line) for line in changes] == [
        "  entry N TIME: context mode: full -> summary; degrade by policy: over_summary_from, 64% full",
        "  entry N TIME: context control: manual",
        "  entry N TIME: context mode: summary -> full; recover by host: asked",
    ]
    seqs = [int(found) for found in re.findall(r"entry (\d+)", "\n".join(changes))]
    assert seqs == sorted(seqs)
    for seq, text in zip(seqs, ("context mode: full -> summary", "context control: manual", "context mode: "), strict=True):
        [entry] = [line for line in out.splitlines() if line[2:8].strip() == str(seq)]
        assert f"system    (record) [system] {text}" in entry


def test_export_keeps_every_change(run: Any, written: Any) -> None:
    path = written(automatic_then_by_hand)
    code, out, _ = run("export", path, SESSION, "--json")
    value = json.loads(out)
    assert code == 0
    assert (value["mode"], value["control"]) == ("full", "manual")
    kinds = [one["transition"] for one in value["transitions"]]
    assert kinds == ["begin", "mode", "fold", "record", "mode"]
    first, last = [one for one in value["transitions"] if one["transition"] == "mode"]
    occupancy = first.pop("occupancy")
    assert 0.6 <= occupancy < 0.7
    assert {**first, "seq": 0, "at": 0} == {
        "transition": "mode",
        "seq": 0,
        "at": 0,
        "line": "context mode: full -> summary",
        "from": "full",
        "to": "summary",
        "reason": "over_summary_from",
        "path": "degrade",
        "by": "policy",
    }
    assert (last["line"], last["by"], last["reason"], last["occupancy"]) == (
        "context mode: summary -> full",
        "host",
        "asked",
        None,
    )
    assert [one["text"] for one in value["transitions"] if one["transition"] == "record"] == ["context control: manual"]
    text = TIME.sub("", run("export", path, SESSION)[1])
    assert text.startswith(f"session {SESSION}, epoch 1 of 1, 1 folds, in mode full\n")
    for line in (
        "context mode: full -> summary; degrade by policy: over_summary_from, 64% full",
        "context control: manual",
        "context mode: summary -> full; recover by host: asked",
    ):
        assert any(shown.endswith(line) for shown in text.splitlines()), line


def test_show_tells_of_a_proposal_and_of_a_task(run: Any, written: Any) -> None:
    async def work(manager: ContextEngine) -> None:
        await say(manager, turns(2))
        await manager.set_mode(SESSION, Mode.FULL, new_task=True)
        await manager.set_control(SESSION, Control.SEMI_AUTOMATIC)
        await say(manager, turns(20, first=2))
        await manager.get_context(SESSION)

    out = run("show", written(work), SESSION)[1]
    now, task, proposed, *_ = modes_part(out)
    assert now == "  now in mode full; a person confirms what the policy proposes (semi_automatic)"
    assert task == "  the present task began with entry 6"
    assert re.fullmatch(
        r"  proposed, and not confirmed: mode summary, over_summary_from, for entry \d+; proposal [0-9a-f]{12}", proposed
    )
    assert '"id": "u1"' not in out.partition("window of mode full")[2], "what was before the task is not in the window"


@pytest.mark.parametrize("mode", [Mode.ZERO_SHOT, Mode.RETRIEVAL, Mode.FULL, Mode.SUMMARY])
def test_show_makes_up_the_window_as_the_mode_says(run: Any, written: Any, mode: Mode) -> None:
    expected: list[str] = []

    async def work(manager: ContextEngine) -> None:
        await manager.set_system_prompt(SESSION, PROMPT)
        await say(manager, [*turns(20), Message.user("How are the beds?", id="ask")])
        await manager.set_mode(SESSION, mode)
        await manager.get_context(SESSION)
        await manager.settle()
        context = await manager.get_context(SESSION)
        expected.extend(m.text for m in context.messages if m.in_conversation or m.kind in (Kind.SUMMARY, Kind.FACTS))

    path = written(work, ModeRules(control=Control.MANUAL), searches=True)
    code, out, _ = run("show", path, SESSION, "--budget", "5000")
    before, _, window = out.partition(f"window of mode {mode}: ")
    shown = json.loads(window[window.index("\n[") :])
    assert code == 0
    assert "modes\n  now in mode" in before
    assert [message["content"] for message in shown if message["role"] != "system"] == expected
    assert ("without what a host's window has beside it" in window) is (mode is Mode.RETRIEVAL)
    receipt = run("show", path, SESSION, "--budget", "5000", "--receipt")[1]
    assert json.loads(run("replay", path, receipt)[1]) == shown


def test_a_session_without_modes_is_shown_as_before(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.db"

    async def fill() -> None:
        store = SqliteContextStore(path)
        await say(engine(store), turns(2))
        await store.close()

    asyncio.run(fill())
    out = run("show", str(path), SESSION)[1]
    assert "\nmodes\n" not in out
    assert "\nwindow: " in out
    value = json.loads(run("export", str(path), SESSION, "--json")[1])
    assert (value["mode"], value["control"]) == (None, None)


def test_of_a_cleared_epoch_the_changes_are_told_and_no_mode(run: Any, written: Any) -> None:
    async def work(manager: ContextEngine) -> None:
        await automatic_then_by_hand(manager)
        await manager.clear_context(SESSION)
        await say(manager, turns(1))

    path = written(work)
    past = modes_part(run("show", path, SESSION, "--epoch", "1")[1])
    assert len(past) == 3
    assert "now in" not in past[0]
    assert modes_part(run("show", path, SESSION)[1]) == ["  now in the mode that its rules begin with; a person decides (manual)"]
    assert json.loads(run("export", path, SESSION, "--epoch", "1", "--json")[1])["mode"] is None


def test_very_many_changes_are_cut_on_the_screen_and_whole_in_the_export(run: Any, written: Any) -> None:
    async def work(manager: ContextEngine) -> None:
        await say(manager, turns(1))
        for n in range(24):
            await manager.set_mode(SESSION, (Mode.ZERO_SHOT, Mode.FULL)[n % 2])

    path = written(work)
    _, cut, *changes = modes_part(run("show", path, SESSION)[1])
    assert cut == "  5 changes before these; `contextport export` lists them all"
    assert len(changes) == 20
    value = json.loads(run("export", path, SESSION, "--json")[1])
    assert len([one for one in value["transitions"] if one["transition"] == "mode"]) == 24


def test_a_record_that_is_not_of_ours_is_a_record(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    text, metadata = "[system] context mode: \x1b[31m\nodd", {"mode": {"line": 7}}

    async def fill() -> None:
        store = SqliteContextStore(path)
        await say(engine(store), turns(1))
        record = Message.system(text, kind=Kind.RECORD)
        drafts = [Draft(message=record, tokens=0, counter="words", at=0.0)]
        await store.append(SESSION, [*drafts, Draft(message=odd(metadata), tokens=0, counter="words", at=0.0)])
        assert len(await log_of(store)) == 4
        await store.close()

    asyncio.run(fill())
    _, out, _ = run("show", str(path), SESSION)
    assert "\x1b" not in out
    value = json.loads(run("export", str(path), SESSION, "--json")[1])
    assert [one["transition"] for one in value["transitions"]] == ["begin", "record", "record"]
    assert value["transitions"][2]["metadata"] == metadata
    assert "\x1b" not in run("export", str(path), SESSION)[1]


def odd(metadata: dict[str, Any]) -> Message:
    return Message(role="system", parts=(), kind=Kind.RECORD, metadata=metadata)


def test_looking_at_modes_leaves_every_byte_as_it_was(run: Any, written: Any) -> None:
    path = Path(written(automatic_then_by_hand))
    before = {found.name: found.read_bytes() for found in path.parent.iterdir()}
    for command in (("show",), ("export",), ("export", "--json")):
        assert run(command[0], str(path), SESSION, *command[1:])[0] == 0
    assert {found.name: found.read_bytes() for found in path.parent.iterdir()} == before
