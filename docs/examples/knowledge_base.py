"""Answers from a folder of notes: a host's own search behind contextport's port of retrievers.

    python docs/examples/knowledge_base.py --notes docs "What must an adapter declare?"

Prints the window that a model would be shown: the system prompt, the paragraphs that were found, each under its file, and the
question. `NotesRetriever` is all that it takes; the suite `RetrieverConformance` checks it in `tests/retrieval`. The notes are in
SQLite FTS5, by groups of three letters, which finds words of any script without a list of languages.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import Budget, Message, Mode, RetrievalFailed, TokenCounter, implements
from contextport.contracts.retrieval import Query, Retriever, Snippet

SYSTEM = "You answer from the notes that are quoted. If they do not say it, say so."
MOST_TERMS = 400  # of a question; SQLite takes no expression of any length
MOST_FOUND = 100


def fill(path: Path, notes: Mapping[str, str]) -> None:
    """Store the paragraphs of the notes, by their names."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE VIRTUAL TABLE paragraphs USING fts5(name UNINDEXED, text, tokenize = 'trigram')")
        rows = [(name, part) for name, text in notes.items() for part in text.split("\n\n") if part.strip()]
        database.executemany("INSERT INTO paragraphs VALUES (?, ?)", rows)


@implements(Retriever)
class NotesRetriever:
    """Searches the paragraphs in a file that `fill` made."""

    def __init__(self, path: Path, counter: TokenCounter) -> None:
        self.path, self.counter, self.closed = path, counter, False

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        """The paragraphs with the most of the question's letters, as many as there is room for."""
        if self.closed:
            raise RetrievalFailed("the retriever is closed")
        try:
            rows = await asyncio.to_thread(self._rows, query.text)
        except sqlite3.Error as error:
            raise RetrievalFailed(f"the notes cannot be searched: {error}") from error
        best = rows[0][2] if rows else 1.0
        taken: list[Snippet] = []
        for name, text, rank in rows:
            found = Snippet(text=text, score=rank / best, tokens=self.counter.count_text(text), source=name)
            is_new = not any(text in other.text or other.text in text for other in taken)
            if found.score >= query.min_score and found.tokens <= max_tokens and is_new:
                max_tokens -= found.tokens
                taken.append(found)
        return tuple(taken)

    def _rows(self, question: str) -> list[tuple[str, str, float]]:
        words = re.findall(r"[\w\u0900-\u0dff]{3,}", question)
        terms = dict.fromkeys(word[at : at + 3] for word in words for at in range(len(word) - 2))
        if not terms:
            return []
        asked = " OR ".join(f'"{term}"' for term in list(terms)[:MOST_TERMS])
        sql = "SELECT name, text, -bm25(paragraphs) FROM paragraphs WHERE paragraphs MATCH ? ORDER BY rank, rowid LIMIT ?"
        with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return database.execute(sql, (asked, MOST_FOUND)).fetchall()

    async def close(self) -> None:
        """Answer no more."""
        self.closed = True


async def window(base: Path, question: str, budget: int) -> tuple[Message, ...]:
    """What a model is shown for the question."""
    counter = HeuristicTokenCounter()
    knowledge = NotesRetriever(base, counter)
    engine = ContextEngine(store=MemoryContextStore(), counter=counter, budget=Budget.of(budget), knowledge=knowledge)
    await engine.set_system_prompt("s", SYSTEM)
    await engine.set_mode("s", Mode.RETRIEVAL)
    await engine.add_message("s", Message.user(question))
    return (await engine.get_context("s")).messages


def main() -> None:
    """Read the notes and print the window."""
    parser = argparse.ArgumentParser(description="Show what a model would be shown of a folder of notes for a question.")
    parser.add_argument("question")
    parser.add_argument("--notes", type=Path, required=True, help="a folder with Markdown files")
    parser.add_argument("--budget", type=int, default=1_500, help="tokens of the window (1500)")
    options = parser.parse_args()
    notes: Path = options.notes
    with TemporaryDirectory() as folder:
        base = Path(folder) / "notes.db"
        fill(base, {path.relative_to(notes).as_posix(): path.read_text("utf-8") for path in sorted(notes.rglob("*.md"))})
        for message in asyncio.run(window(base, options.question, options.budget)):
            print(f"--- {message.role}\n{message.text}\n")


if __name__ == "__main__":
    main()
