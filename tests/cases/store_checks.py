"""Checks of what stores hold and give back, and of models and summarisers that a run called."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from .case_summarisers import Asked
from .check_registry import Problem, of_run, texts_of
from .evidence import Dict, Evidence
from .shortened_text import content_text


def _stored(evidence: Evidence) -> list[Any]:
    if evidence.stored is None:
        raise ValueError("this operation reads no store")
    return evidence.stored


@of_run
def store_count(evidence: Evidence, n: int) -> Problem:
    found = len(_stored(evidence))
    return None if found == n else f"{found} messages are stored"


@of_run
def read_order_equals_insert_order(evidence: Evidence) -> Problem:
    read, added = [row.id for row in _stored(evidence)], [row.id for row in evidence.last.given]
    return None if read == added else f"read were {read}"


@of_run
def per_writer_order_kept(evidence: Evidence) -> Problem:
    """Ids of concurrent writers are `writer-number`; each writer counts up from 0."""
    seen: dict[str, list[int]] = defaultdict(list)
    for row in _stored(evidence):
        writer, _, number = row.id.rpartition("-")
        seen[writer].append(int(number))
    wrong = {writer: numbers for writer, numbers in seen.items() if numbers != list(range(len(numbers)))}
    return f"out of order: {wrong}" if wrong else None


@of_run
def messages_equal_after_roundtrip(evidence: Evidence) -> Problem:
    stored = [row.wire for row in _stored(evidence)]
    given = [row.wire for row in evidence.last.given]
    if stored != given:
        return f"read back: {stored}"
    if [row.id for row in _stored(evidence)] != [row.id for row in evidence.last.given]:
        return "ids changed"
    return None if evidence.last.wire == given else f"the context is {evidence.last.wire}"


@of_run
def equal_across_stores(evidence: Evidence) -> Problem:
    unequal = [name for name, wire in evidence.facts["all_stores"].items() if wire != evidence.last.wire]
    return f"{evidence.variant} gives other messages than {unequal}" if unequal else None


@of_run
def both_see(evidence: Evidence) -> Problem:
    seen: list[list[str]] = evidence.facts["seen_by_each"]
    return None if all(ids == seen[0] for ids in seen) else f"managers see {seen}"


@of_run
def all_or_nothing(evidence: Evidence, ids: list[str]) -> Problem:
    present = [one for one in ids if one in {row.id for row in _stored(evidence)}]
    return None if present in ([], ids) else f"only {present} are stored"


@of_run
def reopen_ok(evidence: Evidence) -> Problem:
    return f"after the failure: {evidence.errors[0]}" if evidence.errors else None


@of_run
def parsed_equals(evidence: Evidence, value: Any) -> Problem:
    found = evidence.facts["parsed"]
    return None if found == value else f"parsed was {found!r}"


# --- calls of models: a run that makes none has made 0 calls --------------------------------------------------------------


def _requests(evidence: Evidence, of: str) -> list[list[Dict]]:
    return list(evidence.facts.get(f"{of}_requests", []))


def _number(found: int, least: int | None, most: int | None) -> Problem:
    wrong = (least is not None and found < least) or (most is not None and found > most)
    return f"{found} calls, not between {least} and {most}" if wrong else None


@of_run
def summariser_calls(evidence: Evidence, min: int | None = None, max: int | None = None) -> Problem:
    return _number(len(_requests(evidence, "summariser")), min, max)


@of_run
def model_calls(evidence: Evidence, min: int | None = None, max: int | None = None) -> Problem:
    return _number(len(_requests(evidence, "model")), min, max)


@of_run
def tool_executions(evidence: Evidence, min: int | None = None, max: int | None = None) -> Problem:
    return _number(len(_requests(evidence, "tool")), min, max)


@of_run
def requests_all_distinct(evidence: Evidence) -> Problem:
    """A request is its messages and its output limit, as far as one was sent."""
    requests = _requests(evidence, "model")
    limits = evidence.facts.get("sent_max_tokens", [None] * len(requests))
    sent = [json.dumps([limit, request], sort_keys=True) for limit, request in zip(limits, requests, strict=True)]
    return None if len(set(sent)) == len(sent) else "the same request was sent twice"


@of_run
def summariser_saw(evidence: Evidence, texts: list[str]) -> Problem:
    told = "\n".join(text for request in _requests(evidence, "summariser") for text in texts_of(request))
    missing = [text for text in texts if text not in told]
    return f"never given to the summariser: {missing}" if missing else None


@of_run
def summariser_input_at_most(evidence: Evidence, n: int) -> Problem:
    largest = max((evidence.count(request) for request in _requests(evidence, "summariser")), default=0)
    return None if largest <= n else f"a request had {largest} tokens"


@of_run
def summariser_input_nonempty(evidence: Evidence) -> Problem:
    empty = [request for request in _requests(evidence, "summariser") if not any(text.strip() for text in texts_of(request))]
    return "a request was empty" if empty else None


@of_run
def previous_summary_in_input(evidence: Evidence) -> Problem:
    """Each request after the first takes up what was summarised before: a summary of it, or the same messages once more."""
    requests = [Asked(request) for request in _requests(evidence, "summariser")]
    given = [content_text(row.wire) for row in evidence.last.given]
    for n, asked in enumerate(requests[1:], 1):
        before = [text for text in given if any(text in earlier.text for earlier in requests[:n])]
        if not asked.earlier and not all(text in asked.text for text in before):
            return f"request {n} has neither the summary so far nor the messages that it was made of"
    return None if len(requests) > 1 else "there was no second request"


@of_run
def summariser_request_has_role(evidence: Evidence, role: str) -> Problem:
    requests = _requests(evidence, "summariser")
    lacking = [request for request in requests if role not in {wire.get("role") for wire in request}]
    return None if requests and not lacking else f"{len(lacking)} of {len(requests)} requests lack the role {role}"


@of_run
def summariser_part_types_absent(evidence: Evidence, types: list[str]) -> Problem:
    contents = [wire.get("content") for request in _requests(evidence, "summariser") for wire in request]
    found = {part.get("type") for content in contents if isinstance(content, list) for part in content}
    return f"present: {sorted(found & set(types))}" if found & set(types) else None
