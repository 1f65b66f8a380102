"""A host of OpenAI's embeddings endpoint on loopback, over real sockets, with the refusals that are documented for it.

    with EmbeddingsServer(embed, dimensions=384) as server:
        client = OpenAI(base_url=server.url, api_key=KEY)
        ...
        assert server.requests[0]["input"] == ["one"]

`embed` makes the rows of texts. What stands in `server.failures` is answered first, one per request: a status, with the header
`retry-after-ms: 1`, or a body as it is.
"""

from __future__ import annotations

import base64
import json
import threading
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field

__all__ = ["KEY", "MODEL", "EmbeddingsServer", "counted_letters"]

KEY = "sk-test-0123456789abcdef"
MODEL = "embedding-test"
_MOST_INPUTS = 2_048
_Embed = Callable[[list[str]], Sequence[Sequence[float]]]


def counted_letters(texts: list[str]) -> list[list[float]]:
    """Rows of 8 numbers, of no length in particular: how often a text has its letters."""
    return [[1.0, *(float(sum(ord(sign) % 7 == place for sign in text)) for place in range(7))] for text in texts]


@define(eq=False)
class EmbeddingsServer:
    """The server, in threads of its own while it is entered. `backwards` sends the rows in reverse, with their indexes."""

    embed: _Embed = counted_letters
    dimensions: int = 8
    backwards: bool = False
    base64: bool = True
    most_bytes: int = 32_768  # of an input: what 8 192 tokens of English are
    requests: list[dict[str, Any]] = field(factory=list[dict[str, Any]])
    failures: deque[int | bytes] = field(factory=deque[int | bytes])
    _lock: threading.Lock = field(factory=threading.Lock)
    _server: Any = None

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> EmbeddingsServer:
        answering = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, answer = answering.answer(self.path, self.headers["authorization"], body)
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None:
                """Be quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="embeddings server", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, authorization: str, body: dict[str, Any]) -> tuple[int, bytes]:
        """Status and body for a request."""
        with self._lock:
            self.requests.append(body)
            failure = self.failures.popleft() if self.failures else None
            if isinstance(failure, bytes):
                return 200, failure
            if failure is not None:
                return failure, _error(f"failure {failure} for {authorization}")
            status, fault = self._fault(path, authorization, body)
            if status != 200:
                return status, _error(fault)
            rows = [list(row) for row in self.embed(body["input"])]
        return 200, json.dumps(self._success(rows, body)).encode()

    def _fault(self, path: str, authorization: str, body: dict[str, Any]) -> tuple[int, str]:
        texts: list[str] = body["input"]
        if path != "/v1/embeddings":
            return 404, f"there is no {path}"
        if authorization != f"Bearer {KEY}":
            return 401, f"Incorrect API key provided: {authorization}"
        if body["model"] != MODEL:
            return 404, f"The model `{body['model']}` does not exist"
        if not 1 <= len(texts) <= _MOST_INPUTS:
            return 400, f"{len(texts)} inputs; the maximum is {_MOST_INPUTS}"
        if any(not text.strip() for text in texts):
            return 400, "input cannot be an empty string"
        if any(len(text.encode()) > self.most_bytes for text in texts):
            return 400, "This model's maximum context length is 8192 tokens"
        if body.get("encoding_format", "float") == "base64" and not self.base64:
            return 400, "encoding_format base64 is not supported"
        return 200, ""

    def _success(self, rows: list[list[float]], body: dict[str, Any]) -> dict[str, Any]:
        width = body.get("dimensions", self.dimensions)
        data = [
            {"object": "embedding", "index": place, "embedding": self._sent(row[:width], body)} for place, row in enumerate(rows)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": data[::-1] if self.backwards else data, "model": MODEL, "usage": usage}

    def _sent(self, row: list[float], body: dict[str, Any]) -> str | list[float]:
        if body.get("encoding_format", "float") == "float":
            return row
        return base64.b64encode(array("f", row).tobytes()).decode()


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": None, "param": None}}).encode()
