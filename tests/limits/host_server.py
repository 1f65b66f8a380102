"""A server on this machine that says what models allow, as different hosts do, and misbehaves on demand."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field

__all__ = ["HostServer", "running"]


@define
class HostServer:
    """Answers by path. An answer is a status and a JSON value, or a function that writes to the connection itself."""

    address: str
    answers: dict[str, Any] = field(factory=dict[str, Any])
    asked: list[tuple[str, str, Any, dict[str, str]]] = field(factory=list[tuple[str, str, Any, dict[str, str]]])
    released: threading.Event = field(factory=threading.Event)  # what a handler that holds its answer back waits for

    @property
    def url(self) -> str:
        return f"http://{self.address}"


@contextlib.contextmanager
def running() -> Generator[HostServer]:
    """A server for the length of a block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            server.asked.append((self.command, self.path, body, {key.lower(): value for key, value in self.headers.items()}))
            answer = server.answers.get(self.path, (404, {"error": "not found"}))
            if callable(answer):
                with contextlib.suppress(OSError):  # the client went away, as it should
                    answer(self)
                self.close_connection = True
                return
            status, value = answer
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, format: str, *arguments: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = HostServer(f"127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join()


def holding_back(server: HostServer, first: bytes = b"") -> Callable[[BaseHTTPRequestHandler], None]:
    """An answer that begins with `first` and does not go on until the server ends."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(first)
        handler.wfile.flush()
        server.released.wait()

    return answer


def endless(handler: BaseHTTPRequestHandler) -> None:
    """White space without end."""
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 65_536)


def broken_off(handler: BaseHTTPRequestHandler) -> None:
    """Less than was announced."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
