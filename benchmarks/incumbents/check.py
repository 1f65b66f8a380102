"""Run the conformance suite on the strategies of one wrapper module, in that system's environment.

python -m benchmarks.incumbents.check MODULE RESULT.json
"""

from __future__ import annotations

import importlib
import json
import logging
import sys
import warnings
from pathlib import Path

import attrs

from contextport.conformance_tests import check_compression_strategy


def main() -> None:
    module, result = sys.argv[1:]
    logging.disable(logging.WARNING)  # thousands of compactions that cannot fit each say so
    warnings.simplefilter("ignore")
    strategies = importlib.import_module(f".{module}", __package__).STRATEGIES
    found = {name: [attrs.asdict(one) for one in check_compression_strategy(make)] for name, make in strategies.items()}
    Path(result).write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
