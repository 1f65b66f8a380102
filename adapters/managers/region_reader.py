"""Reading just enough of a session's log: its newest entries up to a size, and the few earlier ones that may outlive others."""

from __future__ import annotations

from contextport.contracts import ContextStore, Entry, Head, TokenCounter

from .session_window import Region, newest_steps, note_sizes, size_of

__all__ = ["read_region"]

_FIRST_PAGE, _LARGEST_PAGE = 32, 1024
_MOST_MARKED = 1_000  # marked entries looked at; far more than half of any window holds
_STEP_REACH = 64  # entries around a marked one in which the rest of its step is looked for


async def read_region(store: ContextStore, counter: TokenCounter, head: Head, size: int) -> Region:
    """The newest entries of more than `size` tokens by `counter`, beginning with a whole step, and what is marked before them."""
    tail = await _read_tail(store, counter, head, size)
    kept: tuple[Entry, ...] = ()
    if tail and len(tail) < head.messages:
        kept = await _read_kept(store, head, tail[0])
        note_sizes(kept, counter)
    return Region(kept=kept, tail=tail, messages=head.messages, tokens=head.tokens, last_seq=head.last_seq)


async def _read_tail(store: ContextStore, counter: TokenCounter, head: Head, size: int) -> tuple[Entry, ...]:
    tail: list[Entry] = []
    before, missing = head.last_seq + 1, size
    while len(tail) < head.messages:
        page = await store.read(head.session_id, before=before, limit=_page(head, missing), epoch=head.epoch)
        if not page:
            break
        note_sizes(page, counter)
        tail = [entry for entry in page if entry.message.in_conversation] + tail
        start = newest_steps(tail, size, counter)
        if start:
            return tuple(tail[start:])
        before, missing = page[0].seq, size - size_of([entry.message for entry in tail], counter)
    return tuple(tail)


def _page(head: Head, missing: int) -> int:
    """How many entries are likely to hold `missing` tokens."""
    mean = max(1, head.tokens // max(1, head.messages))
    return min(_LARGEST_PAGE, max(_FIRST_PAGE, missing * 9 // (mean * 8) + 8))


async def _read_kept(store: ContextStore, head: Head, first: Entry) -> tuple[Entry, ...]:
    """Marked entries before `first` with their steps, and the questions that opened the turns of all these and of `first`."""
    found: dict[int, Entry] = {}
    before = first.seq
    while len(found) < _MOST_MARKED:
        page = await store.read(head.session_id, before=before, limit=256, marked=True, epoch=head.epoch)
        found.update((entry.seq, entry) for entry in page)
        if len(page) < 256:
            break
        before = page[0].seq
    for entry in list(found.values()):
        if entry.message.tool_calls or entry.message.tool_results:
            found.update((near.seq, near) for near in await _rest_of_step(store, head.session_id, entry))
    for turn in {entry.turn for entry in (*found.values(), first)}:
        if 0 < turn < first.seq and turn not in found:
            page = await store.read(head.session_id, after=turn - 1, before=turn + 1, limit=1, epoch=head.epoch)
            found.update((entry.seq, entry) for entry in page)
    return tuple(found[seq] for seq in sorted(found) if seq < first.seq and found[seq].message.in_conversation)


async def _rest_of_step(store: ContextStore, session_id: str, entry: Entry) -> list[Entry]:
    """The entries near a marked one that share its calls: the caller of a result, and all results of that caller."""
    near = await store.read(
        session_id,
        after=max(0, entry.seq - _STEP_REACH),
        before=entry.seq + _STEP_REACH,
        limit=2 * _STEP_REACH,
        epoch=entry.epoch,
    )
    ids = _call_ids(entry) or _result_ids(entry)
    callers = [other for other in near if other.seq <= entry.seq and _call_ids(other) & ids]
    if not callers:
        return []
    caller = callers[-1]
    return [caller, *(other for other in near if other.seq > caller.seq and _result_ids(other) & _call_ids(caller))]


def _call_ids(entry: Entry) -> set[str]:
    return {call.call_id for call in entry.message.tool_calls}


def _result_ids(entry: Entry) -> set[str]:
    return {result.call_id for result in entry.message.tool_results}
