"""`contextport fit`: what of a conversation fits a budget, by the manager that hosts use, on a store in memory."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TextIO

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import Budget, Context, CountKind, InvalidArgument, Message

from .choices import counter_named, strategy_named
from .conversation_files import Conversation, free_id, read_conversation
from .report import Account
from .terminal import Terminal

__all__ = ["fit"]

SESSION = "fit"
_AT_ONCE = 500


async def fit(options: argparse.Namespace, stdin: TextIO, terminal: Terminal) -> None:
    """Print the window on standard output and the account on standard error."""
    conversation = read_conversation(options.file, stdin, options.index)
    counter = counter_named(options.counter)
    strategy = strategy_named(options.strategy, counter, target_share=1.0)
    budget = Budget.of(int(options.budget * (1 - options.margin)))
    engine = ContextEngine(store=MemoryContextStore(), counter=counter, strategy=strategy, budget=budget)
    given, first = _with_system(conversation.messages, options.system)
    await _add(engine, given, terminal)
    context = await engine.get_context(SESSION)
    account = Account(
        given=given, first=first, context=context, counter=counter, strategy=options.strategy, margin=float(options.margin)
    )
    if options.receipt is not None:
        _write_receipt(Path(options.receipt), context)
    if options.format == "json":
        terminal.write_object({"messages": context.as_chat(), "account": account.as_dict()})
    else:
        terminal.write_messages(context.as_chat())
    _tell(options.file, conversation, account, terminal)


def _with_system(messages: tuple[Message, ...], system: str | None) -> tuple[tuple[Message, ...], int]:
    """The messages behind the given system prompt, and the place of the first: 0 if the file has none to be replaced."""
    if system is None:
        return messages, 1
    replaces = bool(messages) and messages[0].role in ("system", "developer")
    prompt = Message.system(system, id=free_id(0, {message.id for message in messages}))
    return (prompt, *messages[1:]) if replaces else (prompt, *messages), 1 if replaces else 0


async def _add(engine: ContextEngine, messages: tuple[Message, ...], terminal: Terminal) -> None:
    for start in range(0, len(messages), _AT_ONCE):
        await engine.add_messages(SESSION, messages[start : start + _AT_ONCE])
        terminal.progress(min(start + _AT_ONCE, len(messages)), len(messages), "counted")


def _write_receipt(path: Path, context: Context) -> None:
    try:
        path.write_text(f"{context.receipt.to_json()}\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"cannot write {path}: {said}", name="receipt", value=str(path)) from error


def _tell(file: str, conversation: Conversation, account: Account, terminal: Terminal) -> None:
    place = f", number {conversation.index} of {conversation.of}" if conversation.of > 1 else ""
    terminal.tell(terminal.heading(f"{file} ({conversation.shape}{place})"))
    for label, text in account.lines():
        terminal.tell(f"  {label:<11}{text}")
    if account.counter.kind is CountKind.ESTIMATE:
        terminal.tell(f"  {'note':<11}sizes are estimates; --margin 0.1 leaves a tenth of the budget free,")
        terminal.tell(f"  {'':<11}--counter tiktoken:FILE or hf:FILE counts with a tokenizer")
