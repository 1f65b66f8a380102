"""Managers that fold when they are told to, and break one thing each about it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import attrs

from contextport.conformance_tests.reference_compacting_manager import CompactedSession, ReferenceCompactingManager
from contextport.conformance_tests.reference_manager import Session
from contextport.contracts import Context, Fold, Kind, Message, Receipt

from .registry import broken

__all__: list[str] = []


@broken("MANAGER-25 MANAGER-26 MANAGER-27")
class FoldsNothing(ReferenceCompactingManager):
    async def compact(self, session_id: str, *, max_tokens: int | None = None) -> bool:
        return False


@broken("MANAGER-25")
class AlwaysSaysTrue(ReferenceCompactingManager):
    async def compact(self, session_id: str, *, max_tokens: int | None = None) -> bool:
        await super().compact(session_id, max_tokens=max_tokens)
        return True


@broken("MANAGER-25")
class FoldsAndSaysFalse(ReferenceCompactingManager):
    async def compact(self, session_id: str, *, max_tokens: int | None = None) -> bool:
        return not await super().compact(session_id, max_tokens=max_tokens) and False


@broken("MANAGER-25 MANAGER-26")
class PutsTheSummaryBesideTheMessages(ReferenceCompactingManager):
    """Nothing gets smaller: what was folded stays in windows."""

    def rest(self, session: CompactedSession) -> list[Message]:
        return list(session.said)

    async def window(self, session: Session) -> tuple[list[Message], int]:
        kept, omitted = await super().window(session)
        return kept, omitted - len(self.compacted(session).folded)


@broken("MANAGER-25")
class FoldsTheNewestQuestion(ReferenceCompactingManager):
    def commit(self, session: CompactedSession, fold: Fold) -> None:
        newest = [message.id for message in session.said if message.opens_turn][-1]
        super().commit(session, attrs.evolve(fold, covers=(*fold.covers, newest)))


@broken("MANAGER-25 MANAGER-26 MANAGER-27")
class LeavesOutInsteadOfFolding(ReferenceCompactingManager):
    """The history gets shorter, and nothing says so."""

    def commit(self, session: CompactedSession, fold: Fold) -> None:
        super().commit(session, attrs.evolve(fold, summary=None))


@broken("MANAGER-25 MANAGER-26")
class CountsTheLatestFoldAlone(ReferenceCompactingManager):
    latest = 0

    def commit(self, session: CompactedSession, fold: Fold) -> None:
        super().commit(session, fold)
        self.latest = len(fold.covers)

    def folded_count(self, session: CompactedSession) -> int:
        return self.latest


@broken("MANAGER-25 MANAGER-26")
class ShowsTheFoldOnceOnly(ReferenceCompactingManager):
    """As a summary that is kept with a window, and not with the session."""

    shown = False

    def commit(self, session: CompactedSession, fold: Fold) -> None:
        super().commit(session, fold)
        self.shown = False

    async def get_context(self, session_id: str) -> Context:
        context = await super().get_context(session_id)
        session = self.sessions.get(session_id)
        if session is None or not self.compacted(session).memory or not self.shown:
            self.shown = True
            return context
        kept = [m for m in context.messages if m.kind is not Kind.SUMMARY]
        return attrs.evolve(context, messages=tuple(kept), tokens=self.strategy.estimate_tokens(kept), folded_count=0)


@broken("MANAGER-26")
class DeletesWhatItFolds(ReferenceCompactingManager):
    def commit(self, session: CompactedSession, fold: Fold) -> None:
        super().commit(session, fold)
        session.said = self.rest(session)


@broken("MANAGER-26")
class EmptiesWhatItFolds(ReferenceCompactingManager):
    """The messages are there, and say nothing any more."""

    def commit(self, session: CompactedSession, fold: Fold) -> None:
        super().commit(session, fold)
        session.said = [attrs.evolve(m, parts=(), native=None) if m.id in fold.covers else m for m in session.said]


@broken("MANAGER-26")
class FindsTheLatestFoldAlone(ReferenceCompactingManager):
    latest: tuple[str, ...] = ()

    def commit(self, session: CompactedSession, fold: Fold) -> None:
        super().commit(session, fold)
        self.latest = fold.covers

    def messages_behind(self, session_id: str, summary: Message) -> Sequence[Message]:
        return [message for message in super().messages_behind(session_id, summary) if message.id in self.latest]


@broken("MANAGER-26")
class FindsAllThatWasSaid(ReferenceCompactingManager):
    def messages_behind(self, session_id: str, summary: Message) -> Sequence[Message]:
        return self.session(session_id).said


@broken("MANAGER-26")
class ReplaysTheFoldedWindow(ReferenceCompactingManager):
    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        messages = await super().replay(receipt)
        session = self.compacted(self.session(receipt.session_id))
        return tuple(message for message in messages if message.id not in session.folded)


@broken("MANAGER-27")
class StacksSummaries(ReferenceCompactingManager):
    """The strategy is not shown the fold before, so that each fold has its own summary."""

    async def compact(self, session_id: str, *, max_tokens: int | None = None) -> bool:
        session = self.compacted(self.sessions.get(session_id, self.new_session()))
        before, session.memory = session.memory, ()
        folded = await super().compact(session_id, max_tokens=max_tokens)
        session.memory = (*before, *session.memory)
        return folded


@broken("MANAGER-27")
class KeepsAllFacts(ReferenceCompactingManager):
    def commit(self, session: CompactedSession, fold: Fold) -> None:
        before = [message for message in session.memory if message.kind is Kind.FACTS]
        super().commit(session, fold)
        session.memory = (*session.memory, *before)


@broken("MANAGER-27")
class FoldsTwiceAtOnce(ReferenceCompactingManager):
    async def before_commit(self) -> None:
        await asyncio.sleep(0)

    def still(self, session: CompactedSession, memory: tuple[Message, ...], epoch: int) -> bool:
        return True

    def commit(self, session: CompactedSession, fold: Fold) -> None:
        twice = fold.covers[0] in session.folded
        before = session.memory
        super().commit(session, attrs.evolve(fold, covers=tuple(id for id in fold.covers if id not in session.folded)))
        session.memory = (*session.memory, *(before if twice else ()))
