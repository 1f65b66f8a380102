"""The suite of `Embedder`: what an author writes to have one checked."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Any

from contextport.contracts import EmbeddingFailed, verify
from contextport.contracts.vectors import Embedder

from . import embedder_rules
from .rules import NotChecked, settled
from .suite import Conformance

__all__ = ["EmbedderConformance"]

RULE_MODULES = (embedder_rules,)  # a suite has the rules that are known when it is defined


class EmbedderConformance(Conformance, port=Embedder):
    """Suite of `Embedder`. It embeds a few thousand short texts."""

    def make_embedder(self) -> Embedder | Awaitable[Embedder]:
        """An embedder, in the same configuration each time. It is closed after each rule."""
        raise NotImplementedError("write make_embedder: return an embedder, in the same configuration each time")

    def other_embedders(self) -> Sequence[Embedder | Awaitable[Embedder]]:
        """Embedders in other configurations, such as another model: their names must differ if their vectors do."""
        return ()

    def broken_embedder(self) -> Embedder | Awaitable[Embedder] | None:
        """One whose backend fails at each call, such as a server that is down. None: there is nothing that can fail."""
        raise NotChecked("write broken_embedder, so that a failing backend can be tried; return None if nothing can fail")

    async def make(self) -> Embedder:
        embedder = await settled(self.make_embedder())
        verify(embedder, Embedder)
        return embedder

    async def release(self, adapter: Any) -> None:
        with suppress(EmbeddingFailed):
            await adapter.close()
