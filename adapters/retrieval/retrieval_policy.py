"""Limits of a search in history."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, gt

__all__ = ["RetrievalPolicy"]


@frozen(kw_only=True)
class RetrievalPolicy:
    """What a `HistoryRetriever` may take. The defaults suit a chat service.

    `embedding_seconds` is how long a question waits for its vector before it is searched by its words alone; after that, or after
    a failure, meaning is left out for `pause_seconds`. `batch` is how many passages are embedded at a time. `most_nearest` is how
    many vectors a search looks at beyond which passages count as far. `longest_question` is in characters: of a longer one its
    beginning and its end count. `most_characters` bounds the texts held in memory, over all sessions; the sessions that were
    not used for longest go first, and are read again when they are asked for.

    Raises `ValueError` for a number below its least.
    """

    embedding_seconds: float = field(default=1.0, validator=gt(0))
    pause_seconds: float = field(default=30.0, validator=ge(0))
    batch: int = field(default=32, validator=ge(1))
    most_nearest: int = field(default=2_048, validator=ge(1))
    longest_question: int = field(default=4_000, validator=ge(2))
    most_characters: int = field(default=32_000_000, validator=ge(1))
