"""The search in history: what it finds first, what it keeps, and what it does when a part fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from contextport.adapters.embedders.sentence_transformers_embedder import SentenceTransformersEmbedder
from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.indexes.faiss_vector_index import FaissVectorIndex
from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.adapters.retrieval.history_retriever import HistoryRetriever
from contextport.adapters.retrieval.passage_vectors import kept_as
from contextport.adapters.retrieval.retrieval_policy import RetrievalPolicy
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import (
    ContextStore,
    Draft,
    Embedder,
    EmbeddingFailed,
    Entry,
    EventKind,
    IndexedText,
    InvalidArgument,
    LexicalIndex,
    Matches,
    Message,
    Query,
    RetrievalFailed,
    Snippet,
    ToolCall,
    Vectors,
    implements,
)
from tests.embedders.small_model import small_model
from tests.managers.folding_sessions import awaited

SESSION = "s"
COUNTER = HeuristicTokenCounter()
FILLERS = [f"On day {n} we talked about the weather and about train number {n}." for n in range(30)]
KEY = "The spare key is under the blue flowerpot."


async def add(store: ContextStore, *messages: Message, session_id: str = SESSION) -> None:
    await store.append(session_id, [Draft(message=one, tokens=10, counter="c", at=50.0) for one in messages])


async def say(store: ContextStore, *texts: str, session_id: str = SESSION) -> None:
    await add(store, *[Message.user(text) for text in texts], session_id=session_id)


async def find(retriever: HistoryRetriever, text: str, max_tokens: int = 400, session_id: str = SESSION) -> list[Snippet]:
    return list(await retriever.retrieve(Query(text=text, session_id=session_id), max_tokens=max_tokens))


def texts(found: Sequence[Snippet]) -> list[str]:
    return [snippet.text for snippet in found]


@implements(Embedder)
class Recording:
    """The small model, and what it was asked for. It may be made to fail, or to answer only when it is let."""

    def __init__(self) -> None:
        self._model = SentenceTransformersEmbedder(small_model())
        self.name, self.dimensions = self._model.name, self._model.dimensions
        self.embedded: list[str] = []
        self.questions = 0
        self.fails = False
        self.fails_after: int | None = None
        self.held: asyncio.Event | None = None
        self.reached = asyncio.Event()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.reached.set()
        if self.held is not None:
            await self.held.wait()
        if self.fails or (self.fails_after is not None and len(self.embedded) >= self.fails_after):
            raise EmbeddingFailed("the model is gone")
        if query:
            self.questions += 1
        else:
            self.embedded += texts
        return await self._model.embed(texts, query=query)

    def coverage(self, text: str) -> float:
        return self._model.coverage(text)

    async def close(self) -> None:
        await self._model.close()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def searching(
    store: ContextStore,
    embedder: Recording | None = None,
    policy: RetrievalPolicy = RetrievalPolicy(),  # noqa: B008
    events: CollectingEventSink | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[HistoryRetriever]:
    index = None if embedder is None else FaissVectorIndex()
    retriever = HistoryRetriever(
        store, COUNTER, Fts5LexicalIndex(), embedder, index, policy=policy, events=events, clock=clock or Clock()
    )
    try:
        yield retriever
    finally:
        await retriever.close()


async def prepared(retriever: HistoryRetriever, session_id: str = SESSION) -> None:
    retriever.note_added(session_id)
    await retriever.settle()


def failures(sink: CollectingEventSink) -> list[object]:
    return [event.data["error"] for event in sink.of(EventKind.RETRIEVAL_FAILED)]


def test_an_embedder_without_an_index_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="without index"):
        HistoryRetriever(MemoryContextStore(), COUNTER, Fts5LexicalIndex(), Recording())


@awaited
async def test_meaning_is_found_where_no_word_is_the_same() -> None:
    store = MemoryContextStore()
    await say(store, *FILLERS[:15], "My sister adopted two kittens.", *FILLERS[15:])
    async with searching(store, Recording()) as retriever:
        await prepared(retriever)
        assert "My sister adopted two kittens." in texts(await find(retriever, "Which pets live at her home?", 60))
    async with searching(store) as retriever:
        assert await find(retriever, "Which pets live at her home?") == []


@awaited
async def test_who_is_asked_about_comes_first_and_is_told_with_the_time() -> None:
    store = MemoryContextStore()
    people = [
        Message.user("I love my violin", name="Ann", created_at=7.0),
        Message.assistant("I do love the violin", name="Bob"),
    ]
    await add(store, *people, *[Message.user(text, name="Ann") for text in FILLERS])
    async with searching(store) as retriever:
        first = (await find(retriever, "Does Bob love the violin?"))[0]
        assert (first.speaker, first.role, first.at, first.seq) == ("Bob", "assistant", 50.0, 2)
        last = (await find(retriever, "Does Ann love the violin?"))[0]
        assert (last.speaker, last.at) == ("Ann", 7.0)


@awaited
async def test_places_that_are_known_come_first_whatever_their_words_are() -> None:
    store = MemoryContextStore()
    await say(store, "It is 4711.", *FILLERS, "The code was changed to something.")
    async with searching(store) as retriever:
        query = Query(text="What was the code?", session_id=SESSION, known=(1, 999))
        found = await retriever.retrieve(query, max_tokens=200)
        assert texts(found)[:2] == ["It is 4711.", "The code was changed to something."]
        before = Query(text="What was the code?", session_id=SESSION, known=(32,), before=20)
        assert all(snippet.seq < 20 for snippet in await retriever.retrieve(before, max_tokens=200))


@awaited
async def test_a_result_is_stale_once_the_same_call_was_made_again() -> None:
    store = MemoryContextStore()
    for n, arguments in enumerate(('{"city":"Rome"}', '{"city":"Oslo"}', '{"city":"Rome"}')):
        call = ToolCall(call_id=f"c{n}", name="weather", arguments=arguments)
        await add(store, Message.assistant("", call), Message.tool(f"c{n}", f"Weather report {n}: rain"))
    async with searching(store) as retriever:
        found = await find(retriever, "weather report")
        assert {snippet.text: snippet.is_stale for snippet in found} == {
            "Weather report 0: rain": True,
            "Weather report 1: rain": False,
            "Weather report 2: rain": False,
        }


@awaited
async def test_what_the_host_instructs_is_not_found() -> None:
    store = MemoryContextStore()
    await add(store, Message.system("The spare key is secret."), Message(role="developer", parts=Message.user(KEY).parts))
    await say(store, KEY)
    async with searching(store) as retriever:
        assert [snippet.role for snippet in await find(retriever, "spare key")] == ["user"]


@awaited
async def test_no_message_is_embedded_twice_not_even_by_the_next_process(tmp_path: Path) -> None:
    store = SqliteContextStore(tmp_path / "log.db")
    await say(store, *FILLERS, KEY)
    first, then = Recording(), Recording()
    async with searching(store, first) as retriever:
        await prepared(retriever)
        await say(store, "One more.")
        await prepared(retriever)
        found = await find(retriever, "Where is the key to the house?")
    assert first.embedded == [*FILLERS, KEY, "One more."]
    await store.close()
    store = SqliteContextStore(tmp_path / "log.db")
    async with searching(store, then) as retriever:
        assert await find(retriever, "Where is the key to the house?") == found
        await prepared(retriever)
    assert then.embedded == []
    await store.close()


@awaited
async def test_a_gap_in_the_vectors_is_filled_later(tmp_path: Path) -> None:
    store, sink, clock = SqliteContextStore(tmp_path / "log.db"), CollectingEventSink(), Clock()
    await say(store, *FILLERS)
    embedder = Recording()
    embedder.fails_after = 8
    async with searching(store, embedder, RetrievalPolicy(batch=4), sink, clock) as retriever:
        await prepared(retriever)
        assert embedder.embedded == FILLERS[:8]
        assert failures(sink) == ["EmbeddingFailed"]
        embedder.fails_after = None
        clock.now += 31
        await find(retriever, "weather")  # a question starts it again
        await retriever.settle()
        assert embedder.embedded == FILLERS
    await store.close()


@awaited
async def test_two_retrievers_on_one_store_share_their_vectors(tmp_path: Path) -> None:
    store = SqliteContextStore(tmp_path / "log.db")
    one, other = Recording(), Recording()
    async with searching(store, one) as first, searching(store, other) as second:
        await say(store, *FILLERS)
        await find(second, "weather")  # it has read the session, and has no vectors
        await second.settle()
        await say(store, KEY)
        await prepared(first)
        await prepared(second)
        assert one.embedded == [KEY]
        assert other.embedded == FILLERS
    await store.close()


@awaited
async def test_where_the_embedder_fails_words_are_searched_and_it_is_left_alone_for_a_while() -> None:
    store, sink, clock, embedder = MemoryContextStore(), CollectingEventSink(), Clock(), Recording()
    await say(store, *FILLERS, KEY)
    async with searching(store, embedder, events=sink, clock=clock) as retriever:
        await prepared(retriever)
        embedder.fails = True
        for _ in range(3):
            assert texts(await find(retriever, "spare key"))[0] == KEY
        assert failures(sink) == ["EmbeddingFailed"]
        embedder.fails = False
        assert texts(await find(retriever, "spare key"))[0] == KEY
        assert embedder.questions == 0
        clock.now += 31
        await find(retriever, "spare key")
        assert embedder.questions == 1


@awaited
async def test_where_the_embedder_is_slow_words_are_searched() -> None:
    store, sink, embedder = MemoryContextStore(), CollectingEventSink(), Recording()
    await say(store, *FILLERS, KEY)
    embedder.held = asyncio.Event()
    async with searching(store, embedder, RetrievalPolicy(embedding_seconds=0.001), sink) as retriever:
        assert texts(await find(retriever, "spare key"))[0] == KEY
        assert failures(sink) == ["TimeoutError"]
        embedder.held.set()


@awaited
async def test_where_the_index_of_vectors_fails_words_are_searched() -> None:
    store, sink, index = MemoryContextStore(), CollectingEventSink(), FaissVectorIndex()
    await say(store, *FILLERS, KEY)
    retriever = HistoryRetriever(store, COUNTER, Fts5LexicalIndex(), Recording(), index, events=sink, clock=Clock())
    await prepared(retriever)
    await index.close()
    assert texts(await find(retriever, "spare key"))[0] == KEY
    assert failures(sink) == ["IndexUnavailable"]
    await store.clear(SESSION)
    assert await find(retriever, "spare key") == []
    await retriever.close()


@awaited
async def test_a_question_in_a_script_that_the_embedder_does_not_know_is_not_embedded() -> None:
    store, embedder = MemoryContextStore(), Recording()
    await say(store, "我妹妹最喜欢喝龙井茶。", "昨天下雨了。", KEY)
    async with searching(store, embedder) as retriever:
        await prepared(retriever)
        assert texts(await find(retriever, "妹妹喜欢喝什么茶?"))[0] == "我妹妹最喜欢喝龙井茶。"
        assert embedder.questions == 0


@awaited
async def test_an_index_of_words_that_fails_is_an_error() -> None:
    store, lexical = MemoryContextStore(), Fts5LexicalIndex()
    await say(store, KEY)
    retriever = HistoryRetriever(store, COUNTER, lexical)
    assert texts(await find(retriever, "spare key")) == [KEY]
    await lexical.close()
    with pytest.raises(RetrievalFailed, match="cannot be searched"):
        await find(retriever, "spare key")
    await retriever.close()


@implements(LexicalIndex)
class Counting:
    """An index of words, and the spaces that it has."""

    def __init__(self) -> None:
        self._index = Fts5LexicalIndex()
        self.spaces: set[str] = set()

    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        self.spaces.add(space)
        await self._index.add(space, texts)

    async def matches(self, space: str, question: str) -> Matches:
        return await self._index.matches(space, question)

    async def newest(self, space: str) -> int | None:
        return await self._index.newest(space)

    async def drop(self, space: str) -> None:
        self.spaces.discard(space)
        await self._index.drop(space)

    async def close(self) -> None:
        await self._index.close()


@awaited
async def test_sessions_that_were_not_used_for_longest_are_let_go_and_read_again() -> None:
    store, embedder, index, lexical = MemoryContextStore(), Recording(), FaissVectorIndex(), Counting()
    policy = RetrievalPolicy(most_characters=sum(map(len, FILLERS)) * 2)
    retriever = HistoryRetriever(store, COUNTER, lexical, embedder, index, policy=policy, clock=Clock())
    names = [f"session {n}" for n in range(6)]
    spaces: list[str] = []
    for name in names:
        await say(store, *FILLERS[:10], f"{KEY} In {name}.", *FILLERS[10:], session_id=name)
        await prepared(retriever, name)
        spaces += [space for space in lexical.spaces if space not in spaces]
        assert len(lexical.spaces) <= 3
    assert [await index.size(space) for space in spaces] == [31 * (space in lexical.spaces) for space in spaces]
    embedder.embedded.clear()
    for name in names:
        assert texts(await find(retriever, "spare key", session_id=name))[0] == f"{KEY} In {name}."
    await retriever.close()
    assert lexical.spaces == set()


@awaited
async def test_after_a_clear_or_a_purge_nothing_is_left_in_the_indexes() -> None:
    store, index, lexical, embedder = MemoryContextStore(), FaissVectorIndex(), Counting(), Recording()
    retriever = HistoryRetriever(store, COUNTER, lexical, embedder, index, clock=Clock())
    for remove in (store.clear, store.purge):
        await say(store, KEY)
        await prepared(retriever)
        (space,) = lexical.spaces
        assert await index.size(space) == 1
        await remove(SESSION)
        await prepared(retriever)
        assert lexical.spaces == set()
        assert await index.size(space) == 0
    await retriever.close()


@awaited
async def test_a_session_that_is_cleared_while_it_is_embedded_leaves_nothing() -> None:
    store, index, lexical, embedder = MemoryContextStore(), FaissVectorIndex(), Counting(), Recording()
    retriever = HistoryRetriever(store, COUNTER, lexical, embedder, index, clock=Clock())
    await say(store, *FILLERS)
    embedder.held = asyncio.Event()
    retriever.note_added(SESSION)
    await embedder.reached.wait()
    (space,) = lexical.spaces
    await store.clear(SESSION)
    assert await find(retriever, "zzz") == []
    embedder.held.set()
    await retriever.settle()
    assert lexical.spaces == set()
    assert await index.size(space) == 0
    assert await store.vectors(SESSION, kept_as(embedder)) is None
    await retriever.close()


@awaited
async def test_what_is_embedded_while_a_session_is_purged_is_not_kept_for_the_one_that_takes_its_id() -> None:
    store, embedder = MemoryContextStore(), Recording()
    await say(store, *FILLERS)
    embedder.held = asyncio.Event()
    async with searching(store, embedder) as retriever:
        retriever.note_added(SESSION)
        await embedder.reached.wait()
        await store.purge(SESSION)
        await say(store, *FILLERS)
        embedder.held.set()
        await retriever.settle()
        assert await store.vectors(SESSION, kept_as(embedder)) is None
        await prepared(retriever)
        kept = await store.vectors(SESSION, kept_as(embedder))
        assert kept is not None
        assert len(kept.vectors) == len(FILLERS)


class Distant(MemoryContextStore):
    """A store whose log is read only once it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Event()
        self.reached = asyncio.Event()
        self.reads = 0

    async def read(
        self,
        session_id: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 64,
        marked: bool = False,
        epoch: int | None = None,
    ) -> tuple[Entry, ...]:
        self.reads += 1
        self.reached.set()
        await self.let.wait()
        return await super().read(session_id, after=after, before=before, limit=limit, marked=marked, epoch=epoch)


