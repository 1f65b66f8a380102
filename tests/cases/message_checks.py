"""Checks of the messages that were returned at a moment."""

from __future__ import annotations

import json
from typing import Any, cast

from contextport.contracts import Kind

from .check_registry import Problem, of_moment, texts_of
from .evidence import Dict, Evidence, Moment, Row
from .shortened_text import content_text, shortening_problem

_REASONING = {"thinking", "redacted_thinking", "reasoning"}


def _is_system(wire: Dict) -> bool:
    return wire.get("role") in ("system", "developer")


def _calls(wire: Dict) -> list[str]:
    return [call["id"] for call in wire.get("tool_calls") or []]


@of_moment
def pairing(evidence: Evidence, at: Moment) -> Problem:
    wire, n = at.wire, 0
    while n < len(wire):
        if wire[n]["role"] == "tool":
            return f"message {n} answers {wire[n].get('tool_call_id')!r}, and no call stands before it"
        wanted = _calls(wire[n])
        n += 1
        answered: list[str] = []
        while wanted and n < len(wire) and wire[n]["role"] == "tool":
            answered.append(wire[n]["tool_call_id"])
            n += 1
        if sorted(answered) != sorted(wanted):
            return f"the calls {wanted} are answered by {answered}"
    return None


@of_moment
def result_has_call(evidence: Evidence, at: Moment, tool_call_id: str) -> Problem:
    calls = [call for wire in at.wire for call in _calls(wire)]
    results = [wire["tool_call_id"] for wire in at.wire if wire["role"] == "tool"]
    if tool_call_id not in results:
        return f"there is no result for {tool_call_id}"
    return None if tool_call_id in calls else f"the result for {tool_call_id} has no call"


@of_moment
def starts_with_user(evidence: Evidence, at: Moment) -> Problem:
    roles = [wire["role"] for wire in at.wire if not _is_system(wire)]
    if not roles:
        return None if all(_is_system(row.wire) for row in at.given) else "there is no message apart from system ones"
    return None if roles[0] == "user" else f"the first message has the role {roles[0]}"


@of_moment
def system_verbatim_once(evidence: Evidence, at: Moment) -> Problem:
    wanted = [row.wire for row in at.given if _is_system(row.wire)]
    found = [wire for wire in at.wire if _is_system(wire)]
    if found != wanted:
        return f"system messages are {found}, not {wanted}"
    return None if at.wire[: len(found)] == found else "a system message does not stand at the front"


@of_moment
def last_user_kept(evidence: Evidence, at: Moment) -> Problem:
    newest = next((row for row in reversed(at.given) if row.wire["role"] == "user"), None)
    if newest is None:
        return None
    found = at.row(newest.id)
    if found is None:
        return f"the newest user message {newest.id} is missing"
    return None if found.wire == newest.wire else f"the newest user message {newest.id} is changed: {found.wire}"


@of_moment
def order_kept(evidence: Evidence, at: Moment) -> Problem:
    kept = at.kept_ids
    expected = [row.id for row in at.given if row.id in set(kept)]
    return None if kept == expected else f"the order is {kept}, not {expected}"


@of_moment
def no_duplicates(evidence: Evidence, at: Moment) -> Problem:
    ids = [row.id for row in at.rows] + [f"stored {row.id}" for row in evidence.stored or []]
    twice = sorted({one for one in ids if ids.count(one) > 1}) if len(set(ids)) < len(ids) else []
    return f"more than once: {twice}" if twice else None


@of_moment
def not_empty(evidence: Evidence, at: Moment) -> Problem:
    return None if at.rows else "nothing was returned"


@of_moment
def output_equals_input(evidence: Evidence, at: Moment) -> Problem:
    wanted = [row.wire for row in at.given]
    return None if at.wire == wanted else f"the output is {at.wire}"


@of_moment
def ids_present(evidence: Evidence, at: Moment, ids: list[str]) -> Problem:
    missing = [one for one in ids if at.row(one) is None]
    return f"missing: {missing}" if missing else None


@of_moment
def ids_exactly(evidence: Evidence, at: Moment, ids: list[str]) -> Problem:
    return None if at.kept_ids == ids else f"ids are {at.kept_ids}"


@of_moment
def ids_or_roles_exactly(evidence: Evidence, at: Moment, ids: list[str] | None = None, roles: list[str] | None = None) -> Problem:
    found = [wire["role"] for wire in at.wire]
    if ids is not None and at.kept_ids == ids and len(at.rows) == len(ids):
        return None
    return None if roles is not None and found == roles else f"ids are {at.kept_ids}, roles {found}"


@of_moment
def call_ids_exactly(evidence: Evidence, at: Moment, ids: list[str]) -> Problem:
    found = [call for wire in at.wire for call in _calls(wire)]
    return None if found == ids else f"call ids are {found}"


def _unequal(at: Moment, ids: list[str]) -> Problem:
    for one in ids:
        given, found = at.input(one), at.row(one)
        if given is None or found is None:
            return f"{one} is missing"
        if found.wire != given.wire:
            return f"{one} is changed: {found.wire}"
    return None


@of_moment
def kept_verbatim(evidence: Evidence, at: Moment, ids: list[str]) -> Problem:
    return _unequal(at, ids)


