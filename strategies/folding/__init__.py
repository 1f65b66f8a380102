"""When old messages are folded into a summary, what it costs, and how it is done."""

from .decision import FoldDecision, FoldReason, FruitlessTry, fold_decision
from .fold_oldest import FoldOldest
from .policy import FoldPolicy
from .prices import PRICES, CacheState, Prices, break_even_turns, invalidated_tokens, prices_for

__all__ = [
    "PRICES",
    "CacheState",
    "FoldDecision",
    "FoldOldest",
    "FoldPolicy",
    "FoldReason",
    "FruitlessTry",
    "Prices",
    "break_even_turns",
    "fold_decision",
    "invalidated_tokens",
    "prices_for",
]
