"""Sessions that fold, on real stores, with sizes in words: what tests of folds are made of."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from attrs import define, field

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import (
    Budget,
    ContextStore,
    Draft,
    Entry,
    EventKind,
    Head,
    Kind,
    Message,
    Summarizer,
    Summary,
    SummaryRequest,
    ToolCall,
    Usage,
    dump_message,
    implements,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies.folding import PRICES, FoldOldest, FoldPolicy
from contextport.strategies.summaries import ExtractiveSummarizer
from contextport.strategies.tool_results import ShrinkToolResults

P = ParamSpec("P")
T = TypeVar("T")

SESSION = "garden"
PROMPT = "You keep the diary of a garden"
COUNTER = WordsCounter()
BUDGET = 300
#: Folds at the light threshold, whatever the cache: a host without one.
EAGER = FoldPolicy(keep_latest=4, prices=PRICES["uncached"])

_PLANTS = ("basil", "thyme", "sage", "mint", "dill", "chives", "parsley", "sorrel", "lovage", "borage", "fennel", "tansy")


def awaited(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that is a coroutine, in an event loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **named: P.kwargs) -> None:
        asyncio.run(test(*args, **named))

    return run


@define
class Backend:
    """Where logs are kept: `open` gives a store on it, as a process does that starts."""

    path: Path | None = None
    _memory: MemoryContextStore = field(init=False, factory=MemoryContextStore)

    def open(self) -> ContextStore:
        return self._memory if self.path is None else SqliteContextStore(self.path)


def engine(store: ContextStore, budget: int = BUDGET, policy: FoldPolicy = EAGER, **more: Any) -> ContextEngine:
    """An engine that folds by `policy`. `summarizer` and `layers` are those of its strategy, unless it has a `strategy`."""
    parts = {name: more.pop(name) for name in ("summarizer", "layers", "raw_reach") if name in more}
    more.setdefault("strategy", FoldOldest(COUNTER, policy=policy, **parts))
    return ContextEngine(store=store, counter=COUNTER, budget=Budget.of(budget), folding=policy, **more)


def shrinking_engine(store: ContextStore, **more: Any) -> ContextEngine:
    """An engine whose folds shorten results of tools: at first nothing else, then what the summary leaves standing."""
    policy = FoldPolicy(keep_latest=12, target_share=0.4, summary_share=0.1, facts_share=0.1, prices=PRICES["uncached"])
    shrink = ShrinkToolResults(COUNTER, keep_turns=1, keep_steps=1, result_tokens=20)
    return engine(store, budget=1_000, policy=policy, layers=(shrink,), **more)


def plants(start: int, count: int) -> str:
    """So many words without digits."""
    return " ".join(_PLANTS[(start * 5 + n * n) % len(_PLANTS)] for n in range(count))


def turn(n: int, size: int = 10) -> list[Message]:
    """The question `u<n>`, which names order AB-<n>-7, and the answer `a<n>`, each of `size` words."""
    return [
        Message.user(f"Order AB-{n:04}-7 for {plants(n, size - 3)}", id=f"u{n}"),
        Message.assistant(f"Noted: {plants(n + 3, size - 1)}", id=f"a{n}"),
    ]


def turns(count: int, first: int = 0) -> list[Message]:
    return [message for n in range(first, first + count) for message in turn(n)]


def tool_turn(n: int, rows: int = 20) -> list[Message]:
    """A question, a call of `stock`, a table of `rows` lines of four words, and an answer."""
    table = "\n".join(f"bed {plants(n + row, 1)} has {row}" for row in range(rows))
    call = ToolCall(call_id=f"c{n}", name="stock", arguments=f'{{"bed": {n}}}')
    return [
        Message.user(f"Count bed {plants(n, 3)}", id=f"u{n}"),
        Message.assistant("", call, id=f"c{n}"),
        Message.tool(f"c{n}", table, id=f"t{n}"),
        Message.assistant(f"Noted: {plants(n + 3, 4)}", id=f"a{n}"),
    ]


async def say(target: ContextEngine, messages: Iterable[Message], session: str = SESSION) -> list[Message]:
    """Add the messages one by one. Returns them as they were stored."""
    return [await target.add_message(session, message) for message in messages]


async def begun(target: ContextEngine, count: int = 8, prompt: str = PROMPT) -> list[Message]:
    """A session with its prompt, if any, so many turns, and a question last. Returns what was said."""
    if prompt:
        await target.set_system_prompt(SESSION, prompt)
    return await say(target, [*turns(count), Message.user("Go on", id="go")])


async def log_of(store: ContextStore, session: str = SESSION, epoch: int | None = None) -> tuple[Entry, ...]:
    """All entries of the epoch."""
    return await store.read(session, limit=100_000, epoch=epoch)


async def said_in_log(store: ContextStore, session: str = SESSION) -> list[str]:
    """What was said, as it is stored."""
    return stored(entry.message for entry in await log_of(store, session) if entry.message.in_conversation)


async def fold_in_state(store: ContextStore, session: str = SESSION) -> dict[str, int] | None:
    """What the session's state says of its live fold."""
    state = (await store.head(session)).state
    place: dict[str, int] | None = json.loads(state).get("fold") if state else None
    return place


