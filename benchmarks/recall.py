"""What a question needs of a long conversation: is it in the window?

    python benchmarks/recall.py --data FILE [--budgets 1000,2000,4000,8000] [--json OUT] [--every N] [--no-peers]
        [--no-embeddings] [--no-hybrid]

FILE is of the LoCoMo form: conversations of dated sessions, and questions with the turns that they need. Each turn is added to a
session with its date and speaker, the question is asked at the end, and the window is looked at: evidence counts as present when
the whole text of its turn is there (white space apart), an answer when its text is; answers that nobody said in these words are
not looked for. A question's recall is the share of its turns that are present; full recall is the share of questions with all of
them. Ids of evidence that name no turn are skipped, and questions without any other are not asked; both are told.

Tokens are of the whole window, question and system messages included, by o200k_base with 4 tokens for each message. "query ms" is
what the window took in a session that was just opened, with the search for a question that was never asked before; other systems
have their conversation in memory.

Meanings are compared by all-MiniLM-L6-v2, by all systems alike. LangChain and LlamaIndex run in environments of their own;
LlamaIndex and our mode HYBRID, which fold or flush as a conversation grows, are asked each fourth question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from recall_conversations import Conversation, Question, every, locomo
from recall_embeddings import EmbeddingServer, RemembersVectors
from recall_ours import Ours, Times, minilm, our_outcomes
from recall_peers import LLAMAINDEX, SYSTEMS, peer_outcomes
from recall_scores import Outcome, figures, tables

from contextport.contracts import Mode

_SELDOM = 4

Given = list[tuple[Conversation, list[Question]]]


def numbers(text: str) -> list[int]:
    """Budgets, separated by commas."""
    return [int(one) for one in text.split(",")]


def ingest(row: str, times: Times) -> dict[str, Any]:
    """What adding cost: the call, and per message what went on in the background after the last."""
    adds = sorted(times.adds)
    return {
        "system": row,
        "messages": len(adds),
        "add_ms_median": 1e3 * median(adds),
        "add_ms_p99": 1e3 * adds[len(adds) * 99 // 100],
        "background_ms_per_message": 1e3 * times.background / len(adds),
    }


async def our_rows(rows: Sequence[tuple[Ours, Given]], budgets: Sequence[int]) -> tuple[list[Outcome], list[dict[str, Any]]]:
    outcomes: list[Outcome] = []
    costs: list[dict[str, Any]] = []
    for ours, given in rows:
        times = Times()
        outcomes += await our_outcomes(ours, given, budgets, times)
        if ours.mode is Mode.RETRIEVAL:  # the other searches and folds while it is filled
            costs.append(ingest(ours.row, times))
    return outcomes, costs


def chosen_rows(conversations: Sequence[Conversation], nth: int, *, embeddings: bool, hybrid: bool) -> list[tuple[Ours, Given]]:
    often, seldom = every(conversations, nth), every(conversations, nth * _SELDOM)
    rows = [(Ours(row="ours, words", mode=Mode.RETRIEVAL), often)]
    if embeddings:
        model = minilm()
        rows.append((Ours(row="ours", mode=Mode.RETRIEVAL, embedder=model), often))
        if hybrid:
            rows.append((Ours(row="ours, hybrid", mode=Mode.HYBRID, embedder=RemembersVectors(model)), seldom))
    return rows


def peers(conversations: Sequence[Conversation], nth: int, budgets: Sequence[int], *, embeddings: bool) -> list[Outcome]:
    outcomes: list[Outcome] = []
    wanted = [system for system in SYSTEMS if embeddings or not system[3]]
    with EmbeddingServer(RemembersVectors(minilm())) if embeddings else _NoServer() as server:
        for peer, system, row, _ in wanted:
            given = every(conversations, nth * _SELDOM if peer is LLAMAINDEX else nth)
            outcomes += peer_outcomes(peer, system, row, given, budgets, server.url)
    return outcomes


class _NoServer:
    url = ""

    def __enter__(self) -> _NoServer:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def told(conversations: Sequence[Conversation], rows: Sequence[dict[str, Any]], costs: Sequence[dict[str, Any]]) -> None:
    turns = sum(len(one.turns) for one in conversations)
    questions = sum(len(one.questions) for one in conversations)
    malformed = [id for one in conversations for id in one.malformed]
    print(f"{len(conversations)} conversations, {turns} turns, {questions} questions with evidence", end="; ")
    print(f"{sum(one.without for one in conversations)} without, {len(malformed)} ids of evidence name no turn: {malformed}\n")
    print(tables(rows))
    print()
    for cost in costs:
        print(
            f"{cost['system']}: adding took {cost['add_ms_median']:.2f} ms a message (p99 {cost['add_ms_p99']:.2f}), and "
            f"{cost['background_ms_per_message']:.2f} ms a message in the background after the last"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--budgets", type=numbers, default=[1000, 2000, 4000, 8000])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask each n-th question only")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-embeddings", action="store_true")
    parser.add_argument("--no-hybrid", action="store_true", help="leave out our mode HYBRID, whose folds take minutes")
    options = parser.parse_args()
    conversations = locomo(options.data)
    embeddings = not options.no_embeddings
    rows = chosen_rows(conversations, options.every, embeddings=embeddings, hybrid=not options.no_hybrid)
    outcomes, costs = asyncio.run(our_rows(rows, options.budgets))
    if not options.no_peers:
        outcomes += peers(conversations, options.every, options.budgets, embeddings=embeddings)
    found = figures(outcomes)
    told(conversations, found, costs)
    if options.json:
        malformed = [id for one in conversations for id in one.malformed]
        everything = {"rows": found, "ingest": costs, "malformed": malformed}
        options.json.write_text(json.dumps(everything, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
