"""Vectors by a model that runs in this process, offline, by the library `sentence-transformers`."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from contextport.contracts import EmbeddingFailed, InvalidArgument, implements
from contextport.contracts.extras import needs_extra
from contextport.contracts.json_values import encodable
from contextport.contracts.vectors import Embedder, Vectors

from .tokenizer_coverage import TokenizerCoverage
from .unit_rows import unit_rows

with needs_extra("sentence-transformers"):
    import torch
    from sentence_transformers import SentenceTransformer

__all__ = ["SentenceTransformersEmbedder"]

_SIGNS_PER_TOKEN = 32  # far above what any language takes, so that the model's own limit decides
_MOST_TOKENS = 32_768
_BATCH = 4_096  # characters of a batch with its padding: about a thousand tokens


@implements(Embedder)
class SentenceTransformersEmbedder:
    """Embeds by `model`: a local folder, the name of a model that is in the cache of the Hugging Face hub, or a loaded one.

    Nothing is downloaded: fetch a model beforehand, or copy its folder. A loaded model stays its owner's. Making the embedder
    reads the model, which takes up to seconds: in a running event loop, make it by `asyncio.to_thread`. `device` is where a model
    that is read here runs, as torch names it; None: the fastest there is. `threads` is how many processors torch may use, in this
    and in all other models of the process; None: all but one.

    Texts are embedded in a thread of the embedder's own, in batches of about a thousand tokens, so a short call waits for one
    batch of a long one at most. What is beyond the model's limit is cut. Questions get the prompt `query` of the model, other
    texts `document`, if it has them; give them to `SentenceTransformer(prompts=...)` where a model's folder does not name them.

    `name` has a digest of the model's weights, tokenizer, prompts and settings: wherever the same model lies, it is the same.
    `coverage` is by the model's own tokenizer, as `TokenizerCoverage` describes; it is 1 for a model that has no fast one.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | SentenceTransformer,
        *,
        device: str | None = None,
        threads: int | None = None,
    ) -> None:
        if threads is not None and threads < 1:
            raise InvalidArgument(f"threads is {threads}; it must be 1 or more, or None", name="threads", value=threads)
        torch.set_num_threads(threads or max(1, _processors() - 1))
        self._model: Any = _loaded(model, device)
        self._limit = _SIGNS_PER_TOKEN * _tokens_read(self._model)
        self._dimensions = int(self._model.get_embedding_dimension())
        self._coverage = _coverage(self._model)
        self._name = f"sentence-transformers:{self._dimensions}:{_digest(self._model, self._coverage)}"
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._closed = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self._check_open()
        read = [encodable(text[: self._limit]) for text in texts]
        rows: list[bytes] = [b""] * len(read)
        for places in _batches([len(text) for text in read]):
            self._check_open()
            made = await self._in_thread([read[place] for place in places], query)
            for number, place in enumerate(places):
                rows[place] = made.rows(number, number + 1).data
        return Vectors(self._dimensions, b"".join(rows))

    def coverage(self, text: str) -> float:
        return 1.0 if self._coverage is None else self._coverage.of(text)

    async def close(self) -> None:
        self._closed = True
        self._thread.shutdown(wait=False)

    def _check_open(self) -> None:
        if self._closed:
            raise EmbeddingFailed(f"{self._name} is closed; make a new embedder", model=self._name)

    async def _in_thread(self, texts: list[str], query: bool) -> Vectors:
        try:
            running = self._thread.submit(self._encode, texts, query)
            return await asyncio.wrap_future(running)
        except Exception as error:
            raise EmbeddingFailed(
                f"{self._name}: the texts were not embedded: {type(error).__name__}", model=self._name
            ) from error

    def _encode(self, texts: list[str], query: bool) -> Vectors:
        encode = self._model.encode_query if query else self._model.encode_document
        made: Any = encode(texts, batch_size=len(texts), show_progress_bar=False, normalize_embeddings=True)
        return unit_rows(made.tolist(), self._dimensions)


def _processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tokens_read(model: Any) -> int:
    """How much of a text the model reads, in tokens; some read all of it."""
    return int(min(model.max_seq_length or _MOST_TOKENS, _MOST_TOKENS))


def _loaded(model: str | os.PathLike[str] | SentenceTransformer, device: str | None) -> Any:
    if isinstance(model, SentenceTransformer):
        return model
    place = os.fspath(model)
    try:
        return SentenceTransformer(place, device=device, local_files_only=True)
    except Exception as error:
        raise EmbeddingFailed(
            f"{place} could not be read as the folder of a model or from the hub's cache, and nothing is downloaded: {error}",
            model=place,
        ) from error


def _coverage(model: Any) -> TokenizerCoverage | None:
    """By the tokenizer of the model: that of `tokenizers` behind one of `transformers`, or one of the first library itself."""
    tokenizer: Any = getattr(model, "tokenizer", None)
    if hasattr(tokenizer, "backend_tokenizer"):
        return TokenizerCoverage(tokenizer.backend_tokenizer, tokenizer.unk_token_id)
    if hasattr(tokenizer, "encode_batch_fast"):
        return TokenizerCoverage(tokenizer, getattr(tokenizer.model, "unk_id", tokenizer.token_to_id("[UNK]")))
    return None


def _digest(model: Any, coverage: TokenizerCoverage | None) -> str:
    """What the vectors depend on, as 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    settings = [model.max_seq_length, model.truncate_dim, model.default_prompt_name, sorted(model.prompts.items())]
    modules: list[Any] = [(type(module).__name__, getattr(module, "get_config_dict", dict)()) for module in model]
    digest.update(f"{settings} {modules}".encode())
    digest.update((coverage.tokenizer_form if coverage else str(sorted(model.tokenizer.get_vocab().items()))).encode())
    for name, weights in model.named_parameters():
        digest.update(f"{name} {weights.dtype} {tuple(weights.shape)}".encode())
        digest.update(weights.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Places of texts of like length together: a batch is padded to its longest."""
    batches: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lambda one: lengths[one]):
        if batches and (len(batches[-1]) + 1) * lengths[place] <= _BATCH:
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches
