"""The rules of `LongTermMemory` and `PersistentMemory`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from contextport.contracts import MemoryUnavailable, provides
from contextport.contracts.facts import Fact, FactKind, FactState
from contextport.contracts.memory import (
    LongTermMemory,
    MemoryKind,
    MemoryNote,
    MemoryOrigin,
    MemoryScope,
    MemoryStatus,
    PersistentMemory,
    Remembered,
)

from .rules import NotChecked, rule, settled
from .store_inputs import HARD_TEXTS, at_once, at_once_in_threads, cancelled_at

if TYPE_CHECKING:
    from .suites import LongTermMemoryConformance as Suite

__all__: list[str] = []

_ANN = MemoryScope(tenant="acme", subject="ann")
_WRITERS = 6
_CALLS = 5
_MOST_WAITS = 60  # awaits of one flush; a memory that waits more often is cancelled at the first 60


def _note(message: str, *texts: str, session: str = "s", epoch: int = 1, at: float = 5.0) -> MemoryNote:
    facts = [Fact(kind=FactKind.CONSTRAINT, text=text, sources=(message,)) for text in texts]
    told = tuple([Remembered(fact=fact) for fact in facts])
    return MemoryNote(session_id=session, epoch=epoch, message_id=message, at=at, facts=told)


def _texts(found: Sequence[MemoryNote]) -> list[str]:
    assert all(len(note.facts) == 1 for note in found), "recall returned a note that has not just one fact"
    return [note.facts[0].text for note in found]


async def _raised(call: Callable[[], Awaitable[Any]], what: str) -> MemoryUnavailable:
    try:
        answer = await call()
    except MemoryUnavailable as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} raised nothing and returned {answer!r}")


@rule("MEMORY-1", LongTermMemory, cause="messages are not looked up, or by their id alone, or only if they had facts.")
async def takes_a_message_once(suite: Suite) -> None:
    async with suite.adapter() as memory:
        assert await memory.flush(_ANN, [_note("a", "one"), _note("b")]) == 2, "two new notes were not counted as two"
        assert await memory.flush(_ANN, []) == 0, "a flush of no notes found some"
        again = await memory.flush(_ANN, [_note("a", "one"), _note("c", "three")])
        assert again == 1, f"one note of two was new, flush returned {again}"
        other = await memory.flush(_ANN, [_note("a", "one", "more", at=9.0), _note("b", "late")])
        assert other == 0, f"notes of flushed messages with other facts: flush returned {other}, not 0"
        found = sorted(_texts(await memory.recall(_ANN)))
        assert found == ["one", "three"], f"after repeated flushes the facts are {found}"
        elsewhere = [_note("a", "in t", session="t"), _note("a", "in epoch 2", epoch=2)]
        assert await memory.flush(_ANN, elsewhere) == 2, "the same id in another session or epoch was taken for the same message"
        found = sorted(_texts(await memory.recall(_ANN)))
        assert found == ["in epoch 2", "in t", "one", "three"], f"facts of three messages with one id are {found}"


class _Unreadable:
    """Stands where a fact should be, and fails whatever is asked of it: the caller's mistake, in the middle of a call."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"this fact has no {name}")


@rule("MEMORY-2", LongTermMemory, cause="notes are written one by one, each in a transaction of its own.")
async def flushes_all_or_nothing(suite: Suite) -> None:
    group = [_note(f"m{n}", f"fact {n}", at=float(n)) for n in range(4)]
    unreadable: Any = _Unreadable()
    for n in range(len(group)):
        async with suite.adapter() as memory:
            failing = attrs.evolve(group[n], facts=(*group[n].facts, Remembered(fact=unreadable)))
            try:
                await memory.flush(_ANN, [*group[:n], failing, *group[n + 1 :]])
            except Exception:
                found = _texts(await memory.recall(_ANN))
                assert found == [], f"a flush that failed at note {n} stored {found}"
                new = await memory.flush(_ANN, group)
                assert new == len(group), f"after a flush of 4 notes that failed at note {n}, only {new} of them count as new"
                assert len(await memory.recall(_ANN)) == len(group), "a repeated flush has not stored each fact once"
            else:
                raise AssertionError(f"flush stored a fact that cannot be read, in note {n}")


