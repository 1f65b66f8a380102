"""The plainest embedder that keeps every rule: what broken embedders are made from."""

from __future__ import annotations

import asyncio
import math
import zlib
from collections.abc import Sequence

from contextport.contracts import EmbeddingFailed, implements
from contextport.contracts.vectors import Embedder, Vectors

__all__ = ["ReferenceEmbedder"]

_READ = 20_000  # characters; what comes after is not read


@implements(Embedder)
class ReferenceEmbedder:
    """Counts the words of a text and their runs of letters, each in a place by its checksum: texts with common words are near."""

    def __init__(self, *, dimensions: int = 256, down: bool = False) -> None:
        self.dimensions = dimensions
        self.down = down
        self.closed = False

    @property
    def name(self) -> str:
        return f"words:{self.dimensions}"

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.check_open()
        try:
            return await asyncio.to_thread(self.rows, list(texts), query)
        except ConnectionError as error:
            raise EmbeddingFailed("the backend does not answer") from error

    def check_open(self) -> None:
        """Raise once it is closed."""
        if self.closed:
            raise EmbeddingFailed("the embedder is closed")

    def rows(self, texts: list[str], query: bool) -> Vectors:
        """The rows of all texts; runs in a thread."""
        if self.down:
            raise ConnectionError("the backend is down")
        return Vectors.of([self.row(text, query) for text in texts], self.dimensions)

    def row(self, text: str, query: bool) -> Sequence[float]:
        """The row of one text."""
        counts = [0.0] * self.dimensions
        for feature in self.features(text[:_READ]):
            counts[zlib.crc32(feature.encode("utf-8", "surrogatepass")) % self.dimensions] += 1
        length = math.hypot(*counts)
        return [count / length for count in counts]

    def features(self, text: str) -> list[str]:
        """What is counted: the end, so that there is always something, words, and letters with their neighbours."""
        words = text.casefold().split()
        return ["", *words, *(word[place : place + 2] for word in words for place in range(len(word)))]

    def coverage(self, text: str) -> float:
        return 1.0

    async def close(self) -> None:
        self.closed = True
