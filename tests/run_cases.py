"""Run a file of cases: `python tests/run_cases.py FILE`. Exit code 0 only if none failed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.cases.runner import load_cases, run_case


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tests/run_cases.py FILE", file=sys.stderr)
        return 2
    try:
        cases = load_cases(Path(arguments[0]))
    except (OSError, ValueError) as error:
        print(f"run_cases: {error}", file=sys.stderr)
        return 2
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in cases:
        result = run_case(case)
        counts[result.status] += 1
        print(result.line.encode("utf-8", "backslashreplace").decode(), flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
