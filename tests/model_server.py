"""A model provider on loopback, over real sockets: chat completions and Anthropic's Messages, by a script.

    with ModelServer([answer(("Hel", "lo")), ScriptedFailure(status=429, ...)]) as server:
        client = AsyncOpenAI(base_url=server.openai_url, api_key="k")        # or
        client = AsyncAnthropic(base_url=server.anthropic_url, api_key="k")
        ...
        assert server.requests[0].body["max_tokens"] == 5

Each request takes the next step of the script; the protocol is told by the path, and whether to stream by the request. A step
is one of `ScriptedAnswer`, `ScriptedFailure`, `ScriptedBreak`, `ScriptedHold` (contextport.conformance_tests.scripted_answers),
`RawAnswer`, `RawEvents`, `SlowAnswer`, or a function of the `ReceivedRequest` that returns one, for answers that depend on what
was asked. `server.script` may be added to at any time; after its end, requests are answered with status 500.

A request that a provider would refuse is refused with status 400 before the script is looked at (tests/model_request_checks.py),
and one above `max_body` bytes with 413. All are recorded in `server.requests`, refused or not.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from attrs import evolve, field, frozen

from contextport.conformance_tests.scripted_answers import (
    ScriptedAnswer,
    ScriptedBreak,
    ScriptedCall,
    ScriptedFailure,
    ScriptedHold,
)
from contextport.contracts.model import Usage
from tests.model_protocols import CHAT, CLAUDE, body_of, default_word, error_body, error_event, events_of
from tests.model_request_checks import fault_of

__all__ = ["ModelServer", "RawAnswer", "RawEvents", "ReceivedRequest", "SlowAnswer", "Step", "answer", "overflow"]

_APIS = {"/v1/chat/completions": CHAT, "/v1/messages": CLAUDE}


@frozen(kw_only=True)
class ReceivedRequest:
    """A request as it came. `headers` have names in lower case."""

    api: str
    headers: dict[str, str] = field(repr=False)
    text: str = field(repr=False)
    body: dict[str, Any]


@frozen
class RawAnswer:
    """A body as it is, such as JSON that is none, with a status, the type of its content, and further headers."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(factory=dict)


@frozen
class RawEvents:
    """Data of server-sent events as they are, given as JSON values."""

    events: tuple[dict[str, Any], ...]


@frozen(eq=False)
class SlowAnswer:
    """An answer that comes byte by byte, of which the second half waits for `gate`; `halfway` is set before the wait."""

    answer: ScriptedAnswer
    gate: threading.Event = field(factory=threading.Event, repr=False)
    halfway: threading.Event = field(factory=threading.Event, repr=False)


Fixed: TypeAlias = ScriptedAnswer | ScriptedFailure | ScriptedBreak | ScriptedHold | RawAnswer | RawEvents | SlowAnswer
Step: TypeAlias = "Fixed | Callable[[ReceivedRequest], Fixed]"


def answer(
    *pieces: str, calls: Iterable[tuple[str, str, str]] = (), reasoning: str = "", word: str = "", usage: Usage | None = None
) -> ScriptedAnswer:
    """A scripted answer. `calls` are (id, name, arguments); without `word` the reason to end is the usual one of the protocol."""
    made = tuple(ScriptedCall(id=id, name=name, arguments=arguments) for id, name, arguments in calls)
    tokens = Usage(input_tokens=20, output_tokens=10) if usage is None else usage
    return ScriptedAnswer(word=word, pieces=pieces, calls=made, reasoning=reasoning, usage=tokens)


def overflow(api: str, tokens: int, limit: int) -> ScriptedFailure:
    """The error of an input above the window, as OpenAI (`openai.chat`) or Anthropic word it."""
    if api == CHAT:
        text = f"This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens. "
        text += "Please reduce the length of the messages."
        return ScriptedFailure(status=400, type="invalid_request_error", code="context_length_exceeded", message=text)
    text = f"prompt is too long: {tokens} tokens > {limit} maximum"
    return ScriptedFailure(status=400, type="invalid_request_error", message=text)


