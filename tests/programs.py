"""Programs that tests run in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["run", "start"]

_LONGEST = 300  # seconds; a program that takes longer hangs


def start(program: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start the program, with pipes to talk to it."""
    command = [sys.executable, "-W", "error", str(program), *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def run(program: Path, *arguments: object) -> str:
    """Run it to its end; what it printed. One that hangs is ended, and fails."""
    with start(program, *arguments) as process:
        try:
            printed, complaints = process.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0, printed + complaints
    return printed
