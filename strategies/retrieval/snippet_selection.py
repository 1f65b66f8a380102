"""Snippets that fit a room, none of them twice."""

from __future__ import annotations

from collections.abc import Iterable

from contextport.contracts.retrieval import Snippet

__all__ = ["select_snippets"]

_MOST_MISSES = 64  # snippets in a row that did not fit, before no more are tried


def select_snippets(snippets: Iterable[Snippet], max_tokens: int) -> tuple[Snippet, ...]:
    """The snippets, the best first, each that still fits. Of texts of which one is part of the other only the longer is kept."""
    chosen: list[Snippet] = []
    room, misses = max_tokens, 0
    for snippet in snippets:
        if any(snippet.text in other.text for other in chosen):
            continue
        parts = [other for other in chosen if other.text in snippet.text]
        spare = room + sum([part.tokens for part in parts]) - snippet.tokens
        if spare < 0:
            misses += 1
            if misses > _MOST_MISSES:
                break
            continue
        if parts:
            chosen = [other for other in chosen if other not in parts]
        chosen.append(snippet)
        room, misses = spare, 0
        if not room:
            break
    return tuple(chosen)
