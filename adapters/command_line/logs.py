"""`contextport sessions`, `show` and `replay`: look into a SQLite log. Nothing is written to it."""

from __future__ import annotations

import argparse
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import Budget, Entry, Head, InvalidArgument, Receipt, to_chat

from .choices import counter_named, strategy_named
from .conversation_files import BYTE_ORDER_MARK
from .read_only_log import ReadOnlyLog
from .report import first_line
from .terminal import Terminal

__all__ = ["replay", "sessions", "show"]

_PAGE = 200


async def sessions(options: argparse.Namespace, stdin: TextIO, terminal: Terminal) -> None:
    """One line per session: id, messages, tokens, epoch."""
    async with _log(options.database) as store:
        terminal.write_line(terminal.heading(f"{'messages':>9} {'tokens':>9} {'epoch':>6}  session", terminal.out))
        async for head in _heads(store):
            terminal.write_line(f"{head.messages:>9,} {head.tokens:>9,} {head.epoch:>6}  {_shown(head.session_id)}")


async def _heads(store: ReadOnlyLog) -> AsyncIterator[Head]:
    after = ""
    while page := await store.sessions(after=after, limit=_PAGE):
        for head in page:
            yield head
        after = page[-1].session_id


async def show(options: argparse.Namespace, stdin: TextIO, terminal: Terminal) -> None:
    """The log of the session's current epoch, then the window that a model would get now; or the window's receipt alone."""
    counter = counter_named(options.counter)
    budget = None if options.budget is None else Budget.of(options.budget)
    async with _log(options.database) as store:
        head = await _known(store, options.database, options.session)
        engine = ContextEngine(store=store, counter=counter, strategy=strategy_named(options.strategy, counter), budget=budget)
        context = await engine.get_context(options.session)
        if options.receipt:
            terminal.write_line(context.receipt.to_json())
            return
        kept = {message.id for message in context.messages}
        shortened = {one.message_id for one in context.shortened}
        terminal.write_line(terminal.heading(f"log of {_shown(head.session_id)}, epoch {head.epoch}", terminal.out))
        terminal.write_line("  in the window: + whole, ~ shortened, blank: left out")
        async for entry in _entries(store, head):
            mark = "~" if entry.message.id in shortened else "+" if entry.message.id in kept else " "
            terminal.write_line(f"{mark} {_line(entry)}")
        terminal.write_line(terminal.heading(f"window: {context.tokens:,} of {context.limit:,} tokens", terminal.out))
        terminal.write_line(f"  {context.reason or 'everything fits'}; {context.omitted_count:,} messages left out")
        terminal.write_messages(context.as_chat())


async def replay(options: argparse.Namespace, stdin: TextIO, terminal: Terminal) -> None:
    """The messages that the receipt was made for."""
    receipt = Receipt.from_json(_receipt_text(options.receipt, stdin))
    async with _log(options.database) as store:
        await _known(store, options.database, receipt.session_id)
        engine = ContextEngine(store=store, counter=HeuristicTokenCounter())
        terminal.write_messages(to_chat(await engine.replay(receipt)))


def _receipt_text(given: str, stdin: TextIO) -> str:
    if not given.lstrip(f"{BYTE_ORDER_MARK} \t\r\n").startswith("{"):
        try:
            given = stdin.read() if given == "-" else Path(given).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InvalidArgument(f"cannot read the receipt {given}: {error}", name="receipt", value=given) from error
    return given.removeprefix(BYTE_ORDER_MARK)


@asynccontextmanager
async def _log(database: str) -> AsyncGenerator[ReadOnlyLog]:
    store = ReadOnlyLog(database)
    try:
        yield store
    finally:
        await store.close()


async def _known(store: ReadOnlyLog, database: str, session_id: str) -> Head:
    head = await store.head(session_id)
    if head.last_seq == 0 and head.state_version == 0:
        raise InvalidArgument(
            f"there is no session {session_id!r} in {database}; `contextport sessions {database}` lists them",
            name="session",
            value=session_id,
        )
    return head


async def _entries(store: ReadOnlyLog, head: Head) -> AsyncIterator[Entry]:
    """The epoch from its first entry on, page by page: seq has no holes."""
    for first in range(1, head.last_seq + 1, _PAGE):
        page = await store.read(head.session_id, after=first - 1, before=first + _PAGE, limit=_PAGE, epoch=head.epoch)
        for entry in page:
            yield entry


def _line(entry: Entry) -> str:
    message = entry.message
    kind = "" if message.in_conversation else f" ({message.kind})"
    calls = " ".join(f"{call.name}({first_line(call.arguments, 40)})" for call in message.tool_calls)
    text = first_line(message.text, 60)
    said = _shown(" ".join(filter(None, (text, calls))))
    return f"{entry.seq:>6} {_time(entry.at):<19} {entry.tokens:>7,}  {message.role:<9}{kind} {said}"


def _time(at: float) -> str:
    """The time in UTC; the number itself where it is outside the calendar, as a broken clock leaves it."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{at:g}"


def _shown(text: str) -> str:
    """Text for one line of a terminal: control characters written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
