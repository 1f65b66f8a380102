"""Reading just enough of a session's log: its newest entries up to a size, and the few earlier ones that may outlive others."""

from __future__ import annotations

from math import isqrt

from contextport.contracts import ContextStore, Entry, Head, TokenCounter
from contextport.contracts.counting import total_tokens

from .live_fold import LiveFold
from .outliving import STEP_REACH, in_step, outliving, rest_of_step
from .session_window import Region, newest_steps, note_sizes, said_of, shown_in

__all__ = ["read_region"]

_FIRST_PAGE, _LARGEST_PAGE = 32, 1024
_MARKED_PAGE = 256


async def read_region(
    store: ContextStore, counter: TokenCounter, head: Head, size: int | None, fold: LiveFold | None = None
) -> Region:
    """The newest entries of more than `size` tokens by `counter`, beginning with a whole step, and what is marked before them.

    Without a size, all entries of the epoch. With a fold, only what came after it and what it left standing.
    """
    if fold is not None:
        note_sizes((*fold.memory, *fold.standing), counter)
    read, start = await _read_tail(store, counter, head, size, fold)
    tail = tuple(read[start:])
    kept: tuple[Entry, ...] = ()
    if tail and len(tail) < _unfolded(head, fold):
        kept = await _read_kept(store, head, read[:start], tail[0], 0 if fold is None else fold.record.through)
        note_sizes(kept, counter)
    return Region(kept=kept, tail=tail, messages=head.messages, tokens=head.tokens, last_seq=head.last_seq, fold=fold)


def _unfolded(head: Head, fold: LiveFold | None) -> int:
    """How many messages came after the fold."""
    return head.messages if fold is None else head.messages - fold.record.messages - len(fold.standing)


async def _read_tail(
    store: ContextStore, counter: TokenCounter, head: Head, size: int | None, fold: LiveFold | None
) -> tuple[list[Entry], int]:
    """The newest entries that were said, and where among them the tail begins."""
    tail: list[Entry] = []
    floor = 0 if fold is None else fold.record.through
    wanted = _unfolded(head, fold)
    before, missing = head.last_seq + 1, head.tokens if size is None else size
    while len(tail) < wanted:
        page = await store.read(head.session_id, after=floor, before=before, limit=_page(head, missing), epoch=head.epoch)
        if not page:
            break
        note_sizes(page, counter)
        said = said_of(page)
        tail = said + tail
        start = 0 if size is None else newest_steps(tail, size, counter, fold)
        if start:
            return tail, start
        before, missing = page[0].seq, missing - total_tokens([shown_in(entry, fold) for entry in said], counter)
    return tail, 0


def _page(head: Head, missing: int) -> int:
    """How many entries are likely to hold `missing` tokens: those of mean size, and a deviation of the sum of so many."""
    expected = max(0, missing) * head.messages // max(1, head.tokens)
    return min(_LARGEST_PAGE, max(_FIRST_PAGE, expected + isqrt(expected)))


async def _read_kept(store: ContextStore, head: Head, before_tail: list[Entry], first: Entry, floor: int) -> tuple[Entry, ...]:
    """What of the entries after `floor` and before `first` may outlive others: as `outliving` says, read piece by piece.

    Those right `before_tail` were read with it.
    """
    known = {entry.seq: entry for entry in before_tail}
    found: dict[int, Entry] = {}
    before = first.seq
    while True:
        page = await store.read(head.session_id, after=floor, before=before, limit=_MARKED_PAGE, marked=True, epoch=head.epoch)
        found.update((entry.seq, entry) for entry in page)
        if len(page) < _MARKED_PAGE:
            break
        before = page[0].seq
    for entry in list(found.values()):
        if in_step(entry):
            after, end = max(floor, entry.seq - STEP_REACH), min(entry.seq + STEP_REACH, first.seq)
            near = await store.read(head.session_id, after=after, before=end, limit=2 * STEP_REACH, epoch=head.epoch)
            found.update((other.seq, other) for other in rest_of_step(entry, near))
    for turn in {entry.turn for entry in (*found.values(), first)}:
        if turn in known:
            found[turn] = known[turn]
        elif floor < turn < first.seq and turn not in found:
            page = await store.read(head.session_id, after=turn - 1, before=turn + 1, limit=1, epoch=head.epoch)
            found.update((entry.seq, entry) for entry in page)
    return outliving([found[seq] for seq in sorted(found) if found[seq].message.in_conversation], first)
