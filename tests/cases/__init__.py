"""Runs case files: inputs with a right answer, as data. `tests/run_cases.py` is the command."""
