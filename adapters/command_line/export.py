"""`contextport export`: a session's epoch as text for people or as JSON: queue, summaries, facts and transitions (R35)."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, TextIO

from contextport.adapters.managers.lineage import Lineage, entries_of_epoch, fold_group, lineage
from contextport.adapters.managers.session_state import SessionState
from contextport.contracts import Entry, FoldRecord, Head, Kind, to_chat

from .export_text import SECTIONS, heading_text, text_lines
from .mode_lines import change_of, plain_text
from .read_only_log import ReadOnlyLog, known_session, opened
from .terminal import Terminal

__all__ = ["export"]

Dict = dict[str, Any]


async def export(options: argparse.Namespace, stdin: TextIO, terminal: Terminal) -> None:
    """Everything that the log knows of one epoch. Of the messages one page is held at a time."""
    async with opened(options.database) as store:
        head = await known_session(store, options.database, options.session)
        chosen = await lineage(store, options.session, epoch=options.epoch)
        exported = _Exported(store, head, chosen)
        await (_write_json if options.json else _write_text)(exported, terminal)


class _Exported:
    """The sections of an export, each a stream of JSON objects; `transitions` is known once `messages` was read."""

    def __init__(self, store: ReadOnlyLog, head: Head, chosen: Lineage) -> None:
        self._store = store
        self._head = head
        self._lineage = chosen
        self._transitions: list[Dict] = []

    @property
    def about(self) -> Dict:
        """What was exported."""
        chosen, usage = self._lineage, self._lineage.usage
        now = SessionState.of(self._head).mode if chosen.epoch == self._head.epoch else None
        return {
            "session_id": chosen.session_id,
            "epoch": chosen.epoch,
            "epochs": self._head.epoch,
            "mode": None if now is None or now.mode is None else str(now.mode),
            "control": None if now is None or now.control is None else str(now.control),
            "folds": len(chosen.folds),
            "tokens_saved": chosen.tokens_saved,
            "input_tokens": 0 if usage is None else usage.input_tokens,
            "output_tokens": 0 if usage is None else usage.output_tokens,
        }

    @property
    def sections(self) -> dict[str, Callable[[], AsyncIterator[Dict]]]:
        """The sections by name, in the order in which they are to be read."""
        return dict(zip(SECTIONS, (self.messages, self.summaries, self.facts, self.transitions), strict=True))

    async def messages(self) -> AsyncIterator[Dict]:
        """What was said, in order."""
        first = last = 0
        async for entry in entries_of_epoch(self._store, self._head, self._lineage.epoch):
            first, last = first or entry.seq, entry.seq
            if entry.message.in_conversation:
                yield self._message(entry)
            elif (transition := self._transition(entry)) is not None:
                self._transitions.append(transition)
        self._note_bounds(first, last)

    async def summaries(self) -> AsyncIterator[Dict]:
        """The committed summaries, oldest first, each with what it stands for."""
        chosen = self._lineage
        origins = {fold.summary_id: (fold.seq, fold.origin) for fold in chosen.folds}
        for coverage in chosen.summaries:
            seq, origin = origins[coverage.summary_id]
            _, entry, _ = await fold_group(self._store, chosen.session_id, chosen.epoch, seq)
            yield {
                "id": coverage.summary_id,
                "fold": seq,
                "tokens": 0 if entry is None else entry.tokens,
                "origin": origin,
                "covers": {"first": coverage.span.first, "last": coverage.span.last, "kept": sorted(coverage.kept)},
                "folded_here": {"first": coverage.own.first, "last": coverage.own.last},
                "messages": coverage.messages,
                "message_tokens": coverage.tokens,
                "takes_over": coverage.earlier,
                "replaced_by": None if entry is None else chosen.replaced_by(entry.seq),
                "text": "" if entry is None else entry.message.text,
            }

    async def facts(self) -> AsyncIterator[Dict]:
        """The facts of the newest fold, in the order in which they were first said."""
        for fact in self._lineage.ledger.facts:
            yield fact.as_json()

    async def transitions(self) -> AsyncIterator[Dict]:
        """Everything that changed what windows begin with, in order."""
        for transition in self._transitions:
            yield transition

    def _message(self, entry: Entry) -> Dict:
        message = entry.message
        return {
            "seq": entry.seq,
            "at": entry.at,
            "turn": entry.turn,
            "tokens": entry.tokens,
            "counter": entry.counter,
            "id": message.id,
            "kind": str(message.kind),
            "pinned": message.pinned,
            "importance": int(message.importance),
            "replaced_by": self._lineage.replaced_by(entry.seq),
            "chat": to_chat([message]),
        }

    def _transition(self, entry: Entry) -> Dict | None:
        message, head = entry.message, {"seq": entry.seq, "at": entry.at}
        if message.kind is Kind.SYSTEM_PROMPT:
            return {"transition": "system_prompt", **head, "tokens": entry.tokens, "text": message.text}
        if message.kind is not Kind.RECORD:
            return None
        if (told := change_of(message)) is not None:
            return {**told, "transition": "mode", **head}
        if "fold" not in message.metadata:
            return {"transition": "record", **head, "text": plain_text(message), "metadata": dict(message.metadata)}
        return {"transition": "fold", **head, **self._fold(FoldRecord.from_message(message, entry.seq))}

    def _fold(self, record: FoldRecord) -> Dict:
        folds = self._lineage.folds
        uncertain = not self._lineage.is_certain and record.seq == (folds[-1].seq if folds else 0)
        committed = record.seq in {fold.seq for fold in folds}
        return {
            "committed": None if uncertain else committed,
            "summary": record.summary_id,
            "facts": record.facts_id,
            "previous": record.previous,
            "covers": {"first": record.first, "last": record.through, "kept": list(record.kept)},
            "messages": record.messages,
            "message_tokens": record.tokens,
            "shortened": [message.id for message in record.rewritten],
            "shortening_saved": record.rewriting_saved,
            "tokens_before": record.tokens_before,
            "tokens_after": record.tokens_after,
            "reason": record.reason,
            "origin": record.origin,
            "refused": list(record.faults),
            "input_tokens": 0 if record.usage is None else record.usage.input_tokens,
            "output_tokens": 0 if record.usage is None else record.usage.output_tokens,
        }

    def _note_bounds(self, first: int, last: int) -> None:
        """An epoch begins with its session, or where the one before was cleared; it ends where it is cleared itself."""
        epoch = self._lineage.epoch
        self._transitions.insert(0, {"transition": "begin", "epoch": epoch, "first": first})
        if epoch < self._head.epoch:
            self._transitions.append({"transition": "clear", "epoch": epoch, "last": last})


async def _write_text(exported: _Exported, terminal: Terminal) -> None:
    terminal.write_line(terminal.heading(heading_text(exported.about), terminal.out))
    for name, items in exported.sections.items():
        terminal.write_line(f"\n{terminal.heading(name, terminal.out)}")
        count = 0
        async for item in items():
            count += 1
            for line in text_lines(name, item):
                terminal.write_line(line)
        if not count:
            terminal.write_line("  none")


async def _write_json(exported: _Exported, terminal: Terminal) -> None:
    """One object, a line for each item, so that it can be read by a program and by line tools."""
    about = json.dumps(exported.about, ensure_ascii=False)
    terminal.write_line(about.removesuffix("}") + ",")
    names = list(exported.sections)
    for name, items in exported.sections.items():
        before: str | None = None
        terminal.write_line(f'"{name}": [')
        async for item in items():
            if before is not None:
                terminal.write_line(f"{before},")
            before = json.dumps(item, ensure_ascii=False)
        if before is not None:
            terminal.write_line(before)
        terminal.write_line("]" if name == names[-1] else "],")
    terminal.write_line("}")
