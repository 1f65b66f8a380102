"""contextport.strategies: decisions on what a window holds. Pure: they read nothing, store nothing, and see whole steps only."""

from .atoms import Step, Steps, arrange, is_system, newest_question, split
from .gap_marker import gap_marker, omitted_by
from .head_and_tail import grapheme_cut, shorten_message, shorten_text
from .keep_recent_tokens import KeepRecentTokens
from .keep_recent_turns import KeepRecentTurns
from .pipeline import Pipeline
from .shorten_long_messages import ShortenLongMessages

__all__ = [
    "KeepRecentTokens",
    "KeepRecentTurns",
    "Pipeline",
    "ShortenLongMessages",
    "Step",
    "Steps",
    "arrange",
    "gap_marker",
    "grapheme_cut",
    "is_system",
    "newest_question",
    "omitted_by",
    "shorten_message",
    "shorten_text",
    "split",
]