class ModelServer:
    """The server, in a thread of its own while it is entered as a context. Its port is free again afterwards.

    `alternate` refuses neighbouring user messages, `prefill` false a last message of the assistant, `strict` false turns off all
    checks of requests.
    """

    def __init__(
        self,
        script: Iterable[Step] = (),
        *,
        max_body: int = 32_000_000,
        strict: bool = True,
        alternate: bool = False,
        prefill: bool = True,
    ) -> None:
        self.script: deque[Step] = deque(script)
        self.requests: list[ReceivedRequest] = []
        self._max_body, self._strict, self._alternate, self._prefill = max_body, strict, alternate, prefill
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="model server", daemon=True)
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._port = 0

    @property
    def anthropic_url(self) -> str:
        """The base URL for `AsyncAnthropic`."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """The base URL for `AsyncOpenAI`."""
        return f"{self.anthropic_url}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections and end the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            if request is not None:
                await _Exchange(reader, writer, request).give(self._step(request))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away, which is its right
        finally:
            writer.close()

    def _step(self, request: ReceivedRequest) -> Fixed:
        self.requests.append(request)
        if request.api not in _APIS.values():
            return ScriptedFailure(status=404, type="not_found_error", message=f"no such path: {request.api}")
        if len(request.text.encode()) > self._max_body:
            text = "Request exceeds the maximum size"
            return ScriptedFailure(status=413, type="request_too_large", message=text)
        fault = fault_of(request.api, request.body, alternate=self._alternate, prefill=self._prefill) if self._strict else ""
        if fault:
            return ScriptedFailure(status=400, type="invalid_request_error", message=fault)
        if not self.script:
            return ScriptedFailure(status=500, type="script_ended", message="the script of the server is at its end")
        step = self.script.popleft()
        return step(request) if callable(step) else step


async def _read(reader: asyncio.StreamReader) -> ReceivedRequest | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    path = urlsplit(first.split(" ")[1]).path  # a client that takes this server for its proxy sends a whole URL
    text = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
    return ReceivedRequest(api=_APIS.get(path, path), headers=headers, text=text, body=json.loads(text or "{}"))


class _Exchange:
    """One request and the writing of its answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: ReceivedRequest) -> None:
        self._reader, self._writer = reader, writer
        self._api, self._model = request.api, str(request.body.get("model"))
        self._streamed = bool(request.body.get("stream"))

    async def give(self, step: Fixed) -> None:
        match step:
            case ScriptedAnswer():
                await self._answer(self._worded(step))
            case ScriptedFailure():
                await self._failure(step)
            case ScriptedBreak():
                await self._break(step)
            case ScriptedHold():
                await self._hold(step)
            case RawAnswer():
                await self._whole(step.body, step.status, {"content-type": step.content_type, **step.headers})
            case RawEvents():
                await self._raw_events(step)
            case SlowAnswer():
                await self._slowly(step)

    def _worded(self, step: ScriptedAnswer) -> ScriptedAnswer:
        return step if step.word else evolve(step, word=default_word(self._api, step))

    async def _answer(self, step: ScriptedAnswer) -> None:
        if not self._streamed:
            await self._whole(self._json(step))
            return
        await self._begin_stream()
        for event in events_of(self._api, step, self._model):
            await self._chunk(event)
        await self._chunk(b"")

    def _json(self, step: ScriptedAnswer) -> bytes:
        return json.dumps(body_of(self._api, step, self._model)).encode()

    async def _failure(self, step: ScriptedFailure) -> None:
        more = {} if step.retry_after is None else {"retry-after": f"{step.retry_after:g}"}
        body = json.dumps(error_body(self._api, step)).encode()
        await self._whole(body, step.status, {"content-type": "application/json", **more})

    async def _break(self, step: ScriptedBreak) -> None:
        begun = self._worded(ScriptedAnswer(word="", pieces=step.pieces or ("",)))
        if not self._streamed:
            body = self._json(begun)
            await self._head(200, {"content-type": "application/json", "content-length": str(len(body))})
            await self._write(body[: len(body) // 2])
            return
        await self._pieces(step.pieces)
        if step.failure is not None:
            await self._chunk(error_event(self._api, step.failure))
            await self._chunk(b"")

    async def _hold(self, step: ScriptedHold) -> None:
        try:
            step.begun.set()
            if self._streamed:
                await self._pieces(step.pieces)
            while await self._reader.read(1_000):
                pass
        finally:
            step.ended.set()

    async def _pieces(self, pieces: tuple[str, ...]) -> None:
        """The beginning of a stream, up to the last of the pieces."""
        await self._begin_stream()
        events = events_of(self._api, self._worded(ScriptedAnswer(word="", pieces=pieces)), self._model)
        told = 0
        for event in events:
            if told == len(pieces):
                return
            told += b"_delta" in event if self._api == CLAUDE else b'"delta": {"content"' in event
            await self._chunk(event)

    async def _raw_events(self, step: RawEvents) -> None:
        await self._begin_stream()
        for data in step.events:
            name = f"event: {data['type']}\n" if self._api == CLAUDE else ""
            await self._chunk(f"{name}data: {json.dumps(data)}\n\n".encode())
        await self._chunk(b"data: [DONE]\n\n" if self._api == CHAT else b": end\n\n")
        await self._chunk(b"")

    async def _slowly(self, step: SlowAnswer) -> None:
        whole = self._worded(step.answer)
        data = b"".join(events_of(self._api, whole, self._model)) if self._streamed else self._json(whole)
        kind = "text/event-stream" if self._streamed else "application/json"
        await self._head(200, {"content-type": kind, "content-length": str(len(data))})
        for n in range(len(data)):
            if n == len(data) // 2:
                step.halfway.set()
                await asyncio.to_thread(step.gate.wait)
            await self._write(data[n : n + 1])

    async def _whole(self, body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        more = {"content-type": "application/json"} if headers is None else headers
        await self._head(status, {**more, "content-length": str(len(body))})
        await self._write(body)

    async def _begin_stream(self) -> None:
        await self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})

    async def _head(self, status: int, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in headers.items()), "connection: close"]
        await self._write(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def _chunk(self, data: bytes) -> None:
        """One chunk of a body of unknown length; an empty one ends it."""
        await self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
