"""Who commits where a commit waits for the disk: while it is quick, the callers' own thread, for all of one turn at once."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from attrs import define

from contextport.adapters.stores import sqlite_log as log
from contextport.adapters.stores.sqlite_connection import LogConnection
from contextport.adapters.stores.sqlite_file import open_for_writing
from contextport.adapters.stores.sqlite_writer import UNSHARED, SqliteWriter
from contextport.contracts import Entry, Head, MessageConflict, StateConflict, StoreUnavailable

from .drafts import draft, ids

T = TypeVar("T")
WRITER = "contextport-sqlite-writer"
FIRST = UNSHARED + 2  # the seq of what comes after `begin`
LARGE = 1 << 20  # characters, too many for the caller's thread


@define
class DiskClock:
    """A clock for the writer, by which every commit takes `commit` seconds; it looks at it before and after.

    `before` is called once, when it is looked at next: before the commit has begun.
    """

    commit: float = 0.0
    now: float = 0.0
    before: Callable[[], object] | None = None

    def __call__(self) -> float:
        before, self.before = self.before, None
        if before is not None:
            before()
        self.now += self.commit
        return self.now


@pytest.fixture
def clock() -> DiskClock:
    return DiskClock()


@pytest.fixture
def writer(tmp_path: Path, clock: DiskClock) -> Iterator[SqliteWriter]:
    path = str(tmp_path / "log.db")
    made = SqliteWriter(path, partial(open_for_writing, path, "power", 1.0), syncs=True, patience=1.0, clock=clock)
    yield made
    made.close()


async def append(writer: SqliteWriter, *ids: str, text: str = "said") -> tuple[Entry, ...]:
    """As the store does it."""
    written = log.write_down([draft(id, text) for id in ids])
    if len(written) == 1:
        one, form = written[0]
        entry = writer.at_once(log.append_one, len(form), "s", one, form)
        if entry is not None:
            return (entry,)
    return await writer.run(lambda connection: log.append(connection, "s", written), sum(len(form) for _, form in written))


async def begin(writer: SqliteWriter, first: str = "first") -> None:
    """Append until the next append waits a turn to see whether others come."""
    for id in (first, *(f"alone{number}" for number in range(UNSHARED))):
        await append(writer, id)


async def put_state(writer: SqliteWriter, expected: int) -> Head:
    return await writer.run(lambda connection: log.put_state(connection, "s", "state", expected, []), 5)


async def who_commits(writer: SqliteWriter, size: int = 0) -> str:
    return await writer.run(lambda connection: threading.current_thread().name, size)


def stored(writer: SqliteWriter) -> list[str]:
    with writer.lock:
        rows = log.page(writer.connection(), "s", after=0, before=None, limit=1000, marked=False, epoch=None)
    return [id for id in ids([log.entry_of(row) for row in reversed(rows)]) if not id.startswith("alone")]


def writing_threads() -> set[threading.Thread]:
    """Those of all stores: other tests of this process may have left some."""
    return {thread for thread in threading.enumerate() if thread.name == WRITER}


async def commits_of(writer: SqliteWriter, *calls: Any) -> tuple[int, list[Any]]:
    """The number of transactions in which the calls were stored, all begun in one turn of the loop, and their answers."""
    statements: list[str] = []
    with writer.lock:
        writer.connection().set_trace_callback(statements.append)
    answers = await asyncio.gather(*calls, return_exceptions=True)
    with writer.lock:
        writer.connection().set_trace_callback(None)
    begun = sum(statement.startswith("BEGIN") for statement in statements)
    return begun or sum("INSERT" in statement for statement in statements), answers


def test_all_of_one_turn_share_a_commit_on_their_own_thread(writer: SqliteWriter) -> None:
    threads = writing_threads()

    async def scenario() -> None:
        await begin(writer)
        for turn in range(3):
            commits, answers = await commits_of(writer, *(append(writer, f"{turn}-{n}") for n in range(8)))
            assert commits == 1
            assert [entry.seq for (entry,) in answers] == list(range(8 * turn + FIRST, 8 * turn + FIRST + 8))
        commits, answers = await commits_of(writer, append(writer, "last"))
        assert commits == 1
        assert len(stored(writer)) == 26
        assert writing_threads() == threads

    asyncio.run(scenario())


def waits(call: Coroutine[Any, Any, Any]) -> bool:
    """Whether the call gives up its turn, which it is then given back."""
    try:
        call.send(None)
    except StopIteration:
        return False
    with suppress(StopIteration):
        call.send(None)
    return True


def test_who_is_alone_waits_for_others_now_and_then(writer: SqliteWriter) -> None:
    async def scenario() -> None:
        waited = [waits(append(writer, str(number))) for number in range(3 * (UNSHARED + 1))]
        assert waited == [True, *[False] * UNSHARED] * 3
        assert stored(writer) == [str(number) for number in range(len(waited))]

    asyncio.run(scenario())


def test_who_was_with_others_waits_for_them_again(writer: SqliteWriter) -> None:
    async def scenario() -> None:
        await begin(writer)
        await asyncio.gather(append(writer, "a"), append(writer, "b"))
        assert waits(append(writer, "c"))
        assert not waits(append(writer, "d"))

    asyncio.run(scenario())


def test_others_have_their_turn_while_one_appends(writer: SqliteWriter) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def scenario() -> None:
        task = asyncio.create_task(others())
        for number in range(20 * (UNSHARED + 1)):
            await append(writer, str(number))
        task.cancel()

    asyncio.run(scenario())
    assert turns >= 20


def test_who_met_others_while_committing_waits_for_them(writer: SqliteWriter, clock: DiskClock) -> None:
    loop = asyncio.new_event_loop()
    others = loop.create_task(append(writer, "other"))

    async def scenario() -> None:
        await begin(writer)
        await append(writer, "a")
        clock.before = partial(turns_in_thread, loop, 2)  # gathered, then handed over, since the connection is in use
        await append(writer, "b")

    asyncio.run(scenario())
    loop.run_until_complete(others)
    loop.close()

    async def later() -> None:
        assert waits(append(writer, "c"))

    asyncio.run(later())
    assert stored(writer) == ["first", "a", "b", "other", "c"]


def test_what_was_gathered_meanwhile_comes_first(writer: SqliteWriter, clock: DiskClock) -> None:
    """Another thread's work, that came up while a caller who had found nobody was committing its own."""
    loop = asyncio.new_event_loop()
    others = loop.create_task(append(writer, "other"))

    async def scenario() -> None:
        await begin(writer)
        clock.before = partial(turns_in_thread, loop, 1)
        await append(writer, "a")
        assert stored(writer) == ["first", "a"]
        await append(writer, "b")

    asyncio.run(scenario())
    assert stored(writer) == ["first", "a", "other", "b"]
    loop.run_until_complete(others)
    loop.close()


