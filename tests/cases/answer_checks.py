"""Checks of answers: what a helper returned, what it sent, and what it left in the store."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import Any

from contextport.strategies.recovery import ContinuedOutput

from .check_registry import Problem, of_run
from .evidence import Evidence


def _result(evidence: Evidence) -> ContinuedOutput:
    result = evidence.facts.get("result")
    if not isinstance(result, ContinuedOutput):
        raise ValueError("there is no result")
    return result


@of_run
def result_flag(evidence: Evidence, name: str, value: Any) -> Problem:
    found = getattr(_result(evidence), name)
    return None if found == value else f"{name} is {found!r}"


@of_run
def result_text_equals(evidence: Evidence, text: str) -> Problem:
    message = _result(evidence).message
    found = "" if message is None else message.text
    return None if found == text else f"the text is {found!r}"


@of_run
def sent_max_tokens_at_least(evidence: Evidence, n: int) -> Problem:
    sent: list[int | None] = evidence.facts["sent_max_tokens"]
    wrong = [one for one in sent if one is None or one < n]
    return None if sent and not wrong else f"output limits that were sent: {sent}"


@of_run
def sent_total_at_most(evidence: Evidence, n: int) -> Problem:
    """Input and output limit of each request together."""
    sent = zip_longest(evidence.facts["model_requests"], evidence.facts["sent_max_tokens"])
    totals = [evidence.count(request) + (limit or 0) for request, limit in sent]
    return None if totals and max(totals) <= n else f"totals of the requests: {totals}"


@of_run
def no_empty_assistant_stored(evidence: Evidence) -> Problem:
    if evidence.stored is None:
        raise ValueError("this operation reads no store")
    empty = [row.id for row in evidence.stored if row.wire["role"] == "assistant" and _says_nothing(row.wire)]
    return f"empty: {empty}" if empty else None


def _says_nothing(wire: dict[str, Any]) -> bool:
    content = wire.get("content")
    return not wire.get("tool_calls") and not (content.strip() if isinstance(content, str) else content)


@of_run
def no_unparsable_arguments_stored(evidence: Evidence) -> Problem:
    if evidence.stored is None:
        raise ValueError("this operation reads no store")
    for row in evidence.stored:
        for call in row.wire.get("tool_calls") or []:
            try:
                json.loads(call["function"]["arguments"])
            except ValueError:
                return f"{row.id} has the arguments {call['function']['arguments']!r}"
    return None
