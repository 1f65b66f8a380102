"""Rules: functions with the id of the sentence they check, and the runner that turns one into a result, pytest or not.

A rule is a function of a suite. It builds its own adapter through the suite, holds it to one sentence of the port's docstring,
and fails with an `AssertionError` that says what the adapter did. The sentence itself is read from the docstring.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from enum import StrEnum
from typing import Any, TypeVar, cast

from attrs import frozen

from contextport.contracts import PortMismatch

__all__ = ["NotChecked", "Rule", "RuleResult", "Status", "rule", "rules_of", "run_async", "run_rule", "sentences"]

_F = TypeVar("_F", bound=Callable[..., Any])
_RULE_ID = re.compile(r"^ +([A-Z]+-\d+) +(.*)$")
_NOT_BUILT = (PortMismatch, NotImplementedError)  # the adapter, or a method of it, is not there to be checked
_HANG_SECONDS = 300  # a guard against adapters that wait for ever, far above what any rule takes


class Status(StrEnum):
    """How a rule went."""

    PASSED = "passed"
    FAILED = "failed"
    DEVIATION = "deviation"  # it failed, and the author had listed it with a reason
    ABSENT = "absent"  # the adapter does not provide the optional port that the rule belongs to
    NOT_RUN = "not run"  # skipped, deselected, or the suite lacks the means to check it


class NotChecked(Exception):
    """Raised by a rule when the suite was not given the means to check it; the text says which method to write."""


@frozen(kw_only=True)
class Rule:
    """A numbered rule of a port. `sentence` is the contract's; `cause` says where to look first when it fails."""

    id: str
    port: Any
    check: Callable[[Any], Any]
    cause: str

    @property
    def sentence(self) -> str:
        """The obligation, in one line, as the port's docstring states it."""
        return sentences(self.port).get(self.id, "")

    @property
    def test_name(self) -> str:
        """Name of the test method: the id and what the function is called."""
        return f"test_{self.id.replace('-', '_')}_{self.check.__name__}"

    def explanation(self, error: Exception, happened: str = "") -> str:
        """What goes with a failure: rule, sentence, what happened, likely cause.

        No likely cause after a `PortMismatch` or a `NotImplementedError`: those say themselves what to do, whatever the rule.
        """
        not_built = isinstance(error, _NOT_BUILT) or isinstance(error.__cause__, _NOT_BUILT)
        cause = "" if not_built else f"Likely cause: {self.cause}"
        return "\n".join(filter(None, (f"{self.id}: {self.sentence}", happened, cause)))


@frozen(kw_only=True)
class RuleResult:
    """One rule on one adapter. `detail` is empty for a rule that held, else the reason or the whole failure text."""

    rule: str
    status: Status
    detail: str = ""
    seconds: float = 0.0


_rules: dict[str, Rule] = {}


def rule(id: str, port: Any, *, cause: str) -> Callable[[_F], _F]:
    """Decorator: the function checks rule `id` of `port`."""

    def register(check: _F) -> _F:
        if id in _rules:
            raise ValueError(f"{id} is already checked by {_rules[id].check.__name__}")
        _rules[id] = Rule(id=id, port=port, check=check, cause=cause)
        return check

    return register


def rules_of(*ports: Any) -> tuple[Rule, ...]:
    """The rules of the ports, by rising number."""
    found = [one for one in _rules.values() if one.port in ports]
    return tuple(sorted(found, key=lambda one: int(one.id.rpartition("-")[2])))


def sentences(port: Any) -> dict[str, str]:
    """The numbered obligations in the docstring of a port: {"STORE-1": "`append` gives ..."}."""
    found: dict[str, str] = {}
    current = ""
    for line in (port.__doc__ or "").splitlines():
        opened = _RULE_ID.match(line)
        if opened:
            current, found[opened[1]] = opened[1], opened[2].strip()
        elif not line.strip():
            current = ""
        elif current:
            found[current] += " " + line.strip()
    return found


def run_rule(suite: Any, checked: Rule) -> RuleResult:
    """Run one rule on the adapter of `suite`. Any exception of the adapter is a failure of the rule."""
    if not __debug__:
        raise RuntimeError("python -O removes the assertions that the rules are made of; run the suite without -O")
    started = time.perf_counter()
    status, detail = Status.PASSED, ""
    try:
        call_rule(suite, checked)
    except NotChecked as reason:
        status, detail = Status.NOT_RUN, str(reason)
    except AbsentPort as reason:
        status, detail = Status.ABSENT, str(reason)
    except Exception as error:
        status, detail = Status.FAILED, failure_text(checked, error)
    return RuleResult(rule=checked.id, status=status, detail=detail, seconds=time.perf_counter() - started)


class AbsentPort(Exception):
    """The adapter does not provide the optional port of the rule."""


def call_rule(suite: Any, checked: Rule) -> None:
    """Call the rule's function; what it raises is the outcome. An absent port raises `AbsentPort`."""

    async def run() -> None:
        async with asyncio.timeout(_HANG_SECONDS):
            await suite.require_port(checked.port)
            outcome = checked.check(suite)
            if inspect.isawaitable(outcome):
                await outcome

    run_async(run)


def failure_text(checked: Rule, error: Exception) -> str:
    """The explanation of a failure, with what the adapter did."""
    if isinstance(error, AssertionError):
        happened = str(error) or "an assertion failed"
    else:
        where = traceback.extract_tb(error.__traceback__)[-1]
        happened = f"{type(error).__name__}: {error} (raised in {where.name}, line {where.lineno})"
    return checked.explanation(error, f"The adapter: {happened}")


_T = TypeVar("_T")


def run_async(function: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Run to the end, in a thread of its own where a loop is running already, as in a notebook."""
    if not _a_loop_is_running():  # asked apart, so that no failure is shown as one during the handling of that question
        return asyncio.run(function())
    done: list[_T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(asyncio.run(function()))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _a_loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def settled(value: _T | Awaitable[_T]) -> _T:
    """The value, awaited if it has to be: an author's factory may be a plain function or a coroutine."""
    return await cast(Awaitable[_T], value) if inspect.isawaitable(value) else cast(_T, value)
