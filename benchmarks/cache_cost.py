"""What the input of long agent runs costs with a provider's prompt cache, in tokens of uncached input.

    python benchmarks/cache_cost.py --data DIR [--limits 8000 16000 32000 64000] [--requests 500] [--of-each 1]
                                    [--prices-known] [--peers] [--json OUT]

Needs ``contextport``. ``DIR`` holds recorded runs: ``taubench/gpt-4o-airline.json`` of sierra-research/tau-bench, and
``sweagent/*.traj`` of SWE-agent/SWE-agent; ``$CONTEXTPORT_BENCHMARK_DATA`` may name it instead. Runs of one kind are joined until
there are 500 requests to the model. Each request is compared with the one before: their longest common prefix is read from the
cache, which is warm throughout, the rest is written. Output is the same for everyone and left out. No summary here takes a model.

Everyone gets the same limit and the same sizes of messages, those of our estimate. Ours is `context_engine` as it comes, which
knows no prices; ``--prices-known`` runs it with each price list too. Besides there are a sliding window, which drops the oldest
messages one by one, and the cheapest of all fixed policies that fold at one share of the room and down to another, with a summary
and facts of the size that ours had: once of all, and once of those that do not fold below our `light` threshold, below which
everything is to be shown raw (R84). ``--peers`` installs other systems, each in an environment of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

from attrs import asdict, frozen
from cache_cost_conversations import KINDS, Conversation, conversations
from cache_cost_policies import FixedPolicy, Sizes, fixed_policies, sliding_window
from peer_environments import Peer, ask
from prefix_cache import Piece, Requests, input_cost, piece

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.wiring import context_engine
from contextport.contracts import Budget, Kind, Message, from_chat, to_chat
from contextport.strategies import KeepRecentTokens
from contextport.strategies.folding import PRICES, FoldPolicy, Prices

PRICE_SETS = ("anthropic", "anthropic.5_5", "openai.5", "deepseek", "groq")
_COUNTER = HeuristicTokenCounter()
_POLICY = FoldPolicy()
_SLIDING, _OURS, _OURS_PRICED = "sliding window", "ours", "ours, prices known"
_PEERS = (
    Peer(module="cache_cost_langchain", requirements=("langchain==1.5.2", "langchain-core==1.8.3"), chat_loop={}),
    Peer(module="cache_cost_llamaindex", requirements=("llama-index-core==0.14.25",), chat_loop={}),
)


@frozen(kw_only=True)
class Row:
    """What a conversation of a kind costs on average under a price list, and how much is sent in a request, in tokens."""

    kind: str
    limit: int
    system: str
    prices: str
    cost: float
    of_sliding: float
    tokens: float


# --- ours -------------------------------------------------------------------------------------------------------------


@frozen
class Ours:
    """The requests of a run with our engine, and the mean size of summary and facts in those that have one."""

    requests: Requests
    summaries: float


async def through_engine(engine: ContextEngine, conversation: Conversation) -> Ours:
    """A model takes longer to answer than a fold without a model: what goes on in the background is done by the next request."""
    made, summaries = Requests(), list[int]()
    known: dict[int, tuple[Message, Piece]] = {}
    await engine.set_system_prompt("run", conversation.system)
    for chat in conversation.chats:
        if chat["role"] == "assistant":
            window = (await engine.get_context("run")).messages
            known = {id(message): known.get(id(message)) or (message, _piece(message)) for message in window}
            made.send([known[id(message)][1] for message in window])
            memory = [known[id(m)][1][1] for m in window if m.kind in (Kind.SUMMARY, Kind.FACTS)]
            summaries += [sum(memory)] if memory else []
        await engine.add_message("run", chat)
        await engine.settle()
    return Ours(made, fmean(summaries) if summaries else 0.0)


def _piece(message: Message) -> Piece:
    return piece(to_chat([message])[0], _COUNTER.count_message(message))


def folding_with(prices: Prices | None, given: Sequence[Conversation], limit: int) -> list[Ours]:
    """What our engine sends as it comes, or if it knows the prices."""
    policy = None if prices is None else FoldPolicy(prices=prices)
    return [
        asyncio.run(through_engine(context_engine(budget=Budget.of(limit), counter=_COUNTER, folding=policy), conversation))
        for conversation in given
    ]


def trimming(given: Sequence[Conversation], limit: int) -> list[Requests]:
    """What our engine sends where nothing is folded and the newest messages are kept."""
    strategy = KeepRecentTokens(_COUNTER)
    engines = [context_engine(budget=Budget.of(limit), counter=_COUNTER, strategy=strategy) for _ in given]
    return [asyncio.run(through_engine(engine, one)).requests for engine, one in zip(engines, given, strict=True)]


# --- others -----------------------------------------------------------------------------------------------------------


def sizes_of(conversation: Conversation) -> Sizes:
    return Sizes.of(_system_tokens(conversation), [chat["role"] for chat in conversation.chats], _tokens(conversation))


def _tokens(conversation: Conversation) -> list[int]:
    return [_COUNTER.count_message(from_chat(chat)) for chat in conversation.chats]


def _system_tokens(conversation: Conversation) -> int:
    return _COUNTER.count_message(Message.system(conversation.system))


def peers(given: Sequence[Conversation], limit: int) -> dict[str, list[Requests]]:
    """What other systems send, by their names."""
    value = [
        {
            "chats": [{"role": "system", "content": conversation.system}, *conversation.chats],
            "tokens": [_system_tokens(conversation), *_tokens(conversation)],
            "limit": limit,
        }
        for conversation in given
    ]
    made: dict[str, list[Requests]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.json"
        path.write_text(json.dumps(value), "utf-8")
        for peer in _PEERS:
            answers: dict[str, list[dict[str, list[int]]]] = ask(peer, str(path)) or {}
            made |= {name: [Requests(**answer) for answer in runs] for name, runs in answers.items()}
    return made


# --- costs ------------------------------------------------------------------------------------------------------------


def measured(kind: str, given: Sequence[Conversation], limit: int, *, priced: bool, with_peers: bool) -> list[Row]:
    """All rows for the conversations of a kind in a window of `limit` tokens."""
    ours = folding_with(None, given, limit)
    sizes = [sizes_of(conversation) for conversation in given]
    runs = {
        _SLIDING: [sliding_window(one, limit) for one in sizes],
        _OURS: [one.requests for one in ours],
        "ours, KeepRecentTokens alone": trimming(given, limit),
    }
    if with_peers:
        runs |= peers(given, limit)
    fixed = _fixed(sizes, limit, ours)
    rows: list[Row] = []
    for prices in (PRICES[name] for name in PRICE_SETS):
        own = {_OURS_PRICED: [one.requests for one in folding_with(prices, given, limit)]} if priced else {}
        rows += _rows(kind, limit, prices, runs | own, fixed)
    return rows


def _rows(
    kind: str,
    limit: int,
    prices: Prices,
    runs: dict[str, list[Requests]],
    fixed: dict[FixedPolicy, list[Requests]],
) -> Iterator[Row]:
    allowed = {policy: made for policy, made in fixed.items() if policy.trigger >= _POLICY.light}
    sliding = _cost(runs[_SLIDING], prices)
    systems = {
        **runs,
        **_cheapest("cheapest fixed", fixed, prices),
        **_cheapest("cheapest fixed from light on", allowed, prices),
    }
    for system, made in systems.items():
        cost, tokens = _cost(made, prices), fmean([one.mean_tokens for one in made])
        of_sliding = cost / sliding
        yield Row(kind=kind, limit=limit, system=system, prices=prices.name, cost=cost, of_sliding=of_sliding, tokens=tokens)


def _fixed(sizes: Sequence[Sizes], limit: int, ours: Sequence[Ours]) -> dict[FixedPolicy, list[Requests]]:
    """What each policy of the grid sends, with a summary of the size that ours had, where it folded at all."""
    room = limit - sizes[0].system
    most = _POLICY.summary_cap(room) + _POLICY.facts_cap(room)
    memory = [round(one.summaries) or most for one in ours]
    return {
        policy: [policy.run(one, limit, size, _POLICY.keep_latest) for one, size in zip(sizes, memory, strict=True)]
        for policy in fixed_policies()
    }


def _cheapest(name: str, fixed: dict[FixedPolicy, list[Requests]], prices: Prices) -> dict[str, list[Requests]]:
    best = min(fixed, key=lambda policy: _cost(fixed[policy], prices))
    return {f"{name}: {best.trigger:.2f} to {best.target:.2f}": fixed[best]}


def _cost(runs: Sequence[Requests], prices: Prices) -> float:
    return input_cost(runs, read=prices.read, write=prices.write, minimum=prices.minimum_tokens) / len(runs)


# --- report -----------------------------------------------------------------------------------------------------------


def report(rows: Sequence[Row]) -> None:
    for kind, limit in dict.fromkeys((row.kind, row.limit) for row in rows):
        here = [row for row in rows if (row.kind, row.limit) == (kind, limit)]
        print(f"\n{kind}, limit {limit}: cost of a conversation in thousands, and as a share of the sliding window's\n")
        for name in PRICE_SETS:
            print(f"  {name}: read {PRICES[name].read:g}, write {PRICES[name].write:g}")
            for row in (row for row in here if row.prices == name):
                print(f"    {row.system:55}{row.cost / 1000:9.0f}{row.of_sliding:8.3f}   {row.tokens:7.0f} tokens a request")
    print("\nours: share of the sliding window's cost, and times the cheapest fixed policy, all / from light on\n")
    for row in (row for row in rows if row.system in (_OURS, _OURS_PRICED)):
        same = [other for other in rows if (other.kind, other.limit, other.prices) == (row.kind, row.limit, row.prices)]
        best = [other.cost for other in same if other.system.startswith("cheapest fixed")]
        times = " / ".join(f"{row.cost / cost:.2f}" for cost in best)
        print(f"  {row.kind:10} {row.limit:6}  {row.prices:14} {row.system:20} {row.of_sliding:6.3f}   {times}")


def main() -> None:
    parser = argparse.ArgumentParser(description="What the input of long agent runs costs with a prompt cache.")
    parser.add_argument("--data", type=Path, default=os.environ.get("CONTEXTPORT_BENCHMARK_DATA"))
    parser.add_argument("--limits", type=int, nargs="+", default=[8000, 16000, 32000, 64000])
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--of-each", type=int, default=1)
    parser.add_argument("--prices-known", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.data is None:
        parser.error("name the folder of recorded runs with --data or CONTEXTPORT_BENCHMARK_DATA")
    given = conversations(options.data, of_each=options.of_each, requests=options.requests)
    for one in given:
        print(f"{one.kind}: {one.requests} requests, {len(one.chats)} messages, {sum(_tokens(one))} tokens")
    by_kind = {kind: [one for one in given if one.kind == kind] for kind in KINDS}
    rows: list[Row] = []
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        work = [
            workers.submit(measured, kind, of_kind, limit, priced=options.prices_known, with_peers=options.peers)
            for kind, of_kind in by_kind.items()
            for limit in options.limits
        ]
        for done in work:
            rows += done.result()
    report(rows)
    if options.json is not None:
        value: list[dict[str, Any]] = [asdict(row) for row in rows]
        options.json.write_text(json.dumps(value, indent=1), "utf-8")


if __name__ == "__main__":
    main()
