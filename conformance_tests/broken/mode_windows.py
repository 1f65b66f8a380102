"""Managers with modes, each of which makes up the windows of one mode wrongly."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from contextport.conformance_tests.reference_manager import Session
from contextport.conformance_tests.reference_mode_manager import ModedSession, ReferenceModeManager
from contextport.contracts import Kind, Message, Mode

from .registry import broken

__all__: list[str] = []


@broken("MANAGER-32")
class ShowsHistoryInZeroShot(ReferenceModeManager):
    def shown(self, session: ModedSession) -> list[Message]:
        return session.said if session.mode is Mode.ZERO_SHOT else super().shown(session)


@broken("MANAGER-32")
class ShowsTheQuestionAloneInZeroShot(ReferenceModeManager):
    """The calls and results of the turn that goes on are history as well, as it seems."""

    def shown(self, session: ModedSession) -> list[Message]:
        shown = super().shown(session)
        return shown[:1] if session.mode is Mode.ZERO_SHOT else shown


@broken("MANAGER-32")
class ShowsTheLastMessageInZeroShot(ReferenceModeManager):
    def shown(self, session: ModedSession) -> list[Message]:
        return session.said[-1:] if session.mode is Mode.ZERO_SHOT else super().shown(session)


@broken("MANAGER-32")
class LeavesThePromptOutInZeroShot(ReferenceModeManager):
    async def window(self, session: Session) -> tuple[list[Message], int]:
        kept, omitted = await super().window(session)
        return (kept if self.moded(session).mode is not Mode.ZERO_SHOT else [m for m in kept if m.role != "system"]), omitted


@broken("MANAGER-32")
class MarksAGapInZeroShot(ReferenceModeManager):
    """Tells of a history that the question is to be answered without."""

    async def window(self, session: Session) -> tuple[list[Message], int]:
        kept, omitted = await super().window(session)
        if self.moded(session).mode is Mode.ZERO_SHOT and omitted:
            kept.insert(1, Message.user(f"[{omitted} messages left out]", id="gap", kind=Kind.GAP))
        return kept, omitted


@broken("MANAGER-32")
class CountsOnlyWhatDoesNotFit(ReferenceModeManager):
    """What a mode hides is not counted as left out."""

    async def window(self, session: Session) -> tuple[list[Message], int]:
        moded = self.moded(session)
        kept, omitted = await super().window(session)
        hidden = 0 if moded.mode in self.folded_modes() else len(moded.said) - len(self.shown(moded))
        return kept, omitted - hidden


@broken("MANAGER-32")
class LacksTheLastTurnsInRetrieval(ReferenceModeManager):
    def shown(self, session: ModedSession) -> list[Message]:
        shown = super().shown(session)
        turns = [n for n, message in enumerate(shown) if message.opens_turn]
        return shown[turns[-1] :] if session.mode is Mode.RETRIEVAL and turns else shown


@broken("MANAGER-32")
class ShowsTheFirstTurnsInRetrieval(ReferenceModeManager):
    """The oldest two turns and the question."""

    def shown(self, session: ModedSession) -> list[Message]:
        if session.mode is not Mode.RETRIEVAL or len(session.said) < 8:
            return super().shown(session)
        newest = max(n for n, message in enumerate(session.said) if message.opens_turn)
        return [*session.said[2:6], *session.said[newest:]]


@broken("MANAGER-32")
class BeginsInTheMiddleOfATurnInRetrieval(ReferenceModeManager):
    def shown(self, session: ModedSession) -> list[Message]:
        shown = super().shown(session)
        return shown[1:] if session.mode is Mode.RETRIEVAL and len(shown) > 3 else shown


@broken("MANAGER-32")
class ShowsAllInRetrieval(ReferenceModeManager):
    """Snippets come on top of the history."""

    def shown(self, session: ModedSession) -> list[Message]:
        return session.said[2:] if session.mode is Mode.RETRIEVAL else super().shown(session)


@broken("MANAGER-32")
class ShowsFoldsInRetrieval(ReferenceModeManager):
    """The summary is part of the prompt, and so of every window."""

    async def window(self, session: Session) -> tuple[list[Message], int]:
        kept, omitted = await super().window(session)
        moded = self.moded(session)
        return (kept if moded.mode is not Mode.RETRIEVAL else [kept[0], *moded.memory, *kept[1:]]), omitted


@broken("MANAGER-32")
class BringsNoSnippets(ReferenceModeManager):
    def searched_modes(self) -> Sequence[Mode]:
        return ()


@broken("MANAGER-32")
class BringsNoSnippetsInHybrid(ReferenceModeManager):
    def searched_modes(self) -> Sequence[Mode]:
        return (Mode.RETRIEVAL,)


@broken("MANAGER-32")
class BringsSnippetsInZeroShotToo(ReferenceModeManager):
    def searched_modes(self) -> Sequence[Mode]:
        return (Mode.RETRIEVAL, Mode.HYBRID, Mode.ZERO_SHOT)


@broken("MANAGER-32")
class BringsTheNewestThatItFinds(ReferenceModeManager):
    """Does not look at the question."""

    def found(self, session: ModedSession, kept: Sequence[Message], question: str, room: int) -> str:
        return super().found(session, kept, "label", room)


@broken("MANAGER-32")
class PutsSnippetsAfterTheQuestion(ReferenceModeManager):
    def placed(self, kept: list[Message], place: int, snippets: list[Message]) -> list[Message]:
        return super().placed(kept, place + 1, snippets)


@broken("MANAGER-32")
class PutsSnippetsFirst(ReferenceModeManager):
    """What is brought back for one question breaks the prefix of all that follows."""

    def placed(self, kept: list[Message], place: int, snippets: list[Message]) -> list[Message]:
        return super().placed(kept, 1, snippets)


@broken("MANAGER-32")
class PutsSnippetsLast(ReferenceModeManager):
    """Where the question is the last, that is behind it; in the middle of a turn, behind its results."""

    def placed(self, kept: list[Message], place: int, snippets: list[Message]) -> list[Message]:
        return super().placed(kept, len(kept) if place < len(kept) - 1 else place, snippets)


@broken("MANAGER-32")
class SaysThatSnippetsWereSaid(ReferenceModeManager):
    def placed(self, kept: list[Message], place: int, snippets: list[Message]) -> list[Message]:
        return super().placed(kept, place, [attrs.evolve(snippet, kind=Kind.CHAT) for snippet in snippets])


@broken("MANAGER-32")
class PutsEachSnippetIntoAMessage(ReferenceModeManager):
    def placed(self, kept: list[Message], place: int, snippets: list[Message]) -> list[Message]:
        words = snippets[0].text.split()
        half = len(words) // 2
        pieces = [" ".join(words[:half]), " ".join(words[half:])]
        made = [Message.user(text, id=f"piece {n}", kind=Kind.RETRIEVED) for n, text in enumerate(pieces)]
        return super().placed(kept, place, made)


@broken("MANAGER-32")
class LacksWhatWasFoldedInFull(ReferenceModeManager):
    """Neither the summary is there nor what it stood for."""

    def shown(self, session: ModedSession) -> list[Message]:
        shown = super().shown(session)
        return [message for message in shown if message.id not in session.folded] if session.mode is Mode.FULL else shown


@broken("MANAGER-15 MANAGER-20 MANAGER-32")
class ShowsTheNewestTwentyInFull(ReferenceModeManager):
    def shown(self, session: ModedSession) -> list[Message]:
        return super().shown(session)[-20:]


@broken("MANAGER-32")
class ShowsFoldsInFull(ReferenceModeManager):
    """Once folded, a session stays so, whatever mode it is in."""

    async def window(self, session: Session) -> tuple[list[Message], int]:
        moded = self.moded(session)
        if moded.mode is not Mode.FULL or not moded.folded:
            return await super().window(session)
        return await super().window(attrs.evolve(moded, mode=Mode.SUMMARY))


@broken("MANAGER-32")
class ShowsWhatWasBeforeTheTask(ReferenceModeManager):
    def shown(self, session: ModedSession) -> list[Message]:
        return super().shown(attrs.evolve(session, floor=0))


@broken("MANAGER-32")
class BeginsATaskWithEachQuestion(ReferenceModeManager):
    """FULL after a new task is no more than the newest turn."""

    def shown(self, session: ModedSession) -> list[Message]:
        shown = super().shown(session)
        turns = [n for n, message in enumerate(shown) if message.opens_turn]
        return shown[turns[-1] :] if session.floor and turns else shown


@broken("MANAGER-32")
class LeavesOutInSummary(ReferenceModeManager):
    """What would be folded is left out."""

    async def fold_what_is_too_much(self, session_id: str, session: ModedSession) -> None:
        if session.mode is not Mode.SUMMARY:
            await super().fold_what_is_too_much(session_id, session)


@broken("MANAGER-32")
class LeavesOutInHybrid(ReferenceModeManager):
    async def fold_what_is_too_much(self, session_id: str, session: ModedSession) -> None:
        if session.mode is not Mode.HYBRID:
            await super().fold_what_is_too_much(session_id, session)


@broken("MANAGER-32")
class ShowsNoFoldsInHybrid(ReferenceModeManager):
    """Snippets stand for the summary, and the history is whole again."""

    def folded_modes(self) -> Sequence[Mode]:
        return (Mode.SUMMARY,)
