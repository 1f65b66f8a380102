"""`contextport sessions`, `show` and `replay`: look into a SQLite log. Nothing is written to it."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TextIO

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.lineage import Lineage, entries_of_epoch, lineage
from contextport.adapters.managers.session_state import SessionMode, SessionState
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import (
    Budget,
    Context,
    Entry,
    FoldRecord,
    Head,
    InvalidArgument,
    Kind,
    Limits,
    Mode,
    Receipt,
    to_chat,
)
from contextport.strategies.modes import ModeMachine

from .choices import counter_named, strategy_named
from .conversation_files import BYTE_ORDER_MARK
from .lineage_tree import LineageTree
from .log_lines import entry_line, shown
from .mode_lines import ModeLines
from .read_only_log import ReadOnlyLog, known_session, opened
from .terminal import Terminal

__all__ = ["replay", "sessions", "show"]

_PAGE = 200
_WITHOUT_FOLDS = frozenset({Mode.ZERO_SHOT, Mode.FULL, Mode.RETRIEVAL})
_SEARCHED = frozenset({Mode.RETRIEVAL, Mode.HYBRID})


async def sessions(options: argparse.Namespace, stdin: TextIO, terminal: Terminal) -> None:
    """One line per session: id, messages, tokens, epoch."""
    async with opened(options.database) as store:
        terminal.write_line(terminal.heading(f"{'messages':>9} {'tokens':>9} {'epoch':>6}  session", terminal.out))
        async for head in _heads(store):
            terminal.write_line(f"{head.messages:>9,} {head.tokens:>9,} {head.epoch:>6}  {shown(head.session_id)}")


async def _heads(store: ReadOnlyLog) -> AsyncIterator[Head]:
    after = ""
    while page := await store.sessions(after=after, limit=_PAGE):
        for head in page:
            yield head
        after = page[-1].session_id


async def show(options: argparse.Namespace, stdin: TextIO, terminal: Terminal) -> None:
    """A session's log, its lineage, its modes, and the window that a model would get now; or the window's receipt alone.

    A past epoch has no window.
    """
    async with opened(options.database) as store:
        head = await known_session(store, options.database, options.session)
        chosen = await lineage(store, options.session, epoch=options.epoch)
        now = SessionState.of(head).mode if chosen.epoch == head.epoch else None
        context = await _window(store, options, now) if chosen.epoch == head.epoch else None
        if options.receipt:
            if context is None:
                raise InvalidArgument(f"epoch {chosen.epoch} is over; receipts are of epoch {head.epoch}", name="epoch")
            terminal.write_line(context.receipt.to_json())
            return
        await _write_log(store, head, chosen, context, now, terminal)
        if context is not None:
            mode = None if now is None else now.mode
            heading = f"window{'' if mode is None else f' of mode {mode}'}: {context.tokens:,} of {context.limit:,} tokens"
            terminal.write_line(terminal.heading(heading, terminal.out))
            summed = f"{context.folded_count:,} messages in the summary, " if context.folded_count else ""
            left_out = context.omitted_count - context.folded_count
            terminal.write_line(f"  {context.reason or 'everything fits'}; {summed}{left_out:,} messages left out")
            if mode in _SEARCHED:
                terminal.write_line("  without what a host's window has beside it: what a search finds for the newest question")
            terminal.write_messages(context.as_chat())


async def _window(store: ReadOnlyLog, options: argparse.Namespace, now: SessionMode | None) -> Context:
    """The window of the mode that the session is in; nothing is decided on, nor written."""
    counter = counter_named(options.counter)
    budget = Budget.from_limits(Limits(source="default")) if options.budget is None else Budget.of(options.budget)
    strategy = strategy_named(options.strategy, counter)
    if now is None or now.mode not in _WITHOUT_FOLDS:
        return await ContextEngine(store=store, counter=counter, strategy=strategy, budget=budget).get_context(options.session)
    moded = ContextEngine(store=store, counter=counter, strategy=strategy, budget=budget, modes=ModeMachine())
    return await moded.get_context(options.session, max_tokens=budget.usable_input)  # for one call, no mode is decided on


async def _write_log(
    store: ReadOnlyLog, head: Head, chosen: Lineage, context: Context | None, now: SessionMode | None, terminal: Terminal
) -> None:
    """Every entry in a line, then the lineage and the modes. What those tell of the entries is found on the way."""
    kept = {message.id for message in context.messages} if context else set[str]()
    shortened = {one.message_id for one in context.shortened} if context else set[str]()
    committed = {fold.seq for fold in chosen.folds}
    sizes: dict[str, int] = {}
    lost: list[FoldRecord] = []
    modes = ModeLines()
    terminal.write_line(terminal.heading(f"log of {shown(head.session_id)}, epoch {chosen.epoch}", terminal.out))
    terminal.write_line(_legend(context is not None, folded=bool(chosen.folds)))
    async for entry in entries_of_epoch(store, head, chosen.epoch):
        message = entry.message
        mark = "~" if message.id in shortened else "+" if message.id in kept else _covered(entry, chosen)
        terminal.write_line(f"{mark} {entry_line(entry)}")
        modes.see(entry)
        if message.kind is Kind.SUMMARY:
            sizes[message.id] = entry.tokens
        elif message.kind is Kind.RECORD and "fold" in message.metadata and entry.seq not in committed:
            lost.append(FoldRecord.from_message(message, entry.seq))
    sections = {
        "lineage": LineageTree(lineage=chosen, tokens=sizes, uncommitted=lost).lines(),
        "modes": modes.lines(now),
    }
    for name, lines in sections.items():
        for n, line in enumerate(lines):
            if not n:
                terminal.write_line(terminal.heading(name, terminal.out))
            terminal.write_line(line)


def _legend(in_window: bool, *, folded: bool) -> str:
    summary = "s: in a summary" if folded else ""
    marks = "in the window: + whole, ~ shortened" if in_window else ""
    return f"  {', '.join(filter(None, (marks, summary, 'blank: left out' if in_window else '')))}".rstrip()


def _covered(entry: Entry, chosen: Lineage) -> str:
    said = entry.message.in_conversation or entry.message.kind is Kind.SUMMARY
    return "s" if said and chosen.replaced_by(entry.seq) is not None else " "


async def replay(options: argparse.Namespace, stdin: TextIO, terminal: Terminal) -> None:
    """The messages that the receipt was made for."""
    receipt = Receipt.from_json(_receipt_text(options.receipt, stdin))
    async with opened(options.database) as store:
        await known_session(store, options.database, receipt.session_id)
        engine = ContextEngine(store=store, counter=HeuristicTokenCounter())
        terminal.write_messages(to_chat(await engine.replay(receipt)))


def _receipt_text(given: str, stdin: TextIO) -> str:
    if not given.lstrip(f"{BYTE_ORDER_MARK} \t\r\n").startswith("{"):
        try:
            given = stdin.read() if given == "-" else Path(given).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InvalidArgument(f"cannot read the receipt {given}: {error}", name="receipt", value=given) from error
    return given.removeprefix(BYTE_ORDER_MARK)
