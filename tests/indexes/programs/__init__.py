"""Programs that tests run in a process of their own, by the name of their file here."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests import programs

__all__ = ["run_program", "start_program"]


def start_program(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Start it, with pipes to talk to it."""
    return programs.start(Path(__file__).with_name(name), *arguments)


def run_program(name: str, *arguments: object) -> str:
    """Run it to its end; what it printed."""
    return programs.run(Path(__file__).with_name(name), *arguments)
