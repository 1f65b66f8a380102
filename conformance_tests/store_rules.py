"""The rules of `ContextStore`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from contextport.contracts import (
    ContextStore,
    Draft,
    Head,
    Importance,
    Kind,
    Message,
    MessageConflict,
    StateConflict,
    StoreCorrupt,
    StoreUnavailable,
    Text,
    dump_message,
    from_chat,
    provides,
)
from contextport.contracts.store import Durable, ListsSessions, SharedAcrossProcesses

from .rules import NotChecked, rule, settled
from .store_inputs import add, draft, every_kind_of_message, ids, said, session_ids
from .walk import entries_seen, explain, heads_seen

if TYPE_CHECKING:
    from .suites import ContextStoreConformance as Suite

__all__: list[str] = []


async def raised(expected: type[Exception] | tuple[type[Exception], ...], call: Callable[[], Awaitable[Any]], what: str) -> Any:
    """The error that the call raises; fails when it raises none, or another."""
    try:
        answer = await call()
    except expected as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} raised nothing and returned {answer!r}")


@rule("STORE-1", ContextStore, cause="numbers are taken before a conflict is seen, or per call instead of per session.")
async def numbers_entries_in_order(suite: Suite) -> None:
    async with suite.adapter() as store:
        first = await add(store, "s", "a", "b", "c")
        other = await add(store, "other", "x")
        second = await add(store, "s", "d")
        assert [e.seq for e in other] == [1], f"the first message of a second session got seq {other[0].seq}"
        assert [e.seq for e in (*first, *second)] == [1, 2, 3, 4], "append numbered four messages otherwise than 1 to 4"
        assert ids((*first, *second)) == ["a", "b", "c", "d"], "append did not answer in the order of the drafts"
        log = await store.read("s")
        assert [(e.seq, e.message.id) for e in log] == [(1, "a"), (2, "b"), (3, "c"), (4, "d")], "the log is numbered otherwise"
        await store.append("s", [])
        third = await add(store, "s", "e")
        assert third[0].seq == 5, f"after an append of nothing the next message got seq {third[0].seq}, not 5"


@rule("STORE-2", ContextStore, cause="drafts are written one by one and not taken back when a later one conflicts.")
async def appends_all_or_nothing(suite: Suite) -> None:
    async with suite.adapter() as store:
        await add(store, "s", "a")
        group = [draft("b"), draft("c"), draft("a", "something else"), draft("d")]
        await raised(MessageConflict, lambda: store.append("s", group), "a group with a conflicting message")
        assert ids(await store.read("s")) == ["a"], "messages of a refused group are in the log"
        head = await store.head("s")
        assert (head.last_seq, head.messages) == (1, 1), f"a refused group changed the head: {head}"
        stored = await add(store, "s", "b", "c", "d")
        assert [e.seq for e in stored] == [2, 3, 4], "a group is not next to one another after a refused one"


@rule("STORE-3", ContextStore, cause="ids are not looked up, or only in the same call.")
async def same_message_again_is_not_stored(suite: Suite) -> None:
    async with suite.adapter() as store:
        first = await store.append("s", [draft("a", tokens=3, at=1.0), draft("b")])
        again = await store.append("s", [draft("a", tokens=9, at=2.0), draft("c"), draft("b")])
        assert [(e.seq, e.message.id) for e in again] == [(1, "a"), (3, "c"), (2, "b")], "a repeated message has another entry"
        assert again[0] == first[0], "the entry of a repeated message is not the one that was stored"
        twice = await store.append("s", [draft("d"), draft("d")])
        assert [e.seq for e in twice] == [4, 4], "one message twice in a call was stored twice"
        assert ids(await store.read("s")) == ["a", "b", "c", "d"], "the log has a message twice"
        wire = {"role": "user", "content": "hello", "id": "e"}
        turned = dict(reversed(wire.items()))
        both = [await store.append("s", [Draft(message=from_chat(d), tokens=0, counter="c", at=0.0)]) for d in (wire, turned)]
        assert both[0] == both[1], "the same dict with its keys in another order was taken for another message"
        head = await store.head("s")
        assert (head.messages, head.tokens) == (5, 12), f"repeated messages were counted again: {head}"


@rule("STORE-4", ContextStore, cause="only the id is compared, or the text and not the whole stored form.")
async def other_content_conflicts(suite: Suite) -> None:
    base = Message.user("hello", id="a", metadata={"k": 1})
    others = [
        attrs.evolve(base, parts=(Text("hello!"),)),
        attrs.evolve(base, metadata={"k": 2}),
        attrs.evolve(base, pinned=True),
        attrs.evolve(base, role="assistant"),
        attrs.evolve(base, importance=Importance.DECISION),
    ]
    async with suite.adapter() as store:
        await store.append("s", [said(base)])
        for other in others:
            error = await raised(MessageConflict, partial(store.append, "s", [said(other)]), "other content")
            assert error.details.get("message_id") == "a", f"the conflict does not name the message: {error.details}"
        assert [e.message for e in await store.read("s")] == [base], "a conflicting message changed the log"
        assert (await store.head("s")).last_seq == 1, "a conflicting message was given a number"


@rule("STORE-5", ContextStore, cause="the limit is applied from the start, or after and before are taken as inclusive.")
async def reads_the_newest_of_a_range(suite: Suite) -> None:
    async with suite.adapter() as store:
        for name in "abcdefghij":
            await add(store, "s", name)
        wanted = {
            (0, None, 64): "abcdefghij",
            (0, None, 3): "hij",
            (0, 11, 10): "abcdefghij",
            (0, 8, 3): "efg",
            (4, 8, 64): "efg",
            (4, 8, 2): "fg",
            (9, None, 5): "j",
            (10, None, 5): "",
            (0, 1, 5): "",
            (0, 2, 5): "a",
            (20, 30, 5): "",
        }
        for (after, before, limit), letters in wanted.items():
            found = await store.read("s", after=after, before=before, limit=limit)
            assert ids(found) == list(letters), f"read(after={after}, before={before}, limit={limit}) returned {ids(found)}"
    found = await explain(suite.make, suite.release, entries_seen)
    assert not found, found


@rule("STORE-6", ContextStore, cause="marked is ignored, or the limit is applied before the filter.")
async def reads_marked_messages_alone(suite: Suite) -> None:
    marked = [
        Message.user("pin", id="pin", pinned=True),
        Message.user("decision", id="decision", importance=Importance.DECISION),
        Message.user("interrupt", id="interrupt", kind=Kind.INTERRUPT),
        Message.system("rule", id="rule"),
        Message(role="developer", parts=(Text("rule"),), id="developer"),
    ]
    async with suite.adapter() as store:
        for n, message in enumerate(marked):
            await store.append("s", [draft(f"before {n}"), said(message), draft(f"after {n}")])
        found = await store.read("s", marked=True)
        assert ids(found) == [m.id for m in marked], f"read(marked=True) returned {ids(found)}"
        assert [e.seq for e in found] == [2, 5, 8, 11, 14], "marked entries have other numbers than in the log"
        newest = await store.read("s", marked=True, limit=2)
        assert ids(newest) == ["rule", "developer"], f"read(marked=True, limit=2) returned {ids(newest)}"
        between = await store.read("s", marked=True, after=2, before=11)
        assert ids(between) == ["decision", "interrupt"], f"read(marked=True, after=2, before=11) returned {ids(between)}"


@rule("STORE-7", ContextStore, cause="the text goes through an encoding, the wire form is not kept, or numbers are rounded.")
async def message_comes_back_equal(suite: Suite) -> None:
    messages = every_kind_of_message()
    drafts = [
        Draft(message=m, tokens=n * 1_000_003, counter=f"counter:{n} \u00e9", at=1_700_000_000.123456 + n)
        for n, m in enumerate(messages)
    ]
    async with suite.adapter() as store:
        answered = await store.append("s", drafts)
        read = await store.read("s", limit=len(drafts))
        for source, entries in (("append", answered), ("read", read)):
            assert len(entries) == len(drafts), f"{source} returned {len(entries)} of {len(drafts)} entries"
            for given, entry in zip(drafts, entries, strict=True):
                assert entry.message == given.message, f"{source} returned another message"
                assert dump_message(entry.message) == dump_message(given.message), f"{source} returned another wire form"
                assert (entry.tokens, entry.counter, entry.at) == (given.tokens, given.counter, given.at), (
                    f"{source} returned other tokens, counter or time"
                )


@rule("STORE-8", ContextStore, cause="a count is kept beside the log and one of the paths forgets to change it.")
async def head_agrees_with_the_log(suite: Suite) -> None:
    async with suite.adapter() as store:
        await store.append("s", [said(Message.assistant("hi", id="a"), 2), draft("b", tokens=4)])
        await store.append("s", [said(Message.user("record", id="r", kind=Kind.RECORD), 100)])
        await store.append("s", [said(Message.user("note", id="i", kind=Kind.INTERRUPT), 7)])
        await store.put_state("s", "x", expected=0, drafts=[said(Message.assistant("ok", id="c"), 1)])
        head = await store.head("s")
        wanted = Head(session_id="s", epoch=1, last_seq=5, messages=4, tokens=14, turn=2, state="x", state_version=1)
        assert head == wanted, "the head does not agree with the log"
    found = await explain(suite.make, suite.release, heads_seen)
    assert not found, found


@rule("STORE-9", ContextStore, cause="the version is checked apart from the write, or drafts are written without the check.")
async def compares_before_it_sets_the_state(suite: Suite) -> None:
    async with suite.adapter() as store:
        await add(store, "s", "a")
        head = await store.put_state("s", "one", expected=0, drafts=[draft("b")])
        assert (head.state, head.state_version, head.last_seq) == ("one", 1, 2), f"put_state returned {head}"
        assert head == await store.head("s"), "put_state returned another head than head does"
        for expected in (0, 2):
            error = await raised(
                StateConflict,
                partial(store.put_state, "s", "two", expected=expected, drafts=[draft("c")]),
                f"put_state with expected={expected} at version 1",
            )
            numbers = (error.details.get("expected"), error.details.get("actual"))
            assert numbers == (expected, 1), f"the conflict names the versions {numbers}, not {(expected, 1)}"
        await raised(
            MessageConflict,
            lambda: store.put_state("s", "two", expected=1, drafts=[draft("d"), draft("a", "other")]),
            "put_state with a conflicting draft",
        )
        assert await store.head("s") == head, "a refused put_state changed the head"
        assert ids(await store.read("s")) == ["a", "b"], "a refused put_state stored drafts"
        assert (await store.put_state("new", "first", expected=0)).state_version == 1, "put_state on a new session"


@rule("STORE-10", ContextStore, cause="append writes the head back as it was read before, or counts as a change of state.")
async def append_leaves_the_state_alone(suite: Suite) -> None:
    async with suite.adapter() as store:
        await store.put_state("s", "one", expected=0)
        await add(store, "s", "a")
        await add(store, "s", "b", "c")
        head = await store.head("s")
        assert (head.state, head.state_version) == ("one", 1), f"append changed the state: {head}"
        later = await store.put_state("s", "two", expected=1)
        assert (later.state, later.state_version, later.last_seq) == ("two", 2, 3), f"put_state after appends gave {later}"


@rule("STORE-11", ContextStore, cause="clear deletes the log, restarts seq, or drops the state.")
async def clear_begins_a_new_epoch(suite: Suite) -> None:
    async with suite.adapter() as store:
        before = (*await add(store, "s", "a", "b"), *await store.append("s", [draft("p", pinned=True)]))
        await store.put_state("s", "kept", expected=0)
        head = await store.clear("s")
        wanted = Head(session_id="s", epoch=2, last_seq=3, messages=0, tokens=0, turn=0, state="kept", state_version=1)
        assert head == wanted, "clear did not return the head of an empty new epoch"
        assert await store.head("s") == wanted, "head after clear differs from what clear returned"
        assert await store.read("s") == (), "cleared entries are read without naming their epoch"
        assert await store.read("s", marked=True) == (), "cleared pins are read without naming their epoch"
        assert await store.read("s", epoch=1) == before, "the entries of epoch 1 are not there any more"
        again = await store.append("s", [draft("a", "new content"), draft("z")])
        assert [(e.seq, e.epoch, e.turn) for e in again] == [(4, 2, 4), (5, 2, 5)], (
            "entries of the new epoch are numbered otherwise"
        )
        assert ids(await store.read("s")) == ["a", "z"], "the new epoch holds other entries than were added to it"
        assert await store.read("s", epoch=1) == before, "adding to epoch 2 changed epoch 1"
        assert (await store.clear("s")).epoch == 3, "the third epoch is not number 3"
        assert await store.read("s", epoch=2) == again, "the entries of epoch 2 are not there any more"


@rule("STORE-12", ContextStore, cause="purge keeps the head, counts the current epoch alone, or matches ids by prefix.")
async def purge_removes_one_session(suite: Suite) -> None:
    async with suite.adapter() as store:
        await add(store, "s", "a", "b")
        await store.put_state("s", "state", expected=0)
        await store.clear("s")
        await add(store, "s", "c")
        kept = {name: await add(store, name, "x") for name in ("s2", "S", "other")}
        incarnation = (await store.head("s")).incarnation
        count = await store.purge("s")
        assert count == 3, f"purge of a session with 3 entries in 2 epochs returned {count}"
        assert await store.head("s") == Head(session_id="s"), "a purged session has a head"
        for epoch in (None, 1, 2):
            assert await store.read("s", epoch=epoch) == (), f"a purged session has entries in epoch {epoch}"
        for name, entries in kept.items():
            assert await store.read(name) == entries, f"the purge of 's' changed session {name!r}"
        assert await store.purge("s") == 0, "purge of a session that is not there did not return 0"
        assert [e.seq for e in await add(store, "s", "a")] == [1], "a purged session does not begin anew"
        assert (await store.head("s")).incarnation != incarnation, "a session written again cannot be told from the purged one"


@rule("STORE-13", ContextStore, cause="ids are folded, trimmed, escaped or joined with a separator that they may contain.")
async def sessions_are_separate(suite: Suite) -> None:
    names = session_ids()
    async with suite.adapter() as store:
        for n, name in enumerate(names):
            await store.append(name, [draft("same id", f"text of {n}", tokens=n + 1)])
            await store.put_state(name, f"state of {n}", expected=0)
        await store.clear(names[0])
        for n, name in enumerate(names[1:], 1):
            read = [e.message.text for e in await store.read(name)]
            assert read == [f"text of {n}"], f"session {name!r} reads {read}"
            head = await store.head(name)
            wanted = (name, 1, 1, n + 1, f"state of {n}")
            assert (head.session_id, head.epoch, head.last_seq, head.tokens, head.state) == wanted, f"session {name!r}: {head}"


@rule("STORE-14", ContextStore, cause="reading inserts a row, or the missing session is reported as an error.")
async def unwritten_session_is_empty(suite: Suite) -> None:
    async with suite.adapter() as store:
        for _ in range(2):
            assert await store.head("never") == Head(session_id="never"), "the head of an unwritten session has other values"
            assert await store.read("never") == (), "an unwritten session has entries"
            assert await store.read("never", marked=True, epoch=1) == (), "an unwritten session has marked entries"
        lister: Any = store
        if provides(lister, ListsSessions):
            assert await lister.sessions() == (), "reading a session made it appear in the list of sessions"
        assert await store.purge("never") == 0, "purge of an unwritten session did not return 0"


@rule("STORE-16", ContextStore, cause="the turn is taken from the call instead of the epoch, or interrupts and tools open one.")
async def entries_know_their_turn(suite: Suite) -> None:
    log = [
        (Message.assistant("hello", id="greeting"), 0),
        (Message.user("q1", id="q1"), 2),
        (Message.assistant("a", id="a1"), 2),
        (Message.user("note", id="note", kind=Kind.INTERRUPT), 2),
        (Message.tool("c", "r", id="tool"), 2),
        (Message.user("q2", id="q2"), 6),
        (Message.system("rule", id="rule"), 6),
        (Message.user("record", id="record", kind=Kind.RECORD), 6),
    ]
    turns = [turn for _, turn in log]
    async with suite.adapter() as store:
        one_call = await store.append("s", [said(message) for message, _ in log])
        assert [e.turn for e in one_call] == turns, "turns of entries that were appended in one call"
        single = [(await store.append("t", [said(message)]))[0] for message, _ in log]
        assert [e.turn for e in single] == turns, "turns of entries that were appended one by one"
        assert [e.turn for e in await store.read("t")] == turns, "turns of entries that were read"
        assert (await store.head("s")).turn == 6, f"the head names turn {(await store.head('s')).turn}, not 6"
        await store.clear("s")
        after = await store.append("s", [said(Message.assistant("hi", id="x"))])
        assert after[0].turn == 0, f"the first entry of an epoch is in turn {after[0].turn} of the one before"


@rule(
    "STORE-17",
    ContextStore,
    cause="after close, a call does not look whether the store is closed; on a failing backend, a library's exception passes "
    "through, or is replaced without `raise ... from`.",
)
async def failures_are_mapped(suite: Suite) -> None:
    async with suite.adapter() as store:
        await add(store, "s", "a")
        await store.close()
        await store.close()
        for name, call in _calls(store).items():
            await raised(StoreUnavailable, call, f"{name} after close")
        needs_backend = provides(store, Durable) or provides(store, SharedAcrossProcesses)
    built = suite.broken_store()
    if built is None:
        if needs_backend:
            raise NotChecked("write broken_store, so that a failing backend can be tried")
        return
    broken = await settled(built)
    try:
        for name, call in _calls(broken).items():
            error = await raised((StoreUnavailable, StoreCorrupt), call, f"{name} on a failing backend")
            assert error.__cause__ is not None, f"{name} raised {type(error).__name__} without the foreign error as __cause__"
    finally:
        await suite.release(broken)


def _calls(store: ContextStore) -> Mapping[str, Callable[[], Awaitable[Any]]]:
    return {
        "head": lambda: store.head("s"),
        "append": lambda: store.append("s", [draft("z")]),
        "read": lambda: store.read("s"),
        "put_state": lambda: store.put_state("s", "x", expected=0),
        "clear": lambda: store.clear("s"),
        "purge": lambda: store.purge("s"),
    } | ({"sessions": store.sessions} if provides(store, ListsSessions) else {})


@rule("STORE-18", ContextStore, cause="state is kept on the class, in a module, or in a default argument.")
async def stores_share_nothing(suite: Suite) -> None:
    async with suite.adapter() as one, suite.adapter() as other:
        await add(one, "s", "a")
        await one.put_state("s", "x", expected=0)
        assert await other.head("s") == Head(session_id="s"), "a message added to one store is in the head of another"
        assert await other.read("s") == (), "a message added to one store is read from another"
        await add(other, "s", "b")
        assert ids(await one.read("s")) == ["a"], "a message added to a second store is in the first"
