"""The suite of `VectorIndex`: what an author writes to have one checked."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from contextport.contracts import IndexUnavailable, verify
from contextport.contracts.vectors import VectorIndex

from . import vector_index_rules
from .rules import NotChecked, settled
from .suite import Conformance

__all__ = ["VectorIndexConformance"]

RULE_MODULES = (vector_index_rules,)  # a suite has the rules that are known when it is defined


class VectorIndexConformance(Conformance, port=VectorIndex):
    """Suite of `VectorIndex`."""

    def make_index(self) -> VectorIndex | Awaitable[VectorIndex]:
        """An empty index of its own. It is closed after each rule."""
        raise NotImplementedError("write make_index: return an empty index of its own")

    def broken_index(self) -> VectorIndex | Awaitable[VectorIndex] | None:
        """One whose backend fails at each call, such as a server that is down. None: there is nothing that can fail."""
        raise NotChecked("write broken_index, so that a failing backend can be tried; return None if nothing can fail")

    async def make(self) -> VectorIndex:
        index = await settled(self.make_index())
        verify(index, VectorIndex)
        return index

    async def release(self, adapter: Any) -> None:
        with suppress(IndexUnavailable):
            await adapter.close()
