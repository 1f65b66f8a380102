"""`python -m contextport.conformance_tests --kills` shows that the suite catches what it should; `--rules` prints all rules."""

from __future__ import annotations

import argparse
import sys

from .kills import kills
from .rules_page import rules_page

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Entry point. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m contextport.conformance_tests", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--kills", action="store_true", help="run every broken adapter through the rules that must catch it")
    what.add_argument("--rules", action="store_true", help="print the page of all rules as Markdown")
    parser.add_argument("--exact", action="store_true", help="with --kills: no other rule may fail either (takes a minute)")
    given = parser.parse_args(arguments)
    if given.rules:
        sys.stdout.write(rules_page())
        return 0
    return kills(exact=given.exact)


if __name__ == "__main__":
    sys.exit(main())
