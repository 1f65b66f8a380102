"""Simple policies for windows of tool-heavy conversations, to measure against.

Each gets the messages so far, without the system prompt, and returns the texts of the window for so many tokens. A result whose
call is not in the window is never at its beginning.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from attrs import evolve
from grounding_trajectories import COUNTER, ENCODING, readable, tokens_of

from contextport.contracts import Json, Message, Text, ToolResult
from contextport.strategies.facts.words import content_words

__all__ = ["POLICIES", "Policy"]

Policy = Callable[[Sequence[Message], int], list[str]]
_CLEARED = "[cleared]"


def _texts(messages: Sequence[Message]) -> list[str]:
    return [readable(message) for message in messages]


def _newest(messages: Sequence[Message], budget: int) -> list[Message]:
    left, start = budget, len(messages)
    while start and tokens_of(messages[start - 1]) <= left:
        start -= 1
        left -= tokens_of(messages[start])
    while start < len(messages) and messages[start].role == "tool":
        start += 1
    return list(messages[start:])


def trim(messages: Sequence[Message], budget: int) -> list[str]:
    return _texts(_newest(messages, budget))


def _with_result(message: Message, text: str) -> Message:
    (result,) = message.tool_results
    part: ToolResult = evolve(result, parts=(Text(text),))
    return evolve(message, parts=(part,))


def _clipped(message: Message, head: int, tail: int) -> Message:
    """The result's first and last tokens, where it has more."""
    tokens = ENCODING.encode_ordinary(message.text)
    if len(tokens) <= head + tail:
        return message
    return _with_result(message, f"{ENCODING.decode(tokens[:head])}…{ENCODING.decode(tokens[-tail:])}")


def clear_all_but_last(messages: Sequence[Message], budget: int) -> list[str]:
    last = max([n for n, message in enumerate(messages) if message.role == "tool"], default=-1)
    cleared = [_with_result(m, _CLEARED) if m.role == "tool" and n != last else m for n, m in enumerate(messages)]
    return trim(cleared, budget)


def _oldest_while_over(messages: Sequence[Message], budget: int, edit: Callable[[Message], Message]) -> list[str]:
    current = list(messages)
    for n, message in enumerate(current):
        if sum(map(tokens_of, current)) <= budget:
            break
        if message.role == "tool":
            current[n] = edit(message)
    return trim(current, budget)


def clear_oldest(messages: Sequence[Message], budget: int) -> list[str]:
    return _oldest_while_over(messages, budget, lambda message: _with_result(message, _CLEARED))


def clip_oldest(messages: Sequence[Message], budget: int) -> list[str]:
    return _oldest_while_over(messages, budget, lambda message: _clipped(message, 40, 20))


def clip_every(messages: Sequence[Message], budget: int) -> list[str]:
    return trim([_clipped(message, 80, 40) if message.role == "tool" else message for message in messages], budget)


def _beside(share: float, digest: Callable[[Sequence[Message], Sequence[Message]], Iterator[str]]) -> Policy:
    """The newest messages in the rest of the budget, beside lines made of those dropped, as many as fit in the share."""

    def policy(messages: Sequence[Message], budget: int) -> list[str]:
        if sum(map(tokens_of, messages)) <= budget:
            return _texts(messages)
        tail = _newest(messages, int(budget * (1 - share)))
        left, lines = int(budget * share), list[str]()
        for line in digest(messages[: len(messages) - len(tail)], tail):
            cost = COUNTER.count_text(line + "\n")
            if cost <= left:
                left -= cost
                lines.append(line)
        return ["\n".join(lines), *_texts(tail)]

    return policy


def _identifiers(dropped: Sequence[Message], tail: Sequence[Message]) -> Iterator[str]:
    """Identifiers with their paths, the newest first, then what the user said."""
    seen: set[str] = set()
    for message in reversed(dropped):
        for text in [message.text] if message.role == "tool" else [call.arguments for call in message.tool_calls]:
            try:
                found = list(_leaves(json.loads(text), ""))
            except ValueError:
                found = []
            for path, value in found:
                if value not in seen and any(sign.isdigit() for sign in value):
                    seen.add(value)
                    yield f"{path}: {value}"
    yield from [message.text for message in reversed(dropped) if message.role == "user"]


def _leaves(value: Json, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in cast(dict[str, Any], value).items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _leaves(inner, path)
    elif isinstance(value, str):
        yield path, value


def _relevant(dropped: Sequence[Message], tail: Sequence[Message]) -> Iterator[str]:
    """Dropped messages by BM25 (k1 1.2, b 0.75) for the words of the two newest messages."""
    words = [Counter(_words(readable(message))) for message in dropped]
    asked = set(_words("\n".join(_texts(tail[-2:]))))
    length = sum(map(Counter.total, words)) / max(1, len(words))
    spread = Counter([word for counted in words for word in counted])
    scores: list[float] = []
    for counted in words:
        norm = 1.2 * (0.25 + 0.75 * counted.total() / max(1.0, length))
        rare = {word: math.log(1 + (len(words) - spread[word] + 0.5) / (spread[word] + 0.5)) for word in asked & set(counted)}
        scores.append(sum(weight * counted[word] * 2.2 / (counted[word] + norm) for word, weight in rare.items()))
    for n in sorted(range(len(dropped)), key=lambda n: (-scores[n], -n)):
        yield readable(dropped[n])


def _words(text: str) -> list[str]:
    return sorted(content_words(text))


#: By name, as in the table of the documentation.
POLICIES: dict[str, Policy] = {
    "trim from the end": trim,
    "clear all but the last tool result, then trim": clear_all_but_last,
    "clear the oldest tool results while over budget": clear_oldest,
    "clip the oldest tool results (40 + 20 tokens) while over budget": clip_oldest,
    "clip every tool result to 80 + 40 tokens": clip_every,
    "digest of identifiers in 30 %": _beside(0.3, _identifiers),
    "digest of identifiers in 50 %": _beside(0.5, _identifiers),
    "BM25 over what is dropped in 50 %": _beside(0.5, _relevant),
}
