"""Do the suites catch what they should? Every broken adapter against the rules that it names, on all processors."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from contextport.conformance_tests.rules import Status, run_rule

from .broken import BROKEN, HEALTHY, rules_kept_by, verdict
from .suites import SUITES

__all__ = ["kills"]


def _healthy(number: int) -> tuple[str, list[str]]:
    """(name of a healthy adapter, failure texts)."""
    suite = HEALTHY[number]()
    results = [run_rule(suite, one) for one in rules_kept_by(HEALTHY[number])]
    name: str = HEALTHY[number].adapter_class.__name__
    return name, [result.detail for result in results if result.status is not Status.PASSED]


def _differences(number: int, others: bool) -> tuple[list[str], list[str]]:
    """(rules that should have caught a broken adapter and did not, others that did), each run alone."""
    one = BROKEN[number]
    failed = set(verdict(one, others=others))
    return sorted(one.must_fail - failed), sorted(failed - one.must_fail)


def kills(*, exact: bool = False) -> int:
    """Run each broken adapter through the rules that must catch it; if `exact`, through those too that must not.

    Prints a line for each and the sum at the end. Returns the exit code.
    """
    rules = [one.id for suite in SUITES for one in suite.rules]
    survived = faults = 0
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for name, failures in pool.map(_healthy, range(len(HEALTHY))):
            print(f"{name}: " + ("every rule holds" if not failures else "\n".join(failures)), flush=True)
            faults += bool(failures)
        found = pool.map(partial(_differences, others=exact), range(len(BROKEN)), chunksize=4)
        for one, (missed, added) in zip(BROKEN, found, strict=True):
            killed = " ".join(rule for rule in rules if rule in one.must_fail and rule not in missed)
            lived = f"; SURVIVED {' '.join(missed)}" if missed else ""
            more = f"; ALSO FAILS {' '.join(added)}" if added else ""
            print(f"{one.name}: killed by {killed or 'none'}{lived}{more}", flush=True)
            survived += bool(missed)
            faults += bool(added)
    without = [rule for rule in rules if not any(rule in one.must_fail for one in BROKEN)]
    for rule in without:
        print(f"{rule}: no broken adapter is caught by it")
    print(f"{len(rules)} rules, {len(BROKEN)} broken adapters, {survived} survived")
    return 1 if survived or faults or without else 0
