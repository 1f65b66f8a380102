"""The documentation tells the truth: its examples run, its commands are those of the check, its links lead somewhere."""

import json
import re
import shlex
from pathlib import Path

import attrs
import pytest

from contextport.adapters.command_line.main import main
from contextport.contracts import ModeRules, ModeSituation, ModeState, Query, errors, events, from_chat
from contextport.strategies import arrange

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def blocks(page: Path, language: str) -> list[str]:
    return [body for named, body in FENCE.findall(page.read_text("utf-8")) if named == language]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page share one namespace, as a reader would type them one after the other."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "example"}
    before = namespace.keys() | set[str]()
    for body in blocks(page, "python"):
        exec(compile(body, name(page), "exec"), namespace)
    assert namespace.keys() > before


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    local = [target for target in LINK.findall(page.read_text("utf-8")) if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_readme_opens_with_two_commands() -> None:
    run, test = blocks(ROOT / "README.md", "sh")[:2]
    assert len(run.strip().splitlines()) == len(test.strip().splitlines()) == 1


def test_readme_tests_as_the_check_does() -> None:
    _, test = blocks(ROOT / "README.md", "sh")[:2]
    check = (ROOT / ".ci" / "run").read_text()
    install = re.search(r"pip install (.*)", test.partition("&& .venv/bin/python")[0].rstrip(" &\n"))
    ran = re.search(r"^step pip install (?:--\S+ )*(?=-c)(.*)$", check, re.MULTILINE)
    assert install is not None
    assert ran is not None
    assert shlex.split(install[1]) == shlex.split(ran[1])
    assert test.strip().endswith("python -m pytest -q -n auto --dist loadgroup")
    assert "step python -m pytest -q -n auto --dist loadgroup" in check


def test_readme_shows_what_its_first_command_prints(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command = blocks(ROOT / "README.md", "sh")[0].partition("contextport ")[2]
    assert main(shlex.split(command)) == 0
    out, err = capsys.readouterr()
    [shown] = blocks(ROOT / "README.md", "text")
    assert shown == err
    assert json.loads(out)


def test_readme_tells_the_size_of_the_example() -> None:
    messages = json.loads((ROOT / "docs" / "examples" / "long_conversation.json").read_text("utf-8"))
    assert f"{len(messages)} messages" in (ROOT / "README.md").read_text("utf-8")
    assert f"{len(messages)} messages" in (ROOT / "docs" / "index.md").read_text("utf-8")


def test_example_conversation_is_well_formed() -> None:
    given = json.loads((ROOT / "docs" / "examples" / "long_conversation.json").read_text("utf-8"))
    messages = [from_chat(message) for message in given]
    assert arrange(messages) == messages
    assert max(len(message.tool_calls) for message in messages) > 1
    ids = [call.call_id for message in messages for call in message.tool_calls]
    assert len(set(ids)) == len(ids)


def test_every_error_and_event_is_explained() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    assert [code for code in errors.ErrorCode if f"| `{code}` |" not in page] == []
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) <= set(errors.__all__)
    told = (ROOT / "docs" / "for-operators.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \| (?!`)", told, re.MULTILINE)) <= {kind.value for kind in events.EventKind}


def test_every_setting_of_rules_is_told_with_its_default() -> None:
    page = (ROOT / "docs" / "retrieval.md").read_text("utf-8").partition("### The rules\n")[2]
    told = dict(re.findall(r"^\| `(\w+)` \| `?([\w.]+)`? \|", page, re.MULTILINE))
    defaults = attrs.asdict(ModeRules())
    assert told.keys() == defaults.keys()
    assert {name: type(defaults[name])(value) for name, value in told.items()} == defaults


def test_every_field_that_is_looked_up_is_told() -> None:
    authors, retrieval = ((ROOT / "docs" / f"{page}.md").read_text("utf-8") for page in ("for-adapter-authors", "retrieval"))
    for page, kind in ((authors, Query), (authors, ModeSituation), (retrieval, ModeState)):
        rows = [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)]
        told = {name for row in rows for name in row}
        assert [one.name for one in attrs.fields(kind) if one.name not in told] == []


def test_decisions_are_numbered_without_holes() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [page.name[:4] for page in pages] == [f"{n:04}" for n in range(1, len(pages) + 1)]
    for page in pages:
        text = page.read_text("utf-8")
        assert text.startswith(f"# {page.name[:4]}. ")
        assert all(f"## {part}" in text for part in ("Situation", "Decision", "Consequences"))
