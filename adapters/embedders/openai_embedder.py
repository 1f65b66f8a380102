"""Vectors by the embeddings endpoint of OpenAI, or of any host that speaks the same, through the official SDK `openai`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, cast

from contextport.contracts import EmbeddingFailed, InvalidArgument, TokenCounter, implements
from contextport.contracts.extras import needs_extra
from contextport.contracts.json_values import encodable
from contextport.contracts.vectors import Embedder, Vectors

from .unit_rows import UnusableRows, unit_rows

with needs_extra("openai"):
    from openai import APIStatusError, OpenAI

__all__ = ["OpenAIEmbedder"]

_SIGNS_PER_TOKEN = 32  # far above what any language takes; what is longer is cut before it is counted
_AT_ONCE = 4  # requests of one embedder on their way together


@implements(Embedder)
class OpenAIEmbedder:
    """Embeds by `model` through an `OpenAI` client, which stays its owner's: base URL, key, time-out, retries, closing.

    The client is the blocking one, in threads of the embedder, since that may be used from several event loops. `dimensions` is
    how many numbers a row of the model has. With `shortened`, the host is asked for rows of that many, which models such as
    text-embedding-3 can be. `query_prompt` and `text_prompt` are put before questions and before other texts, for models that
    want it. `encoding` is how rows are sent: choose `float` for hosts that refuse `base64`.

    A text goes up to `max_tokens`, counted by `counter`; without one as many bytes of UTF-8, which no tokenizer exceeds. The rest
    is cut. A request has up to `max_inputs` texts and `max_request_tokens` bytes. The defaults are within what OpenAI takes:
    8 192, 2 048 and 300 000. Blank texts, which hosts refuse, are not sent and get a vector that is near no other.

    `name` has the host, the model and a digest of what else the vectors depend on; name it yourself where a host has several
    addresses. Nothing is known of scripts: `coverage` is 1.
    """

    def __init__(
        self,
        client: OpenAI,
        model: str,
        *,
        dimensions: int,
        shortened: bool = False,
        query_prompt: str = "",
        text_prompt: str = "",
        encoding: Literal["base64", "float"] = "base64",
        counter: TokenCounter | None = None,
        max_tokens: int = 8_000,
        max_inputs: int = 256,
        max_request_tokens: int = 250_000,
        name: str = "",
    ) -> None:
        limits = {"max_tokens": max_tokens, "max_inputs": max_inputs, "max_request_tokens": max_request_tokens}
        for key, value in {"dimensions": dimensions, **limits}.items():
            if value < 1:
                raise InvalidArgument(f"{key} is {value}; it must be 1 or more", name=key, value=value)
        self._client, self._model, self._dimensions = client, model, dimensions
        self._prompts = {True: encodable(query_prompt), False: encodable(text_prompt)}
        self._options: dict[str, Any] = {"dimensions": dimensions} if shortened else {}
        if encoding == "float":  # where it is not said, the SDK asks for base64 and decodes it
            self._options["encoding_format"] = encoding
        self._counter, self._max_tokens = counter, max_tokens
        self._max_inputs, self._max_bytes = max_inputs, max_request_tokens
        settings = [dimensions, shortened, query_prompt, text_prompt, max_tokens, counter.name if counter else ""]
        digest = hashlib.blake2b(repr(settings).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        self._name = name or f"openai:{client.base_url.host}:{model}:{digest}"
        self._threads = ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="embedder")
        self._closed = self._owned = False

    @classmethod
    def at(
        cls, model: str, *, dimensions: int, base_url: str | None = None, api_key: str | None = None, **more: Any
    ) -> OpenAIEmbedder:
        """One with a client of its own; what is None the SDK reads from the environment. `more` is the constructor's."""
        made = cls(OpenAI(base_url=base_url, api_key=api_key), model, dimensions=dimensions, **more)
        made._owned = True
        return made

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self._check_open()
        rows = [b""] * len(texts)
        for places, sent in self._requests(texts, self._prompts[query]):
            self._check_open()
            made = await self._in_thread(sent)
            for number, place in enumerate(places):
                rows[place] = made.rows(number, number + 1).data
        blank = unit_rows([[0.0] * self._dimensions], self._dimensions).data
        return Vectors(self._dimensions, b"".join(row or blank for row in rows))

    def coverage(self, text: str) -> float:
        return 1.0

    async def close(self) -> None:
        self._closed = True
        self._threads.shutdown(wait=False)
        if self._owned:
            self._client.close()

    def _check_open(self) -> None:
        if self._closed:
            raise EmbeddingFailed(f"{self._name} is closed; make a new embedder", model=self._model)

    def _requests(self, texts: Sequence[str], prompt: str) -> Iterator[tuple[list[int], list[str]]]:
        """The texts of each request, with their places among all; blank ones are left out."""
        places: list[int] = []
        sent: list[str] = []
        size = 0
        for place, text in enumerate(texts):
            if not (read := self._cut(text, prompt)).strip():
                continue
            needed = len((prompt + read).encode())
            if sent and (len(sent) == self._max_inputs or size + needed > self._max_bytes):
                yield places, sent
                places, sent, size = [], [], 0
            places.append(place)
            sent.append(prompt + read)
            size += needed
        if sent:
            yield places, sent

    def _cut(self, text: str, prompt: str) -> str:
        """As much of the text as the model reads, in characters that can be sent."""
        read: str = encodable(text[: _SIGNS_PER_TOKEN * self._max_tokens]).replace("\0", " ")
        if len((prompt + read).encode()) <= self._max_tokens:
            return read
        if self._counter is None:
            room = max(0, self._max_tokens - len(prompt.encode()))
            return read.encode()[:room].decode(errors="ignore")
        fits, beyond = 0, len(read) + 1
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            if self._counter.count_text(prompt + read[:middle]) <= self._max_tokens:
                fits = middle
            else:
                beyond = middle
        return read[:fits]

    async def _in_thread(self, texts: list[str]) -> Vectors:
        try:
            return await asyncio.wrap_future(self._threads.submit(self._ask, texts))
        except Exception as error:  # the SDK lets errors of its HTTP library and of JSON through
            status = error.status_code if isinstance(error, APIStatusError) else None
            told = str(error) if isinstance(error, UnusableRows) else type(error).__name__
            raise EmbeddingFailed(
                f"{self._model} at {self._client.base_url.host} embedded nothing: {told}{f', status {status}' if status else ''}",
                model=self._model,
                status=status,
            ) from error

    def _ask(self, texts: list[str]) -> Vectors:
        create = cast(Any, self._client.embeddings.create)
        answer: Any = create(model=self._model, input=texts, **self._options)
        rows: dict[int, list[float]] = {item.index: item.embedding for item in answer.data}
        if len(answer.data) != len(texts) or set(rows) != set(range(len(texts))):
            raise UnusableRows(f"{len(texts)} texts were sent and {len(answer.data)} rows came, with {len(rows)} indexes")
        return unit_rows([rows[place] for place in range(len(texts))], self._dimensions)
