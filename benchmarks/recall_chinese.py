"""What a question needs of a long Chinese conversation: is it in the window?

    python benchmarks/recall_chinese.py --data DIR [--budgets 1000,2000,4000,8000] [--json OUT] [--every N] [--no-peers]

DIR has the dialogues of KdConv (`film_test.json`, `music_test.json`, `travel_test.json`), whose turns carry triples: a thing, an
attribute, a value. Thirty dialogues of one subject make a session. A question asks for the attribute of a thing, always in the
same words, the thing without what tells it from others of its name in brackets. The turns it needs carry the triple and say its
value word for word; often only the turns before them name the thing. Where there are more than four such turns, or the value is
longer than 20 characters, nothing is asked. What is measured is what `recall.py` measures, by words alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recall import numbers, our_rows
from recall_conversations import Conversation, Question, Turn, every
from recall_ours import Ours
from recall_peers import LANGCHAIN, peer_outcomes
from recall_scores import figures, tables

from contextport.contracts import Mode

_TOGETHER = 30
_MOST_TURNS = 4
_LONGEST_VALUE = 20
_START = 1_700_000_000.0
_DAY = 86_400.0
_BRACKETS = re.compile("\uff08.*?\uff09")

Triple = tuple[str, str]


def kdconv(folder: Path) -> list[Conversation]:
    """Sessions of thirty dialogues each, a day apart; what is left over at the end of a file makes a shorter one."""
    made: list[Conversation] = []
    for path in sorted(folder.glob("*_test.json")):
        dialogues = json.loads(path.read_text("utf-8"))
        subject = path.stem.removesuffix("_test")
        for at in range(0, len(dialogues), _TOGETHER):
            made.append(_session(dialogues[at : at + _TOGETHER], f"{subject}/{at // _TOGETHER}"))
    return made


def _session(dialogues: Sequence[Mapping[str, Any]], name: str) -> Conversation:
    turns: list[Turn] = []
    places: dict[Triple, dict[str, str]] = defaultdict(dict)
    for day, dialogue in enumerate(dialogues):
        for number, message in enumerate(dialogue["messages"]):
            turn = Turn(id=f"{day}:{number}", speaker="甲乙"[number % 2], text=message["message"], at=_START + day * _DAY)
            turns.append(turn)
            for triple, value in _said(message):
                places[triple].setdefault(turn.id, value)
    return Conversation(name=name, turns=tuple(turns), questions=tuple(_questions(places, name.partition("/")[0])))


def _said(message: Mapping[str, Any]) -> Iterator[tuple[Triple, str]]:
    """The triples whose value the message says."""
    for triple in message.get("attrs") or ():
        value = triple["attrvalue"].strip()
        if 1 < len(value) <= _LONGEST_VALUE and value in message["message"]:
            yield (triple["name"], triple["attrname"]), value


def _questions(places: Mapping[Triple, Mapping[str, str]], subject: str) -> Iterator[Question]:
    for (name, attribute), turns in places.items():
        if len(turns) <= _MOST_TURNS:
            answer = next(iter(turns.values()))
            thing = _BRACKETS.sub("", name) or name
            yield Question(text=f"{thing}的{attribute}是什么？", answer=answer, evidence=tuple(turns), category=subject)  # noqa: RUF001


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--budgets", type=numbers, default=[1000, 2000, 4000, 8000])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask each n-th question only")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    conversations = kdconv(options.data)
    given = every(conversations, options.every)
    rows = [(Ours(row="ours, words", mode=Mode.RETRIEVAL), given)]
    outcomes, costs = asyncio.run(our_rows(rows, options.budgets))
    if not options.no_peers:
        outcomes += peer_outcomes(LANGCHAIN, "trim", "LangChain trim_messages", given, options.budgets)
    found = figures(outcomes)
    turns = sum(len(one.turns) for one in conversations)
    print(f"{len(conversations)} sessions, {turns} turns, {sum(len(one.questions) for one in conversations)} questions\n")
    print(tables(found, names={}))
    if options.json:
        options.json.write_text(json.dumps({"rows": found, "ingest": costs}, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
