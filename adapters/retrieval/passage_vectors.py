"""The vectors of passages: made once, in the background, kept beside the messages, and searched by an index."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from attrs import define, field, frozen

from contextport.contracts import ContextStore, IndexUnavailable, provides
from contextport.contracts.vectors import Embedder, KeepsVectors, StoredVectors, VectorIndex, Vectors

from .retrieval_policy import RetrievalPolicy
from .session_passages import SessionPassages, id_of, place_of

__all__ = ["PassageVectors", "Question", "kept_as"]

_FORM = "passages 1"  # how texts are cut and written before they are embedded: another way makes other vectors
_LEAST_FIT = 0.3  # of a script that an embedder knows less of, its cosines say nothing
_PAGE = 1_024


@frozen(kw_only=True)
class Question:
    """A question as a vector, and how far its embedder knows its script, from 0 to 1."""

    vector: Vectors
    fit: float


def kept_as(embedder: Embedder) -> str:
    """The name under which a store keeps the embedder's vectors of passages."""
    return f"{embedder.name} {_FORM}"


@define(kw_only=True, eq=False)
class PassageVectors:
    """Looks passages up by their meaning, as long as embedder and index work.

    `failed` is told of a failure, with the session that it was for. After it, meaning is left out for a while.
    """

    store: ContextStore
    embedder: Embedder
    index: VectorIndex
    policy: RetrievalPolicy
    failed: Callable[[str, Exception], None]
    clock: Callable[[], float] = time.monotonic
    _resting_until: float = field(init=False, default=float("-inf"))

    @property
    def name(self) -> str:
        """What the vectors are kept under."""
        return kept_as(self.embedder)

    @property
    def is_resting(self) -> bool:
        """Whether something failed a short time ago."""
        return self.clock() < self._resting_until

    async def question(self, session_id: str, text: str) -> Question | None:
        """The question as a vector; None where meaning is of no use, fails, or takes too long."""
        if self.is_resting:
            return None
        try:
            fit = self.embedder.coverage(text)
            if fit < _LEAST_FIT:
                return None
            async with asyncio.timeout(self.policy.embedding_seconds):
                return Question(vector=await self.embedder.embed([text], query=True), fit=min(1.0, fit))
        except Exception as error:  # an embedder is foreign code, and words are searched without it
            self._rest(session_id, error)
            return None

    async def nearest(self, passages: SessionPassages, question: Question) -> Sequence[tuple[int, float]]:
        """Ids of passages with their cosines; nothing if the index fails."""
        try:
            await self.read_kept(passages)
            return await self.index.search(passages.space, question.vector, limit=self.policy.most_nearest)
        except Exception as error:
            self._rest(passages.session_id, error)
            return ()

    async def read_kept(self, passages: SessionPassages) -> None:
        """Fill the index with the vectors that the store keeps of these passages, once."""
        if not passages.are_vectors_read:
            await self._read_after(passages, (0, -1))
            passages.are_vectors_read = True

    async def fill(self, passages: SessionPassages) -> None:
        """Embed what has no vector, unless another process did. Stops at the first failure: the rest is done another time."""
        try:
            await self.read_kept(passages)
            while not (self.is_resting or passages.is_over) and (ids := passages.unembedded(self.policy.batch)):
                seq, part = place_of(ids[0])
                await self._read_after(passages, (seq, part - 1), limit=len(ids), pages=1)
                missing = [id for id in ids if id not in passages.embedded]
                if missing:
                    await self._embed(passages, missing)
        except Exception as error:
            self._rest(passages.session_id, error)

    async def drop(self, space: str) -> None:
        """Remove the vectors of a space that is searched no more. If that fails they take memory, and nothing else."""
        with suppress(IndexUnavailable):
            await self.index.drop(space)

    async def _embed(self, passages: SessionPassages, ids: Sequence[int]) -> None:
        vectors = await self.embedder.embed([passages.spoken(id) for id in ids])
        if provides(self.store, KeepsVectors):
            stored = StoredVectors(places=tuple([place_of(id) for id in ids]), vectors=vectors)
            await self.store.put_vectors(
                passages.session_id, self.name, stored, epoch=passages.epoch, incarnation=passages.incarnation
            )
        await self.index.add(passages.space, ids, vectors)
        passages.embedded.update(ids)

    async def _read_after(
        self, passages: SessionPassages, after: tuple[int, int], *, limit: int = _PAGE, pages: float = math.inf
    ) -> None:
        """Take vectors of passages that have none yet from the store: all after a place, or so many pages of them."""
        if not provides(self.store, KeepsVectors):
            return
        while pages > 0:
            page = await self.store.vectors(passages.session_id, self.name, after=after, limit=limit)
            if page is None or not page.places:
                return
            ids = [id_of(*place) for place in page.places]
            rows = [row for row, id in enumerate(ids) if id in passages.places and id not in passages.embedded]
            if rows:
                kept = Vectors.joined([page.vectors.rows(row, row + 1) for row in rows], page.vectors.dimensions)
                await self.index.add(passages.space, [ids[row] for row in rows], kept)
                passages.embedded.update([ids[row] for row in rows])
            after = page.places[-1]
            pages -= 1

    def _rest(self, session_id: str, error: Exception) -> None:
        self._resting_until = self.clock() + self.policy.pause_seconds
        self.failed(session_id, error)
