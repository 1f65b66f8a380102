"""Tool results where they stand in a conversation, what each costs, and how one is made smaller."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import cast

import attrs
from attrs import frozen

from contextport.contracts import Importance, JsonPart, Media, Message, Opaque, Part, Text, TokenCounter, ToolResult
from contextport.contracts.json_values import dump_json
from contextport.strategies.text_markers import is_marker

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
    """The message with the result at `part` cut to at most `max_tokens`, or as near as it gets.

    Texts and JSON values are cut and share alike, the small ones whole; media and unknown parts are not cut. The same message if
    it would not become smaller.
    """
    result = cast(ToolResult, message.parts[part])

    def tokens(*parts: Text | Media | JsonPart | Opaque) -> int:
        return counter.count_message(attrs.evolve(message, parts=(attrs.evolve(result, parts=parts),)))

    empty = tokens()
    texts = {n: text for n, one in enumerate(result.parts) if (text := _text_of(one)) is not None}
    left = max_tokens - tokens(*(one for n, one in enumerate(result.parts) if n not in texts))
    parts = list(result.parts)
    for nth, n in enumerate(sorted(texts, key=lambda n: (len(texts[n]), n))):
        share = left // (len(texts) - nth)
        parts[n] = _part_within(parts[n], texts[n], share, lambda one: tokens(one) - empty, cut)
        left -= tokens(parts[n]) - empty
    changed = attrs.evolve(result, parts=tuple(parts))
    shorter = attrs.evolve(message, parts=(*message.parts[:part], changed, *message.parts[part + 1 :]))
    return shorter if counter.count_message(shorter) < counter.count_message(message) else message


def _text_of(part: Part) -> str | None:
    """The text that can be cut; None if there is none."""
    if isinstance(part, Text):
        return part.text
    if isinstance(part, JsonPart) and isinstance(part.value, str | dict | list):
        return part.value if isinstance(part.value, str) else dump_json(part.value)
    return None


def _part_within(
    part: Text | Media | JsonPart | Opaque,
    text: str,
    max_tokens: int,
    tokens: Callable[[Text | Media | JsonPart | Opaque], int],
    cut: Cut,
) -> Text | Media | JsonPart | Opaque:
    """The part with its text cut to at most `max_tokens`; with a marker alone if nothing fits; as it is if that is no smaller."""
    before = tokens(part)
    if before <= max_tokens or is_marker(text):
        return part
    found = cut(text, lambda candidate: tokens(_replaced(part, candidate)) <= max_tokens)
    shorter = _replaced(part, found if found is not None else least_text(text))
    return shorter if tokens(shorter) < before else part


def _replaced(part: Part, text: str) -> Text | JsonPart:
    if isinstance(part, Text):
        return attrs.evolve(part, text=text)
    held = cast(JsonPart, part)
    return JsonPart(text if isinstance(held.value, str) else json.loads(text))