@awaited
async def test_a_question_that_was_given_up_has_the_log_read_for_the_next() -> None:
    store = Distant()
    await say(store, *FILLERS)
    async with searching(store) as retriever:
        given_up = asyncio.ensure_future(find(retriever, "zzz"))
        await store.reached.wait()
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        store.let.set()
        await retriever.settle()
        reads = store.reads
        assert await find(retriever, "zzz") == []
        assert store.reads == reads, "it was read in the background"


@awaited
async def test_closing_stops_what_goes_on_in_the_background() -> None:
    store, embedder = MemoryContextStore(), Recording()
    await say(store, *FILLERS)
    embedder.held = asyncio.Event()
    async with searching(store, embedder) as retriever:
        retriever.note_added(SESSION)
        await embedder.reached.wait()
    assert embedder.embedded == []
    retriever.note_added(SESSION)
    await retriever.settle()
    assert embedder.embedded == []


@awaited
async def test_retrievers_share_indexes_without_disturbing_one_another(tmp_path: Path) -> None:
    store, lexical, index = MemoryContextStore(), Fts5LexicalIndex(tmp_path / "words.db"), FaissVectorIndex()
    await say(store, *FILLERS, KEY)
    one, other = [HistoryRetriever(store, COUNTER, lexical, Recording(), index, clock=Clock()) for _ in range(2)]
    await prepared(one)
    await prepared(other)
    found = await find(other, "spare key")
    assert await find(one, "spare key") == found
    await one.close()
    assert await find(other, "spare key") == found
    await other.close()
    await lexical.close()
