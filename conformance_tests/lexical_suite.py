"""The suite of `LexicalIndex`: what an author writes to have one checked."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from contextport.contracts import verify
from contextport.contracts.errors import IndexUnavailable
from contextport.contracts.retrieval import LexicalIndex

from . import lexical_rules
from .rules import settled
from .suite import Conformance

__all__ = ["LexicalIndexConformance"]

RULE_MODULES = (lexical_rules,)  # a suite has the rules that are known when it is defined


class LexicalIndexConformance(Conformance, port=LexicalIndex):
    """Suite of `LexicalIndex`."""

    def make_index(self) -> LexicalIndex | Awaitable[LexicalIndex]:
        """An empty index."""
        raise NotImplementedError("write make_index: return an empty index")

    def broken_index(self) -> LexicalIndex | Awaitable[LexicalIndex] | None:
        """An index whose backend fails at each call, such as a file that is damaged. None: there is nothing that can fail."""
        return None

    async def make(self) -> LexicalIndex:
        index = await settled(self.make_index())
        verify(index, LexicalIndex)
        return index

    async def release(self, adapter: Any) -> None:
        with suppress(IndexUnavailable):
            await adapter.close()
