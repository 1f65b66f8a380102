"""Haystack: `SlidingWindowCompactor`, alone and after `ToolResultPruningCompactor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from haystack.dataclasses import ChatMessage, ReasoningContent
from haystack.dataclasses import ToolCall as TheirCall
from haystack.hooks.compaction import SlidingWindowCompactor, ToolResultPruningCompactor
from haystack.tools import ToolsType

from contextport.contracts import (
    CompressionStrategy,
    Kind,
    Message,
    Text,
    Thinking,
    TokenCounter,
    ToolCall,
    implements,
    message_tokens,
)

from .foreign_strategy import ForeignStrategy, arguments_of, with_result_text

__all__ = ["STRATEGIES", "PruneThenSlide", "Slide"]

_ID = "contextport_id"
_COMPACTED = "context_compaction"  # their key for a message that a compactor made


class _CountsByMessage:
    """Their counter hook is given messages, so our counter is used as it is."""

    def __init__(self, messages: Sequence[Message], counter: TokenCounter) -> None:
        self._messages = {message.id: message for message in messages}
        self._counter = counter

    def count(self, messages: list[ChatMessage], tools: ToolsType | None = None) -> int:
        return sum(message_tokens(ours(message, self._messages), self._counter) for message in messages)

    def to_dict(self) -> dict[str, Any]:
        return {}


class _HaystackStrategy(ForeignStrategy):
    compactors: tuple[SlidingWindowCompactor | ToolResultPruningCompactor, ...] = ()

    async def window(self, messages: Sequence[Message], max_tokens: int) -> list[Message]:
        calls = {call.call_id: call for message in messages for call in message.tool_calls}
        counter = _CountsByMessage(messages, self.counter)
        window = [_theirs(message, calls) for message in messages]
        for compactor in self.compactors:
            window = await compactor.compact_async(window, max_tokens, counter) or window  # type: ignore[arg-type]
        given = {message.id: message for message in messages}
        left_out = [message for message in messages if message.id not in {theirs.meta.get(_ID) for theirs in window}]
        size = self.estimate_tokens(left_out)
        return [ours(theirs, given, size) for theirs in window]


@implements(CompressionStrategy)
class Slide(_HaystackStrategy):
    """Whole old turns go, then whole steps of the current task; a note says so."""

    compactors = (SlidingWindowCompactor(),)


@implements(CompressionStrategy)
class PruneThenSlide(_HaystackStrategy):
    """First old tool results become a placeholder, as two hooks in a row would do."""

    compactors = (ToolResultPruningCompactor(), SlidingWindowCompactor())


def ours(theirs: ChatMessage, given: dict[str, Message], omitted_tokens: int = 0) -> Message:
    """The input message, with a replaced tool result if they replaced it, or the note that they made."""
    message = given.get(theirs.meta.get(_ID, ""))
    if message is None:
        count = theirs.meta[_COMPACTED]["removed_messages"]
        return Message(
            role="user",
            id=f"gap/{count}/{omitted_tokens}",
            kind=Kind.GAP,
            parts=(Text(theirs.text or ""),),
            metadata={"omitted_messages": count, "omitted_tokens": omitted_tokens},
        )
    if theirs.meta.get(_COMPACTED, {}).get("strategy") == "tool_result_pruning":
        return with_result_text(message, {result.origin.id or "": str(result.result) for result in theirs.tool_call_results})
    return message


def _theirs(message: Message, calls: dict[str, ToolCall]) -> ChatMessage:
    meta: dict[str, Any] = {_ID: message.id}
    if message.role in ("system", "developer"):
        return ChatMessage.from_system(message.text, meta=meta)
    if message.role == "assistant":
        reasoning = next((part.text for part in message.parts if isinstance(part, Thinking) and part.text), None)
        return ChatMessage.from_assistant(
            message.text or None,
            meta=meta,
            tool_calls=[_call(call) for call in message.tool_calls],
            reasoning=ReasoningContent(reasoning) if reasoning else None,
        )
    if message.tool_results:
        result = message.tool_results[0]
        call = calls.get(result.call_id) or ToolCall(call_id=result.call_id, name=result.name or "unknown", arguments="{}")
        return ChatMessage.from_tool(message.text, origin=_call(call), error=result.status == "error", meta=meta)
    if message.kind is Kind.GAP:  # so that a note of theirs is known again, and folded into the next one
        meta[_COMPACTED] = {"strategy": "sliding_window", "removed_messages": message.metadata.get("omitted_messages", 0)}
    return ChatMessage.from_user(message.text or " ", meta=meta)


def _call(call: ToolCall) -> TheirCall:
    return TheirCall(tool_name=call.name, arguments=arguments_of(call), id=call.call_id)


#: Configuration as it is called in the scoreboard -> how to make it.
STRATEGIES = {
    "SlidingWindowCompactor()": Slide,
    "ToolResultPruningCompactor(), then SlidingWindowCompactor()": PruneThenSlide,
}
