"""The suite's exact counter of words, with what cases ask of it besides."""

from __future__ import annotations

from contextport.conformance_tests import exact_counters
from contextport.contracts import Message, TokenCounter, implements


@implements(TokenCounter)
class WordsCounter(exact_counters.WordsCounter):
    """One token per piece between white space; `min_per_message` is the least that a message costs.

    `texts_counted` says how many texts were counted so far.
    """

    def __init__(self, min_per_message: int = 0) -> None:
        self.min_per_message = min_per_message
        self.texts_counted = 0

    @property
    def name(self) -> str:
        return f"words:{self.min_per_message}"

    def count_text(self, text: str) -> int:
        self.texts_counted += 1
        return super().count_text(text)

    def count_message(self, message: Message) -> int:
        return max(super().count_message(message), self.min_per_message)
