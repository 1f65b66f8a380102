"""What all stores do alike. The port's rules are proven by the conformance suite; here is what is easily got wrong inside."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, cast

import pytest

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import (
    ContextStore,
    Draft,
    Durable,
    Head,
    InvalidArgument,
    Kind,
    ListsSessions,
    Message,
    MessageConflict,
    SharedAcrossProcesses,
    StateConflict,
    StoreUnavailable,
    from_chat,
    verify,
)

from .drafts import MAKERS, Store, assert_complete, draft, ids


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = MAKERS[request.param](tmp_path)
    yield made
    asyncio.run(made.close())


def test_stores_provide_their_ports(store: Store) -> None:
    verify(store, ContextStore)
    verify(store, ListsSessions)
    if isinstance(store, SqliteContextStore):
        verify(store, Durable)
        verify(store, SharedAcrossProcesses)


def test_head_sums_what_was_said_and_not_the_records(store: Store) -> None:
    async def scenario() -> None:
        record = Draft(message=Message.system("mode", id="r", kind=Kind.RECORD), tokens=99, counter="c", at=1.0)
        reply = Draft(message=Message.assistant("yes", id="b"), tokens=3, counter="c", at=1.0)
        entries = await store.append("s", [draft("a", "four"), record, reply])
        assert [(entry.seq, entry.turn, entry.epoch) for entry in entries] == [(1, 1, 1), (2, 1, 1), (3, 1, 1)]
        expected = Head(session_id="s", last_seq=3, messages=2, tokens=7, turn=1)
        assert await store.head("s") == expected
        assert await store.sessions() == (expected,)

    asyncio.run(scenario())


def test_repeated_messages_are_stored_once(store: Store) -> None:
    async def scenario() -> None:
        first = await store.append("s", [draft("a"), draft("b")])
        later = Draft(message=draft("b").message, tokens=1000, counter="another", at=99.0)
        again = await store.append("s", [draft("c"), later, draft("a"), draft("c")])
        assert ids(again) == ["c", "b", "a", "c"]
        assert again[1:3] == (first[1], first[0])
        assert again[0] == again[3]
        assert again[0].seq == 3
        assert ids(await store.read("s")) == ["a", "b", "c"]
        assert (await store.head("s")).messages == 3

    asyncio.run(scenario())


@pytest.mark.parametrize("position", [0, 1, 2])
def test_group_with_a_conflicting_member_stores_nothing(store: Store, position: int) -> None:
    async def scenario() -> None:
        await store.append("s", [draft("a")])
        before = await store.head("s")
        group = [draft("x"), draft("y")]
        group.insert(position, draft("a", "another text"))
        with pytest.raises(MessageConflict) as caught:
            await store.append("s", group)
        assert caught.value.message_id == "a"
        with pytest.raises(MessageConflict):
            await store.put_state("s", "new", expected=0, drafts=group)
        assert await store.head("s") == before
        assert ids(await store.read("s")) == ["a"]
        assert [entry.seq for entry in await store.append("s", [draft("x")])] == [2]

    asyncio.run(scenario())


def test_group_that_conflicts_with_itself_makes_no_session(store: Store) -> None:
    async def scenario() -> None:
        with pytest.raises(MessageConflict):
            await store.append("s", [draft("a", "one"), draft("a", "two")])
        with pytest.raises(StateConflict):
            await store.put_state("s", "state", expected=1)
        assert await store.append("s", []) == ()
        assert await store.read("s") == ()
        assert await store.head("s") == Head(session_id="s")
        assert await store.sessions() == ()

    asyncio.run(scenario())


def test_reads_are_bounded_from_the_end(store: Store) -> None:
    async def scenario() -> None:
        marked = {3, 200, 201, 430}
        group = [draft(str(number), pinned=number in marked) for number in range(1, 501)]
        await store.append("s", group[:7])
        await store.append("s", group[7:])
        for before in (None, 501, 2**62):
            assert ids(await store.read("s", limit=3, before=before)) == ["498", "499", "500"]
        assert ids(await store.read("s", limit=1000)) == [str(number) for number in range(1, 501)]
        assert ids(await store.read("s", after=10, before=14)) == ["11", "12", "13"]
        assert ids(await store.read("s", after=-5, before=3)) == ["1", "2"]
        assert await store.read("s", after=500) == await store.read("s", before=1) == await store.read("s", before=-7) == ()
        assert ids(await store.read("s", marked=True)) == ["3", "200", "201", "430"]
        assert ids(await store.read("s", marked=True, limit=2, before=430)) == ["200", "201"]
        assert ids(await store.read("s", marked=True, after=3, limit=300)) == ["200", "201", "430"]
        head = await store.clear("s")
        assert head == Head(session_id="s", epoch=2, last_seq=500)
        for epoch in (None, 2, 3):
            assert await store.read("s", epoch=epoch) == ()
        for after, before, limit in ((0, 501, 64), (0, 501, 300), (0, 100, 70), (63, 65, 9), (499, 501, 9), (600, 700, 9)):
            for only in (False, True):
                numbers = [n for n in range(after + 1, min(before, 501)) if n in marked or not only]
                entries = await store.read("s", epoch=1, after=after, before=before, limit=limit, marked=only)
                assert ids(entries) == [str(number) for number in numbers[-limit:]]

    asyncio.run(scenario())


def test_clear_begins_anew_and_keeps_the_state(store: Store) -> None:
    async def scenario() -> None:
        await store.append("s", [draft("a", "old")])
        await store.put_state("s", "prompt", expected=0)
        assert await store.clear("s") == Head(session_id="s", epoch=2, last_seq=1, state="prompt", state_version=1)
        assert await store.clear("s") == Head(session_id="s", epoch=3, last_seq=1, state="prompt", state_version=1)
        reply = Draft(message=Message.assistant("no turn yet", id="b"), tokens=1, counter="c", at=0.0)
        assert [(e.seq, e.turn, e.epoch) for e in await store.append("s", [reply, draft("a", "new")])] == [(2, 0, 3), (3, 3, 3)]
        assert (await store.put_state("s", "later", expected=1)).tokens == 4
        assert [entry.message.text for entry in await store.read("s", epoch=1)] == ["old"]
        assert await store.purge("s") == 3
        assert await store.purge("s") == 0
        assert await store.head("s") == Head(session_id="s")
        assert await store.read("s", epoch=1) == ()
        assert [entry.seq for entry in await store.append("s", [draft("a", "third")])] == [1]

    asyncio.run(scenario())


STRANGE = ["bin\0ary", "\0\0tail", "price \ud83d list", "caf\udce9", "ü 漢字 🍸", "a' OR 1=1 --", "%_*", " ", "\u2028", "A", "a"]


def test_any_characters_survive_everywhere(store: Store) -> None:
    async def scenario() -> None:
        for text in STRANGE:
            message = from_chat(
                {"role": "user", "content": text, "id": text, "metadata": {text: [text, None, 1.5]}, "x": {text: 1}}
            )
            other = Message.assistant(text, id=f"{text}2", metadata={"k": text})
            pair = [Draft(message=m, tokens=7, counter=text, at=0.1) for m in (message, other)]
            entries = await store.append(text, pair)
            await store.put_state(text, text, expected=0)
            assert await store.read(text) == entries
            assert [entry.message for entry in await store.read(text)] == [message, other]
            assert await store.append(text, pair) == entries
            assert (await store.head(text)).state == text
        listed = [head.session_id for head in await store.sessions()]
        assert listed == sorted(STRANGE)
        paged: list[str] = []
        while page := await store.sessions(after=paged[-1] if paged else "", limit=3):
            paged.extend(head.session_id for head in page)
        assert paged == listed

    asyncio.run(scenario())


def test_bad_arguments_are_named(store: Store) -> None:
    async def scenario() -> None:
        calls: list[Coroutine[Any, Any, Any]] = [
            store.read("s", limit=0),
            store.sessions(limit=0),
            store.head(""),
            store.append("", [draft("a")]),
            store.clear(""),
        ]
        for call in calls:
            with pytest.raises(InvalidArgument):
                await call

    asyncio.run(scenario())


def test_closing_twice_is_once_and_later_calls_say_so(store: Store) -> None:
    async def scenario() -> None:
        await store.append("s", [draft("a")])
        await asyncio.gather(store.close(), store.close())
        await store.close()
        calls: list[Coroutine[Any, Any, Any]] = [
            store.head("s"),
            store.read("s"),
            store.sessions(),
            store.append("s", []),
            store.append("s", [draft("b")]),
            store.put_state("s", "x", expected=0),
            store.clear("s"),
            store.purge("s"),
        ]
        for call in calls:
            with pytest.raises(StoreUnavailable):
                await call

    asyncio.run(scenario())


def test_closing_finishes_what_was_begun(store: Store) -> None:
    async def scenario() -> None:
        begun = [asyncio.create_task(store.append("s", [draft(str(number))])) for number in range(20)]
        await asyncio.sleep(0)
        await store.close()
        assert [(await task)[0].seq for task in begun] == list(range(1, 21))
        if isinstance(store, SqliteContextStore):
            again = SqliteContextStore(store.shared_backend)
            assert len(await again.read("s")) == 20
            await again.close()

    asyncio.run(scenario())


async def append_one_by_one(store: Store, session_id: str, writer: str, count: int) -> None:
    for number in range(count):
        await store.append(session_id, [draft(f"{writer}-{number}")])


def test_eight_tasks_in_one_session(store: Store) -> None:
    async def scenario() -> None:
        await asyncio.gather(*(append_one_by_one(store, "s", f"w{n}", 40) for n in range(8)))
        assert_complete(await store.read("s", limit=1000), {f"w{n}": 40 for n in range(8)})

    asyncio.run(scenario())


def test_eight_threads_with_their_own_loops(store: Store) -> None:
    failures: list[BaseException] = []

    def run(writer: str) -> None:
        async def scenario() -> None:
            await append_one_by_one(store, "shared", writer, 40)
            await append_one_by_one(store, writer, writer, 5)
            assert_complete(await store.read(writer), {writer: 5})

        try:
            asyncio.run(scenario())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(f"w{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    entries = asyncio.run(cast(Any, store.read("shared", limit=1000)))
    assert_complete(entries, {f"w{n}": 40 for n in range(8)})


def test_order_is_that_of_appending_whatever_the_clock_says(store: Store) -> None:
    async def scenario() -> None:
        drafts = [draft(str(number)) for number in range(500)]
        clock = [100, 101, 99, 99, 50, 102]
        for number, item in enumerate(drafts):
            await store.append("s", [Draft(message=item.message, tokens=1, counter="c", at=clock[number % 6])])
        entries = await store.read("s", limit=500)
        assert ids(entries) == [str(number) for number in range(500)]
        assert [entry.at for entry in entries[:6]] == clock

    asyncio.run(scenario())


def test_state_text_is_kept_as_given(store: Store) -> None:
    async def scenario() -> None:
        state = json.dumps({"system": "x" * 20_000})
        for version in range(3):
            head = await store.put_state("s", state, expected=version, drafts=[draft(str(version))])
            assert (head.state, head.state_version, head.last_seq) == (state, version + 1, version + 1)
            assert await store.head("s") == head

    asyncio.run(scenario())
