"""Both type checkers see our files, and our types from the wheel: planted errors come out."""

import json
import shutil
import site
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("contracts", "adapters", "strategies", "conformance_tests")
CHECKED = (*PACKAGES, "tests", "benchmarks")

CONSUMER = """\
from typing import Any

from contextport.contracts import Message, Port, implements, provides


class Reader(Port):
    def read(self, message: Message) -> str: ...


@implements(Reader)
class Aloud:
    def read(self, message: Message) -> str:
        return message.text


@implements(Reader)
class Counting:
    def read(self, message: Message) -> int:
        return len(message.text)


def first(reader: Reader, messages: list[Message]) -> str:
    return reader.read(messages[0])


def if_able(candidate: Any, message: Message) -> str:
    return candidate.read(message) if provides(candidate, Reader) else ""


heard = first(Aloud(), [Message.user("hello")])
wrong_adapter = first(Counting(), [Message.user("hello")])  # planted
wrong_value: int = Message.user("hello").text  # planted
"""


def mypy(folder: Path, *options: str) -> set[tuple[str, int]]:
    """(file name, line) of each error that mypy reports, run in `folder`."""
    command = [sys.executable, "-m", "mypy", "--output=json", "--cache-dir", str(folder / "cache"), *options]
    found = [json.loads(text) for text in run(command, folder).splitlines()]
    return {(Path(item["file"]).name, item["line"]) for item in found if item["severity"] == "error"}


def pyright(folder: Path, *options: str) -> set[tuple[str, int]]:
    """(file name, line) of each error that pyright reports, run in `folder`."""
    command = [sys.executable, "-m", "pyright", "--outputjson", *options]
    answer = json.loads(run(command, folder))
    assert answer["summary"]["filesAnalyzed"] > 0
    return {
        (Path(found["file"]).name, found["range"]["start"]["line"] + 1)
        for found in answer["generalDiagnostics"]
        if found["severity"] == "error"
    }


def run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def consumer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in an environment of its own, in which the wheel is installed next to its requirements."""
    folder = tmp_path_factory.mktemp("consumer")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)]
    run(command, folder)
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    [packages] = environment.glob("lib/python*/site-packages")
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "requirements.pth").write_text("\n".join(site.getsitepackages()))
    (folder / "app.py").write_text(CONSUMER)
    return folder


PLANTED = {("app.py", number) for number, line in enumerate(CONSUMER.splitlines(), 1) if "# planted" in line}


def test_mypy_serves_a_consumer_of_the_wheel(consumer: Path) -> None:
    python = consumer / "environment" / "bin" / "python"
    assert mypy(consumer, "--strict", "--python-executable", str(python), "app.py") == PLANTED


def test_pyright_serves_a_consumer_of_the_wheel(consumer: Path) -> None:
    (consumer / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "include": ["app.py"]}')
    python = consumer / "environment" / "bin" / "python"
    assert pyright(consumer, "--pythonpath", str(python)) == PLANTED


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Our configuration over the same folders, each with one file that holds one error."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / ".dev", tmp_path / ".dev", symlinks=True)
    for folder in CHECKED:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"planted_in_{folder}.py").write_text('number: int = "text"\n')
    for package in PACKAGES:
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "py.typed").touch()
    return tmp_path


EVERYWHERE = {(f"planted_in_{folder}.py", 1) for folder in CHECKED}


def test_mypy_looks_at_every_folder(repository: Path) -> None:
    assert mypy(repository) == EVERYWHERE


def test_pyright_looks_at_every_folder(repository: Path) -> None:
    assert pyright(repository) == EVERYWHERE
