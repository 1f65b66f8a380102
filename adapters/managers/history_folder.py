"""Folds for good: read what is old, have it folded, keep its facts, put the fold in the log, and make it the live one.

The order is the one that a crash cannot harm: long-term memory, then the log, then the session's state by compare-and-set. What
was written before a crash or a lost race is never looked at again; nothing that was said is changed by any of it (R33).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum, auto

import attrs
from attrs import define, frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    ContextStore,
    Draft,
    Entry,
    EventKind,
    FactLedger,
    Fold,
    FoldRecord,
    FoldsHistory,
    Head,
    Json,
    KeepsLatest,
    KeepsPins,
    Kind,
    LongTermMemory,
    MemoryScope,
    Message,
    StateConflict,
    TokenCounter,
    Usage,
    message_tokens,
    new_id,
    provides,
    verify,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies import arrange
from contextport.strategies.folding import Prices
from contextport.strategies.memory_flush import flush_entries

from .fold_check import broken_fold_rule
from .kept_pins import Pins, pins_to_keep
from .live_fold import LiveFold, read_live_fold
from .result_check import broken_rule
from .session_state import FoldPlace, SessionState
from .session_window import note_sizes

__all__ = ["FoldOutcome", "FoldTask", "HistoryFolder"]

Report = Callable[[EventKind, dict[str, Json]], None]

_PAGE = 256  # seqs looked at in one read
_CHUNK = 2  # a fold reads at least so many limits' worth of tokens, if there are that many
_FLUSH_SECONDS = 10.0  # how long a fold waits for the long-term memory
_STATE_TRIES = 100  # lost races against other changes of the state before a fold gives up


@frozen(kw_only=True)
class FoldTask:
    """What is asked for: a window of `session_id` well below `limit` counted tokens; `reason` is a code.

    `after` is what the fold was decided on, as epoch and record of the fold before (0 for none); None for any. `keep` is how many
    of the newest messages stay, where it is not what the strategy would keep.
    """

    session_id: str
    limit: int
    reason: str = ""
    after: tuple[int, int] | None = None
    keep: int | None = None


class FoldOutcome(Enum):
    """What came of a task."""

    FOLDED = auto()
    OVERTAKEN = auto()  # by another fold, or a clear: the session is another than the one that was to be folded
    NOTHING = auto()


@define(kw_only=True)
class _Given:
    """What a strategy is shown: `entries` of the log in `messages`, after the prompt and the fold so far. `more` are left.

    `shown` are the messages of the entries by seq, in the form that windows have; `system` is the size of the prompt. With `raw`,
    the entries begin with the epoch, and no summary is among the messages.
    """

    messages: list[Message]
    entries: tuple[Entry, ...]
    shown: dict[int, Message]
    system: int
    raw: bool
    more: bool


@frozen(kw_only=True)
class HistoryFolder:
    """Makes folds. It holds nothing: any number of folders, in any number of processes, may work on one session."""

    store: ContextStore
    counter: TokenCounter
    strategy: CompressionStrategy
    clock: Callable[[], float]
    prices: Prices
    memory: LongTermMemory | None = None
    scope_of: Callable[[str], MemoryScope]

    def __attrs_post_init__(self) -> None:
        verify(self.strategy, FoldsHistory)
        if self.memory is not None:
            verify(self.memory, LongTermMemory)

    async def fold(self, task: FoldTask, report: Report) -> FoldOutcome:
        """Fold what the task asks for. When nothing was folded, an event says why, unless the task was out of date."""
        folded = False
        while True:
            head = await self.store.head(task.session_id)
            state = SessionState.of(head)
            if not folded and task.after not in (None, _place(head, state)):
                return FoldOutcome.OVERTAKEN
            live = await read_live_fold(self.store, head, state, self.counter)
            given = await self._given(head, state, live, task)
            outcome = await self._fold_once(head, state, live, given, task, report)
            folded = folded or outcome is FoldOutcome.FOLDED
            if outcome is not FoldOutcome.FOLDED or not given.more:
                return FoldOutcome.FOLDED if folded else outcome

    async def _given(self, head: Head, state: SessionState, live: LiveFold | None, task: FoldTask) -> _Given:
        """What the strategy is shown: all raw messages if they are within its reach (R122), else the fold and what came after."""
        reach = self.strategy.reach if provides(self.strategy, FoldsHistory) else 0
        chunk = max(reach, _CHUNK * task.limit)
        raw = live is None or head.tokens <= reach
        floor = 0 if live is None or raw else live.record.through
        read, more = await self._read_from(head, floor, chunk)
        entries = tuple(read) if live is None or raw else (*live.standing, *read)
        through = 0
        if live is not None:
            note_sizes((*live.memory, *live.standing), self.counter)
            through = live.record.through if raw else 0
        forms = {} if live is None else live.rewritten
        shown = {e.seq: forms.get(e.message.id, e.message) if e.seq > through else e.message for e in entries}
        memory = [] if live is None else [m for m in live.known if not (raw and m.kind is Kind.SUMMARY)]
        prompt = [] if state.prompt is None else [state.prompt]
        return _Given(
            messages=[*prompt, *memory, *arrange(list(shown.values()))],
            entries=entries,
            shown=shown,
            system=total_tokens(prompt, self.counter),
            raw=raw,
            more=more,
        )

    async def _read_from(self, head: Head, floor: int, size: int) -> tuple[list[Entry], bool]:
        """The oldest conversation entries after `floor`, up to about `size` tokens, and whether there are more."""
        entries: list[Entry] = []
        tokens = 0
        while floor < head.last_seq:
            end = min(floor + _PAGE, head.last_seq)
            page = await self.store.read(head.session_id, after=floor, before=end + 1, limit=_PAGE, epoch=head.epoch)
            note_sizes(page, self.counter)
            said = [entry for entry in page if entry.message.in_conversation]
            entries += said
            tokens += total_tokens([entry.message for entry in said], self.counter)
            floor = end
            if tokens > size:
                break
        return entries, floor < head.last_seq

    async def _fold_once(
        self, head: Head, state: SessionState, live: LiveFold | None, given: _Given, task: FoldTask, report: Report
    ) -> FoldOutcome:
        strategy = self.strategy
        pins = Pins() if provides(strategy, KeepsPins) else pins_to_keep(given.messages, self.counter, task.limit)
        shown = pins.beside(given.messages)
        size = total_tokens(shown, self.counter)
        if size < 2:
            return FoldOutcome.NOTHING
        if task.keep is not None and provides(strategy, KeepsLatest):
            strategy = strategy.keeping(task.keep)
        result = await strategy.compress(shown, max(0, min(task.limit - pins.tokens, size - 1)))
        fold = result.fold
        if fold is None:
            report(EventKind.FOLD_FAILED, {"reason": result.reason, "tokens": size})
            return FoldOutcome.NOTHING
        for fault in fold.faults:
            report(EventKind.SUMMARY_REFUSED, {"fault": fault.partition(":")[0]})
        rule = broken_rule(shown, result, self._most(result), self.counter) or broken_fold_rule(shown, result, fold)
        if rule:
            report(EventKind.STRATEGY_FAILED, {"strategy": type(self.strategy).__name__, "rule": rule, "error": ""})
            return FoldOutcome.NOTHING
        record, group = self._record(live, given, fold, task)
        if record.tokens_after >= record.tokens_before:
            self._report_waste(report, "nothing would be gained", record)
            return FoldOutcome.NOTHING
        state = await self._flushed(head, state, record.through, report)
        if not await self._commit(head, state, group):
            self._report_waste(report, "another fold came first", record)
            return FoldOutcome.OVERTAKEN
        report(EventKind.HISTORY_FOLDED, _figures(record, fold, task) | self._spent(fold.usage))
        return FoldOutcome.FOLDED

    def _report_waste(self, report: Report, reason: str, record: FoldRecord) -> None:
        """Say that a fold was made for nothing, and what it took."""
        report(EventKind.FOLD_FAILED, {"reason": reason, "tokens": record.tokens_before, **self._spent(record.usage)})

    def _spent(self, usage: Usage | None) -> dict[str, Json]:
        """What models took for summaries, in tokens, and what that costs in uncached input tokens of the answering model."""
        took = Usage() if usage is None else usage
        cost = round(self.prices.summary_cost(took), 1)
        return {"input_tokens": took.input_tokens, "output_tokens": took.output_tokens, "cost": cost}

    def _most(self, result: Compression) -> int:
        """A size that any result keeps to: what a window takes is looked at when it is made."""
        return max(result.tokens, total_tokens(result.messages, self.counter))

    def _record(self, live: LiveFold | None, given: _Given, fold: Fold, task: FoldTask) -> tuple[FoldRecord, list[Message]]:
        """The fold as the log keeps it: its record, and the messages that go in with it."""
        old = FoldRecord() if live is None else live.record
        base = FoldRecord() if given.raw else old
        gone, left = _parted(given, fold, old.through)
        through = max([old.through, *(entry.seq for entry in gone)])
        forms = {entry.seq: given.shown[entry.seq] for entry in left} | _places_of(fold.rewritten, left)
        rewritten = [(entry, forms[entry.seq]) for entry in left if forms[entry.seq] is not entry.message]
        memory = [attrs.evolve(m, id=new_id()) for m in (fold.summary, fold.facts) if m is not None]
        window = [entry for entry in given.entries if entry.seq > old.through or entry.seq in old.kept]
        sources = {source for fact in fold.ledger.facts for source in fact.sources}
        seqs = {entry.message.id: entry.seq for entry in given.entries}
        record = FoldRecord(
            previous=old.seq,
            first=min([entry.seq for entry in gone] + [old.first] * (old.first > 0), default=0),
            through=through,
            messages=base.messages + len(gone),
            tokens=base.tokens + sum([entry.tokens for entry in gone]),
            kept=tuple([entry.seq for entry in left if entry.seq <= through]),
            summary_id=next((m.id for m in memory if m.kind is Kind.SUMMARY), None),
            facts_id=next((m.id for m in memory if m.kind is Kind.FACTS), None),
            rewritten=tuple([form for _, form in rewritten]),
            rewriting_saved=sum([entry.tokens - message_tokens(form, self.counter) for entry, form in rewritten]),
            tokens_before=given.system
            + (0 if live is None else live.tokens)
            + total_tokens([given.shown[entry.seq] for entry in window], self.counter),
            tokens_after=given.system + total_tokens([*memory, *forms.values()], self.counter),
            reason=task.reason,
            origin=fold.origin,
            faults=fold.faults,
            usage=fold.usage,
            usage_so_far=_added(old.usage_so_far, fold.usage),
            ledger=FactLedger() if fold.facts is not None else fold.ledger,
            places={id: place for id, place in {**old.places, **seqs}.items() if id in sources},
        )
        covers = {"covers": {"first": record.first, "through": through, "messages": record.messages}}
        group = [attrs.evolve(m, metadata={**m.metadata, **covers}) if m.kind is Kind.SUMMARY else m for m in memory]
        return record, [record.as_message(new_id()), *group]

    async def _flushed(self, head: Head, state: SessionState, through: int, report: Report) -> SessionState:
        """The state after the facts of all messages up to `through` went to long-term memory; as it was if that failed."""
        if self.memory is None:
            return state
        floor = state.flushed[1] if state.flushed[0] == head.epoch else 0
        new = 0
        while floor < through:
            end = min(floor + _PAGE, through)
            page = await self.store.read(head.session_id, after=floor, before=end + 1, limit=_PAGE, epoch=head.epoch)
            said = [entry for entry in page if entry.message.in_conversation]
            try:
                async with asyncio.timeout(_FLUSH_SECONDS):
                    scope = self.scope_of(head.session_id)
                    new += await flush_entries(self.memory, scope, said, session_id=head.session_id)
            except Exception as error:  # a memory is foreign code: the fold goes on, what is missing goes with the next one
                report(EventKind.MEMORY_FAILED, {"error": type(error).__name__, "from": floor + 1, "through": through})
                break
            floor = end
        if new:
            report(EventKind.MEMORY_FLUSHED, {"messages": new, "through": floor})
        return attrs.evolve(state, flushed=(head.epoch, floor))

    async def _commit(self, head: Head, state: SessionState, group: Sequence[Message]) -> bool:
        """Put the fold in the log and make it the live one. False if another fold, or a clear, came first."""
        if _moved(head, await self.store.head(head.session_id)):
            return False
        entries = await self.store.append(head.session_id, [self._draft(message) for message in group])
        if entries[0].epoch != head.epoch:
            return False
        place = FoldPlace(epoch=head.epoch, seq=entries[0].seq, entries=len(entries), incarnation=head.incarnation)
        for _ in range(_STATE_TRIES):
            now = await self.store.head(head.session_id)
            if _moved(head, now):
                if now.incarnation != head.incarnation and now.last_seq == len(entries):  # it was purged, and has these alone
                    await self.store.purge(head.session_id)
                return False
            changed = attrs.evolve(SessionState.of(now), fold=place, flushed=state.flushed)
            try:
                await self.store.put_state(head.session_id, changed.dump(), expected=now.state_version)
            except StateConflict:
                continue
            return True
        return False

    def _draft(self, message: Message) -> Draft:
        tokens = message_tokens(message, self.counter)
        return Draft(message=message, tokens=tokens, counter=self.counter.name, at=self.clock())


def _moved(then: Head, now: Head) -> bool:
    """Whether the session was folded, cleared or made anew since."""
    return now.incarnation != then.incarnation or _place(now, SessionState.of(now)) != _place(then, SessionState.of(then))


def _place(head: Head, state: SessionState) -> tuple[int, int]:
    """The epoch and the record of its live fold, 0 for none."""
    return head.epoch, 0 if state.fold is None else state.fold.seq


def _parted(given: _Given, fold: Fold, through: int) -> tuple[list[Entry], list[Entry]]:
    """The entries that the fold covers, with those before its end that have no place in any window, and the others."""
    arranged, covers = {message.id for message in given.messages}, set(fold.covers)
    end = max([through, *(entry.seq for entry in given.entries if entry.message.id in covers)])
    gone: list[Entry] = []
    left: list[Entry] = []
    for entry in given.entries:
        id = entry.message.id
        (gone if id in covers or (id not in arranged and entry.seq <= end) else left).append(entry)
    return gone, left


def _places_of(messages: Sequence[Message], entries: Sequence[Entry]) -> dict[int, Message]:
    """The messages by the seq of the entry with the same id."""
    by_id = {message.id: message for message in messages}
    return {entry.seq: by_id[entry.message.id] for entry in entries if entry.message.id in by_id}


def _added(one: Usage | None, other: Usage | None) -> Usage | None:
    return other if one is None else one if other is None else one + other


def _figures(record: FoldRecord, fold: Fold, task: FoldTask) -> dict[str, Json]:
    return {
        "reason": task.reason,
        "covered": len(fold.covers),
        "through": record.through,
        "rewritten": len(record.rewritten),
        "tokens_before": record.tokens_before,
        "tokens_after": record.tokens_after,
        "origin": fold.origin,
        "refused": len(fold.faults),
    }
