"""What of the earlier log may have to outlive newer messages: marked entries with their steps, and the questions they answer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from contextport.contracts import Entry

__all__ = ["STEP_REACH", "in_step", "outliving", "rest_of_step"]

STEP_REACH = 64  # entries around a marked one in which the rest of its step is looked for


def outliving(earlier: Sequence[Entry], first: Entry) -> tuple[Entry, ...]:
    """The entries among `earlier`, in the order of the log, that may be in a window whose newest part begins at `first`."""
    seqs = [entry.seq for entry in earlier]
    chosen = {entry.seq: entry for entry in earlier if entry.message.marked}
    for entry in list(chosen.values()):
        if in_step(entry):
            near = earlier[bisect_left(seqs, entry.seq - STEP_REACH + 1) : bisect_left(seqs, entry.seq + STEP_REACH)]
            chosen.update((other.seq, other) for other in rest_of_step(entry, near))
    for turn in {entry.turn for entry in (*chosen.values(), first)}:
        at = bisect_left(seqs, turn)
        if at < len(seqs) and seqs[at] == turn:
            chosen[turn] = earlier[at]
    return tuple(chosen[seq] for seq in sorted(chosen))


def in_step(entry: Entry) -> bool:
    """Whether other entries belong to the same step."""
    return bool(entry.message.tool_calls or entry.message.tool_results)


def rest_of_step(entry: Entry, near: Sequence[Entry]) -> list[Entry]:
    """The entries `near` it that share its calls: the caller of a result, and all results of that caller."""
    ids = _call_ids(entry) or _result_ids(entry)
    callers = [other for other in near if other.seq <= entry.seq and _call_ids(other) & ids]
    if not callers:
        return []
    caller = callers[-1]
    rest, waiting = [caller], _call_ids(caller)
    for other in near:
        if other.seq > caller.seq:
            waiting -= _call_ids(other)  # ids come again: from here on, results are those of the newer call
            if _result_ids(other) & waiting:
                rest.append(other)
    return rest


def _call_ids(entry: Entry) -> set[str]:
    return {call.call_id for call in entry.message.tool_calls}


def _result_ids(entry: Entry) -> set[str]:
    return {result.call_id for result in entry.message.tool_results}
