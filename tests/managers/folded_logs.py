"""Logs with folds in them, written entry by entry as a manager leaves them, without one."""

from __future__ import annotations

import json
from collections.abc import Collection

import attrs
from attrs import define, field

from contextport.contracts import ContextStore, Draft, Fact, FactKind, FactLedger, FoldRecord, Kind, Message, Usage

SESSION = "session"


@define(kw_only=True)
class FoldedLog:
    """Writes one session. Messages are named by their seq: `m1`, `m2`. `last_said` is the seq of the newest."""

    store: ContextStore
    session_id: str = SESSION
    last_said: int = 0
    _live: int = field(init=False, default=0)
    _epoch: int = field(init=False, default=1)

    async def say(self, count: int, *, pinned: Collection[int] = ()) -> None:
        """Add that many messages, user and assistant in turn."""
        first = (await self.store.head(self.session_id)).last_seq + 1
        drafts = [_draft(_said(seq, pinned=seq in pinned)) for seq in range(first, first + count)]
        self.last_said = (await self.store.append(self.session_id, drafts))[-1].seq

    async def fold(
        self,
        *,
        through: int,
        summary: str | None,
        kept: tuple[int, ...] = (),
        first: int = 0,
        known: tuple[str, ...] = (),
        facts: bool = True,
        commit: bool = True,
        reason: str = "",
        faults: tuple[str, ...] = (),
        usage: Usage | None = None,
    ) -> None:
        """Add a fold of all that was said up to `through`; without `commit` the state does not learn of it."""
        head = await self.store.head(self.session_id)
        epoch = await self.store.read(self.session_id, limit=1_000_000)
        covered = [e for e in epoch if e.seq <= through and e.seq not in kept and e.message.in_conversation]
        record = FoldRecord(
            previous=self._live if self._epoch == head.epoch else 0,
            first=first or epoch[0].seq,
            through=through,
            messages=len(covered),
            tokens=sum(entry.tokens for entry in covered),
            kept=kept,
            summary_id=summary,
            facts_id=f"{summary} facts" if facts else None,
            tokens_before=100,
            tokens_after=40,
            reason=reason,
            origin="extractive",
            faults=faults,
            usage=usage,
        )
        await self.write(record, known=known, commit=commit)

    async def write(self, record: FoldRecord, *, known: tuple[str, ...] = (), commit: bool = True) -> None:
        """Add a fold with that record, and messages next to it as it names them."""
        head = await self.store.head(self.session_id)
        ledger = FactLedger(tuple(Fact(kind=FactKind.IDENTIFIER, text=text, label="order", sources=("m1",)) for text in known))
        group = [record.as_message(f"record after {head.last_seq}")]
        if record.summary_id is not None:
            text = f"[Conversation summary]\nWhat {record.summary_id} says"
            group.append(Message.user(text, id=record.summary_id, kind=Kind.SUMMARY))
        if record.facts_id is not None:
            facts = Message.user(" ".join(known) or "none", id=record.facts_id, kind=Kind.FACTS)
            group.append(attrs.evolve(facts, metadata={"ledger": ledger.as_json()}))
        entries = await self.store.append(self.session_id, [_draft(message) for message in group])
        if commit:
            held = json.loads(head.state or '{"prompt": null}')
            held["fold"] = {"epoch": head.epoch, "seq": entries[0].seq, "entries": len(entries)}
            await self.store.put_state(self.session_id, json.dumps(held), expected=head.state_version)
            self._live, self._epoch = entries[0].seq, head.epoch


def _said(seq: int, *, pinned: bool) -> Message:
    text = f"What was said as number {seq}"
    return Message.user(text, id=f"m{seq}", pinned=pinned) if seq % 2 else Message.assistant(text, id=f"m{seq}", pinned=pinned)


def _draft(message: Message) -> Draft:
    return Draft(message=message, tokens=len(message.text.split()), counter="words", at=1_700_000_000.0)