def test_who_looks_without_the_guard_finds_work_gathered_or_waiting(writer: SqliteWriter) -> None:
    """So that nobody commits at once what a task of his began later, while another thread hands over what it began first."""
    enqueue = writer._enqueue  # pyright: ignore[reportPrivateUsage]
    seen: list[bool] = []

    def some() -> bool:
        return bool(writer._gathered or writer._waiting)  # pyright: ignore[reportPrivateUsage]

    def watched(jobs: Sequence[Any]) -> None:
        if jobs:
            seen.append(some())
            enqueue(jobs)
            seen.append(some())

    async def scenario() -> None:
        await append(writer, "first")
        with writer.lock:
            one = asyncio.create_task(append(writer, "1"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)  # its turn, and the connection is in use
        await one
        await asyncio.gather(append(writer, "2"), append(writer, "3", text="x" * LARGE))
        four = asyncio.create_task(append(writer, "4"))
        await asyncio.sleep(0)
        writer.close()
        await four

    writer._enqueue = watched  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
    asyncio.run(scenario())
    assert seen == [True] * 8


@define
class GuardTakenLater:
    """A guard; before it is taken for the second time, something else happens."""

    guard: Any
    before_second: Callable[[], object]
    taken: int = 0

    def __enter__(self) -> None:
        self.taken += 1
        if self.taken == 2:
            self.before_second()
        self.guard.acquire()

    def __exit__(self, *_: object) -> None:
        self.guard.release()


def test_what_was_handed_over_meanwhile_comes_first(writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread hands over a task's first append while the task begins its second; the store's own thread is late."""
    loop = asyncio.new_event_loop()

    async def scenario() -> None:
        await begin(writer)
        large = loop.create_task(append(writer, "large", text="x" * LARGE))
        guard = GuardTakenLater(writer._guard, partial(turns_in_thread, loop, 1))  # pyright: ignore[reportPrivateUsage]
        with monkeypatch.context() as late:
            late.setattr(writer, "_start_thread", lambda: None)
            late.setattr(writer, "_guard", guard)
            both = [asyncio.create_task(append(writer, id)) for id in ("1", "2")]
            for _ in range(3):
                await asyncio.sleep(0)
        with writer._guard:  # pyright: ignore[reportPrivateUsage]
            writer._start_thread()  # pyright: ignore[reportPrivateUsage]
        await asyncio.wait(both)
        await asyncio.to_thread(loop.run_until_complete, large)

    asyncio.run(scenario())
    loop.close()
    assert stored(writer) == ["first", "1", "large", "2"]


def test_those_behind_work_that_finds_the_file_taken_do_not_overtake_it(writer: SqliteWriter, tmp_path: Path) -> None:
    """A group of which one fails is committed one by one; another process has the file for a moment just then."""
    tries: list[str] = []

    def broken(connection: LogConnection) -> None:
        raise ZeroDivisionError

    async def scenario(other: sqlite3.Connection) -> None:
        def in_the_second_try(statement: str) -> None:
            if statement.startswith("BEGIN"):
                tries.append(statement)
                if len(tries) == 2:
                    other.execute("BEGIN IMMEDIATE")
                elif len(tries) == 3:
                    other.execute("ROLLBACK")

        await begin(writer)
        with writer.lock:
            writer.connection().set_trace_callback(in_the_second_try)
        calls = (append(writer, "1"), append(writer, "2"), writer.run(broken, 0))
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [tuple, tuple, ZeroDivisionError]

    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None, check_same_thread=False)) as other:
        asyncio.run(scenario(other))
    assert len(tries) >= 3
    assert stored(writer) == ["first", "1", "2"]


def test_those_that_fail_harm_no_other_of_their_commit(writer: SqliteWriter) -> None:
    before = writing_threads()

    async def scenario() -> None:
        await begin(writer, "a")
        commits, answers = await commits_of(
            writer,
            append(writer, "b"),
            append(writer, "a", text="another text"),
            append(writer, "c", "a", "d", text="another text"),
            put_state(writer, 1),
            append(writer, "e", "f"),
            put_state(writer, 0),
            append(writer, "b"),
        )
        assert commits == 1
        kinds = [type(answer) for answer in answers]
        assert kinds == [tuple, MessageConflict, MessageConflict, StateConflict, tuple, Head, tuple]
        assert answers[-1] == answers[0]
        assert stored(writer) == ["a", "b", "e", "f"]
        assert writing_threads() == before

    asyncio.run(scenario())


def test_transaction_that_fails_is_done_again_one_by_one(writer: SqliteWriter) -> None:
    def broken(connection: LogConnection) -> None:
        connection.execute("INSERT INTO sessions (name, epoch, state_version, state) VALUES ('left over', 1, 0, '')")
        raise ZeroDivisionError

    async def scenario() -> None:
        answers = await asyncio.gather(append(writer, "a"), writer.run(broken, 0), append(writer, "b"), return_exceptions=True)
        assert [type(answer) for answer in answers] == [tuple, ZeroDivisionError, tuple]
        assert stored(writer) == ["a", "b"]
        with writer.lock:
            assert [head.session_id for head in log.sessions(writer.connection(), "", 9)] == ["s"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("cancelled", "left"),
    [
        ({0}, ["1", "2", "3"]),
        ({0, 1, 2}, ["3"]),
        ({0, 1, 2, 3}, []),
        ({3}, ["0", "1", "2", "3"]),  # the turn of the first came before that of the last, who could have taken it back
    ],
)
def test_who_is_cancelled_before_anybodys_turn_is_not_stored(cancelled: set[int], left: list[str], writer: SqliteWriter) -> None:
    async def scenario() -> None:
        await begin(writer)
        tasks = [asyncio.create_task(append(writer, str(number))) for number in range(4)]
        await asyncio.sleep(0)
        for number in cancelled:
            tasks[number].cancel()
        await asyncio.wait(tasks)
        assert {number for number in range(4) if tasks[number].cancelled()} == cancelled
        assert stored(writer) == ["first", *left]
        await append(writer, "last")
        assert stored(writer) == ["first", *left, "last"]

    asyncio.run(scenario())


def test_cancelled_after_their_commit_they_are_stored(writer: SqliteWriter) -> None:
    async def scenario() -> None:
        tasks: list[asyncio.Task[Any]] = []

        async def first() -> None:
            await append(writer, "0")
            for task in tasks:  # stored with this one, but their turn has not come
                task.cancel()

        tasks += [asyncio.create_task(work) for work in (first(), append(writer, "1"), append(writer, "2"))]
        first_task = tasks.pop(0)
        await asyncio.wait([first_task, *tasks])
        assert [task.cancelled() for task in tasks] == [True, True]
        assert stored(writer) == ["0", "1", "2"]

    asyncio.run(scenario())


def one_turn(loop: asyncio.AbstractEventLoop) -> None:
    loop.call_soon(loop.stop)
    loop.run_forever()


def turns_in_thread(loop: asyncio.AbstractEventLoop, turns: int) -> None:
    def all_turns() -> None:
        for _ in range(turns):
            one_turn(loop)

    thread = threading.Thread(target=all_turns)
    thread.start()
    thread.join()


def test_loops_of_several_threads_commit_for_each_other(writer: SqliteWriter) -> None:
    loop = asyncio.new_event_loop()
    waiting = [loop.create_task(append(writer, str(number))) for number in range(3)]
    one_turn(loop)
    assert stored(writer) == []
    assert asyncio.run(append(writer, "3"))[0].seq == 4
    assert not any(task.done() for task in waiting)
    assert stored(writer) == ["0", "1", "2", "3"]
    assert [entry.seq for (entry,) in loop.run_until_complete(asyncio.gather(*waiting))] == [1, 2, 3]
    loop.close()
    assert stored(writer) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("cancelled", [False, True])
def test_what_another_thread_is_committing_is_waited_for(cancelled: bool, writer: SqliteWriter) -> None:
    loop = asyncio.new_event_loop()
    begun, go_on = threading.Event(), threading.Event()

    def slow(connection: LogConnection) -> None:
        begun.set()
        assert go_on.wait(60)

    task = loop.create_task(append(writer, "a"))
    one_turn(loop)
    other = threading.Thread(target=lambda: asyncio.run(writer.run(slow, 0)))
    other.start()
    assert begun.wait(60)
    for _ in range(10):
        one_turn(loop)
        if cancelled:
            task.cancel()
    assert not task.done()
    go_on.set()
    loop.run_until_complete(asyncio.wait([task]))
    other.join()
    assert task.cancelled() == cancelled
    assert stored(writer) == ["a"]
    loop.close()


def test_connection_in_use_is_waited_for_elsewhere(writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        await begin(writer)
        with monkeypatch.context() as late, writer.lock:
            late.setattr(writer, "_start_thread", lambda: None)  # what it has begun cannot be taken back
            tasks = [asyncio.create_task(append(writer, str(number))) for number in range(3)]
            for _ in range(3):
                await asyncio.sleep(0)
            assert not any(task.done() for task in tasks)
            tasks[1].cancel()
            await asyncio.wait([tasks[1]])  # it was handed over, and is taken back
        with writer._guard:  # pyright: ignore[reportPrivateUsage]
            writer._start_thread()  # pyright: ignore[reportPrivateUsage]
        await asyncio.wait(tasks)
        assert [task.cancelled() for task in tasks] == [False, True, False]
        assert stored(writer) == ["first", "0", "2"]

    asyncio.run(scenario())


def test_much_work_of_one_turn_is_handed_over(writer: SqliteWriter) -> None:
    async def scenario() -> None:
        own = threading.current_thread().name
        await begin(writer)
        many = await asyncio.gather(*(who_commits(writer, 30_000) for _ in range(3)))
        assert many == [WRITER] * 3
        for _ in range(2):
            assert await who_commits(writer) == own
            assert await who_commits(writer, LARGE) == WRITER
            assert await who_commits(writer) == own

    asyncio.run(scenario())


async def own_commits_until_handed_over(writer: SqliteWriter, at_most: int) -> int:
    for count in range(at_most):
        if await who_commits(writer) == WRITER:
            return count
    return at_most


@pytest.mark.parametrize(("seconds", "own"), [(1.0, 1), (0.005, 15), (0.002, 45)])
def test_slow_disk_is_left_to_the_thread(seconds: float, own: int, clock: DiskClock, writer: SqliteWriter) -> None:
    """However slow it is, callers have waited some tens of milliseconds, or for one commit; then they wait no more.

    All in all too few commits for a checkpoint, during which the thread would be asked too.
    """

    async def scenario() -> None:
        assert await own_commits_until_handed_over(writer, 100) == 100  # quick as yet
        clock.commit = seconds
        assert await own_commits_until_handed_over(writer, 100) <= own
        assert {await who_commits(writer) for _ in range(50)} == {WRITER}
        answers = await asyncio.gather(*(append(writer, str(number)) for number in range(20)))
        assert [entry.seq for (entry,) in answers] == list(range(1, 21))
        clock.commit = 0.0001
        in_thread = 0
        while await who_commits(writer) == WRITER:
            in_thread += 1
        assert in_thread < 600
        assert await own_commits_until_handed_over(writer, 100) == 100

    asyncio.run(scenario())


def test_single_slow_commits_do_not_matter(clock: DiskClock, writer: SqliteWriter) -> None:
    async def scenario() -> None:
        for number in range(500):
            clock.commit = 0.02 if number % 100 == 50 else 0.0001
            assert await who_commits(writer) != WRITER

    asyncio.run(scenario())


def test_interrupted_commit_leaves_nobody_waiting(writer: SqliteWriter) -> None:
    """Where a signal breaks into the loop's own thread, the thread of the store does the rest."""
    interrupts = [KeyboardInterrupt()]

    def interrupted(connection: LogConnection) -> str:
        if interrupts:
            raise interrupts.pop()
        return "done"

    loop = asyncio.new_event_loop()
    tasks: list[asyncio.Task[Any]] = []

    async def begin() -> None:
        works: Sequence[Any] = (append(writer, "a"), writer.run(interrupted, 0), append(writer, "b"))
        tasks.extend(loop.create_task(work) for work in works)
        await asyncio.wait(tasks)

    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(begin())
    answers = loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    assert isinstance(answers[0], KeyboardInterrupt)  # it was this one's turn
    assert answers[1] == "done"
    assert stored(writer) == ["a", "b"]
    loop.close()


def test_closing_stores_what_was_begun(writer: SqliteWriter) -> None:
    async def scenario() -> None:
        tasks = [asyncio.create_task(append(writer, str(number))) for number in range(4)]
        await asyncio.sleep(0)
        writer.close()  # at once, on this thread
        assert [entry.seq for (entry,) in await asyncio.gather(*tasks)] == [1, 2, 3, 4]
        with pytest.raises(StoreUnavailable, match="closed"):
            await append(writer, "late")

    asyncio.run(scenario())


def test_closing_tells_those_whose_commit_finds_the_file_taken(writer: SqliteWriter, clock: DiskClock, tmp_path: Path) -> None:
    """The thread has ended by then, so that there is nobody left to try again."""

    async def scenario() -> None:
        before = writing_threads()
        assert await who_commits(writer, LARGE) == WRITER
        [thread] = writing_threads() - before
        await append(writer, "first")
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            task = asyncio.create_task(append(writer, "late"))
            end = threading.Thread(target=writer.close)
            clock.before = partial(close_meanwhile, end, thread)
            with pytest.raises(StoreUnavailable, match="closed"):
                await task
            other.execute("ROLLBACK")
        end.join()

    def close_meanwhile(end: threading.Thread, thread: threading.Thread) -> None:
        end.start()
        thread.join(30)

    asyncio.run(scenario())


def test_a_task_that_starts_appends_together_has_them_in_its_order(writer: SqliteWriter) -> None:
    async def scenario() -> None:
        for number in range(20):
            small, large = await asyncio.gather(
                append(writer, f"small{number}"), append(writer, f"large{number}", text="x" * LARGE)
            )
            assert small[0].seq < large[0].seq

    asyncio.run(scenario())


def test_child_of_a_fork_does_not_store_what_its_parent_had_begun(writer: SqliteWriter) -> None:
    async def scenario(begin: Callable[[], Any]) -> None:
        task = asyncio.create_task(begin())
        await asyncio.sleep(0)
        writer.before_fork()
        writer.after_fork(child=True)
        await append(writer, "of the child")
        assert stored(writer) == ["of the child"]
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(scenario(lambda: append(writer, "of the parent")))
