"""The rules of `IndexesHistory`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextport.contracts import ContextStore, Entry, Head, Kind, ListsSessions, Message, Text, ToolResult, provides
from contextport.contracts.retrieval import IndexesHistory, Snippet

from .retriever_inputs import DOCUMENTS, QUESTIONS, SESSION, add, drafts_of, find, texts_of
from .rules import rule
from .store_inputs import session_ids

if TYPE_CHECKING:
    from .retriever_suite import RetrieverConformance as Suite

__all__: list[str] = []

_KEY = "Where is the key of the boathouse?"
_KEPT = "The key of the boathouse is under the {}."
_PLACES = ("doormat", "flowerpot", "bench", "anchor")
_UNSAID = (Kind.SYSTEM_PROMPT, Kind.SUMMARY, Kind.FACTS, Kind.RECORD, Kind.RETRIEVED, Kind.STAND_IN, Kind.GAP)


def _ids(found: Sequence[Snippet]) -> list[tuple[str, str]]:
    return [(snippet.session_id, snippet.message_id) for snippet in found]


@rule("HISTORY-1", IndexesHistory, cause="session ids are folded, trimmed or made part of a pattern, or one index serves all.")
async def searches_only_in_the_named_sessions(suite: Suite) -> None:
    names = session_ids()
    async with suite.history() as (store, retriever):
        for n, name in enumerate(names):
            await add(
                store, name, Message.user(f"The key of the boathouse has number {n}.", id=f"m{n}"), Message.user("Hello.", id="h")
            )
        for n, name in enumerate(names):
            _check_sessions(await find(retriever, _KEY, session_id=name), {name: f"m{n}"})
        others = (names[4], names[1], "a session that is not there")
        found = await find(retriever, _KEY, session_id=names[0], sessions=others)
        _check_sessions(found, {names[0]: "m0", names[4]: "m4", names[1]: "m1"})
        _check_sessions(await find(retriever, _KEY, session_id=names[0]), {names[0]: "m0"})


def _check_sessions(found: Sequence[Snippet], wanted: Mapping[str, str]) -> None:
    """The message is to be found in each of these sessions, once, and nothing of others."""
    places = _ids(found)
    strange = sorted([place for place in places if place[1] not in (wanted.get(place[0]), "h")])
    assert not strange, f"a question in the sessions {list(wanted)!r:.200} found the messages {strange!r:.200}"
    for place in wanted.items():
        assert places.count(place) == 1, (
            f"message {place!r:.100} was found {places.count(place)} times by a question in its session"
        )


@rule("HISTORY-2", IndexesHistory, cause="what was indexed is kept by the session's id, without its epoch and incarnation.")
async def finds_nothing_of_what_was_cleared(suite: Suite) -> None:
    async with suite.history() as (store, retriever):
        await add(store, SESSION, Message.user(_KEPT.format("doormat"), id="m1"), Message.user("Hello.", id="h"))
        assert (SESSION, "m1") in _ids(await find(retriever, _KEY)), "the message was not found before the session was cleared"
        for place, remove in (("flowerpot", store.clear), ("bench", store.purge), ("anchor", store.clear)):
            await remove(SESSION)
            texts = texts_of(await find(retriever, _KEY))
            assert texts == [], f"after {remove.__name__} the question found {texts}"
            await add(store, SESSION, Message.user(_KEPT.format(place), id="m1"))
            for told in (False, True):
                if told:
                    retriever.note_added(SESSION)
                    await retriever.settle()
                texts = texts_of(await find(retriever, _KEY))
                assert texts == [_KEPT.format(place)], f"after {remove.__name__} and a new message the question found {texts}"


@rule("HISTORY-3", IndexesHistory, cause="only what is told by `note_added` is looked at, or only in the background.")
async def finds_what_was_just_added(suite: Suite) -> None:
    async with suite.history() as (store, retriever):
        assert texts_of(await find(retriever, _KEY)) == [], "something was found in a session that is not there"
        for n, place in enumerate(_PLACES):
            await add(store, SESSION, Message.user(f"Hello for the time {n}.", id=f"h{n}"))
            await find(retriever, "Hello")
            await add(store, SESSION, Message.user(_KEPT.format(place), id=f"m{n}"))
            if n % 2:
                retriever.note_added(SESSION)
            texts = texts_of(await find(retriever, f"{_KEY} Under the {place}?"))
            assert _KEPT.format(place) in texts, f"right after it was added, {_KEPT.format(place)!r} was not found, but {texts}"


@rule("HISTORY-4", IndexesHistory, cause="what need not be found is taken out after the room is spent, or compared by text.")
async def leaves_out_what_is_visible(suite: Suite) -> None:
    async with suite.history() as (store, retriever):
        entries = await add(store, SESSION, *[Message.user(_KEPT.format(place), id=f"m{n}") for n, place in enumerate(_PLACES)])
        await retriever.settle()
        everything = await find(retriever, _KEY)
        room = max(snippet.tokens for snippet in everything)
        assert len(everything) == len(_PLACES), f"{len(_PLACES)} messages have the words, {len(everything)} were found"
        for hidden in ({"m0"}, {"m1", "m3"}, {"m0", "m1", "m2"}, {"m0", "m1", "m2", "m3"}):
            found = [id for _, id in _ids(await find(retriever, _KEY, visible=frozenset(hidden)))]
            assert not hidden.intersection(found), f"messages {sorted(hidden)} are in the window, and {sorted(found)} were found"
            assert len(found) == len(_PLACES) - len(hidden), f"beside {sorted(hidden)}, only {sorted(found)} were found"
            one = await find(retriever, _KEY, visible=frozenset(hidden), max_tokens=room)
            assert bool(one) is (len(hidden) < len(_PLACES)), f"in the room of one snippet, {_ids(one)} was found beside {hidden}"
        for n, entry in enumerate(entries):
            found = [id for _, id in _ids(await find(retriever, _KEY, before=entry.seq))]
            wanted = [f"m{earlier}" for earlier in range(n)]
            assert sorted(found) == wanted, f"before entry {entry.seq} are {wanted}, the question found {sorted(found)}"


@rule("HISTORY-5", IndexesHistory, cause="entries are indexed whatever their kind.")
async def finds_only_what_was_said(suite: Suite) -> None:
    async with suite.history() as (store, retriever):
        for n, kind in enumerate(_UNSAID):
            role: Any = "system" if kind is Kind.SYSTEM_PROMPT else "user"
            text = Text(_KEPT.format(f"{kind.value} {n}"))
            await add(store, SESSION, Message(role=role, kind=kind, parts=(text,), id=f"unsaid{n}"))
        await add(
            store,
            SESSION,
            Message.user("I lost the key of the boathouse.", id="asked"),
            Message.assistant("The key of the boathouse hangs in the hall.", id="answered"),
            Message(role="tool", parts=(ToolResult(call_id="c", parts=(Text("boathouse key: hook 7"),)),), id="result"),
        )
        await retriever.settle()
        found = {id for _, id in _ids(await find(retriever, _KEY))}
        assert not (made := sorted(found - {"asked", "answered", "result"})), f"{made} were found, which nobody said"
        assert found == {"asked", "answered", "result"}, f"of a question, an answer and a result only {sorted(found)} were found"


async def _seen(store: ContextStore) -> tuple[list[Head], list[Entry]]:
    heads = list(await store.sessions()) if provides(store, ListsSessions) else []
    return heads, [entry for epoch in (1, 2) for entry in await store.read(SESSION, epoch=epoch, limit=1_000)]


@rule("HISTORY-6", IndexesHistory, cause="what was derived is written to the log or the state, or a question opens its session.")
async def writes_nothing_to_the_log(suite: Suite) -> None:
    async with suite.history() as (store, retriever):
        await store.append(SESSION, drafts_of(DOCUMENTS))
        before = await _seen(store)
        retriever.note_added(SESSION)
        retriever.note_added("never written")
        await find(retriever, _KEY, session_id="never written", sessions=("nor this",))
        await find(retriever, QUESTIONS["tea"])
        await retriever.settle()
        await find(retriever, QUESTIONS["tea"])
        assert await _seen(store) == before, "after questions, the store has other sessions, heads or entries than before"
        for name in ("never written", "nor this"):
            head = await store.head(name)
            assert (head.last_seq, head.state_version) == (0, 0), f"a question made a session: {head}"


@rule("HISTORY-7", IndexesHistory, cause="the index lives in memory, and is not filled again from the store.")
async def finds_the_same_when_opened_anew(suite: Suite) -> None:
    async with suite.store() as store:
        answers: list[dict[str, list[tuple[str, str, str]]]] = []
        await store.append(SESSION, drafts_of(DOCUMENTS))
        for _ in range(2):
            async with suite.on(store) as retriever:
                if not answers:
                    retriever.note_added(SESSION)
                await find(retriever, QUESTIONS["tea"])
                await retriever.settle()
                found = {name: await find(retriever, question) for name, question in QUESTIONS.items()}
                answers.append({n: [(s.session_id, s.message_id, s.text) for s in snippets] for n, snippets in found.items()})
        for name, first in answers[0].items():
            then = answers[1][name]
            assert then == first, f"{QUESTIONS[name]!r} found {first!r:.300}; by a retriever that was opened later, {then!r:.300}"


def _long_texts() -> dict[str, tuple[str, list[str]]]:
    """Long messages by their ids, with rare words in them, from the first to the last."""
    words = ["zanzibar", "giraffe", "cremona", "violin", "palatine", "lisbon"]
    prose = [f"Then we went on for {n} miles and had a rest." for n in range(120)]
    for n, word in enumerate(words):
        prose.insert(n * len(prose) // (len(words) - 1), f"There was a {word}.")
    unbroken = [f'"field{n}":{n * n}' for n in range(400)]
    keys = ["alpha7734", "kestrel", "omega9921"]
    for n, key in enumerate(keys):
        unbroken.insert(n * len(unbroken) // (len(keys) - 1), f'"{key}":1')
    chinese = [f"我们走了{n}里路然后休息" for n in range(150)]
    cities = ["乌鲁木齐", "呼和浩特", "哈尔滨"]
    for n, city in enumerate(cities):
        chinese.insert(n * len(chinese) // (len(cities) - 1), city)
    return {
        "prose": (" ".join(prose), words),
        "unbroken": ("{" + ",".join(unbroken) + "}", keys),
        "chinese": ("\uff0c".join(chinese), cities),
    }


@rule("HISTORY-8", IndexesHistory, cause="only the beginning of a long message is read, or it is one passage that never fits.")
async def finds_words_anywhere_in_a_long_message(suite: Suite) -> None:
    async with suite.history() as (store, retriever):
        for name, (text, _) in _long_texts().items():
            await add(store, SESSION, Message.user("Hello.", id=f"before {name}"), Message.user(text, id=name))
        for settled in (False, True):
            if settled:
                await retriever.settle()
            for name, (text, words) in _long_texts().items():
                room = max(400, len(text) // 8)  # enough for a passage by any counter, for the whole by none of characters
                for word in words:
                    found = await find(retriever, word, max_tokens=room)
                    having = [one for one in found if one.message_id == name and word in one.text]
                    assert having, f"{word!r} in a message of {len(text)} characters was not found in {room} tokens"
