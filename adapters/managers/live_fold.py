"""The fold that a session's windows begin with, as read from its log."""

from __future__ import annotations

import asyncio

from attrs import define, field

from contextport.contracts import (
    ContextStore,
    Entry,
    FoldRecord,
    Head,
    Json,
    Kind,
    Message,
    StoreCorrupt,
    TokenCounter,
    ledger_of,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies.facts import FactIndex

from .session_state import SessionState

__all__ = ["LiveFold", "read_live_fold"]

_MANY_FACTS = 400  # reading so many takes about 20 ms


@define(kw_only=True)
class LiveFold:
    """A fold's record, and the entries of its summary and its facts. `standing` are the earlier entries that it left."""

    record: FoldRecord
    memory: tuple[Entry, ...]
    standing: tuple[Entry, ...] = ()
    tokens: int = 0
    rewritten: dict[str, Message] = field(init=False)
    _index: FactIndex | None = field(init=False, default=None, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.rewritten = {message.id: message for message in self.record.rewritten}

    @property
    def messages(self) -> list[Message]:
        """Summary and facts, in the order of the window."""
        return [entry.message for entry in self.memory]

    @property
    def summary(self) -> Message | None:
        """The live summary."""
        return next((message for message in self.messages if message.kind is Kind.SUMMARY), None)

    @property
    def known(self) -> list[Message]:
        """Summary and facts as a strategy is shown them: with a message of facts also where the window has no room for one."""
        if not self.record.ledger.facts:
            return self.messages
        metadata: dict[str, Json] = {"ledger": self.record.ledger.as_json()}
        return [*self.messages, Message(role="user", id="facts", kind=Kind.FACTS, parts=(), metadata=metadata)]

    async def index(self) -> FactIndex:
        """The facts known up to the fold, made ready for questions when the first is asked.

        Many in a thread: 2,048 facts that this process has not read yet take about 0.1 s.
        """
        if self._index is None:
            facts = next((message for message in self.messages if message.kind is Kind.FACTS), None)
            count = len(self.record.ledger.facts if facts is None else facts.metadata.get("ledger", ()))
            self._index = await asyncio.to_thread(self._read_index, facts) if count > _MANY_FACTS else self._read_index(facts)
        return self._index

    def _read_index(self, facts: Message | None) -> FactIndex:
        return FactIndex(self.record.ledger if facts is None else ledger_of(facts))


async def read_live_fold(store: ContextStore, head: Head, state: SessionState, counter: TokenCounter) -> LiveFold | None:
    """The live fold of the session, or None. Raises `StoreCorrupt` when the log does not have what the state names."""
    place = state.fold
    if place is None:
        return None
    group = await store.read(
        head.session_id, after=place.seq - 1, before=place.seq + place.entries, limit=place.entries, epoch=head.epoch
    )
    if len(group) != place.entries:
        raise StoreCorrupt(f"the log of session {head.session_id!r} lacks the fold at entry {place.seq}")
    record = FoldRecord.from_message(group[0].message, group[0].seq)
    standing: list[Entry] = []
    for first, last in _runs(record.kept):
        standing += await store.read(head.session_id, after=first - 1, before=last + 1, limit=last - first + 1, epoch=head.epoch)
    memory = group[1:]
    return LiveFold(
        record=record,
        memory=memory,
        standing=tuple([entry for entry in standing if entry.message.in_conversation]),
        tokens=total_tokens([entry.message for entry in memory], counter),
    )


def _runs(seqs: tuple[int, ...]) -> list[tuple[int, int]]:
    """The numbers as runs of neighbours: (first, last)."""
    runs: list[tuple[int, int]] = []
    for seq in seqs:
        if runs and seq == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], seq)
        else:
            runs.append((seq, seq))
    return runs
