"""Which candidates are taken first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_EQUALS = """
from contextport.strategies.summaries.candidates import Candidate
from contextport.strategies.summaries.emphasis import Emphasis
from contextport.strategies.summaries.selection import Choice

families = ["alpha", "bravo", "delta", "gamma", "omega", "sigma"]
equals = [" ".join(f"{family}{'x' * n}" for n in range(1, 9)) for family in families]
rest = [f"{family}{'x' * n}" for family in families for n in range(1, 9) for _ in range(n * n)]
candidates = [Candidate(text=text, slot="text") for text in [*equals, *rest]]
none = frozenset()
choice = Choice(
    candidates,
    [10] * len(equals) + [1000] * len(rest),
    [none] * len(candidates),
    Emphasis(shares=()),
    allowed=none,
    known=none,
    names=none,
    go_on=lambda: None,
)
print(list(choice.order(60)))
"""


def test_the_order_of_equals_does_not_depend_on_the_order_of_sets() -> None:
    """Words of the same rareness in every candidate: their sum is the same in whatever order a process adds them up."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _EQUALS],
            capture_output=True,
            check=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert outputs == {"[0, 1, 2, 3, 4, 5]\n"}
