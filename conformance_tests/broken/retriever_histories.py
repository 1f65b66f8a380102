"""Retrievers of a history that find what they must not, or do not find what they must."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from contextport.conformance_tests.reference_retriever import ReferenceRetriever
from contextport.contracts import Draft, Entry, Kind, Message
from contextport.contracts.retrieval import Query, Snippet

from .registry import broken

__all__: list[str] = []


@broken("HISTORY-1")
class FoldsTheCaseOfSessions(ReferenceRetriever):
    async def entries(self, session_id: str) -> Sequence[Entry]:
        return [*await super().entries(session_id.casefold()), *(await super().entries(session_id))]


@broken("HISTORY-1")
class SearchesOnlyTheSessionOfTheQuestion(ReferenceRetriever):
    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        return await super().retrieve(attrs.evolve(query, sessions=()), max_tokens=max_tokens)


@broken("HISTORY-1")
class KeepsSessionsThatWereNamed(ReferenceRetriever):
    named: tuple[str, ...] = ()

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        self.named = tuple(dict.fromkeys((*self.named, *query.sessions)))
        return await super().retrieve(attrs.evolve(query, sessions=self.named), max_tokens=max_tokens)


class _Remembers(ReferenceRetriever):
    """Keeps what it read of a session, by a key, and reads on from there."""

    def __init__(self, store: Any, *, down: bool = False) -> None:
        super().__init__(store, down=down)
        self.kept: dict[Any, list[Entry]] = {}

    async def key(self, session_id: str) -> Any:
        head = await self.store.head(session_id)
        return session_id, head.epoch, head.incarnation

    async def entries(self, session_id: str) -> Sequence[Entry]:
        kept = self.kept.setdefault(await self.key(session_id), [])
        newest = kept[-1].seq if kept else 0
        kept += [entry for entry in await super().entries(session_id) if entry.seq > newest]
        return kept


@broken("HISTORY-1 HISTORY-2")
class JoinsSessionsOfEqualBeginning(_Remembers):
    """Keeps sessions by the first 8 letters of their ids, in small letters."""

    async def key(self, session_id: str) -> Any:
        head = await self.store.head(session_id)
        return session_id.casefold()[:8], head.epoch


@broken("HISTORY-2")
class KnowsNoEpochs(_Remembers):
    async def key(self, session_id: str) -> Any:
        return session_id


@broken("HISTORY-2")
class KnowsNoIncarnations(_Remembers):
    async def key(self, session_id: str) -> Any:
        return session_id, (await self.store.head(session_id)).epoch


@broken("HISTORY-2")
class SearchesEarlierEpochs(ReferenceRetriever):
    async def entries(self, session_id: str) -> Sequence[Entry]:
        epoch = (await self.store.head(session_id)).epoch
        earlier = [await self.store.read(session_id, limit=1_000, epoch=n) for n in range(1, epoch)]
        return [*(entry for entries in earlier for entry in entries), *await super().entries(session_id)]


@broken("HISTORY-3")
class ReadsASessionOnce(_Remembers):
    """Reads a session when it is told of, or asked in for the first time."""

    def note_added(self, session_id: str) -> None:
        self.kept = {key: entries for key, entries in self.kept.items() if key[0] != session_id}

    async def entries(self, session_id: str) -> Sequence[Entry]:
        kept = self.kept.get(await self.key(session_id))
        return kept or await super().entries(session_id)


@broken("HISTORY-3")
class IsOneCallBehind(_Remembers):
    async def entries(self, session_id: str) -> Sequence[Entry]:
        before = list(self.kept.get(await self.key(session_id), ()))
        return before if await super().entries(session_id) and before else await super().entries(session_id)


@broken("HISTORY-4")
class ReturnsWhatIsVisible(ReferenceRetriever):
    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        return await super().retrieve(attrs.evolve(query, visible=frozenset()), max_tokens=max_tokens)


@broken("HISTORY-4")
class ReturnsWhatCameLater(ReferenceRetriever):
    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        return await super().retrieve(attrs.evolve(query, before=None), max_tokens=max_tokens)


@broken("HISTORY-4")
class ReturnsTheEntryItself(ReferenceRetriever):
    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        before = None if query.before is None else query.before + 1
        return await super().retrieve(attrs.evolve(query, before=before), max_tokens=max_tokens)


@broken("HISTORY-4")
class SpendsTheRoomOnWhatIsVisible(ReferenceRetriever):
    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        found = await super().retrieve(attrs.evolve(query, visible=frozenset()), max_tokens=max_tokens)
        return tuple([one for one in found if one.message_id not in query.visible])


class _Kinds(ReferenceRetriever):
    """Takes entries of another kind for what was said."""

    also: Kind

    def is_wanted(self, query: Query, session_id: str, entry: Entry) -> bool:
        if entry.message.kind is self.also:
            entry = attrs.evolve(entry, message=attrs.evolve(entry.message, kind=Kind.CHAT))
        return super().is_wanted(query, session_id, entry)


@broken("HISTORY-5")
class FindsSystemPrompts(_Kinds):
    also = Kind.SYSTEM_PROMPT


@broken("HISTORY-5")
class FindsSummaries(_Kinds):
    also = Kind.SUMMARY


@broken("HISTORY-5")
class FindsFacts(_Kinds):
    also = Kind.FACTS


@broken("HISTORY-5")
class FindsRecords(_Kinds):
    also = Kind.RECORD


@broken("HISTORY-5")
class FindsWhatItFoundBefore(_Kinds):
    also = Kind.RETRIEVED


@broken("HISTORY-5")
class SearchesTheUsersWordsAlone(ReferenceRetriever):
    def is_wanted(self, query: Query, session_id: str, entry: Entry) -> bool:
        return entry.message.role == "user" and super().is_wanted(query, session_id, entry)


@broken("HISTORY-6")
class NotesQuestionsInTheLog(ReferenceRetriever):
    asked = 0

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        found = await super().retrieve(query, max_tokens=max_tokens)
        if (await self.store.head(query.session_id)).last_seq:
            self.asked += 1
            note = Message.user("asked", kind=Kind.RECORD, id=f"asked {self.asked}")
            await self.store.append(query.session_id, [Draft(message=note, tokens=1, counter="words", at=5.0)])
        return found


@broken("HISTORY-6")
class OpensTheSessionOfAQuestion(ReferenceRetriever):
    async def entries(self, session_id: str) -> Sequence[Entry]:
        head = await self.store.head(session_id)
        if not head.last_seq and session_id == "never written":
            await self.store.put_state(session_id, "", expected=head.state_version)
        return await super().entries(session_id)


@broken("HISTORY-7")
class ReadsWhatItIsToldOf(ReferenceRetriever):
    """Knows only sessions that were added to, or asked in before they had much, since it was opened."""

    def __init__(self, store: Any, *, down: bool = False) -> None:
        super().__init__(store, down=down)
        self.told: set[str] = set()

    def note_added(self, session_id: str) -> None:
        self.told.add(session_id)

    async def entries(self, session_id: str) -> Sequence[Entry]:
        entries = await super().entries(session_id)
        return entries if session_id in self.told or len(entries) < 40 else entries[:20]


@broken("HISTORY-8")
class ReadsTheBeginningOfAMessage(ReferenceRetriever):
    def pieces(self, text: str) -> Iterator[str]:
        yield from super().pieces(text[:1_000])


@broken("HISTORY-8")
class TakesEachMessageWhole(ReferenceRetriever):
    def pieces(self, text: str) -> Iterator[str]:
        yield text


@broken("HISTORY-3")
class PreparesInTheBackground(ReferenceRetriever):
    """What was added is found once `settle` came back."""

    def __init__(self, store: Any, *, down: bool = False) -> None:
        super().__init__(store, down=down)
        self.ready: dict[str, int] = {}

    async def settle(self) -> None:
        self.ready.clear()

    async def entries(self, session_id: str) -> Sequence[Entry]:
        entries = await super().entries(session_id)
        await asyncio.sleep(0)
        return entries[: self.ready.setdefault(session_id, len(entries))]