@of_moment
def kept_messages_equal_input(evidence: Evidence, at: Moment) -> Problem:
    return _unequal(at, at.kept_ids)


@of_moment
def contiguous_suffix(evidence: Evidence, at: Moment) -> Problem:
    candidates = [row for row in at.given if not _is_system(row.wire) and not row.pinned]
    kept = [row.id for row in candidates if at.row(row.id) is not None]
    suffix = [row.id for row in candidates[len(candidates) - len(kept) :]]
    return None if kept == suffix else f"kept are {kept}, which is not a run up to the newest"


@of_moment
def no_gap(evidence: Evidence, at: Moment) -> Problem:
    """Each input message is in the output, or its text was given to a summariser: to the model, or to what took its place."""
    told = [text for request in at.told for wire in request for text in texts_of(wire)]
    lost = [row.id for row in at.given if at.row(row.id) is None and not _was_told(row, told)]
    return f"neither in the output nor summarised: {lost}" if lost else None


def _was_told(row: Row, told: list[str]) -> bool:
    """Whether a text was given to read, in one request, or piece by piece in several."""
    said = content_text(row.wire)
    return any(said in text for text in told) or _in_order(said.split(), [word for text in told for word in text.split()])


def _in_order(words: list[str], told: list[str]) -> bool:
    """Whether all the words were told, in their order."""
    left = iter(told)
    return bool(told) and all(word in left for word in words)


def _summaries(at: Moment) -> list[Row]:
    return [row for row in at.rows if row.kind is Kind.SUMMARY]


@of_moment
def summary_before(evidence: Evidence, at: Moment, id: str) -> Problem:
    order = [row.id for row in at.rows]
    if id not in order:
        return f"{id} is missing"
    late = [row.id for row in _summaries(at) if order.index(row.id) > order.index(id)]
    return f"a summary stands after {id}" if late else None


@of_moment
def summary_tokens_at_most(evidence: Evidence, at: Moment, n: int) -> Problem:
    tokens = evidence.count(row.wire for row in _summaries(at))
    return None if tokens <= n else f"summaries have {tokens} tokens"


@of_moment
def summary_messages_at_most(evidence: Evidence, at: Moment, n: int) -> Problem:
    found = len(_summaries(at))
    return None if found <= n else f"there are {found} summaries"


def _everything(at: Moment) -> str:
    return "\n".join(text for wire in at.wire for text in texts_of(wire))


@of_moment
def text_contains(evidence: Evidence, at: Moment, texts: list[str]) -> Problem:
    found = _everything(at)
    missing = [text for text in texts if text not in found]
    return f"missing: {missing}" if missing else None


@of_moment
def text_absent(evidence: Evidence, at: Moment, texts: list[str]) -> Problem:
    found = _everything(at)
    present = [text for text in texts if text in found]
    return f"present: {present}" if present else None


@of_moment
def text_occurs_at_most(
    evidence: Evidence, at: Moment, n: int, text: str | None = None, texts: list[str] | None = None
) -> Problem:
    wanted = [text] if text is not None else texts
    if not wanted:
        raise ValueError("there is no text to look for")
    too_often = {one: times for one in wanted if (times := _everything(at).count(one)) > n}
    return f"occurrences: {too_often}" if too_often else None


@of_moment
def shortened_with_marker(evidence: Evidence, at: Moment, id: str) -> Problem:
    given, found = at.input(id), at.row(id)
    if given is None or found is None:
        return f"{id} is missing"
    return shortening_problem(found.wire, given.wire, marker_needed=True)


@of_moment
def pieces_of_input(evidence: Evidence, at: Moment, id: str | None = None) -> Problem:
    for one in at.kept_ids if id is None else [id]:
        given, found = at.input(one), at.row(one)
        if given is None or found is None:
            return f"{one} is missing"
        problem = shortening_problem(found.wire, given.wire, marker_needed=False)
        if problem is not None:
            return f"{one}: {problem}"
    return None


@of_moment
def utf8_encodable(evidence: Evidence, at: Moment) -> Problem:
    try:
        json.dumps([at.wire, evidence.facts.get("parsed")], ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        return str(error)
    return None


@of_moment
def no_new_replacement_char(evidence: Evidence, at: Moment) -> Problem:
    before = json.dumps([row.wire for row in at.given], ensure_ascii=False).count("\ufffd")
    after = json.dumps(at.wire, ensure_ascii=False).count("\ufffd")
    return None if after <= before else f"{after - before} replacement characters were not in the input"


def _parts(wire: Dict) -> list[Any]:
    content = wire.get("content")
    return cast(list[Any], content) if isinstance(content, list) else []


@of_moment
def part_types_absent(evidence: Evidence, at: Moment, types: list[str]) -> Problem:
    found = {str(part.get("type")) for wire in at.wire for part in _parts(wire) if isinstance(part, dict)}
    present = sorted(found & set(types))
    return f"present: {present}" if present else None


@of_moment
def no_reasoning_only_message(evidence: Evidence, at: Moment) -> Problem:
    for row in at.rows:
        parts = _parts(row.wire)
        reasoning = [part for part in parts if isinstance(part, dict) and part.get("type") in _REASONING]
        if row.wire["role"] == "assistant" and parts and len(reasoning) == len(parts) and not _calls(row.wire):
            return f"{row.id} is reasoning and nothing else"
    return None