@rule("MEMORY-3", LongTermMemory, cause="the limit is applied before the words or the order, or words match by case.")
async def recalls_the_newest_with_the_words(suite: Suite) -> None:
    async with suite.adapter() as memory:
        times = {"old": 1.0, "newest": 4.0, "middle": 2.5, "young": 3.0}
        for name, at in times.items():
            await memory.flush(_ANN, [_note(name, f"{name} Budget" if at < 3 else name, at=at)])
        newest_first = ["newest", "young", "middle Budget", "old Budget"]
        for limit in (1, 2, 3, 4, 5):
            found = _texts(await memory.recall(_ANN, limit=limit))
            assert found == newest_first[:limit], f"recall(limit={limit}) returned {found}"
        wanted = {
            ("budget",): ["middle Budget", "old Budget"],
            ("BUDGET", "young"): ["young", "middle Budget", "old Budget"],
            ("young", "newest", "absent"): ["newest", "young"],
            ("old", "budget"): ["old Budget", "middle Budget"],
            ("absent",): [],
            ("bud",): [],
        }
        for words, texts in wanted.items():
            found = _texts(await memory.recall(_ANN, list(words)))
            assert found == texts, f"recall of {words} returned {found}"
        found = _texts(await memory.recall(_ANN, ["old", "young"], limit=1))
        assert found == ["young"], f"recall of two words with limit 1 returned {found}"
        found = _texts(await memory.recall(_ANN, ["budget"], limit=1))
        assert found == ["middle Budget"], f"recall of a word of two facts with limit 1 returned {found}"
    async with suite.adapter() as memory:
        await memory.flush(_ANN, [_note(f"m{n}", f"fact {n}", at=float(n % 100)) for n in range(300)])
        for limit, count in ((64, 64), (299, 299), (1_000_000, 300)):
            ages = [note.at for note in await memory.recall(_ANN, ["fact"], limit=limit)]
            assert len(ages) == count, f"recall(limit={limit}) of 300 facts returned {len(ages)}"
            assert ages == sorted(ages, reverse=True), "recall returned an older fact before a newer one"
        assert len(await memory.recall(_ANN)) == 64, "recall without a limit does not return 64 of 300 facts"


def _every_fact() -> list[Remembered]:
    """One per value that a memory must give back unchanged."""
    plain = [Fact(kind=kind, text="x") for kind in FactKind]
    hard = [Fact(kind=FactKind.ENTITY, text=text, label=text, sources=(text,), earlier=(text, "x")) for text in HARD_TEXTS]
    whole = Fact(
        kind=FactKind.TASK,
        text="send the offer",
        label="offer.status",
        state=FactState.DONE,
        role="assistant",
        sources=("m1", "m2"),
        earlier=("write the offer", "think of one"),
    )
    told = [Remembered(fact=fact) for fact in (*plain, *hard, whole)]
    told += [Remembered(fact=whole, kind=kind) for kind in MemoryKind]
    told += [Remembered(fact=whole, origin=origin) for origin in MemoryOrigin]
    told += [Remembered(fact=whole, status=status) for status in MemoryStatus]
    return told + [Remembered(fact=whole, about=f"{n} {text}") for n, text in enumerate(HARD_TEXTS)]


def _without_id(note: MemoryNote) -> MemoryNote:
    return attrs.evolve(note, facts=(attrs.evolve(note.facts[0], id=""),))


@rule("MEMORY-4", LongTermMemory, cause="fields of a fact are left out, or the text goes through an encoding.")
async def fact_comes_back_as_it_was(suite: Suite) -> None:
    every = _every_fact()
    notes = [
        MemoryNote(
            session_id=f"s{n}{text}",
            epoch=n + 1,
            message_id=f"{text}m{n}",
            at=1_700_000_000.123456 + n,
            facts=(attrs.evolve(one, about=one.about and f"{one.about}{text}"),),
        )
        for text in ("", "\u0000", "\udfff", "ä")
        for n, one in enumerate(every)
    ]
    async with suite.adapter() as memory:
        assert await memory.flush(_ANN, notes) == len(notes), "a note was not taken"
        answer = await memory.recall(_ANN, statuses=tuple(MemoryStatus), limit=1_000)
        found = {(note.session_id, note.epoch, note.message_id): note for note in answer}
        assert len(found) == len(notes), f"{len(found)} of {len(notes)} facts came back with their session, epoch and message"
        for note in notes:
            back = found.get((note.session_id, note.epoch, note.message_id))
            same = back is not None and len(back.facts) == 1 and _without_id(back) == note
            assert same, f"{note!r:.400} came back as {back!r:.400}"
        names = [note.facts[0].id for note in answer]
        assert len({*names, ""}) == len(names) + 1, "facts came back with the same id, or with none"
        again = await memory.recall(_ANN, statuses=tuple(MemoryStatus), limit=1_000)
        assert again == answer, "facts came back otherwise when they were recalled again, or with other ids"
    told = (every[0], every[-1], every[len(FactKind) + 2])
    several = attrs.evolve(notes[0], facts=told)
    async with suite.adapter() as memory:
        await memory.flush(_ANN, [several])
        found_here = await memory.recall(_ANN)
        assert len(_texts(found_here)) == 3, f"of a note of three facts {len(found_here)} came back"
        assert all(_without_id(note).facts[0] in told for note in found_here), "a fact of a note of three came back changed"
        assert {(note.session_id, note.epoch, note.message_id, note.at) for note in found_here} == {
            (several.session_id, several.epoch, several.message_id, several.at)
        }, "the facts of one note came back with different messages or times"


