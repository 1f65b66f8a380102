"""What survives folding: items planted into real conversations, and the share that is still in the window or in the ledger.

    python benchmarks/retention.py --data DIR [--json OUT] [--quick] [--no-models]

DIR holds locomo, kdconv, memorybank, taubench and sweagent. Each conversation is a session whose budget is a quarter of its
tokens. Every system is made to fold at the same ten places, the tenth at the end; ours folds by itself too, so more often than
the tables say, and is forced only where it made fewer folds than were due. A share is over all items said so far, so that
"trim_messages" shows what is left without a summary, and "everything" that the rule of judging (retention_judge.py) holds
nothing against a system. A third of the items are in held-out wordings, which are not listed among those that were lost.

Systems with a model all ask the same small one (SmolLM2-135M-Instruct, 4 bits, temperature 0, one thread of this machine), in
two short conversations, ten folds of an English one and five of a Chinese one, or three of the English one in the quick run: the
figures say how a pipeline copes with a weak model, not what a large one would do. Peers keep half of the
budget word for word and have 15 % of it for a summary. LlamaIndex makes a summary each time its messages are asked for; it is
asked only where a fold is due, which is kinder to it than every turn would be.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Collection
from pathlib import Path
from random import Random
from typing import Any

from retention_ours import our_windows
from retention_peers import LANGCHAIN, LLAMAINDEX, LocalModel, windows_of
from retention_planting import planted
from retention_report import Row, missed, newest, seen, table
from retention_schedule import Folding, count, folding_of
from retention_sources import SOURCES

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_TOKENS = {"locomo": 8000, "kdconv": 8000, "memorybank en": 8000, "memorybank cn": 8000, "taubench": 12_000, "sweagent": 16_000}
_PER_KIND = 18  # items of each kind in a conversation; half as many in the quick run
_SEEDS = 3
_FOR_MODELS, _QUICK_FOR_MODELS = {"locomo": 10, "kdconv": 5}, {"locomo": 3}  # folds of the conversations with models
_MODEL_SIZE, _MODEL_PER_KIND = 0.2, 9  # of the usual length


def foldings(data: Path, names: Collection[str], seeds: int, size: float, per_kind: int) -> list[Folding]:
    """Conversations of the named sources at `size` of their usual length, with what is planted and when they are folded."""
    made: list[Folding] = []
    for source in (source for source in SOURCES if source.name in names):
        for seed in range(seeds):
            draw = Random(f"{source.name}/{seed}")
            chats = source.conversation(data, draw, round(size * _TOKENS[source.name]), count)
            talk = planted(
                chats,
                draw,
                name=f"{source.name}/{seed}",
                language=source.language,
                people=source.people,
                per_kind=per_kind,
            )
            made.append(folding_of(talk))
    return made


async def without_models(given: list[Folding]) -> list[Row]:
    rows: list[Row] = []
    trimming = windows_of(LANGCHAIN, "trimming", given)
    for folding, trimmed in zip(given, trimming, strict=True):
        everything = [[chat["content"] for chat in folding.conversation.chats[:place]] for place in folding.places]
        rows += seen("everything", folding, everything)
        rows += seen("trim_messages", folding, trimmed["windows"])
        ours = await our_windows(folding)
        rows += seen("ours, extractive (window)", folding, ours["windows"])
        rows += seen("ours, extractive (window or ledger)", folding, ours["windows"], ours["ledgers"])
        print(f"{folding.conversation.name}: budget {folding.budget}, folds made {ours['folds']}", flush=True)
    return rows


async def with_models(given: list[Folding]) -> list[Row]:
    rows: list[Row] = []
    with LocalModel() as model:
        for folding in given:
            started = time.monotonic()
            ours = await our_windows(folding, model)
            rows += seen("ours, model (window)", folding, ours["windows"])
            rows += seen("ours, model (window or ledger)", folding, ours["windows"], ours["ledgers"])
            between = time.monotonic()
            plain = await our_windows(folding)
            rows += seen("ours, extractive (window or ledger)", folding, plain["windows"], plain["ledgers"])
            langchain = windows_of(LANGCHAIN, "summaries", [folding], model)[0]
            rows += seen("LangChain SummarizationMiddleware", folding, langchain["windows"])
            then = time.monotonic()
            llamaindex = windows_of(LLAMAINDEX, "summaries", [folding], model)[0]
            rows += seen("LlamaIndex ChatSummaryMemoryBuffer", folding, llamaindex["windows"])
            last = time.monotonic()
            print(
                f"{folding.conversation.name}: budget {folding.budget}, summaries up to {folding.cap}, "
                f"ours {between - started:.0f} s, folds {ours['folds'][-1]} by {ours['origins']}; "
                f"LangChain {then - between:.0f} s, calls {langchain['calls']}; "
                f"LlamaIndex {last - then:.0f} s, calls {llamaindex['calls']}",
                flush=True,
            )
    return rows


def report(rows: list[Row], what: str) -> dict[str, Any]:
    last = newest(rows)
    ours = [row for row in last if row.system == "ours, extractive (window or ledger)"]
    figures: dict[str, Any] = {
        "all": table(rows, f"{what}: all wordings", lambda row: row.system),
        "held_out": table([row for row in last if row.plant.held], f"{what}: held-out wordings", lambda row: row.system),
        "languages": table(last, f"{what}: by language", lambda row: f"{row.system}, {row.language}"),
        "sources": table(ours, f"{what}: ours, extractive, by source", lambda row: row.source.partition("/")[0]),
        "missed": missed(ours),
    }
    print("\nLost by ours, extractive, after the last fold:")
    for item in figures["missed"]:
        print(f"- {item['lost']} of {item['of']} ({item['kind']}): {item['wording']} | {item['example']}")
    return figures


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="one seed, short conversations, three folds with models")
    parser.add_argument("--no-models", action="store_true", help="leave out what asks the local model")
    options = parser.parse_args()
    length = (1, 0.5, _PER_KIND // 2) if options.quick else (_SEEDS, 1.0, _PER_KIND)
    given = foldings(options.data, _TOKENS, *length)
    figures = {"without_models": report(await without_models(given), "no model")}
    if not options.no_models:
        folds = _QUICK_FOR_MODELS if options.quick else _FOR_MODELS
        whole = foldings(options.data, folds, 1, _MODEL_SIZE, _MODEL_PER_KIND)
        short = [one.until(last) for one, last in zip(whole, folds.values(), strict=True)]
        figures["with_models"] = report(await with_models(short), "local model, short conversations")
    if options.json:
        options.json.write_text(json.dumps(figures, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
