"""The rules of `ContextStore` about calls at once and cancelled calls, and those of its optional ports."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from contextport.contracts import ContextStore, Durable, ListsSessions, SharedAcrossProcesses

from .rules import rule
from .store_inputs import add, at_once, at_once_in_threads, cancelled_at, draft, ids, session_ids

if TYPE_CHECKING:
    from .suites import ContextStoreConformance as Suite

__all__: list[str] = []

_WRITERS = 8
_GROUPS = 5
_MOST_WAITS = 60  # awaits of one append; a store that waits more often is cancelled at the first 60


def _group(writer: int, number: int) -> list[str]:
    return [f"w{writer} g{number} m{message}" for message in range(3)]


async def _write(store: ContextStore, writer: int) -> None:
    for number in range(_GROUPS):
        await add(store, "s", *_group(writer, number))


def _assert_whole(found: list[str], writers: int) -> None:
    """Each message once, each writer's in its own order, each group next to one another."""
    assert sorted(found) == sorted(name for w in range(writers) for g in range(_GROUPS) for name in _group(w, g)), (
        f"{len(found)} messages are in the log, {len(set(found))} of them different; {writers * _GROUPS * 3} were added"
    )
    for writer in range(writers):
        own = [name for name in found if name.startswith(f"w{writer} ")]
        assert own == [name for g in range(_GROUPS) for name in _group(writer, g)], (
            f"the messages of writer {writer} changed order"
        )
        for number in range(_GROUPS):
            at = found.index(_group(writer, number)[0])
            assert found[at : at + 3] == _group(writer, number), f"group {number} of writer {writer} was torn apart"


@rule("STORE-15", ContextStore, cause="read, then write, without a lock or a transaction around both.")
async def appends_at_once_are_all_stored(suite: Suite) -> None:
    async with suite.adapter() as store:
        await at_once(*(partial(_write, store, writer) for writer in range(_WRITERS)))
        log = await store.read("s", limit=1_000)
        assert [e.seq for e in log] == list(range(1, len(log) + 1)), "tasks at once left holes or repeats in seq"
        _assert_whole(ids(log), _WRITERS)
        head = await store.head("s")
        assert (head.messages, head.tokens) == (len(log), 3 * len(log)), f"tasks at once left another count: {head}"
    async with suite.adapter() as store:
        await at_once_in_threads(*(partial(_write, store, writer) for writer in range(_WRITERS)))
        log = await store.read("s", limit=1_000)
        assert [e.seq for e in log] == list(range(1, len(log) + 1)), "threads at once left holes or repeats in seq"
        _assert_whole(ids(log), _WRITERS)


@rule("STORE-19", ContextStore, cause="the write is in several steps with awaits between, or a lock is not given back.")
async def cancelled_call_stores_all_or_nothing(suite: Suite) -> None:
    group = ["a", "b", "c"]
    for k in range(1, _MOST_WAITS):
        async with suite.adapter() as store:
            await add(store, "s", "first")
            waited = await cancelled_at(k, store.append("s", [draft(name) for name in group]))
            changed = await cancelled_at(k, store.put_state("s", "new", expected=0, drafts=[draft("d")]))
            if not waited and not changed:
                return
            await add(store, "s", "last")
            found = ids(await store.read("s"))
            there = [name for name in found if name in group]
            assert there in ([], group), f"an append cancelled at wait {k} left {there} of {group} in the log"
            head = await store.head("s")
            assert (head.state == "new", head.state_version == 1) == ("d" in found,) * 2, (
                f"a put_state cancelled at wait {k} left state {head.state!r}, version {head.state_version} and the log {found}"
            )
            again = await add(store, "s", *group)
            assert ids(again) == group, f"the append cancelled at wait {k} cannot be repeated"
            log = await store.read("s")
            assert [e.seq for e in log] == list(range(1, len(log) + 1)), f"an append cancelled at wait {k} left holes in seq"
            assert sorted(ids(log)) == sorted({*found, *group}), f"after repeating the append the log has {ids(log)}"


