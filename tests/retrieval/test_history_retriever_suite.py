"""The suite of retrievers, run on the search in history."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from contextport.adapters.embedders.sentence_transformers_embedder import SentenceTransformersEmbedder
from contextport.adapters.indexes.faiss_vector_index import FaissVectorIndex
from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.adapters.retrieval.history_retriever import HistoryRetriever
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.conformance_tests import RetrieverConformance
from contextport.conformance_tests.retriever_inputs import SESSION, add
from contextport.contracts import ContextStore, Message
from tests.embedders.small_model import small_model


class TestByWords(RetrieverConformance):
    """Without an embedder, over a store in memory."""

    def make_history_retriever(self, store: ContextStore) -> HistoryRetriever:
        return HistoryRetriever(store, HeuristicTokenCounter(), Fts5LexicalIndex())

    async def broken_retriever(self) -> HistoryRetriever:
        """One whose index of words is closed."""
        store, lexical = MemoryContextStore(), Fts5LexicalIndex()
        await add(store, SESSION, Message.user("On Monday the train was late."))
        await lexical.close()
        return HistoryRetriever(store, HeuristicTokenCounter(), lexical)


class TestByWordsAndMeaning(RetrieverConformance):
    """With an embedder, over a store in a file."""

    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path) -> None:
        self.paths = (tmp_path / f"{n}.db" for n in itertools.count())

    def make_store(self) -> SqliteContextStore:
        return SqliteContextStore(next(self.paths))

    def make_history_retriever(self, store: ContextStore) -> HistoryRetriever:
        embedder = SentenceTransformersEmbedder(small_model())
        return HistoryRetriever(store, HeuristicTokenCounter(), Fts5LexicalIndex(), embedder, FaissVectorIndex())

    def broken_retriever(self) -> None:
        return None
