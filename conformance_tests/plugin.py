"""The pytest plug-in: what each suite class came to, in one line at the end and, with --conformance-report, in a file.

It is loaded in every environment that has both pytest and contextport, so it imports nothing else. What a rule came to
travels in the test's `user_properties`, and which suites were collected in the worker's output: so both reach the controller
of pytest-xdist.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

__all__ = ["deviates", "not_run"]

FORMAT = 1
_PORTS = (
    "ContextStore",
    "TokenCounter",
    "CompressionStrategy",
    "ContextManager",
    "EventSink",
    "LimitsSource",
    "MessageCodec",
    "ChatModel",
    "ErrorClassifier",
    "LongTermMemory",
    "Summarizer",
    "Retriever",
    "LexicalIndex",
    "Embedder",
    "VectorIndex",
    "ModePolicy",
    "ModeSignal",
)
_CLAIMS = "claims"  # the row of the test that holds an adapter to what it claims
_SUITES = pytest.StashKey[dict[str, dict[str, Any]]]()
_Row = dict[str, Any]


def not_run(reason: str) -> NoReturn:
    """End a test whose rule cannot be checked here."""
    pytest.skip(reason)


def deviates(reason: str) -> NoReturn:
    """End a test whose rule is known not to hold."""
    pytest.xfail(reason)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("contextport conformance")
    group.addoption("--conformance-report", metavar="FILE", help="write what each conformance suite came to as JSON")
    group.addoption(
        "--conformance-require",
        metavar="PORTS",
        default="",
        help="fail unless a suite of each of these ports ran, such as ContextStore,TokenCounter",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Check the options before anything runs."""
    config.stash[_SUITES] = {}
    unknown = [name for name in _required(config) if name not in _PORTS]
    if unknown:
        raise pytest.UsageError(f"--conformance-require: {', '.join(unknown)} is no port; the ports are {', '.join(_PORTS)}")


