"""The search for a small failing input, and the walk through a store and its model."""

import asyncio
from collections.abc import Sequence

from contextport.conformance_tests.reference_store import ReferenceStore
from contextport.conformance_tests.shrinking import shrink
from contextport.conformance_tests.walk import drawn_calls, entries_seen, explain, heads_seen
from contextport.contracts import ContextStore, Entry


def test_all_that_is_not_needed_goes() -> None:
    async def fails(items: list[int]) -> bool:
        return 7 in items and 31 in items

    assert asyncio.run(shrink(range(100), fails)) == [7, 31]


def test_nothing_may_be_needed() -> None:
    async def fails(items: list[int]) -> bool:
        return True

    assert asyncio.run(shrink(range(9), fails)) == []


def test_search_ends() -> None:
    tried: list[int] = []

    async def fails(items: list[int]) -> bool:
        tried.append(len(items))
        return len(items) > 5_000

    asyncio.run(shrink(range(10_000), fails, most_tries=50))
    assert len(tried) == 50


def test_walks_are_the_same_for_the_same_seed() -> None:
    assert [str(call) for call in drawn_calls(3)] == [str(call) for call in drawn_calls(3)]
    assert [str(call) for call in drawn_calls(3)] != [str(call) for call in drawn_calls(4)]
    methods = {call.method for seed in range(5) for call in drawn_calls(seed)}
    assert methods == {"append", "read", "head", "put_state", "clear", "purge"}


class LosesTheThird(ReferenceStore):
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
        found = await super().read(session_id, after=after, before=before, limit=limit, marked=marked, epoch=epoch)
        return found if len(found) < 3 else found[:-1]


async def built() -> ContextStore:
    return LosesTheThird()


async def released(store: ContextStore) -> None:
    await store.close()


def walk_until_different(seeds: Sequence[int] = range(20)) -> str:
    return asyncio.run(explain(built, released, entries_seen, seeds))


def test_a_walk_finds_a_fault_and_makes_it_short() -> None:
    text = walk_until_different()
    assert text.count("await store.append") + text.count("await store.put_state") <= 3, text
    assert text.count("await store.read") == 1, text
    assert "the contract: [" in text
    assert "the store:    [" in text


def test_a_walk_finds_nothing_where_answers_are_equal() -> None:
    assert asyncio.run(explain(built, released, heads_seen)) == ""
