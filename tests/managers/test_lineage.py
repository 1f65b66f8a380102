"""Lineage of folds, on logs that are written entry by entry into real stores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from contextport.adapters.managers.lineage import Lineage, entries_of_epoch, fold_group, lineage
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import (
    ContextStore,
    FoldRecord,
    InvalidArgument,
    Span,
    StoreCorrupt,
    Usage,
)
from tests.managers.folded_logs import FoldedLog

Steps = Callable[[FoldedLog], Awaitable[None]]


@pytest.fixture(params=["memory", "sqlite"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> FoldedLog:
    store: ContextStore = MemoryContextStore() if request.param == "memory" else SqliteContextStore(tmp_path / "log.db")
    return FoldedLog(store=store)


def run(log: FoldedLog, steps: Steps) -> Lineage:
    """Write the log and read its lineage."""

    async def both() -> Lineage:
        await steps(log)
        return await lineage(log.store, log.session_id)

    return asyncio.run(both())


async def three_folds(log: FoldedLog) -> None:
    """1-10 said, the first fold covers 1-6 (2 stays); 14-19 said, the second covers up to 16; 23-24, the third up to 19."""
    await log.say(10, pinned={2})
    await log.fold(through=6, summary="s1", kept=(2,), reason="over the light threshold", usage=Usage(input_tokens=9))
    await log.say(6)
    await log.fold(through=16, summary="s2", kept=(2,), faults=("it was larger than its source",), usage=Usage(input_tokens=5))
    await log.say(2)
    await log.fold(through=19, summary="s3")


def test_a_session_without_folds_has_an_empty_lineage(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(3)

    found = run(log, steps)
    assert (found.folds, found.live, found.ledger.facts, found.usage, found.is_certain) == ((), None, (), None, True)
    assert found.replaced_by(1) is None
    unknown = asyncio.run(lineage(log.store, "nobody"))
    assert unknown.folds == ()


def test_folds_come_oldest_first_and_name_what_they_cover(log: FoldedLog) -> None:
    found = run(log, three_folds)
    assert [fold.summary_id for fold in found.folds] == ["s1", "s2", "s3"]
    assert [(one.span, one.own, one.earlier) for one in found.summaries] == [
        (Span(1, 6), Span(1, 6), None),
        (Span(1, 16), Span(7, 16), "s1"),
        (Span(1, 19), Span(17, 19), "s2"),
    ]
    assert found.live == found.covers("s3")
    assert [one.messages for one in found.summaries] == [5, 12, 16]
    assert found.tokens_saved == sum(fold.tokens_before - fold.tokens_after for fold in found.folds) > 0
    assert found.usage == Usage(input_tokens=14)
    with pytest.raises(InvalidArgument):
        found.covers("s4")


def test_every_message_has_the_first_summary_that_covered_it(log: FoldedLog) -> None:
    found = run(log, three_folds)
    replaced = {seq: found.replaced_by(seq) for seq in range(1, 28)}
    assert {seq for seq, id in replaced.items() if id == "s1"} == {1, 3, 4, 5, 6}
    assert replaced[2] == "s3"  # it stayed at first
    assert {seq for seq in (7, 8, 9, 10, 14, 15, 16) if replaced[seq] == "s2"} == {7, 8, 9, 10, 14, 15, 16}
    assert [replaced[seq] for seq in (17, 18, 19, 23, 24)] == ["s3", "s3", "s3", None, None]


def test_a_message_that_stood_before_the_first_summary_can_be_covered_later(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(6)
        await log.fold(through=4, summary="s1", kept=(1, 3), first=2)
        await log.fold(through=6, summary="s2", kept=(3,), first=2)

    found = run(log, steps)
    assert [found.replaced_by(seq) for seq in range(1, 7)] == ["s2", "s1", None, "s1", "s2", "s2"]
    assert [(one.span, one.released) for one in found.summaries] == [(Span(2, 4), frozenset()), (Span(1, 6), frozenset({1}))]

    async def ids() -> list[str]:
        return [entry.message.id async for entry in found.messages_of(log.store, "s2")]

    assert asyncio.run(ids()) == ["m1", "m2", "m4", "m5", "m6"]


def test_a_summary_and_its_facts_have_successors(log: FoldedLog) -> None:
    found = run(log, three_folds)
    assert [fold.seq for fold in found.folds] == [11, 20, 25]
    assert [found.replaced_by(seq) for seq in (12, 21, 26)] == ["s2", "s3", None]
    assert [found.replaced_by(seq) for seq in (13, 22, 27)] == ["s2 facts", "s3 facts", None]


def test_the_raw_messages_of_a_summary_are_those_that_were_said_and_do_not_stay(log: FoldedLog) -> None:
    found = run(log, three_folds)

    async def ids(summary: str) -> list[str]:
        return [entry.message.id async for entry in found.messages_of(log.store, summary)]

    assert asyncio.run(ids("s1")) == ["m1", "m3", "m4", "m5", "m6"]
    assert asyncio.run(ids("s2")) == ["m1", *(f"m{n}" for n in (3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16))]
    assert len(asyncio.run(ids("s3"))) == 16


def test_raw_messages_are_read_in_pages(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(1_000)
        await log.fold(through=900, summary="s1")

    found = run(log, steps)
    largest = 0
    read = log.store.read

    async def watched(*args: object, **more: object) -> object:
        nonlocal largest
        page = await read(*args, **more)  # type: ignore[arg-type]
        largest = max(largest, len(page))
        return page

    log.store.read = watched  # type: ignore[method-assign, assignment]

    async def count() -> int:
        return len([entry async for entry in found.messages_of(log.store, "s1")])

    assert asyncio.run(count()) == 900
    assert largest <= 256


def test_the_ledger_is_that_of_the_newest_facts(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(4)
        await log.fold(through=2, summary="s1", known=("A-1",))
        await log.fold(through=3, summary="s2", known=("A-1", "B-2"))

    found = run(log, steps)
    assert [fact.text for fact in found.ledger.facts] == ["A-1", "B-2"]


def test_a_record_that_was_never_committed_is_not_in_the_chain(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(4)
        await log.fold(through=2, summary="lost", commit=False)
        await log.fold(through=2, summary="s1")
        await log.fold(through=4, summary="crashed", commit=False)

    found = run(log, steps)
    assert [fold.summary_id for fold in found.folds] == ["s1"]
    assert found.replaced_by(1) == "s1"
    assert found.replaced_by(3) is None
    with pytest.raises(InvalidArgument):
        found.covers("lost")


def test_a_fold_that_only_shortened_results_leaves_the_summary_before_it_alive(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(6)
        await log.fold(through=2, summary="s1")
        await log.fold(through=2, summary=None, facts=False)
        await log.fold(through=4, summary="s3")

    found = run(log, steps)
    assert [fold.summary_id for fold in found.folds] == ["s1", None, "s3"]
    assert [(one.summary_id, one.own) for one in found.summaries] == [("s1", Span(1, 2)), ("s3", Span(3, 4))]
    assert found.replaced_by(found.folds[0].seq + 1) == "s3"


def test_each_epoch_has_a_lineage_of_its_own(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(4)
        await log.fold(through=3, summary="old")
        await log.store.clear(log.session_id)

    assert run(log, steps).folds == ()

    async def rest() -> tuple[Lineage, Lineage, Lineage]:
        before = await lineage(log.store, log.session_id, epoch=1)
        await log.say(4)
        await log.fold(through=log.last_said - 1, summary="new")
        past = await lineage(log.store, log.session_id, epoch=1)
        return before, past, await lineage(log.store, log.session_id, epoch=2)

    before, past, now = asyncio.run(rest())
    assert [fold.summary_id for fold in before.folds] == ["old"]
    assert before.is_certain
    assert ([fold.summary_id for fold in past.folds], past.is_certain) == (["old"], False)
    assert [fold.summary_id for fold in now.folds] == ["new"]
    assert now.replaced_by(1) is None
    assert past.replaced_by(1) == "old"


def test_a_past_epoch_whose_pointer_is_gone_still_tells_what_others_built_on(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(6)
        await log.fold(through=2, summary="lost", commit=False)
        await log.fold(through=2, summary="s1")
        await log.fold(through=4, summary="s2")
        await log.store.clear(log.session_id)
        await log.say(4)
        await log.fold(through=log.last_said, summary="new")

    run(log, steps)
    past = asyncio.run(lineage(log.store, log.session_id, epoch=1))
    assert [fold.summary_id for fold in past.folds] == ["s1", "s2"]
    assert not past.is_certain


def test_a_state_without_a_fold_tells_of_the_current_epoch_only(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(4)
        await log.fold(through=3, summary="old")
        head = await log.store.clear(log.session_id)
        await log.store.put_state(log.session_id, '{"prompt": null}', expected=head.state_version)
        await log.say(2)
        await log.fold(through=log.last_said, summary="lost", commit=False)

    now = run(log, steps)
    past = asyncio.run(lineage(log.store, log.session_id, epoch=1))
    assert (now.folds, now.is_certain) == ((), True)
    assert ([fold.summary_id for fold in past.folds], past.is_certain) == (["old"], False)


@pytest.mark.parametrize("epoch", [0, 2, -1, "1"])
def test_an_epoch_that_is_not_there_is_refused(log: FoldedLog, epoch: int) -> None:
    asyncio.run(log.say(1))
    with pytest.raises(InvalidArgument, match="epochs 1 to 1"):
        asyncio.run(lineage(log.store, log.session_id, epoch=epoch))


def test_a_state_that_points_to_no_fold_is_corrupt(log: FoldedLog) -> None:
    async def break_it(state: str) -> None:
        head = await log.store.head(log.session_id)
        await log.store.put_state(log.session_id, state, expected=head.state_version)
        await lineage(log.store, log.session_id)

    asyncio.run(log.say(2))
    for state in ('{"prompt": null, "fold": {"epoch": 1, "seq": 1, "entries": 1}}', '{"fold": {"epoch": 1}}', "[]", "nonsense"):
        with pytest.raises(StoreCorrupt):
            asyncio.run(break_it(state))


def test_a_fold_that_names_a_later_one_as_earlier_is_corrupt(log: FoldedLog) -> None:
    async def steps(log: FoldedLog) -> None:
        await log.say(2)
        await log.write(FoldRecord(previous=9, first=1, through=2, summary_id="s1"))

    with pytest.raises(StoreCorrupt):
        run(log, steps)


def test_the_entries_of_a_fold_are_read_by_its_record(log: FoldedLog) -> None:
    asyncio.run(three_folds(log))

    async def check() -> None:
        record, summary, facts = await fold_group(log.store, log.session_id, 1, 20)
        assert (record.summary_id, summary and summary.seq, facts and facts.seq) == ("s2", 21, 22)
        with pytest.raises(StoreCorrupt):
            await fold_group(log.store, log.session_id, 1, 21)
        head = await log.store.head(log.session_id)
        assert [entry.seq async for entry in entries_of_epoch(log.store, head, 1)] == list(range(1, 28))

    asyncio.run(check())
