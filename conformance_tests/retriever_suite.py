"""The suite of `Retriever`: what an author writes to have one checked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from contextport.contracts import ContextStore, RetrievalFailed, provides, verify
from contextport.contracts.retrieval import IndexesHistory, Retriever

from . import retriever_history_rules, retriever_rules
from .reference_vector_store import ReferenceVectorStore
from .retriever_inputs import DOCUMENTS, SESSION, drafts_of
from .rules import NotChecked, settled
from .suite import Conformance

__all__ = ["RetrieverConformance"]

RULE_MODULES = (retriever_rules, retriever_history_rules)  # a suite has the rules that are known when it is defined


class RetrieverConformance(Conformance, port=Retriever, capabilities=(IndexesHistory,)):
    """Suite of `Retriever` and `IndexesHistory`. One of the first two methods is to be written."""

    def make_retriever(self, documents: Mapping[str, str]) -> Retriever | Awaitable[Retriever]:
        """A retriever over these texts and nothing else. The keys are what people find them by: titles, paths, addresses."""
        raise NotImplementedError(
            "write make_retriever: return a retriever over the given texts; or write make_history_retriever: return one "
            "over the sessions of the given store"
        )

    def make_history_retriever(self, store: ContextStore) -> Retriever | Awaitable[Retriever] | None:
        """A retriever over the sessions of the store. None: it does not search in them."""
        return None

    def broken_retriever(self) -> Retriever | Awaitable[Retriever] | None:
        """A retriever whose backend fails at each call, such as a server that is down. None: there is nothing that can fail."""
        raise NotChecked("write broken_retriever, so that a failing backend can be tried; return None if nothing can fail")

    def make_store(self) -> ContextStore | Awaitable[ContextStore]:
        """An empty store for a retriever of histories: one that keeps vectors, in memory, unless the author makes another."""
        return ReferenceVectorStore()

    @asynccontextmanager
    async def adapter(self) -> AsyncGenerator[Any]:
        async with self.searching(DOCUMENTS) as retriever:
            yield retriever

    async def release(self, adapter: Any) -> None:
        with suppress(RetrievalFailed):
            await adapter.close()

    @asynccontextmanager
    async def searching(self, documents: Mapping[str, str]) -> AsyncGenerator[Retriever]:
        """A retriever over texts of the suite's choice: documents, or the messages of a session."""
        async with self.store() as store:
            await store.append(SESSION, drafts_of(documents))
            of_history = await settled(self.make_history_retriever(store))
            built = of_history if of_history is not None else await settled(self.make_retriever(documents))
            verify(built, Retriever)
            try:
                if provides(built, IndexesHistory):
                    built.note_added(SESSION)
                    await built.settle()
                yield built
            finally:
                await self.release(built)

    @asynccontextmanager
    async def store(self) -> AsyncGenerator[ContextStore]:
        """An empty store."""
        store = await settled(self.make_store())
        try:
            yield store
        finally:
            await store.close()

    @asynccontextmanager
    async def on(self, store: ContextStore) -> AsyncGenerator[Any]:
        """A retriever of its own over the sessions of a store."""
        built = await settled(self.make_history_retriever(store))
        assert built is not None, "make_history_retriever returned None, and the retriever declares IndexesHistory"
        verify(built, Retriever)
        try:
            yield built
        finally:
            await self.release(built)

    @asynccontextmanager
    async def history(self) -> AsyncGenerator[tuple[ContextStore, Any]]:
        """An empty store, and a retriever over its sessions."""
        async with self.store() as store, self.on(store) as retriever:
            yield store, retriever
