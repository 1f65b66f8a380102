"""The rules of `LongTermMemory` on what still holds: kinds, statuses, what takes the place of what, and what is forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import attrs

from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import (
    LongTermMemory,
    MemoryKind,
    MemoryNote,
    MemoryOrigin,
    MemoryScope,
    MemoryStatus,
    Remembered,
)

from .rules import rule

if TYPE_CHECKING:
    from .suites import LongTermMemoryConformance as Suite

__all__: list[str] = []

_ANN = MemoryScope(tenant="acme", subject="ann")
_OTHERS = (MemoryScope(tenant="acme", subject="bob"), MemoryScope(tenant="bcme", subject="ann"), MemoryScope(subject="ann"))
_EVERY = tuple(MemoryStatus)
_ACTIVE, _DONE, _SUPERSEDED = MemoryStatus.ACTIVE, MemoryStatus.DONE, MemoryStatus.SUPERSEDED


def _note(message: str, *told: Remembered, session: str = "s", at: float = 5.0, **ends: tuple[str, ...]) -> MemoryNote:
    return MemoryNote(session_id=session, epoch=1, message_id=message, at=at, facts=told, **ends)


def _told(
    text: str,
    about: str = "",
    *,
    kind: MemoryKind = MemoryKind.FACT,
    origin: MemoryOrigin = MemoryOrigin.USER,
    status: MemoryStatus = _ACTIVE,
) -> Remembered:
    fact = Fact(kind=FactKind.STATEMENT, text=text)
    return Remembered(fact=fact, about=about, kind=kind, origin=origin, status=status)


def _texts(found: Sequence[MemoryNote]) -> list[str]:
    return [one.text for note in found for one in note.facts]


async def _statuses(memory: LongTermMemory, scope: MemoryScope = _ANN) -> Mapping[str, MemoryStatus]:
    """Of each text; the same with and without words."""
    found = {one.text: one.status for note in await memory.recall(scope, statuses=_EVERY) for one in note.facts}
    for status in MemoryStatus:
        wanted = sorted(text for text, of in found.items() if of is status)
        alone = sorted(_texts(await memory.recall(scope, statuses=(status,))))
        assert alone == wanted, f"recall of what is {status} returned {alone}, and with all statuses these are {wanted}"
        words = {word for text in found for word in text.split()}
        by_word = [_texts(await memory.recall(scope, [word], statuses=(status,))) for word in words]
        apart = sorted({text for some in by_word for text in some})
        assert apart == wanted, f"recall by words of what is {status} returned {apart}, and without words {wanted}"
    return found


async def _id_of(memory: LongTermMemory, text: str, scope: MemoryScope = _ANN) -> str:
    found = [one for note in await memory.recall(scope, statuses=_EVERY, limit=1_000) for one in note.facts]
    named = [one.id for one in found if one.text == text]
    assert len(named) == 1, f"{text!r} was flushed once, and is recalled {len(named)} times"
    return named[0]


@rule("MEMORY-13", LongTermMemory, cause="kinds or statuses are looked at after the limit was applied, or not with words.")
async def recalls_kinds_and_statuses(suite: Suite) -> None:
    every = [(kind, status, n) for kind in MemoryKind for status in MemoryStatus for n in range(3)]
    notes = [
        _note(f"m{place}", _told(f"word {kind} {status} {n}", kind=kind, status=status), at=float(place * 7 % 36))
        for place, (kind, status, n) in enumerate(every)
    ]
    times = {note.facts[0].text: note.at for note in notes}
    async with suite.adapter() as memory:
        await memory.flush(_ANN, notes)
        for size in (1, 2, 4):
            for kinds in combinations(MemoryKind, size):
                for statuses in ((_ACTIVE,), (_SUPERSEDED,), (_DONE, _ACTIVE), _EVERY):
                    wanted = [f"word {kind} {status} {n}" for kind, status, n in every if kind in kinds and status in statuses]
                    wanted.sort(key=lambda text: -times[text])
                    for words in ((), ("word",)):
                        for limit in (2, 64):
                            found = _texts(await memory.recall(_ANN, words, kinds=kinds, statuses=statuses, limit=limit))
                            asked = f"{words}, kinds {kinds}, statuses {statuses}, limit {limit}"
                            assert found == wanted[:limit], f"recall of {asked} returned {found}, not {wanted[:limit]}"
        active = [note.facts[0].text for note in notes if note.facts[0].status is _ACTIVE]
        for words in ((), ("word",)):
            found = sorted(_texts(await memory.recall(_ANN, words)))
            assert found == sorted(active), f"recall of {words} without kinds and statuses returned {found}"
        assert await memory.recall(_ANN, kinds=()) == (), "recall of no kinds returned facts"
        assert await memory.recall(_ANN, statuses=()) == (), "recall of no statuses returned facts"


@rule("MEMORY-14", LongTermMemory, cause="the order of flushes decides instead of the times, or kinds are told apart.")
async def later_fact_about_the_same_takes_the_place(suite: Suite) -> None:
    async with suite.adapter() as memory:
        for scope in (_ANN, *_OTHERS):
            await memory.flush(scope, [_note("a", _told("lives in Lyon", "home"), _told("is called Ann", "name"), at=10.0)])
        await memory.flush(_ANN, [_note("b", _told("lives in Paris", "home", kind=MemoryKind.PROFILE), at=20.0)])
        wanted = {"lives in Lyon": _SUPERSEDED, "is called Ann": _ACTIVE, "lives in Paris": _ACTIVE}
        found = await _statuses(memory)
        assert found == wanted, f"after a later fact about the same the statuses are {found}"
        await memory.flush(_ANN, [_note("c", _told("lives in Rome", "home"), at=15.0)])
        wanted["lives in Rome"] = _SUPERSEDED
        found = await _statuses(memory)
        assert found == wanted, f"after a fact of an earlier time about the same the statuses are {found}"
        await memory.flush(_ANN, [_note("d", _told("lives in Oslo", "home"), at=20.0)])
        wanted |= {"lives in Paris": _SUPERSEDED, "lives in Oslo": _ACTIVE}
        found = await _statuses(memory)
        assert found == wanted, f"after a fact of the same time about the same the statuses are {found}"
        plain = [_note("e", _told("likes tea")), _note("f", _told("likes rice"))]
        await memory.flush(_ANN, [*plain, _note("g", _told("lived in Kiel", "home", status=_SUPERSEDED), at=30.0)])
        wanted |= {"likes tea": _ACTIVE, "likes rice": _ACTIVE, "lived in Kiel": _SUPERSEDED}
        found = await _statuses(memory)
        assert found == wanted, f"after facts that are about nothing, and one that does not hold, the statuses are {found}"
        group = [_note(f"h{n}", _told(f"lives at {n}", "home"), at=float(at)) for n, at in enumerate((40, 60, 50))]
        await memory.flush(_ANN, group)
        active = _texts(await memory.recall(_ANN, ["lives"]))
        assert active == ["lives at 1"], f"of several facts about the same in one flush these are active: {active}"
        for scope in _OTHERS:
            found = await _statuses(memory, scope)
            assert found == {"lives in Lyon": _ACTIVE, "is called Ann": _ACTIVE}, f"in another scope the statuses are {found}"


@rule("MEMORY-15", LongTermMemory, cause="ids are looked up in all scopes, or what a note ends is written though it is not new.")
async def note_ends_what_it_names(suite: Suite) -> None:
    names = ("book the hotel", "use spaces", "call Bob", "pay the rent")
    async with suite.adapter() as memory:
        for scope in (_ANN, *_OTHERS):
            await memory.flush(scope, [_note("a", *[_told(text) for text in names])])
        ids = {text: await _id_of(memory, text) for text in names}
        foreign = await _id_of(memory, "pay the rent", _OTHERS[0])
        strange = ("", "no such id", "-1", "1.2.3", "9" * 40, "\ud800")
        own = set(ids.values())
        not_ours = tuple(id for id in (foreign, *strange) if id not in own)
        await memory.flush(
            _ANN, [_note("b", done=(ids["book the hotel"], *not_ours), replaced=(ids["use spaces"], *not_ours), at=6.0)]
        )
        wanted = {"book the hotel": _DONE, "use spaces": _SUPERSEDED, "call Bob": _ACTIVE, "pay the rent": _ACTIVE}
        found = await _statuses(memory)
        assert found == wanted, f"after a note that ends two of four facts the statuses are {found}"
        new = await memory.flush(_ANN, [_note("b", done=(ids["call Bob"],))])
        found = await _statuses(memory)
        assert (new, found) == (0, wanted), f"a note of a flushed message that ends a fact: {new} new, statuses {found}"
        await memory.flush(_ANN, [_note("c", done=(ids["use spaces"],), replaced=(ids["book the hotel"],))])
        found = await _statuses(memory)
        assert found == wanted, f"after a note that ends what was ended before the statuses are {found}"
        back = await memory.recall(_ANN, ["hotel"], statuses=_EVERY)
        assert [note.message_id for note in back] == ["a"], "a fact that is done came back with another message"
        for scope in _OTHERS:
            active = sorted(_texts(await memory.recall(scope)))
            assert active == sorted(names), f"a note ended facts of another scope: active there are {active}"


@rule("MEMORY-16", LongTermMemory, cause="the message is marked, but not what it said, or texts are compared as they are.")
async def what_is_forgotten_alone_is_not_learnt_again(suite: Suite) -> None:
    said = ("I live in Lyon.", "i live  in lyon!", "\uff29 live in Lyon")
    other = "I live in Paris."
    for by in ("id", "message_id"):
        async with suite.adapter() as memory:
            for scope in (_ANN, *_OTHERS):
                await memory.flush(
                    scope,
                    [
                        _note("a", _told(said[0], "home"), session="s1", at=1.0),
                        _note("b", _told(said[1], "home"), session="s2", at=2.0),
                        _note("c", _told(other), session="s1", at=3.0),
                    ],
                )
            name = await _id_of(memory, said[1]) if by == "id" else "b"
            assert await memory.forget(_ANN, **{by: "unknown"}) == 0, f"forget of an unknown {by} did not return 0"
            assert await memory.forget(_ANN, **{by: name}, session_id="s1") == 0, f"forget took a {by} of another session"
            removed = await memory.forget(_ANN, **{by: name})
            assert removed == 2, f"forget by {by} of what was said twice returned {removed}"
            found = await _statuses(memory)
            assert found == {other: _ACTIVE}, f"after forgetting by {by} the scope has {found}"
            assert await memory.forget(_ANN, **{by: name}) == 0, f"forget by {by} found again what was forgotten"
            new = [_note(f"d{n}", _told(text), _told(f"new {n}"), session="s3") for n, text in enumerate(said)]
            taken = await memory.flush(_ANN, new)
            assert taken == len(new), f"of {len(new)} new notes that repeat what was forgotten {taken} count as new"
            found = await _statuses(memory)
            wanted = {other: _ACTIVE, "new 0": _ACTIVE, "new 1": _ACTIVE, "new 2": _ACTIVE}
            assert found == wanted, f"what was forgotten by {by} was learnt again, or what is new was not: {found}"
            if by == "id":
                assert await memory.forget(_ANN, id=name) == 0, "the id of a forgotten fact names another one"
            await memory.flush(_ANN, [_note("e", _told(said[0], origin=MemoryOrigin.HOST), session="s4")])
            found = await _statuses(memory)
            assert found == wanted | {said[0]: _ACTIVE}, f"what a host wants to have remembered was not stored: {found}"
            for scope in _OTHERS:
                await memory.flush(scope, [_note("f", _told(said[2]), session="s3")])
                count = len(await memory.recall(scope, statuses=_EVERY))
                assert count == 4, f"forget by {by} in one scope: another scope has {count} facts, not 4"


@rule("MEMORY-17", LongTermMemory, cause="facts come by time alone, or only the newest facts of each word are looked at.")
async def more_words_come_first(suite: Suite) -> None:
    texts = ["hotel", "hotel Lyon", "budget hotel Lyon", "Lyon", "garden"]
    async with suite.adapter() as memory:
        await memory.flush(_ANN, [_note(text, _told(text), at=float(-len(text))) for text in texts])
        found = _texts(await memory.recall(_ANN, ["hotel", "lyon", "budget"]))
        assert sorted(found) == sorted(texts[:4]), f"recall of three words returned {found}"
        for less, more in (("hotel", "hotel Lyon"), ("hotel Lyon", "budget hotel Lyon"), ("Lyon", "hotel Lyon")):
            assert found.index(more) < found.index(less), f"{less!r} comes before {more!r}: {found}"
        found = _texts(await memory.recall(_ANN, ["hotel", "lyon", "budget"], limit=1))
        assert found == ["budget hotel Lyon"], f"the best fact with three words is {found}"
    old = attrs.evolve(_note("old", _told("hotel Lyon")), at=1.0)
    async with suite.adapter() as memory:
        await memory.flush(_ANN, [old, *[_note(f"m{n}", _told(f"hotel {n}"), at=2.0 + n) for n in range(300)]])
        found = _texts(await memory.recall(_ANN, ["hotel", "lyon"], limit=1))
        assert found == ["hotel Lyon"], f"of 301 facts, one of which has both words, the best is {found}"
