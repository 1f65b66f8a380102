"""The sessions that are searched: read from the store as far as their logs go, words indexed, the least used let go."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from attrs import define, field

from contextport.contracts import ContextStore, Entry, Head, IndexUnavailable
from contextport.contracts.retrieval import LexicalIndex

from .session_passages import SessionPassages, indexed

__all__ = ["HistorySpaces"]

_PAGE = 512  # entries read, and indexed, at a time: what was done stays done if a call is cancelled


@define(kw_only=True, eq=False)
class HistorySpaces:
    """Passages by session. `dropped` is called with the name of each space that is searched no more.

    Everything that is in memory is in the index of words, too. The store is asked for the head of a session each time, so that
    what other processes add is found, and what was cleared or purged is not.
    """

    store: ContextStore
    lexical: LexicalIndex
    most_characters: int
    dropped: Callable[[str], Awaitable[None]]
    _sessions: OrderedDict[str, SessionPassages] = field(init=False, factory=OrderedDict[str, SessionPassages])
    _lock: threading.Lock = field(init=False, factory=threading.Lock)

    @asynccontextmanager
    async def opened(self, session_id: str) -> AsyncGenerator[SessionPassages]:
        """The passages of the current epoch, up to the newest entry. They are not let go before the context ends."""
        head = await self.store.head(session_id)
        passages, gone = self._enter(head)
        try:
            for old in gone:
                await self._drop(old)
            await self._catch_up(passages, head)
            yield passages
        finally:
            with self._lock:
                passages.users -= 1
                is_last = passages.is_over and not passages.users
            if is_last:  # it may have added to what had been dropped
                await self._drop(passages)

    async def close(self) -> None:
        """Empty the indexes of what was put there."""
        with self._lock:
            held = list(self._sessions.values())
            self._sessions.clear()
        for passages in held:
            with suppress(IndexUnavailable):
                await self._drop(passages)

    def _enter(self, head: Head) -> tuple[SessionPassages, list[SessionPassages]]:
        """The passages of the session, and what is to be dropped: those of an epoch that is over, and the least used."""
        with self._lock:
            passages, gone = self._sessions.get(head.session_id), list[SessionPassages]()
            if passages is None or not passages.is_of(head):
                if passages is not None:
                    gone.append(self._sessions.pop(head.session_id))
                passages = SessionPassages(session_id=head.session_id, epoch=head.epoch, incarnation=head.incarnation)
                if head.last_seq:  # a session that was never written, or was purged, is not held
                    self._sessions[head.session_id] = passages
            if head.last_seq:
                self._sessions.move_to_end(head.session_id)
            passages.users += 1
            return passages, gone + self._excess()

    def _excess(self) -> list[SessionPassages]:
        """Take the least used sessions out until the rest is within bounds."""
        held, gone = sum([one.characters for one in self._sessions.values()]), list[SessionPassages]()
        for one in list(self._sessions.values())[:-1]:
            if held <= self.most_characters:
                break
            if not one.users:
                held -= one.characters
                gone.append(self._sessions.pop(one.session_id))
        return gone

    async def _drop(self, passages: SessionPassages) -> None:
        passages.is_over = True
        await self.lexical.drop(passages.space)
        await self.dropped(passages.space)

    async def _catch_up(self, passages: SessionPassages, head: Head) -> None:
        if passages.last_seq >= head.last_seq:
            return
        entries = await self._entries_after(passages.last_seq, head)
        for start in range(0, len(entries), _PAGE):
            page = entries[start : start + _PAGE]
            await self.lexical.add(passages.space, indexed(page))
            passages.add(page)

    async def _entries_after(self, seq: int, head: Head) -> list[Entry]:
        """The entries of the epoch after a seq, in order. A store counts from the end, so they are read backwards."""
        pages: list[tuple[Entry, ...]] = []
        before: int | None = None
        while True:
            page = await self.store.read(head.session_id, after=seq, before=before, limit=_PAGE, epoch=head.epoch)
            pages.append(page)
            if len(page) < _PAGE:
                return [entry for page in reversed(pages) for entry in page]
            before = page[0].seq
