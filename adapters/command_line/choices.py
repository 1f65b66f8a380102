"""What the options `--counter` and `--strategy` name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final, cast

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import CompressionStrategy, InvalidArgument, TokenCounter
from contextport.strategies import KeepRecentTokens, KeepRecentTurns, Pipeline, ShortenLongMessages

__all__ = ["COUNTERS", "STRATEGIES", "counter_named", "strategy_named"]

COUNTERS: Final = "heuristic, heuristic:FAMILY, heuristic-upper, heuristic-upper:FAMILY, tiktoken:RANK_FILE, hf:TOKENIZER_JSON"

_Make = Callable[[TokenCounter, float], CompressionStrategy]
STRATEGIES: Final[dict[str, _Make]] = {
    "recent": lambda counter, share: KeepRecentTokens(counter, target_share=share),
    "turns": lambda counter, share: KeepRecentTurns(counter),
    "shorten": lambda counter, share: Pipeline(ShortenLongMessages(counter), KeepRecentTokens(counter, target_share=share)),
}


def counter_named(spec: str) -> TokenCounter:
    """The counter of a `--counter` value. Raises `InvalidArgument` for one that is not known or not installed."""
    kind, _, argument = spec.partition(":")
    if kind == "heuristic":
        return HeuristicTokenCounter(argument or "o200k")
    if kind == "heuristic-upper":
        return HeuristicTokenCounter(argument or "o200k", "upper")
    if kind == "tiktoken" and argument:
        return cast(TokenCounter, _optional("tiktoken", "TiktokenCounter").from_rank_file(argument))
    if kind == "hf" and argument:
        return cast(TokenCounter, _optional("hf", "HfTokenCounter").from_file(argument))
    raise InvalidArgument(f"--counter is {spec!r}; give one of {COUNTERS}", name="counter", value=spec)


def _optional(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"contextport.adapters.tokenizers.{module}_counter"), name)
    except ModuleNotFoundError as error:
        raise InvalidArgument(f"--counter: {error}", name="counter", value=module) from error


def strategy_named(name: str, counter: TokenCounter, target_share: float = 0.6) -> CompressionStrategy:
    """The strategy of a `--strategy` value. A single window may be filled: `target_share` 1 keeps nothing free for a next one."""
    return STRATEGIES[name](counter, target_share)