def _required(config: pytest.Config) -> list[str]:
    given = str(config.getoption("--conformance-require") or "")
    return [name.strip() for name in given.split(",") if name.strip()]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note the suite of a rule's test, deselected later or not."""
    cls = getattr(item, "cls", None)
    rules = getattr(cls, "rules", None)
    port = getattr(getattr(cls, "port", None), "__name__", None)
    if cls is None or not rules or port not in _PORTS:
        return
    rule = getattr(getattr(item, "function", None), "contextport_rule", None)
    if rule is None and item.name.partition("[")[0] != "test_claims":
        return
    suite = item.nodeid.rpartition("::")[0]
    item.user_properties.append(("contextport.rule", [suite, rule or _CLAIMS]))
    item.config.stash[_SUITES].setdefault(
        suite,
        {
            "class": cls.__name__,
            "port": port,
            "claims": None if cls.claims is None else sorted(one.__name__ for one in cls.claims),
            "known_deviations": dict(cls.known_deviations),
            "adapter": None,
            "rules": {row: {"status": "not run", "reason": ""} for row in (_CLAIMS, *(one.id for one in rules))},
        },
    )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what a test says of its rule; under xdist this is called in the controller."""
    # The suites may not be known yet in a controller, so rows wait here until the end.
    properties = dict(report.user_properties)
    place: Any = properties.get("contextport.rule")
    if place is None:
        return
    row = _row(report, properties)
    if row is not None:
        _rows.setdefault((place[0], place[1]), {"seconds": 0.0}).update(row)
    facts: Any = properties.get("contextport.adapter")
    if facts is not None:
        _adapters[place[0]] = facts


_rows: dict[tuple[str, str], _Row] = {}
_adapters: dict[str, Any] = {}


def _row(report: pytest.TestReport, properties: Mapping[str, Any]) -> _Row | None:
    if report.failed:
        failure = properties.get("contextport.failure") or str(report.longrepr)
        return {"status": "failed", "reason": failure, "seconds": report.duration}
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(getattr(report, "wasxfail", ""))
        missing = "absent" if "contextport.absent" in properties else "not run"
        status = "deviation" if hasattr(report, "wasxfail") else missing
        return {"status": status, "reason": reason.removeprefix("Skipped: ").removeprefix("reason: "), "seconds": report.duration}
    return {"status": "passed", "seconds": report.duration} if report.when == "call" else None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin without rows: one process may run several sessions."""
    _rows.clear()
    _adapters.clear()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the suites that a worker of pytest-xdist collected."""
    output: Mapping[str, Any] = getattr(node, "workeroutput", None) or {}
    for suite, facts in json.loads(output.get("contextport", "{}")).items():
        node.config.stash[_SUITES].setdefault(suite, facts)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand over in a worker; otherwise put the results together, write the file, and fail for a missing suite."""
    config = session.config
    output: Any = getattr(config, "workeroutput", None)
    if output is not None:
        output["contextport"] = json.dumps(config.stash[_SUITES])
        return
    suites = config.stash[_SUITES]
    for (suite, rule), row in _rows.items():
        known = suites.get(suite, {}).get("rules", {})
        if rule in known:
            known[rule].update(row)
    for facts in suites.values():
        _conclude(facts)
    for suite, adapter in _adapters.items():
        if suite in suites:
            suites[suite]["adapter"] = adapter
    target: str | None = config.getoption("--conformance-report")
    if target is not None:
        _write(Path(target), suites, config)
    if _missing(config) and not config.getoption("collectonly", False) and session.exitstatus in (0, 5):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _conclude(facts: dict[str, Any]) -> None:
    """Turn a deviation that nobody listed into a failure, count, and say success, partial or failure."""
    for rule, row in facts["rules"].items():
        if row["status"] == "deviation" and rule not in facts["known_deviations"]:
            row["status"] = "failed"
    statuses = [row["status"] for row in facts["rules"].values()]
    facts["counts"] = {status: statuses.count(status) for status in dict.fromkeys(sorted(statuses))}
    if "failed" in statuses:
        facts["result"] = "failure"
    else:
        facts["result"] = "partial" if "deviation" in statuses or "not run" in statuses else "success"


def _missing(config: pytest.Config) -> list[str]:
    """The required ports of which no suite ran at all."""
    ran = {
        facts["port"]
        for facts in config.stash[_SUITES].values()
        if any(row["status"] != "not run" for row in facts["rules"].values())
    }
    return [name for name in _required(config) if name not in ran]


def _write(target: Path, suites: Mapping[str, Any], config: pytest.Config) -> None:
    import importlib.metadata  # here: not needed where no report is asked for
    import platform

    installed = importlib.metadata.packages_distributions()

    def distribution(adapter: Mapping[str, Any] | None) -> str | None:
        names = installed.get(adapter["module"].partition(".")[0], []) if adapter else []
        return f"{names[0]} {importlib.metadata.version(names[0])}" if names else None

    report = {
        "format": FORMAT,
        "suite": f"contextport {importlib.metadata.version('contextport')}",
        "python": platform.python_version(),
        "platform": platform.platform(),
        "arguments": list(config.invocation_params.args),
        "suites": {name: {**facts, "distribution": distribution(facts["adapter"])} for name, facts in sorted(suites.items())},
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line per suite class."""
    suites = config.stash[_SUITES]
    lines = [(facts, ", ".join(f"{n} {status}" for status, n in facts.get("counts", {}).items())) for facts in suites.values()]
    if config.getoption("collectonly", False) or not (lines or _missing(config)):
        return
    terminalreporter.section("conformance")
    for facts, counts in lines:
        terminalreporter.line(f"conformance {facts['class']} ({facts['port']}): {facts.get('result', 'not run')}  {counts}")
    for name in _missing(config):
        terminalreporter.line(f"conformance: no suite of {name} ran, which --conformance-require asks for")
