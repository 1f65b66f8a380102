"""A real model in the process: what the suite of the port does not ask."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer

from contextport.adapters.embedders.sentence_transformers_embedder import SentenceTransformersEmbedder
from contextport.contracts import EmbeddingFailed, InvalidArgument
from contextport.contracts.vectors import Vectors
from tests.embedders.small_model import MODEL_FOLDER, small_model

TEXTS = ["The deployment failed last night.", "My grandmother bakes bread.", "word " * 300]


def model_with(**options: Any) -> SentenceTransformer:
    return SentenceTransformer(str(MODEL_FOLDER), device="cpu", local_files_only=True, **options)


def cosine(one: Vectors, other: Vectors, place: int = 0) -> float:
    return sum(x * y for x, y in zip(one.numbers(place), other.numbers(place), strict=True))


def test_vectors_are_those_of_the_library() -> None:
    found = asyncio.run(SentenceTransformersEmbedder(small_model()).embed(TEXTS))
    own = Vectors.of(small_model().encode(TEXTS, normalize_embeddings=True, show_progress_bar=False).tolist())
    assert [cosine(found, own, place) for place in range(3)] == pytest.approx([1.0] * 3, abs=1e-5)


def test_name_is_the_same_wherever_the_model_lies_and_tells_no_path(tmp_path: Path) -> None:
    elsewhere = tmp_path / "other name"
    elsewhere.symlink_to(MODEL_FOLDER)
    names = {SentenceTransformersEmbedder(place).name for place in (MODEL_FOLDER, str(elsewhere), small_model())}
    assert len(names) == 1
    (name,) = names
    assert name.startswith("sentence-transformers:384:")
    assert "/" not in name


def test_name_tells_what_vectors_depend_on() -> None:
    cut = model_with()
    cut.max_seq_length = 16
    trained = model_with()
    trained.get_parameter("0.model.embeddings.word_embeddings.weight").data[0, 0] += 1
    models = [
        small_model(),
        cut,
        trained,
        model_with(prompts={"query": "question: ", "document": ""}),
        model_with(truncate_dim=64),
        model_with(model_kwargs={"dtype": "bfloat16"}),
    ]
    names = [SentenceTransformersEmbedder(model).name for model in models]
    assert len(set(names)) == len(models)


def test_name_is_that_of_before_after_texts_were_embedded() -> None:
    embedder = SentenceTransformersEmbedder(small_model())
    asyncio.run(embedder.embed(TEXTS))
    assert SentenceTransformersEmbedder(small_model()).name == embedder.name


def test_questions_get_the_prompt_of_the_model() -> None:
    embedder = SentenceTransformersEmbedder(model_with(prompts={"query": "question: ", "document": "passage: "}))
    plain = SentenceTransformersEmbedder(small_model())

    async def run() -> None:
        text = TEXTS[0]
        asked, told = await embedder.embed([text], query=True), await embedder.embed([text])
        assert cosine(asked, await plain.embed([f"question: {text}"])) == pytest.approx(1, abs=1e-5)
        assert cosine(told, await plain.embed([f"passage: {text}"])) == pytest.approx(1, abs=1e-5)
        assert cosine(asked, told) < 0.999

    asyncio.run(run())


def test_dimensions_may_be_cut_by_the_model() -> None:
    embedder = SentenceTransformersEmbedder(model_with(truncate_dim=64))
    found = asyncio.run(embedder.embed(TEXTS))
    assert (embedder.dimensions, found.dimensions) == (64, 64)
    assert math.hypot(*found.numbers(0)) == pytest.approx(1, abs=1e-5)


def test_a_short_call_does_not_wait_for_all_of_a_long_one() -> None:
    async def run() -> None:
        embedder = SentenceTransformersEmbedder(small_model())
        long = asyncio.ensure_future(embedder.embed([f"{TEXTS[0]} {n}" for n in range(400)]))
        await asyncio.sleep(0)
        await embedder.embed(["short"], query=True)
        assert not long.done()
        assert len(await long) == 400

    asyncio.run(run())


def test_close_lets_a_long_call_fail_and_begin_nothing_new() -> None:
    async def run() -> None:
        embedder = SentenceTransformersEmbedder(small_model())
        long = asyncio.ensure_future(embedder.embed([f"{TEXTS[0]} {n}" for n in range(400)]))
        await asyncio.sleep(0)
        await embedder.close()
        with pytest.raises(EmbeddingFailed, match="is closed"):
            await long

    asyncio.run(run())


def test_a_static_model_has_vectors_for_words_it_does_not_know() -> None:
    """Such a model reads texts of any length, and gives rows of zeros where it knows no word."""
    tokenizer = Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json"))
    embedder = SentenceTransformersEmbedder(SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=32)]))
    found = asyncio.run(embedder.embed(["hello", "", "hello"]))
    assert list(found.numbers(1)) == pytest.approx([32**-0.5] * 32)
    assert cosine(found, found) == pytest.approx(1, abs=1e-5)
    assert embedder.coverage("hello my friend") == 1
    assert embedder.coverage("Прошлой весной я переехал") < 0.1


@pytest.mark.parametrize("name", ["no/such-model", "no such folder"])
def test_a_model_that_is_not_there_is_not_fetched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refused(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    with pytest.raises(EmbeddingFailed, match="nothing is downloaded") as caught:
        SentenceTransformersEmbedder(name)
    assert caught.value.__cause__ is not None
    assert caught.value.model == name


def test_threads_below_one_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="threads is 0"):
        SentenceTransformersEmbedder(small_model(), threads=0)