def stored(messages: Iterable[Message]) -> list[str]:
    """The messages byte for byte."""
    return [dump_message(message) for message in messages]


def ids(messages: Iterable[Message]) -> list[str]:
    return [message.id for message in messages]


def size(messages: Iterable[Message]) -> int:
    return total_tokens(list(messages), COUNTER)


def of_kind(messages: Iterable[Message], kind: Kind) -> list[Message]:
    return [message for message in messages if message.kind is kind]


def reasons(sink: CollectingEventSink, kind: EventKind) -> list[Any]:
    """The reason codes of all events of that kind, oldest first."""
    return [event.data["reason"] for event in sink.of(kind)]


@implements(Summarizer)
@define
class GatedSummarizer:
    """An extractive one that waits for `gate` and costs `usage`. `asked` is set by each call; `requests` are all of them."""

    gate: asyncio.Event = field(factory=asyncio.Event)
    asked: asyncio.Event = field(factory=asyncio.Event)
    usage: Usage | None = None
    requests: list[SummaryRequest] = field(factory=list[SummaryRequest])

    @property
    def max_input(self) -> int | None:
        return None

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.requests.append(request)
        self.asked.set()
        await self.gate.wait()
        summary = await ExtractiveSummarizer(COUNTER).summarize(request)
        return Summary(text=summary.render(), origin="gated", usage=self.usage)


@define
class Calls:
    """Counts the calls of the store `inner`, and has something done at one of them.

    At call number `at`, counted from 0, `before` is awaited first and `after` last. While `at` is None, nothing is counted.
    """

    inner: ContextStore
    at: int | None = None
    before: Callable[[], Coroutine[Any, Any, None]] | None = None
    after: Callable[[], Coroutine[Any, Any, None]] | None = None
    names: list[str] = field(factory=list[str])

    def watch(self, at: int = -1, **actions: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Count from now on."""
        self.at, self.before, self.after = at, actions.get("before"), actions.get("after")
        self.names.clear()

    async def call(self, name: str, work: Coroutine[Any, Any, T]) -> T:
        """Make the call `name`, which is `work`."""
        now = self.at is not None and len(self.names) == self.at
        if self.at is not None:
            self.names.append(name)
        try:
            if now and self.before is not None:
                await self.before()
        except BaseException:
            work.close()
            raise
        result = await work
        if now and self.after is not None:
            await self.after()
        return result


@implements(ContextStore)
@define
class WatchedStore:
    """A store whose calls go through `calls`."""

    calls: Calls

    async def head(self, session_id: str) -> Head:
        return await self.calls.call("head", self.calls.inner.head(session_id))

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        return await self.calls.call("append", self.calls.inner.append(session_id, drafts))

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
        reading = self.calls.inner.read(session_id, after=after, before=before, limit=limit, marked=marked, epoch=epoch)
        return await self.calls.call("read", reading)

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        writing = self.calls.inner.put_state(session_id, state, expected=expected, drafts=drafts)
        return await self.calls.call("put_state", writing)

    async def clear(self, session_id: str) -> Head:
        return await self.calls.call("clear", self.calls.inner.clear(session_id))

    async def purge(self, session_id: str) -> int:
        return await self.calls.call("purge", self.calls.inner.purge(session_id))

    async def close(self) -> None:
        await self.calls.call("close", self.calls.inner.close())
