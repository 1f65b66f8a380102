"""LlamaIndex: `Memory`, alone and with a `VectorMemoryBlock`, at its defaults and tuned.

Each dated part of a conversation is put at once; for each question the memory is put back to where it stood before. Tuned: 45 %
of the budget for the history, nodes of a turn of each speaker, as many as fill another 45 %, the last two messages as the query,
and a block that may be cut.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory, VectorMemoryBlock
from llama_index.core.schema import BaseNode
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.vector_stores.types import BasePydanticVectorStore, VectorStoreQuery, VectorStoreQueryResult
from pydantic import PrivateAttr
from recall_run import ENCODING, Asked, Windows, role_of, run, spoken

_AT_ONCE = 20  # turns that are put together
_NODE = 90  # tokens of a node: a turn of both speakers


class Remote(BaseEmbedding):
    """Embeds where the benchmark does."""

    url: str

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        body = json.dumps({"texts": texts}).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url, body)) as answer:
            return json.loads(answer.read())["vectors"]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._vectors([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vectors([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embedding(text)


class Nodes(BasePydanticVectorStore):
    """All nodes in a list: the block takes only stores that keep texts."""

    stores_text: bool = True
    _nodes: list[BaseNode] = PrivateAttr(default_factory=list)

    @property
    def client(self) -> Any:
        return None

    def add(self, nodes: list[BaseNode], **_: Any) -> list[str]:
        self._nodes += nodes
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        raise NotImplementedError

    def back_to(self, count: int) -> None:
        del self._nodes[count:]

    def __len__(self) -> int:
        return len(self._nodes)

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        if not self._nodes:
            return VectorStoreQueryResult(nodes=[], similarities=[], ids=[])
        scores = np.array([node.embedding for node in self._nodes]) @ np.array(query.query_embedding)
        best = np.argsort(-scores, kind="stable")[: query.similarity_top_k]
        found = [self._nodes[n] for n in best]
        return VectorStoreQueryResult(nodes=found, similarities=[float(scores[n]) for n in best], ids=[n.node_id for n in found])


async def shown(asked: Asked, memory: Memory, nodes: Nodes) -> Windows:
    said = [ChatMessage(role=role_of(turn, asked), content=spoken(turn)) for turn in asked["turns"]]
    for at in range(0, len(said), _AT_ONCE):
        await memory.aput_messages(said[at : at + _AT_ONCE])
    active = await memory.aget_all(status=MessageStatus.ACTIVE)
    stored = len(nodes)
    windows: Windows = []
    for question in asked["questions"]:
        start = time.perf_counter()
        await memory.aput(ChatMessage(role="user", content=question))
        kept = await memory.aget()
        seconds = time.perf_counter() - start
        windows.append({"messages": [(str(one.role.value), "", one.content or "") for one in kept], "seconds": seconds})
        await memory.areset()
        await memory.sql_store.add_messages(memory.session_id, active, status=MessageStatus.ACTIVE)
        nodes.back_to(stored)
    return windows


def memory_of(budget: int, blocks: list[VectorMemoryBlock], **more: Any) -> Memory:
    return Memory.from_defaults(
        session_id="s",
        token_limit=budget,
        memory_blocks=blocks,
        tokenizer_fn=ENCODING.encode_ordinary,
        async_database_uri="sqlite+aiosqlite:///:memory:",
        **more,
    )


def plain(asked: Asked, budget: int) -> Windows:
    return asyncio.run(shown(asked, memory_of(budget, []), Nodes()))


def vectors(asked: Asked, budget: int) -> Windows:
    nodes = Nodes()
    block = VectorMemoryBlock(vector_store=nodes, embed_model=Remote(url=asked["url"]))
    return asyncio.run(shown(asked, memory_of(budget, [block]), nodes))


def tuned(asked: Asked, budget: int) -> Windows:
    nodes = Nodes()
    block = VectorMemoryBlock(
        vector_store=nodes,
        embed_model=Remote(url=asked["url"]),
        similarity_top_k=max(1, int(budget * 0.45) // _NODE),
        retrieval_context_window=2,
        priority=1,
    )
    return asyncio.run(shown(asked, memory_of(budget, [block], chat_history_token_ratio=0.45, token_flush_size=1), nodes))


if __name__ == "__main__":
    run({"memory": plain, "vectors": vectors, "tuned": tuned})
