"""A plain manager that folds when it is told to, and not before."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from attrs import define

from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Compacts,
    Context,
    ContextStats,
    Fold,
    Kind,
    Message,
    implements,
)

from .reference_folding_strategy import ReferenceFoldingStrategy
from .reference_manager import ReferenceManager, Session

__all__ = ["CompactedSession", "ReferenceCompactingManager"]


@define
class CompactedSession(Session):
    """A session of which `folded` are the ids of the messages that `memory`, a summary and facts, stands for."""

    folded: tuple[str, ...] = ()
    memory: tuple[Message, ...] = ()


@implements(Compacts)
class ReferenceCompactingManager(ReferenceManager):
    """Its windows are those of a plain manager for what is not folded, with summary and facts after the prompt."""

    def new_session(self) -> Session:
        return CompactedSession()

    def compacted(self, session: Session) -> CompactedSession:
        """The session as one that may be folded."""
        assert isinstance(session, CompactedSession)
        return session

    async def clear_context(self, session_id: str) -> None:
        await super().clear_context(session_id)
        session = self.compacted(self.session(session_id))
        session.folded, session.memory = (), ()

    def rest(self, session: CompactedSession) -> list[Message]:
        """What is not folded."""
        return [message for message in session.said if message.id not in session.folded]

    async def window(self, session: Session) -> tuple[list[Message], int]:
        folded = self.compacted(session)
        plain = Session(said=self.rest(folded), prompt=session.prompt)
        room = self.limit - self.strategy.estimate_tokens(folded.memory)
        memory = folded.memory
        try:
            kept, omitted = await ReferenceManager(self.counter, Budget.of(max(1, room))).window(plain)
        except BudgetTooSmall:
            memory = ()
            kept, omitted = await ReferenceManager(self.counter, self.budget).window(plain)
        first = len(self.prompt_messages(session))
        return [*kept[:first], *memory, *kept[first:]], omitted + len(folded.folded)

    async def get_context(self, session_id: str) -> Context:
        context = await super().get_context(session_id)
        session = self.compacted(self.sessions.get(session_id, self.new_session()))
        there = any(message.kind is Kind.SUMMARY for message in context.messages)
        return attrs.evolve(context, folded_count=self.folded_count(session) if there else 0)

    def folded_count(self, session: CompactedSession) -> int:
        """How many messages the summary stands for."""
        return len(session.folded)

    async def get_context_stats(self, session_id: str) -> ContextStats:
        context = await self.get_context(session_id)
        summary = [message for message in context.messages if message.kind is Kind.SUMMARY]
        return attrs.evolve(
            await super().get_context_stats(session_id),
            summary_tokens=self.strategy.estimate_tokens(summary),
            folded_count=context.folded_count,
        )

    async def compact(self, session_id: str, *, max_tokens: int | None = None) -> bool:
        session = self.compacted(self.sessions.get(session_id, self.new_session()))
        memory, epoch = session.memory, session.epoch
        given = [*self.prompt_messages(session), *memory, *self.arranged(self.rest(session))]
        size = self.strategy.estimate_tokens(given)
        wanted = min(self.limit if max_tokens is None else max_tokens, size * 2 // 3)
        result = await self.folding().compress(given, wanted)
        await self.before_commit()
        fold = result.fold
        if fold is None or not fold.covers or not self.still(session, memory, epoch):
            return False
        self.commit(session, fold)
        return True

    def folding(self) -> ReferenceFoldingStrategy:
        """What folds."""
        return ReferenceFoldingStrategy(self.counter)

    async def before_commit(self) -> None:
        """Where another task may come between."""

    def still(self, session: CompactedSession, memory: tuple[Message, ...], epoch: int) -> bool:
        """Whether no other fold came first, and no clear."""
        return session.memory is memory and session.epoch == epoch

    def commit(self, session: CompactedSession, fold: Fold) -> None:
        """Make the fold the one that windows begin with."""
        session.folded = (*session.folded, *fold.covers)
        session.memory = tuple(message for message in (fold.summary, fold.facts) if message is not None)

    def messages_behind(self, session_id: str, summary: Message) -> Sequence[Message]:
        """The messages that the summary of the session stands for."""
        session = self.compacted(self.session(session_id))
        return [message for message in session.said if message.id in session.folded and summary in session.memory]
