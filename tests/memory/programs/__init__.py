"""Programs that tests run in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["run_program", "start_program"]


def start_program(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Start the program in the file `name` of this folder, with pipes to talk to it."""
    command = [sys.executable, "-W", "error", str(Path(__file__).with_name(name)), *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def run_program(name: str, *arguments: object) -> str:
    """Run it to its end; what it printed."""
    with start_program(name, *arguments) as process:
        printed, complaints = process.communicate(timeout=300)
    assert process.returncode == 0, printed + complaints
    return printed
