"""One model for all who compare meanings: each text embedded once, for us in this process and for others by HTTP."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from contextport.contracts import implements
from contextport.contracts.vectors import Embedder, Vectors

__all__ = ["EmbeddingServer", "RemembersVectors"]


@implements(Embedder)
class RemembersVectors:
    """An embedder that embeds each text once; questions are embedded each time, so that their time is measured."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self._known: dict[str, bytes] = {}

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    def coverage(self, text: str) -> float:
        return self.inner.coverage(text)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        if query:
            return await self.inner.embed(texts, query=True)
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = await self.inner.embed(new)
        self._known.update({text: made.rows(row, row + 1).data for row, text in enumerate(new)})
        return Vectors(self.dimensions, b"".join([self._known[text] for text in texts]))

    async def close(self) -> None:
        await self.inner.close()


class EmbeddingServer:
    """Answers `{"texts": [...]}` with `{"vectors": [[...], ...]}` at `url`, while it is entered."""

    def __init__(self, embedder: Embedder) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(embedder))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> EmbeddingServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(embedder: Embedder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made = asyncio.run(embedder.embed(asked["texts"]))
            body = json.dumps({"vectors": [list(made.numbers(row)) for row in range(len(made))]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