def _scopes() -> list[MemoryScope]:
    hard = ["a", "A", "a ", "a/b", "a%", "a_", "a'", "a:b", "a\u0000b", "a\n", "ä", "a\u0308", "*", "x" * 300, "\ud800"]
    pairs = [("", "bc"), ("b", "c"), ("c", "b"), ("bc", "c")]
    for sign in ("", ":", "/", "|", ".", "-", "_", " ", "\n", "\u0000", "\u001f"):  # what somebody may join the two with
        pairs += [(f"p{sign}q", "r"), ("p", f"q{sign}r")]
    scopes = [MemoryScope(tenant="t", subject=name) for name in hard]
    scopes += [MemoryScope(tenant=name, subject="s") for name in hard]
    return scopes + [MemoryScope(tenant=tenant, subject=subject) for tenant, subject in pairs]


@rule("MEMORY-5", LongTermMemory, cause="tenant and subject are folded, trimmed or joined with a sign that they may contain.")
async def scopes_are_separate(suite: Suite) -> None:
    scopes = _scopes()
    async with suite.adapter() as memory:
        for n, scope in enumerate(scopes):
            new = await memory.flush(scope, [_note("same id", f"fact of {n}")])
            assert new == 1, f"a message of {scope!r:.60} was taken for one of another scope"
        for n, scope in enumerate(scopes):
            for words in ((), ("fact",)):
                found = _texts(await memory.recall(scope, words))
                assert found == [f"fact of {n}"], f"scope {scope!r:.60} recalls {found}"
        assert await memory.forget(scopes[0]) == 1, "forget removed more or less than the one fact of a scope"
        for n, scope in enumerate(scopes[1:], 1):
            found = _texts(await memory.recall(scope))
            assert found == [f"fact of {n}"], f"forget in one scope left {found} in {scope!r:.60}"


@rule("MEMORY-6", LongTermMemory, cause="forget removes the ids of the messages too, or the facts but not their words.")
async def forgets_and_does_not_learn_again(suite: Suite) -> None:
    first = [_note("a", "one", "two"), _note("b", "three"), _note("empty")]
    second = [_note("a", "in t", session="t"), _note("a", "in t again", session="t", epoch=2)]
    other = MemoryScope(subject="bob")
    async with suite.adapter() as memory:
        await memory.flush(_ANN, [*first, *second])
        await memory.flush(other, first)
        assert await memory.forget(_ANN, session_id="unknown") == 0, "forget of a session without facts did not return 0"
        removed = await memory.forget(_ANN, session_id="s")
        assert removed == 3, f"forget of a session with 3 facts returned {removed}"
        found = sorted(_texts(await memory.recall(_ANN)))
        assert found == ["in t", "in t again"], f"after forgetting session s the scope recalls {found}"
        assert await memory.recall(_ANN, ["one", "two", "three"]) == (), "forgotten facts are found by their words"
        assert await memory.flush(_ANN, [*first, _note("a", "other words")]) == 0, "a forgotten message was taken as new"
        assert sorted(_texts(await memory.recall(_ANN))) == found, "a forgotten message was learnt again"
        removed = await memory.forget(_ANN)
        assert removed == 2, f"forget of a scope with 2 facts left returned {removed}"
        assert await memory.flush(_ANN, [*first, *second]) == 0, "a message of a forgotten scope was taken as new"
        assert await memory.recall(_ANN) == (), "a forgotten scope recalls facts"
        assert await memory.recall(_ANN, ["in", "t"]) == (), "facts of a forgotten scope are found by their words"
        assert await memory.forget(_ANN) == 0, "forget of a forgotten scope did not return 0"
        assert await memory.flush(_ANN, [_note("new", "new")]) == 1, "a forgotten scope does not learn what is new"
        assert _texts(await memory.recall(_ANN)) == ["new"], "a forgotten scope does not recall what is new"
        assert sorted(_texts(await memory.recall(other))) == ["one", "three", "two"], "forget changed another scope"


