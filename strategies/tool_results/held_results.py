"""Tool results where they stand in a conversation, what each costs, and how one is made smaller."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import cast

import attrs
from attrs import frozen

from contextport.contracts import Importance, JsonPart, Message, Part, Text, TokenCounter, ToolResult
from contextport.contracts.json_values import dump_json

from .markers import is_marker
from .shapes import Cut, least_text

__all__ = ["HeldResult", "held_results", "result_tokens", "with_result_within"]


@frozen(kw_only=True)
class HeldResult:
    """The result at messages[message].parts[part]. `turn` and `step` count up along the conversation; `tokens` is its size."""

    message: int
    part: int
    turn: int
    step: int
    tokens: int
    importance: Importance
    pinned: bool
    failed: bool

    @property
    def protected(self) -> bool:
        """Whether it was marked to outlive others: pinned, or important from a conclusion on."""
        return self.pinned or self.importance >= Importance.CONCLUSION


def held_results(messages: Sequence[Message], counter: TokenCounter) -> list[HeldResult]:
    """All results of host-side calls, in order. A step is an assistant message with its results."""
    held: list[HeldResult] = []
    turn = step = 0
    for n, message in enumerate(messages):
        turn += message.opens_turn
        step += message.role == "assistant"
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolResult) and part.executor == "client":
                one = HeldResult(
                    message=n,
                    part=k,
                    turn=turn,
                    step=step,
                    tokens=result_tokens(message, k, counter),
                    importance=message.importance,
                    pinned=message.pinned,
                    failed=part.status == "error",
                )
                held.append(one)
    return held


def result_tokens(message: Message, part: int, counter: TokenCounter) -> int:
    """What one result of a message costs, as a message of its own."""
    if len(message.parts) == 1:
        return counter.count_message(message)
    return counter.count_message(attrs.evolve(message, parts=(message.parts[part],)))


def with_result_within(message: Message, part: int, counter: TokenCounter, max_tokens: int, cut: Cut) -> Message:
    """The message with the result at `part` cut to at most `max_tokens`, or as near as it gets; longest texts first.

    Texts and JSON values are cut, media and unknown parts are not. The same message if it would not become smaller.
    """
    shorter = message
    for inner in _longest_first(message, part):
        if result_tokens(shorter, part, counter) <= max_tokens:
            break
        shorter = _with_text_within(shorter, part, inner, counter, max_tokens, cut)
    if shorter is message or counter.count_message(shorter) >= counter.count_message(message):
        return message
    return shorter


def _longest_first(message: Message, part: int) -> list[int]:
    result = cast(ToolResult, message.parts[part])
    texts = {n: text for n, one in enumerate(result.parts) if (text := _text_of(one)) is not None}
    return sorted(texts, key=lambda n: (-len(texts[n]), n))


def _text_of(part: Part) -> str | None:
    """The text that can be cut; None if there is none."""
    if isinstance(part, Text):
        return part.text
    if isinstance(part, JsonPart) and isinstance(part.value, str | dict | list):
        return part.value if isinstance(part.value, str) else dump_json(part.value)
    return None


def _with_text_within(message: Message, part: int, inner: int, counter: TokenCounter, max_tokens: int, cut: Cut) -> Message:
    result = cast(ToolResult, message.parts[part])
    held = result.parts[inner]
    original = _text_of(held)
    if original is None or is_marker(original):
        return message

    def with_text(text: str) -> Message:
        new = _replaced(held, text)
        changed = attrs.evolve(result, parts=(*result.parts[:inner], new, *result.parts[inner + 1 :]))
        return attrs.evolve(message, parts=(*message.parts[:part], changed, *message.parts[part + 1 :]))

    def tokens(text: str) -> int:
        return result_tokens(with_text(text), part, counter)

    found = cut(original, _fits(tokens, max_tokens))
    if found is None:  # the rest of the result is too large by itself: take what this text can give
        found = least_text(original)
    return with_text(found) if tokens(found) < result_tokens(message, part, counter) else message


def _fits(tokens: Callable[[str], int], max_tokens: int) -> Callable[[str], bool]:
    return lambda text: tokens(text) <= max_tokens


def _replaced(part: Part, text: str) -> Text | JsonPart:
    if isinstance(part, Text):
        return attrs.evolve(part, text=text)
    held = cast(JsonPart, part)
    return JsonPart(text if isinstance(held.value, str) else json.loads(text))
