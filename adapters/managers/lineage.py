"""Which summary stands for which messages: walked along the log, from the live fold back to the raw messages (R31 to R36)."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any, cast

from attrs import field, frozen

from contextport.contracts import (
    ContextStore,
    Entry,
    FactLedger,
    FoldRecord,
    Head,
    InvalidArgument,
    Kind,
    Span,
    StoreCorrupt,
    Usage,
    ledger_of,
)

from .message_intake import check_session

__all__ = ["Coverage", "Lineage", "entries_of_epoch", "fold_group", "lineage"]

_PAGE = 256
_GROUP = 3  # a record, its summary, its facts


@frozen(kw_only=True)
class Coverage:
    """What a summary stands for: the `messages` said in the entries of `span`, of `tokens` tokens, without those in `kept`.

    `kept` are messages of the span that stay in windows as they are, such as pinned ones, by their seq. This summary is the first
    to cover the entries of `own`, and those that were `released`: the fold before kept them, and this one does not. The rest it
    took over from the summary `earlier`. Entries of a span that are no part of the conversation, such as older folds, are not
    counted.
    """

    summary_id: str
    span: Span
    own: Span
    earlier: str | None
    kept: frozenset[int]
    released: frozenset[int]
    messages: int
    tokens: int

    def __contains__(self, seq: int) -> bool:
        return self.span.first <= seq <= self.span.last and seq not in self.kept


@frozen(kw_only=True)
class Lineage:
    """The committed folds of one epoch, oldest first, and what follows from them.

    `ledger` holds the facts of the newest fold. Where `is_certain` is false, the newest fold may have lost a race: the epoch is
    over and the state names its folds no more, so the log alone does not tell which of the last records was committed.
    """

    session_id: str
    epoch: int
    folds: tuple[FoldRecord, ...] = ()
    ledger: FactLedger = field(factory=FactLedger)
    is_certain: bool = True
    _coverages: tuple[Coverage, ...] = field(init=False, repr=False, eq=False)
    _successors: dict[int, str | None] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        # frozen: attrs' own way to set what follows from the other fields
        object.__setattr__(self, "_coverages", _coverages_of(self.folds))
        object.__setattr__(self, "_successors", _successors_of(self.folds))

    @property
    def summaries(self) -> tuple[Coverage, ...]:
        """The summaries of the folds, oldest first: a fold may have none, if it only shortened results."""
        return self._coverages

    @property
    def live(self) -> Coverage | None:
        """The summary that stands in windows now."""
        return self._coverages[-1] if self._coverages else None

    @property
    def tokens_saved(self) -> int:
        """By how much all folds together made the window smaller, each at its time."""
        return sum(fold.tokens_before - fold.tokens_after for fold in self.folds)

    @property
    def usage(self) -> Usage | None:
        """What models took for all folds; None if none was asked or none said it."""
        reported = [fold.usage for fold in self.folds if fold.usage is not None]
        return sum(reported[1:], start=reported[0]) if reported else None

    def covers(self, summary_id: str) -> Coverage:
        """What the summary stands for. Raises `InvalidArgument` for one that is not among the folds."""
        for coverage in self._coverages:
            if coverage.summary_id == summary_id:
                return coverage
        raise InvalidArgument(
            f"epoch {self.epoch} of session {self.session_id!r} has no committed summary {summary_id!r}",
            name="summary_id",
            value=summary_id,
        )

    def replaced_by(self, seq: int) -> str | None:
        """The id of the summary that took the place of entry `seq`: the first that covered it, or a summary's own successor.

        None for what no fold reached, for what folds left standing, such as a pinned message, and for the live summary. For the
        facts of a fold it is the id of the facts that took their place.
        """
        if seq in self._successors:
            return self._successors[seq]
        start = bisect_left(self._coverages, seq, key=lambda one: one.span.last)
        return next((one.summary_id for one in self._coverages[start:] if seq in one), None)

    async def messages_of(self, store: ContextStore, summary_id: str) -> AsyncIterator[Entry]:
        """The raw messages that the summary stands for, oldest first. One page of them is held at a time."""
        covered = self.covers(summary_id)
        async for entry in _entries(store, self.session_id, self.epoch, covered.span):
            if entry.message.in_conversation and entry.seq in covered:
                yield entry


async def lineage(store: ContextStore, session_id: str, *, epoch: int | None = None) -> Lineage:
    """The lineage of a session's epoch, the current one unless named. It reads the folds, not the messages.

    Raises `InvalidArgument` for an epoch that the session does not have, `StoreCorrupt` when the state points to no fold.
    """
    check_session(session_id)
    head = await store.head(session_id)
    chosen = head.epoch if epoch is None else epoch
    if not isinstance(chosen, int) or not 1 <= chosen <= head.epoch:
        raise InvalidArgument(
            f"epoch is {chosen!r}; session {session_id!r} has the epochs 1 to {head.epoch}", name="epoch", value=chosen
        )
    live_epoch, live_seq = _live_fold(head)
    if chosen < head.epoch and (chosen < live_epoch or not live_epoch):
        return await _lineage_without_pointer(store, head, chosen)
    folds = await _chain(store, session_id, chosen, live_seq) if chosen == live_epoch else ()
    return await _lineage_of(store, session_id, chosen, folds, is_certain=True)


async def fold_group(store: ContextStore, session_id: str, epoch: int, seq: int) -> tuple[FoldRecord, Entry | None, Entry | None]:
    """The fold whose record is entry `seq`, with the entries of its own summary and facts.

    Raises `StoreCorrupt` if there is no such fold.
    """
    group = await store.read(session_id, after=seq - 1, before=seq + _GROUP, limit=_GROUP, epoch=epoch)
    if not group or group[0].seq != seq or group[0].message.kind is not Kind.RECORD:
        raise StoreCorrupt(f"entry {seq} of session {session_id!r}, epoch {epoch}, is no record of a fold")
    record = FoldRecord.from_message(group[0].message, seq)
    beside = {entry.message.id: entry for entry in group[1:]}
    return record, beside.get(record.summary_id or ""), beside.get(record.facts_id or "")


async def entries_of_epoch(store: ContextStore, head: Head, epoch: int) -> AsyncIterator[Entry]:
    """All entries of an epoch in order. One page is held at a time."""
    async for entry in _entries(store, head.session_id, epoch, Span(1, head.last_seq)):
        yield entry


async def _entries(store: ContextStore, session_id: str, epoch: int, span: Span) -> AsyncIterator[Entry]:
    """seq has no holes over all epochs, so a page of so many numbers holds all entries with them."""
    for first in range(span.first, span.last + 1, _PAGE):
        before = min(first + _PAGE, span.last + 1)
        for entry in await store.read(session_id, after=first - 1, before=before, limit=_PAGE, epoch=epoch):
            yield entry


def _live_fold(head: Head) -> tuple[int, int]:
    """Epoch and record of the fold that the state points to, (0, 0) for none.

    A fold stays named after `clear` until the state is written again.
    """
    if not head.state:
        return 0, 0
    try:
        fold = cast(dict[str, Any], json.loads(head.state)).get("fold")
        return (0, 0) if fold is None else (int(fold["epoch"]), int(fold["seq"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreCorrupt(f"the state of session {head.session_id!r} cannot be read: {error}") from error


async def _chain(store: ContextStore, session_id: str, epoch: int, seq: int) -> tuple[FoldRecord, ...]:
    """The fold at `seq` and those before it, oldest first."""
    found: list[FoldRecord] = []
    while seq:
        record, _, _ = await fold_group(store, session_id, epoch, seq)
        if not 0 <= record.previous < seq:
            raise StoreCorrupt(f"the fold in entry {seq} names entry {record.previous} as the one before it")
        found.append(record)
        seq = record.previous
    return tuple(found[::-1])


async def _lineage_without_pointer(store: ContextStore, head: Head, epoch: int) -> Lineage:
    """The lineage of an epoch that the state no longer points into.

    A fold that another one names as the one before it was committed. The newest has no such witness: of several, the last is
    taken.
    """
    records: list[FoldRecord] = []
    first = 0
    async for entry in entries_of_epoch(store, head, epoch):
        first = first or entry.seq
        if entry.message.kind is Kind.RECORD and "fold" in entry.message.metadata:
            record = FoldRecord.from_message(entry.message, entry.seq)
            if not 0 < record.through < first:  # else a clear came between the fold's making and its record
                records.append(record)
    named = {record.previous for record in records}
    committed = max((seq for seq in named if seq), default=0)
    newest = max((record.seq for record in records if record.previous == committed), default=0)
    folds = await _chain(store, head.session_id, epoch, newest)
    return await _lineage_of(store, head.session_id, epoch, folds, is_certain=not records)


async def _lineage_of(
    store: ContextStore, session_id: str, epoch: int, folds: tuple[FoldRecord, ...], *, is_certain: bool
) -> Lineage:
    ledger = FactLedger()
    if folds and folds[-1].facts_id is None:
        ledger = folds[-1].ledger
    elif folds:
        _, _, facts = await fold_group(store, session_id, epoch, folds[-1].seq)
        ledger = ledger_of(None if facts is None else facts.message)
    return Lineage(session_id=session_id, epoch=epoch, folds=folds, ledger=ledger, is_certain=is_certain)


def _coverages_of(folds: tuple[FoldRecord, ...]) -> tuple[Coverage, ...]:
    found: list[Coverage] = []
    for fold in folds:
        if fold.summary_id is not None:
            found.append(_coverage_of(fold, fold.summary_id, found[-1] if found else None))
    return tuple(found)


def _coverage_of(fold: FoldRecord, summary_id: str, before: Coverage | None) -> Coverage:
    kept = frozenset(fold.kept)
    released = frozenset[int]() if before is None else before.kept - kept
    first = fold.first if before is None else min(fold.first, before.span.first, *released)
    return Coverage(
        summary_id=summary_id,
        span=Span(first, fold.through),
        own=Span(fold.first if before is None else before.span.last + 1, fold.through),
        earlier=None if before is None else before.summary_id,
        kept=kept,
        released=released,
        messages=fold.messages,
        tokens=fold.tokens,
    )


def _successors_of(folds: tuple[FoldRecord, ...]) -> dict[int, str | None]:
    """By the entries of summaries and facts: what took their place."""
    found: dict[int, str | None] = {}
    summaries = [(fold.seq + 1, fold.summary_id) for fold in folds if fold.summary_id is not None]
    facts = [(fold.seq + 1 + (fold.summary_id is not None), fold.facts_id) for fold in folds if fold.facts_id is not None]
    for chain in (summaries, facts):
        found.update((seq, after) for (seq, _), (_, after) in pairwise(chain))
        found.update((seq, None) for seq, _ in chain[-1:])
    return found
