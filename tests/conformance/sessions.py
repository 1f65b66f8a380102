"""Runs of pytest in a process of its own, in an empty folder, as somebody else's project would run it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["Session", "run_session"]


@frozen(kw_only=True)
class Session:
    """What a run came to."""

    exit_code: int
    output: str
    report: dict[str, Any]

    def suite(self, name: str) -> dict[str, Any]:
        """The report of one suite class."""
        found: dict[str, Any] = next(facts for facts in self.report["suites"].values() if facts["class"] == name)
        return found

    def status(self, name: str, rule: str) -> str:
        """What a rule came to in a suite class."""
        return str(self.suite(name)["rules"][rule]["status"])


def run_session(folder: Path, source: str, *options: str, python: str = sys.executable) -> Session:
    """Write `source` as a test module into `folder` and run pytest there."""
    (folder / "test_adapter.py").write_text(source, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    target = folder / "report.json"
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", f"--conformance-report={target}", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    report = json.loads(target.read_text("utf-8")) if target.exists() else {}
    return Session(exit_code=done.returncode, output=done.stdout + done.stderr, report=report)