@rule(
    "STORE-20", ListsSessions, cause="pages overlap, the order is that of insertion or of a collation, or the limit is ignored."
)
async def lists_sessions_in_pages(suite: Suite) -> None:
    names = sorted(session_ids())
    async with suite.adapter() as store:
        for name in reversed(names):
            await add(store, name, "a")
        await store.put_state(names[0], "x", expected=0)
        await store.clear(names[1])
        gone = "purged"
        await add(store, gone, "a")
        await store.purge(gone)
        listed: list[str] = []
        for _ in range(len(names) + 2):
            page = await store.sessions(after=listed[-1] if listed else "", limit=3)
            assert len(page) <= 3, f"sessions(limit=3) returned {len(page)}"
            if not page:
                break
            for head in page:
                assert head == await store.head(head.session_id), "a listed head differs from what head returns"
            listed.extend(head.session_id for head in page)
        assert listed == names, "the pages do not list each session once, in the order of code points"
        assert len(await store.sessions()) == len(names), "sessions() does not return all of a few sessions"


@rule("STORE-21", Durable, cause="writes are held in memory until close, or the file is made anew when it is opened.")
async def log_outlives_the_store(suite: Suite) -> None:
    async with suite.adapter() as store:
        level = store.durability
        assert level in ("process", "power"), f"durability is {level!r}"
        await store.append("s", [draft("a"), draft("p", pinned=True)])
        await store.put_state("s", "kept", expected=0)
        await store.clear("s")
        await add(store, "s", "b")
        wanted = (await store.head("s"), await store.read("s"), await store.read("s", epoch=1))
        assert store.durability == level, "durability changed"
        await store.close()
        for time in ("the first time", "again"):
            async with suite.reopened(store) as later:
                found = (await later.head("s"), await later.read("s"), await later.read("s", epoch=1))
                assert found == wanted, f"a store that was opened on the same backend {time} reads another log"
        async with suite.reopened(store) as later:
            assert [e.seq for e in await add(later, "s", "c")] == [4], "seq does not go on in a reopened store"


@rule(
    "STORE-22", SharedAcrossProcesses, cause="the head or the ids are cached in the store, or a writer does not lock the backend."
)
async def two_stores_work_on_one_backend(suite: Suite) -> None:
    async with suite.adapter() as one, suite.reopened(one) as other:
        assert isinstance(one.shared_backend, str), f"shared_backend is {one.shared_backend!r}"
        assert one.shared_backend, "shared_backend is empty"
        written = 0
        for writer, reader in ((one, other), (other, one), (one, other)):
            for _ in range(2):
                written += 1
                await add(writer, "s", f"m{written}")
                found = ids(await reader.read("s", limit=1))
                assert found == [f"m{written}"], f"the newest message of one store is m{written}, the other reads {found}"
                seen = (await reader.head("s")).last_seq
                assert seen == written, f"one store has {written} messages, the head of the other says {seen}"
        assert await one.head("s") == await other.head("s"), "the two stores have different heads"
        again = await add(other, "s", "m1")
        assert again[0].seq == 1, "a message that the other store has already was stored again"
        await one.put_state("s", "x", expected=0)
        assert (await other.put_state("s", "y", expected=1)).state_version == 2, "the second store does not see the first's state"
        await one.clear("s")
        assert await other.read("s") == (), "a clear in the first store is not seen in the second"
        await one.purge("s")
        stores = (one, other)
        await at_once(*(partial(_write, stores[writer % 2], writer) for writer in range(4)))
        log = await one.read("s", limit=1_000)
        assert ids(log) == ids(await other.read("s", limit=1_000)), "the two stores read different logs"
        assert [e.seq for e in log] == list(range(1, len(log) + 1)), "two stores at once left holes or repeats in seq"
        _assert_whole(ids(log), 4)
        await one.purge("s")
        await at_once_in_threads(*(partial(_write, stores[writer % 2], writer) for writer in range(4)))
        log = await one.read("s", limit=1_000)
        assert [e.seq for e in log] == list(range(1, len(log) + 1)), "two stores in threads left holes or repeats in seq"
        _assert_whole(ids(log), 4)
