"""`contextport show` and `export` on a session with folds."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.command_line.main import main
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.wiring import context_engine
from contextport.contracts import Draft, FoldRecord, Kind, Message, ToolCall, Usage, dump_message
from tests.managers.folded_logs import SESSION, FoldedLog

Run = tuple[int, str, str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: str) -> Run:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def database(tmp_path: Path) -> str:
    """An epoch that was cleared, and one with a prompt, ten messages, a lost fold, two folds, and two messages after them."""
    path = tmp_path / "log.db"

    async def fill() -> None:
        log = FoldedLog(store=SqliteContextStore(path))
        await log.say(2)
        await log.fold(through=2, summary="past")
        head = await log.store.clear(SESSION)
        prompt = Message.system("Answer in\tFrench", id="prompt", kind=Kind.SYSTEM_PROMPT)
        draft = Draft(message=prompt, tokens=3, counter="words", at=0.0)
        state = json.dumps({"prompt": dump_message(prompt)})
        await log.store.put_state(SESSION, state, expected=head.state_version, drafts=[draft])
        await log.say(10, pinned={8})
        await log.fold(through=10, summary="lost", commit=False)
        await log.fold(through=12, summary="s1", kept=(8,), reason="over the light threshold", usage=Usage(input_tokens=1234))
        faults = ("it is not smaller than\nits source",)
        await log.fold(through=14, summary="s2", kept=(8,), known=("AB-2024-001",), faults=faults)
        await log.say(2)
        await log.store.close()

    asyncio.run(fill())
    return str(path)


def lineage_part(out: str) -> list[str]:
    return out.partition("\nlineage\n")[2].partition("\nwindow: ")[0].splitlines()


def test_show_draws_the_lineage_as_a_tree(run: Any, database: str) -> None:
    code, out, _ = run("show", database, SESSION)
    assert code == 0
    assert lineage_part(out) == [
        "  2 folds, 7 messages of 42 tokens summarised, 120 tokens saved, 1 fact known, 1 summary refused, "
        "1,234 tokens read and 0 written by models",
        "  fold at entry 23: summary s2, 5 tokens, live, stands for 7 messages of 42 tokens, entries 6-14",
        "  │  by extractive; window 100 to 40 tokens",
        "  │  refused: it is not smaller than its source",
        "  ├─ entries 13-14: 2 messages folded here",
        "  ├─ left standing: 8",
        "  └─ fold at entry 20: summary s1, 5 tokens, stands for 5 messages of 30 tokens, entries 6-12",
        "     │  by extractive; window 100 to 40 tokens; over the light threshold",
        "     │  1,234 tokens read and 0 written by models",
        "     ├─ entries 6-12: 5 messages folded here",
        "     └─ left standing: 8",
        "  not committed: fold at entry 17, summary lost of entries 6-10; a race that was lost, or a crash before the commit",
    ]


def test_show_marks_what_a_summary_stands_for(run: Any, database: str) -> None:
    code, out, _ = run("show", database, SESSION)
    folded = [int(line[2:8]) for line in out.splitlines() if line.startswith("s ") and line[2:8].strip().isdigit()]
    assert code == 0
    assert "s: in a summary" in out
    assert set(folded) <= {7, 9, 10, 11, 12, 13, 14, 21}  # 21 is the summary that was taken over
    assert 21 in folded


def test_show_of_a_past_epoch_has_no_window(run: Any, database: str) -> None:
    code, out, _ = run("show", database, SESSION, "--epoch", "1")
    assert code == 0
    assert out.startswith(f"log of {SESSION}, epoch 1\n")
    assert "window: " not in out
    assert "perhaps" not in out
    assert "the epoch is over, and its newest fold may have lost a race" in out
    assert run("show", database, SESSION, "--epoch", "1", "--receipt")[0] == 1
    assert run("show", database, SESSION, "--epoch", "3")[0] == 1


def test_export_as_json_holds_all_that_the_log_knows(run: Any, database: str) -> None:
    code, out, _ = run("export", database, SESSION, "--json")
    value = json.loads(out)
    assert code == 0
    assert (value["session_id"], value["epoch"], value["epochs"], value["folds"]) == (SESSION, 2, 2, 2)
    assert [one["seq"] for one in value["messages"]] == [*range(7, 17), 26, 27]
    assert value["messages"][0]["chat"] == [{"role": "user", "content": "What was said as number 7"}]
    assert [one["replaced_by"] for one in value["messages"]] == ["s1", None, *["s1"] * 4, "s2", "s2", *[None] * 4]
    assert [(one["id"], one["takes_over"], one["replaced_by"]) for one in value["summaries"]] == [
        ("s1", None, "s2"),
        ("s2", "s1", None),
    ]
    assert value["summaries"][1]["text"] == "[Conversation summary]\nWhat s2 says"
    assert value["facts"] == [{"kind": "identifier", "text": "AB-2024-001", "label": "order", "sources": ["m1"]}]
    transitions = [(one["transition"], one.get("committed")) for one in value["transitions"]]
    assert transitions == [("begin", None), ("system_prompt", None), ("fold", False), ("fold", True), ("fold", True)]
    assert value["transitions"][4]["tokens_before"] == 100
    assert value["transitions"][4]["refused"] == ["it is not smaller than\nits source"]


def test_export_of_a_past_epoch_says_how_it_ended(run: Any, database: str) -> None:
    code, out, _ = run("export", database, SESSION, "--json", "--epoch", "1")
    value = json.loads(out)
    assert code == 0
    assert [one["transition"] for one in value["transitions"]] == ["begin", "fold", "clear"]
    assert value["transitions"][1]["committed"] is None
    assert value["transitions"][2]["last"] == 5
    text = run("export", database, SESSION, "--epoch", "1")[1]
    assert "fold into summary past by extractive, perhaps not committed" in text
    assert "epoch 1 is cleared after entry 5" in text


def test_export_as_text_can_be_read(run: Any, database: str) -> None:
    code, out, _ = run("export", database, SESSION)
    assert code == 0
    assert out.startswith(f"session {SESSION}, epoch 2 of 2, 2 folds\n\nmessages\n")
    for line in (
        "     7 2023-11-14 22:13:20       6  user  id m7, in summary s1",
        "      What was said as number 7",
        "     8 2023-11-14 22:13:20       6  assistant  id m8, pinned",
        "  s2, 5 tokens, by extractive, live, takes over s1",
        "    stands for 7 messages of 42 tokens, entries 6-14, folded here: entries 13-14; left standing: 8",
        "      What s2 says",
        "  identifier  order: AB-2024-001 (said in m1)",
        "  epoch 2 begins at entry 6",
        "     6 1970-01-01 00:00:00 system prompt of 3 tokens",
        "      Answer in   French",
        "    17 2023-11-14 22:13:20 fold into summary lost by extractive, not committed",
        "    window 100 to 40 tokens; over the light threshold",
        "    1,234 tokens read and 0 written by models",
        "    refused: it is not smaller than\\nits source",
    ):
        assert line in out.splitlines(), line


def test_export_writes_every_kind_of_content(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    call = ToolCall(call_id="c1", name="look", arguments='{"where": "here"}')
    image = {"type": "image_url", "image_url": {"url": "https://example.invalid/a.png"}}

    async def fill() -> None:
        store = SqliteContextStore(path)
        engine = context_engine(budget=100_000, store=store)
        await engine.add_message("s", {"role": "user", "content": [{"type": "text", "text": "See \x1b[31m this"}, image]})
        await engine.add_message("s", Message.assistant("", call))
        await engine.add_message("s", Message.tool("c1", "one\ntwo"))
        record = Message(role="system", parts=(), kind=Kind.RECORD, metadata={"mode": "full"})
        await store.append("s", [Draft(message=record, tokens=0, counter="words", at=0.0)])
        await store.close()

    asyncio.run(fill())
    code, out, _ = run("export", str(path), "s")
    lines = [line.strip() for line in out.splitlines()]
    assert code == 0
    assert "\x1b" not in out
    for line in ("See \\x1b[31m this", "[image_url]", '[calls look({"where": "here"}), id c1]', "[answers c1]", "one", "two"):
        assert line in lines, line
    assert any(line.endswith('{"mode": "full"}') for line in lines)
    value = json.loads(run("export", str(path), "s", "--json")[1])
    assert value["messages"][0]["chat"][0]["content"][1] == image
    assert (value["summaries"], value["facts"]) == ([], [])
    assert lines.count("none") == 2


def test_a_long_chain_is_cut_on_the_screen_and_whole_in_the_export(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.db"

    async def fill() -> None:
        log = FoldedLog(store=SqliteContextStore(path))
        for n in range(20):
            await log.say(2)
            await log.fold(through=log.last_said, summary=f"s{n}")
        await log.store.close()

    asyncio.run(fill())
    drawn = lineage_part(run("show", str(path), SESSION)[1])
    assert drawn[-1].endswith("└─ 8 folds before it; `contextport export` lists them all")
    assert len([line for line in drawn if "fold at entry" in line]) == 12
    assert len(json.loads(run("export", str(path), SESSION, "--json")[1])["summaries"]) == 20


def test_looking_at_folds_leaves_every_byte_as_it_was(run: Any, database: str) -> None:
    before = {path.name: path.read_bytes() for path in Path(database).parent.iterdir()}
    for command in (("show",), ("export",), ("export", "--json")):
        assert run(command[0], database, SESSION, *command[1:])[0] == 0
    assert {path.name: path.read_bytes() for path in Path(database).parent.iterdir()} == before


@pytest.mark.parametrize("arguments", [("nobody",), (SESSION, "--epoch", "9"), (SESSION, "--epoch", "0")])
def test_export_of_what_is_not_there_is_one_line_and_exit_code_1(run: Any, database: str, arguments: tuple[str, ...]) -> None:
    code, out, err = run("export", database, *arguments)
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1


def test_a_broken_record_is_told_and_not_skipped(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.db"

    async def fill() -> None:
        log = FoldedLog(store=SqliteContextStore(path))
        await log.say(2)
        broken = Message(role="system", parts=(), kind=Kind.RECORD, metadata={"fold": {"first": 1}})
        await log.store.append(SESSION, [Draft(message=broken, tokens=0, counter="words", at=0.0)])
        await log.write(FoldRecord(first=1, through=2, summary_id="s1"))
        await log.store.close()

    asyncio.run(fill())
    for command in ("show", "export"):
        code, _, err = run(command, str(path), SESSION)
        assert code == 1
        assert "entry 3 is no record of a fold" in err