def _of_writer(writer: int) -> list[list[MemoryNote]]:
    """Groups that all writers flush, with one of its own in between."""
    return [
        [_note(f"shared {n}", f"shared fact {n}"), _note(f"w{writer} {n}", f"own fact {n} of {writer}")] for n in range(_CALLS)
    ]


async def _write(memory: LongTermMemory, scope: MemoryScope, writer: int, new: list[int]) -> None:
    for group in _of_writer(writer):
        new.append(await memory.flush(scope, group))


async def _flush_at_once(memories: Sequence[LongTermMemory], scope: MemoryScope, run: Any) -> None:
    """Many writers flush the same messages and some of their own: each is stored once, and counted as new once."""
    new: list[int] = []
    await run(*(partial(_write, memories[writer % len(memories)], scope, writer, new) for writer in range(_WRITERS)))
    wanted = sorted({note.facts[0].text for w in range(_WRITERS) for group in _of_writer(w) for note in group})
    found = sorted(_texts(await memories[0].recall(scope, limit=1_000)))
    assert found == wanted, f"{len(found)} facts are there, {len(set(found))} of them different; {len(wanted)} were flushed"
    assert sum(new) == len(wanted), f"{len(wanted)} notes were new, the answers of the flushes add up to {sum(new)}"


@rule("MEMORY-7", LongTermMemory, cause="look, then write, without a lock or a transaction around both.")
async def flushes_at_once_are_stored_once(suite: Suite) -> None:
    async with suite.adapter() as memory:
        for n, run in enumerate((at_once, at_once_in_threads)):
            await _flush_at_once([memory], MemoryScope(subject=f"subject {n}"), run)


def _calls(memory: LongTermMemory) -> Mapping[str, Callable[[], Awaitable[Any]]]:
    return {
        "flush": lambda: memory.flush(_ANN, [_note("z", "fact")]),
        "recall": lambda: memory.recall(_ANN),
        "recall with words": lambda: memory.recall(_ANN, ["fact"]),
        "forget": lambda: memory.forget(_ANN),
        "forget of a session": lambda: memory.forget(_ANN, session_id="s"),
        "forget of a message": lambda: memory.forget(_ANN, message_id="z"),
        "forget of a fact": lambda: memory.forget(_ANN, id="z"),
    }


@rule("MEMORY-8", LongTermMemory, cause="a library's exception passes through, or is replaced without `raise ... from`.")
async def failures_are_mapped(suite: Suite) -> None:
    async with suite.adapter() as memory:
        await memory.flush(_ANN, [_note("a", "one")])
        await memory.close()
        await memory.close()
        for name, call in _calls(memory).items():
            await _raised(call, f"{name} after close")
        await _raised(lambda: memory.flush(_ANN, []), "flush of no notes after close")
        needs_backend = provides(memory, PersistentMemory)
    built = suite.broken_memory()
    if built is None:
        if needs_backend:
            raise NotChecked("write broken_memory, so that a failing backend can be tried")
        return
    broken = await settled(built)
    try:
        for name, call in _calls(broken).items():
            error = await _raised(call, f"{name} on a failing backend")
            assert error.__cause__ is not None, f"{name} raised MemoryUnavailable without the foreign error as its cause"
    finally:
        await suite.release(broken)


@rule("MEMORY-9", LongTermMemory, cause="the write is in several steps with awaits between, or a lock is not given back.")
async def cancelled_call_stores_all_or_nothing(suite: Suite) -> None:
    group = [_note(f"m{n}", f"fact {n}") for n in range(4)]
    whole = sorted(note.facts[0].text for note in group)
    for k in range(1, _MOST_WAITS):
        async with suite.adapter() as memory:
            await memory.flush(_ANN, [_note("first", "first", session="old")])
            waited = await cancelled_at(k, memory.flush(_ANN, group))
            forgot = await cancelled_at(k, memory.forget(_ANN, session_id="old"))
            if not waited and not forgot:
                return
            there = sorted(set(_texts(await memory.recall(_ANN))) - {"first"})
            assert there in ([], whole), f"a flush cancelled at wait {k} left {there}"
            new = await memory.flush(_ANN, group)
            assert new == len(group) - len(there), (
                f"a flush cancelled at wait {k} left {len(there)} facts, repeated it added {new}"
            )
            found = sorted(set(_texts(await memory.recall(_ANN))) - {"first"})
            assert found == whole, f"after repeating the flush cancelled at wait {k} the memory has {found}"


