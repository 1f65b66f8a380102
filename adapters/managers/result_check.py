"""What a manager checks of a compression before it believes it: a strategy may be anyone's."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.contracts import Compression, Message, Text, TokenCounter
from contextport.contracts.counting import total_tokens
from contextport.strategies import is_system, newest_question
from contextport.strategies.atoms import call_ids

__all__ = ["answered", "broken_rule"]


def broken_rule(given: Sequence[Message], result: Compression, max_tokens: int, counter: TokenCounter) -> str:
    """The id of the first rule of `CompressionStrategy` that the result breaks, or the empty text.

    `given` is well formed. The rules checked are those whose breach would reach a provider or a user.
    """
    messages = result.messages
    if given and not messages:
        return "STRATEGY-17"
    places = {message.id: n for n, message in enumerate(given)}
    present = {message.id: message for message in messages}
    if len(present) != len(messages):
        return "STRATEGY-3"
    kept: list[int] = []
    for id, message in present.items():
        place = places.get(id)
        if place is not None:
            kept.append(place)
        elif message.in_conversation:
            return "STRATEGY-3"
    if kept != sorted(kept):
        return "STRATEGY-4"
    if not answered(messages):
        return "STRATEGY-5"
    if any(present.get(message.id) != message for message in given if is_system(message)):
        return "STRATEGY-6"
    question = newest_question(given)
    if question is not None and given[question].id not in present:
        return "STRATEGY-7"
    tokens = total_tokens(messages, counter)
    if tokens != result.tokens:
        return "STRATEGY-12"
    return "STRATEGY-2" if tokens > max_tokens and result.outcome != "cannot_fit" else ""


def answered(messages: Sequence[Message]) -> bool:
    """Whether every call has its result in the run of results right after it, and every result its call."""
    waiting: list[str] = []
    for message in messages:
        parts = message.parts
        if len(parts) == 1 and type(parts[0]) is Text:  # most messages
            if waiting:
                return False
            continue
        calls, results = call_ids(parts)
        if results:
            for call_id in results:
                if call_id not in waiting:
                    return False
                waiting.remove(call_id)
        elif waiting:
            return False
        elif calls and message.role == "assistant":
            waiting = [*calls]
    return not waiting
