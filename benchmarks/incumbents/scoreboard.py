"""The page: results that were measured, findings that were made by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from contextport.conformance_tests.rules import sentences
from contextport.contracts import CompressionStrategy, KeepsPins

from .systems import Finding, System

__all__ = ["Ran", "scoreboard"]

_INTRODUCTION = """\
# Scoreboard: other people's compaction under our suite

The suite of the `CompressionStrategy` port ran on the compaction of four systems that others wrote, each in an environment of its
own, in its published version. The question was whether the port fits strangers, and whether its rules find what matters.

    python -m benchmarks.incumbents.run

How to read it:

- Every system has the configuration that its documentation and source recommend for keeping to a number of tokens. Wherever it
  takes a token counter, it has the counter of the suite, so that nobody fails for counting differently.
- The wrappers in `benchmarks/incumbents/` translate messages and decide nothing. What the port asks for and a system does not
  report (outcome, ids left out, what was shortened) is derived from what came back, in its favour.
- Each failure was confirmed by hand with the bare system, without the wrapper. The scripts stand below with what they print, at
  budgets as they occur. The suite's own inputs are the smallest it found, and its smallest budget is often 0.
- Versions are the newest that could be installed on 2026-11-30.
- **Fault** means that the system breaks what it says itself, or what a provider demands. **Another contract** means that
  it never promised the rule; the entry says what a user should know.
- Rules that no system fails say as much as those that fail: tool calls and their results stay together in all of them.
- Rules of an optional port count for those that provide it. Rule 13 is about pins, and Strands alone has any. For a strategy
  without pins a manager keeps them: what the host pins stays in its windows all the same.
- Our own strategies stand last. That they hold every rule is no merit: the rules were written with them.
- These are the strategies that need no model. The systems also have some that summarise, which the suite did not see.
"""


@frozen(kw_only=True)
class Ran:
    """What came out for a system: results by configuration, and source and output of each reproduction by file name."""

    system: System
    results: dict[str, list[dict[str, Any]]]
    reproductions: dict[str, tuple[str, str]]


def scoreboard(ran: Sequence[Ran]) -> str:
    """The page as Markdown."""
    parts = [_INTRODUCTION, *_summary(ran)]
    for one in ran:
        parts.extend(_section(one))
    return "\n".join(parts).rstrip() + "\n"


def _summary(ran: Sequence[Ran]) -> Iterator[str]:
    yield "## Summary\n"
    yield "| system | version | configuration | rules held | failed |"
    yield "|---|---|---|---|---|"
    for one in ran:
        version = one.system.requirement.rpartition("==")[2] or "this checkout"
        for configuration, results in one.results.items():
            held = sum(result["status"] == "passed" for result in results)
            failed = [_number(result) for result in results if result["status"] == "failed"]
            judged = held + len(failed)
            yield f"| {one.system.name} | {version} | `{configuration}` | {held} of {judged} | {', '.join(failed) or 'none'} |"
    yield ""
    yield "The rules that were failed, by number (`STRATEGY-n` of the port's docstring):\n"
    numbers = {_number(result) for one in ran for results in one.results.values() for result in results if _failed(result)}
    texts = {**sentences(CompressionStrategy), **sentences(KeepsPins)}
    for number in sorted(numbers, key=int):
        yield f"- **{number}**: {texts[f'STRATEGY-{number}']}"
    yield ""


def _section(one: Ran) -> Iterator[str]:
    yield f"## {one.system.name}\n"
    yield one.system.strengths + "\n"
    shown: list[str] = []
    for position, (configuration, results) in enumerate(one.results.items()):
        failures = [result for result in results if _failed(result)]
        if not failures:
            continue
        yield f"### `{configuration}`\n"
        for result in failures:
            finding = _finding(one.system, result["rule"], position)
            yield f"**Rule {_number(result)}** {_verdict(finding)}\n"
            yield _folded("smallest input that the suite found", "text", _happened(result["detail"]))
            if finding is not None and finding.reproduction and finding.reproduction not in shown:
                shown.append(finding.reproduction)
    if shown:
        yield "### With the bare system\n"
    for name in shown:
        source, output = one.reproductions[name]
        yield _folded(f"<code>reproductions/{name}</code>", "py", source.strip())  # `python` would be run as an example of ours
        yield f"prints\n\n```text\n{output.strip()}\n```\n"


def _folded(title: str, language: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n```{language}\n{text}\n```\n\n</details>\n"


def _finding(system: System, rule: str, position: int) -> Finding | None:
    found = (finding for finding in system.findings if finding.rule == rule and position in finding.configurations)
    return next(found, None)


def _verdict(finding: Finding | None) -> str:
    if finding is None:
        return "(not judged yet: found by the suite, not confirmed by hand)"
    where = f", `{finding.reproduction}`" if finding.reproduction else ""
    return f"({finding.verdict}{where}): {finding.consequence}"


def _happened(detail: str) -> str:
    """What the adapter did, in the words of the suite, without the rule's sentence and the advice to its author."""
    found = re.search(r"^The adapter: (.*?)(?=^Likely cause: |\Z)", detail, re.DOTALL | re.MULTILINE)
    return (found[1] if found else detail).strip()


def _failed(result: dict[str, Any]) -> bool:
    return bool(result["status"] == "failed")


def _number(result: dict[str, Any]) -> str:
    return str(result["rule"].rpartition("-")[2])