@rule("MEMORY-10", LongTermMemory, cause="reading makes the scope, or a missing scope is reported as an error.")
async def unwritten_scope_is_empty(suite: Suite) -> None:
    async with suite.adapter() as memory:
        for _ in range(2):
            assert await memory.recall(_ANN) == (), "an unwritten scope has facts"
            assert await memory.recall(_ANN, ["one"], limit=1) == (), "an unwritten scope has facts with a word"
            assert await memory.forget(_ANN) == 0, "forget in an unwritten scope did not return 0"
            for name in ("session_id", "message_id", "id"):
                assert await memory.forget(_ANN, **{name: "s"}) == 0, f"forget by {name} in an unwritten scope did not return 0"
        assert await memory.flush(_ANN, [_note("a", "one")]) == 1, "a scope that was read before does not take its first note"
        assert _texts(await memory.recall(_ANN)) == ["one"], "a scope that was read before does not recall its first fact"
    async with suite.adapter() as one, suite.adapter() as other:
        await one.flush(_ANN, [_note("a", "one")])
        assert await other.recall(_ANN) == (), "a fact of one memory is recalled from another over another backend"


@rule("MEMORY-11", PersistentMemory, cause="notes are held until close, or the backend is made anew when it is opened.")
async def outlives_the_memory(suite: Suite) -> None:
    async with suite.adapter() as memory:
        assert isinstance(memory.shared_backend, str), f"shared_backend is {memory.shared_backend!r}"
        assert memory.shared_backend, "shared_backend is empty"
        notes = [_note("a", "one"), _note("b", "two words", at=7.0), _note("empty"), _note("c", "three")]
        gone = [_note("d", "gone", session="forgotten"), _note("e", "said no more")]
        await memory.flush(_ANN, [*notes, *gone])
        await memory.forget(_ANN, session_id="forgotten")
        await memory.forget(_ANN, message_id="e")
        third = tuple([note.facts[0].id for note in await memory.recall(_ANN, ["three"])])
        await memory.flush(_ANN, [attrs.evolve(_note("f"), done=third)])
        wanted = await _all_of(memory)
        await memory.close()
        for time in ("the first time", "again"):
            async with suite.reopened(memory) as later:
                found = await _all_of(later)
                assert found == wanted, f"a memory that was opened on the same backend {time} recalls {found}"
                new = await later.flush(_ANN, [*notes, *gone])
                assert new == 0, f"a memory that was opened on the same backend {time} took {new} messages again"
                await later.flush(_ANN, [_note(f"g {time}", "said no more")])
                found = await _all_of(later)
                assert found == wanted, f"a memory that was opened {time} learnt again what was forgotten: it recalls {found}"


async def _all_of(memory: LongTermMemory) -> tuple[tuple[MemoryNote, ...], ...]:
    every = tuple(MemoryStatus)
    return await memory.recall(_ANN), await memory.recall(_ANN, statuses=every), await memory.recall(_ANN, ["words"])


@rule("MEMORY-12", PersistentMemory, cause="messages are remembered in the memory, or a writer does not lock the backend.")
async def two_memories_work_on_one_backend(suite: Suite) -> None:
    async with suite.adapter() as one, suite.reopened(one) as other:
        for n, (writer, reader) in enumerate(((one, other), (one, other), (other, one), (other, one))):
            assert await writer.flush(_ANN, [_note(f"m{n}", f"fact {n}", at=float(n))]) == 1, "a new note was not taken"
            found = _texts(await reader.recall(_ANN, limit=1))
            assert found == [f"fact {n}"], f"the newest fact of one memory is 'fact {n}', the other recalls {found}"
            assert await reader.flush(_ANN, [_note(f"m{n}", "again")]) == 0, "a message that the other memory has was taken again"
        assert await one.forget(_ANN) == 4, "a memory forgets other facts than those of both"
        assert await other.recall(_ANN) == (), "what one memory forgot, the other recalls"
        for n, run in enumerate((at_once, at_once_in_threads)):
            await _flush_at_once([one, other], MemoryScope(subject=f"subject {n}"), run)
