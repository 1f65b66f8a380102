"""A walk through a store and a model of it side by side: random calls, every answer compared, the failing walk made short."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from attrs import frozen

from contextport.contracts import ContextPortError, ContextStore, Draft, Entry, Head, Importance, Kind, Message

from .reference_store import ReferenceStore
from .shrinking import shrink

__all__ = ["StoreCall", "disagreement", "drawn_calls", "entries_seen", "explain", "heads_seen"]

_SESSIONS = ("alpha", "beta")


@frozen
class StoreCall:
    """One call of a walk: the method, its arguments, and how it reads in a report."""

    method: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]

    def __str__(self) -> str:
        given = [_shown(argument) for argument in self.arguments]
        given += [f"{name}={_shown(value)}" for name, value in self.named.items()]
        return f"await store.{self.method}({', '.join(given)})"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    if isinstance(value, Draft):
        message = value.message
        extras = "".join(f", {name}" for name in ("pinned", "marked") if getattr(message, name))
        return f"draft({message.role} {message.id!r} {message.text!r}, kind={message.kind}, tokens={value.tokens}{extras})"
    return repr(value)


def drawn_calls(seed: int, count: int = 24) -> list[StoreCall]:
    """Calls drawn from a seed: mostly appends and reads, now and then the rest."""
    rng = random.Random(seed)
    methods = rng.choices(("append", "read", "head", "put_state", "clear", "purge"), (40, 30, 12, 10, 6, 2), k=count)
    return [_drawn(rng, method, rng.choice(_SESSIONS)) for method in methods]


def _drawn(rng: random.Random, method: str, session_id: str) -> StoreCall:
    if method == "append":
        return StoreCall(method, (session_id, tuple(_draft(rng) for _ in range(rng.randint(1, 3)))), {})
    if method == "put_state":
        drafts = tuple(_draft(rng) for _ in range(rng.randint(0, 2)))
        named = {"expected": rng.randint(0, 2), "drafts": drafts}
        return StoreCall(method, (session_id, f"state {rng.randint(0, 9)}"), named)
    if method == "read":
        named = {
            "after": rng.choice((0, 0, 0, rng.randint(1, 8))),
            "before": rng.choice((None, None, rng.randint(1, 12))),
            "limit": rng.choice((1, 2, 5, 64)),
            "marked": rng.random() < 0.3,
            "epoch": rng.choice((None, None, 1, 2)),
        }
        return StoreCall(method, (session_id,), named)
    return StoreCall(method, (session_id,), {})


def _draft(rng: random.Random) -> Draft:
    number = rng.randint(0, 12)  # few ids, so that some come twice, with the same content or other
    content = Message(
        role=rng.choice(("user", "user", "assistant", "system")),
        parts=Message.user(f"text {rng.randint(0, 1)}").parts,
        id=f"m{number}",
        kind=rng.choice((Kind.CHAT, Kind.CHAT, Kind.CHAT, Kind.INTERRUPT, Kind.RECORD)),
        pinned=rng.random() < 0.2,
        importance=rng.choice((Importance.NORMAL, Importance.NORMAL, Importance.DECISION)),
    )
    return Draft(message=content, tokens=rng.randint(1, 9), counter="words", at=float(number))


Seen = Callable[[Any], Any]


async def _answer(store: ContextStore, call: StoreCall, seen: Seen) -> Any:
    try:
        return seen(await getattr(store, call.method)(*call.arguments, **call.named))
    except ContextPortError as error:
        return type(error).__name__


async def disagreement(
    make: Callable[[], Awaitable[ContextStore]],
    release: Callable[[ContextStore], Awaitable[None]],
    calls: Sequence[StoreCall],
    seen: Seen,
) -> tuple[int, Any, Any] | None:
    """(number of the call, the model's answer, the store's) where they first differ in what is `seen` of the answers."""
    store, model = await make(), ReferenceStore()
    try:
        for number, call in enumerate(calls):
            wanted, given = await _answer(model, call, seen), await _answer(store, call, seen)
            if wanted != given:
                return number, wanted, given
        return None
    finally:
        await release(store)


async def explain(
    make: Callable[[], Awaitable[ContextStore]],
    release: Callable[[ContextStore], Awaitable[None]],
    seen: Seen,
    seeds: Sequence[int] = range(20),
) -> str:
    """The shortest walk found on which store and model differ, as code and both answers; empty when they agree."""
    for seed in seeds:
        calls = drawn_calls(seed)
        if await disagreement(make, release, calls, seen) is None:
            continue

        async def fails(some: list[StoreCall]) -> bool:
            return await disagreement(make, release, some, seen) is not None

        short = await shrink(calls, fails)
        found = await disagreement(make, release, short, seen)
        assert found is not None, "the store answered the same calls in two ways"
        number, wanted, given = found
        listed = "\n".join(f"    {call}" for call in short[: number + 1])
        return f"store and model disagree (seed {seed}) after\n{listed}\n  the contract: {wanted}\n  the store:    {given}"
    return ""


def entries_seen(answer: Any) -> Any:
    """Of an answer with entries: what tells them apart. Other answers are not compared."""
    if isinstance(answer, tuple) and all(isinstance(item, Entry) for item in answer):
        return [(entry.seq, entry.epoch, entry.message.id) for entry in answer]
    return None


def heads_seen(answer: Any) -> Any:
    """Of an answer with a head: all but its state, which has rules of its own."""
    if isinstance(answer, Head):
        return (answer.epoch, answer.last_seq, answer.messages, answer.tokens, answer.turn)
    return None
