"""Snippets that fit a room, none of them twice."""

from __future__ import annotations

from collections.abc import Iterable

from contextport.contracts.retrieval import Snippet

__all__ = ["select_snippets"]

_BETWEEN = "\x00\n\x00"  # in no text that people write
_MOST_MISSES = 32  # snippets in a row that did not fit, before no more are tried


def select_snippets(snippets: Iterable[Snippet], max_tokens: int) -> tuple[Snippet, ...]:
    """The snippets, the best first, each that still fits. Of texts of which one is part of the other only the longer is kept."""
    chosen: list[Snippet] = []
    together = ""
    room, misses = max_tokens, 0
    for snippet in snippets:
        if snippet.tokens > room:
            misses += 1
            if misses > _MOST_MISSES:
                break
        elif snippet.text not in together:
            parts = [other for other in chosen if other.text in snippet.text]
            if parts:
                chosen = [other for other in chosen if other not in parts]
            chosen.append(snippet)
            together = f"{together}{_BETWEEN}{snippet.text}"
            room += sum([part.tokens for part in parts]) - snippet.tokens
            misses = 0
    return tuple(chosen)
