"""Somebody else's adapter, in a project of its own, against an installed wheel and from another folder."""

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from .sessions import run_session

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = ROOT / "tests" / "foreign_adapter"


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter with the wheels of contextport and of the foreign adapter; pytest and attrs are lent by this one."""
    folder = tmp_path_factory.mktemp("foreign")
    wheels = folder / "wheels"
    for project in (ROOT, FOREIGN):
        run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(wheels), str(project), cwd=folder)
    environment = folder / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    interpreter = environment / "bin" / "python"
    site_packages = Path(
        run(str(interpreter), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    )
    install = (sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--quiet", "--no-deps", "--no-index")
    run(*install, "--disable-pip-version-check", *map(str, sorted(wheels.glob("*.whl"))), cwd=folder)
    (site_packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    where = run(str(interpreter), "-c", "import contextport.conformance_tests as c; print(c.__file__)", cwd=folder)
    assert Path(where.strip()).is_relative_to(site_packages), f"the suite was imported from {where}"
    return str(interpreter)


def test_foreign_project_passes(python: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for file in ("pyproject.toml", "check_bytes_counter.py"):
        shutil.copy(FOREIGN / file, project)
    command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--conformance-report=out/report.json")
    output = run(*command, "--conformance-require=TokenCounter", cwd=project)
    assert "conformance TestBytesCounter (TokenCounter): success  3 absent, 12 passed" in output
    [facts] = json.loads((project / "out" / "report.json").read_text("utf-8"))["suites"].values()
    assert facts["distribution"] == "bytes-counter 1.0"
    assert facts["claims"] == []


def test_failing_assertions_show_the_compared_values(python: str, tmp_path: Path) -> None:
    source = """
from bytes_counter import BytesCounter
from contextport.conformance_tests import ContextStoreConformance, TokenCounterConformance
from contextport.conformance_tests.broken.stores import DropsNulCharacters

class OneMore(BytesCounter):
    def count_text(self, text):
        return super().count_text(text) + 1

class TestOneMore(TokenCounterConformance):
    def make_counter(self):
        return OneMore()

class TestStore(ContextStoreConformance):
    def make_store(self):
        return DropsNulCharacters()
"""
    session = run_session(tmp_path, source, python=python)
    assert session.exit_code == 1
    assert "assert 1 == 0" in session.output, session.output
    assert "asyncio" not in session.output, "the traceback shows what runs a rule, not the rule"
    assert "COUNTER-1: `count_text` of a non-empty text is at least 1; of the empty text it is 0." in session.output
    assert "append returned another message" in session.output
    assert "assert Message(" in session.output
    assert session.status("TestStore", "STORE-7") == "failed"


def test_six_lines_are_enough(python: str, tmp_path: Path) -> None:
    source = """
from contextport.conformance_tests import ContextStoreConformance
from contextport.adapters.stores.memory_store import MemoryContextStore
class TestMine(ContextStoreConformance):
    def make_store(self):
        return MemoryContextStore()
"""
    session = run_session(tmp_path, source, python=python)
    assert session.exit_code == 0, session.output
    assert session.suite("TestMine")["result"] == "success"
