"""The conformance suite, run on our embedders and on the reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI
from sentence_transformers import SentenceTransformer

from contextport.adapters.embedders.openai_embedder import OpenAIEmbedder
from contextport.adapters.embedders.sentence_transformers_embedder import SentenceTransformersEmbedder
from contextport.conformance_tests import EmbedderConformance
from contextport.conformance_tests.reference_embedder import ReferenceEmbedder
from contextport.contracts.vectors import Embedder
from tests.embedders.embeddings_server import KEY, MODEL, EmbeddingsServer
from tests.embedders.small_model import MODEL_FOLDER, small_model


class TestReference(EmbedderConformance):
    def make_embedder(self) -> Embedder:
        return ReferenceEmbedder()

    def other_embedders(self) -> list[Embedder]:
        return [ReferenceEmbedder(dimensions=128)]

    def broken_embedder(self) -> Embedder:
        return ReferenceEmbedder(down=True)


class TestSentenceTransformers(EmbedderConformance):
    def make_embedder(self) -> Embedder:
        return SentenceTransformersEmbedder(small_model())

    def other_embedders(self) -> list[Embedder]:
        prompts = {"query": "question: ", "document": "passage: "}
        short = SentenceTransformer(str(MODEL_FOLDER), device="cpu", local_files_only=True)
        short.max_seq_length = 5
        return [
            SentenceTransformersEmbedder(MODEL_FOLDER, device="cpu"),
            SentenceTransformersEmbedder(short),
            SentenceTransformersEmbedder(
                SentenceTransformer(str(MODEL_FOLDER), device="cpu", local_files_only=True, prompts=prompts, truncate_dim=64)
            ),
        ]

    def broken_embedder(self) -> Embedder:
        """Of a model whose weights are gone."""
        model = SentenceTransformer(str(MODEL_FOLDER), device="cpu", local_files_only=True)
        embedder = SentenceTransformersEmbedder(model)
        model.to("meta")
        return embedder


class TestOpenAI(EmbedderConformance):
    """On a host that has the same small model, whose answers come in another order than the texts."""

    @pytest.fixture(autouse=True)
    def _host(self) -> Iterator[None]:
        def embed(texts: list[str]) -> list[list[float]]:
            rows: list[list[float]] = small_model().encode(texts, show_progress_bar=False).tolist()
            return rows

        with EmbeddingsServer(embed, dimensions=384, backwards=True) as self.server:
            yield

    def on_host(self, **more: Any) -> OpenAIEmbedder:
        return OpenAIEmbedder.at(MODEL, base_url=self.server.url, api_key=KEY, **{"dimensions": 384, **more})

    def make_embedder(self) -> Embedder:
        return self.on_host()

    def other_embedders(self) -> list[Embedder]:
        return [
            self.on_host(encoding="float", max_inputs=3),
            self.on_host(dimensions=32, shortened=True),
            self.on_host(query_prompt="question: "),
            self.on_host(max_tokens=10),
        ]

    def broken_embedder(self) -> Embedder:
        """With a key that the host does not know."""
        return OpenAIEmbedder(OpenAI(base_url=self.server.url, api_key="wrong"), MODEL, dimensions=384)
