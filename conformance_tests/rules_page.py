"""The page of all rules, made from the docstrings of the ports and from the suites."""

from __future__ import annotations

import inspect

from .broken import BROKEN
from .suites import SUITES, Conformance

__all__ = ["rules_page"]

_INTRODUCTION = """# Rules

Each rule is a sentence in the docstring of a port, has a test in `contextport.conformance_tests`, and at least one broken adapter
that this test catches. Ids are never used again. This page is made from the code:
`python -m contextport.conformance_tests --rules > docs/rules.md`.

A suite class has one method to write. The others have defaults that are right for most adapters; a rule that needs one says so
when it was not written, and is reported as not run.
"""


def rules_page() -> str:
    """The page as Markdown."""
    return "\n".join([_INTRODUCTION, *(_suite(suite) for suite in SUITES)])


def _suite(suite: type[Conformance]) -> str:
    lines = [f"## {suite.port.__name__}", "", f"Suite: `{suite.__name__}`. Methods of the suite:", ""]
    for name, member in vars(suite).items():
        if inspect.isfunction(member) and not name.startswith(("test_", "_")) and name not in vars(Conformance):
            needed = inspect.getsource(member).find("NotImplementedError") > 0
            text = " ".join((member.__doc__ or "").split())
            if needed or "None:" in text or "Sequence" in str(member.__annotations__.get("return")):
                lines.append(f"- `{name}`{' (to be written)' if needed else ''}: {text}")
    for port in (suite.port, *suite.capabilities):
        if port is not suite.port:
            lines += ["", f"### {port.__name__} (optional)"]
        lines += ["", "| rule | sentence | look first at | broken adapters caught |", "|---|---|---|---|"]
        for one in suite.rules:
            if one.port is port:
                caught = sum(one.id in broken.must_fail for broken in BROKEN)
                lines.append(f"| {one.id} | {one.sentence} | {one.cause} | {caught} |".replace("`a|b`", "`a\\|b`"))
    return "\n".join([*lines, ""])
