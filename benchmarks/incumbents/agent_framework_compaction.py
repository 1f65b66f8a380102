"""Microsoft Agent Framework: the two strategies of its own that keep to a number of tokens without asking a model."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from agent_framework import (
    CompactionStrategy,
    Content,
    ContextWindowCompactionStrategy,
    TokenBudgetComposedStrategy,
    TokenizerProtocol,
    ToolResultCompactionStrategy,
    TruncationStrategy,
    apply_compaction,
)
from agent_framework import Message as TheirMessage

from contextport.contracts import (
    CompressionStrategy,
    JsonPart,
    Kind,
    Message,
    Part,
    Text,
    Thinking,
    TokenCounter,
    ToolCall,
    ToolResult,
    dump_json,
    implements,
    message_tokens,
)

from .foreign_strategy import ForeignStrategy

__all__ = ["STRATEGIES", "ContextWindow", "TokenBudget"]


class _CountsByMessage:
    """Their tokenizer hook is given a message as JSON text; the id in it leads back to the message, so that we count that."""

    def __init__(self, messages: Sequence[Message], counter: TokenCounter) -> None:
        self._messages = {message.id: message for message in messages}
        self._counter = counter

    def count_tokens(self, text: str) -> int:
        payload: dict[str, Any] = json.loads(text)
        ours = self._messages.get(payload["message_id"])
        return message_tokens(ours or _made(payload["message_id"], _text_of(payload)), self._counter)


class _AgentFrameworkStrategy(ForeignStrategy):
    @abstractmethod
    def strategy(self, max_tokens: int, tokenizer: TokenizerProtocol) -> CompactionStrategy:
        """The strategy of theirs for this budget."""

    async def window(self, messages: Sequence[Message], max_tokens: int) -> list[Message]:
        ours = {message.id: message for message in messages}
        tokenizer = _CountsByMessage(messages, self.counter)
        strategy = self.strategy(max(max_tokens, 1), tokenizer)  # a budget of 0 is refused by their constructor
        kept = await apply_compaction([_theirs(message) for message in messages], strategy=strategy, tokenizer=tokenizer)
        return [ours.get(theirs.message_id or "") or _made(theirs.message_id or "", theirs.text) for theirs in kept]


@implements(CompressionStrategy)
class ContextWindow(_AgentFrameworkStrategy):
    """What their harness sets up by itself: old tool groups become a line each, then the oldest groups go.

    Both thresholds are 1, so that nothing is touched that fits.
    """

    def strategy(self, max_tokens: int, tokenizer: TokenizerProtocol) -> CompactionStrategy:
        return ContextWindowCompactionStrategy(
            max_context_window_tokens=max_tokens,
            max_output_tokens=0,
            tokenizer=tokenizer,
            tool_eviction_threshold=1.0,
            truncation_threshold=1.0,
            preserve_first_user_group=True,
        )


@implements(CompressionStrategy)
class TokenBudget(_AgentFrameworkStrategy):
    """The same two steps inside the one strategy that enforces the budget when they do not reach it."""

    def strategy(self, max_tokens: int, tokenizer: TokenizerProtocol) -> CompactionStrategy:
        truncation = TruncationStrategy(
            max_n=max_tokens, compact_to=max_tokens, tokenizer=tokenizer, preserve_first_user_group=True
        )
        return TokenBudgetComposedStrategy(
            token_budget=max_tokens,
            tokenizer=tokenizer,
            strategies=[ToolResultCompactionStrategy(keep_last_tool_call_groups=1), truncation],
        )


def _theirs(message: Message) -> TheirMessage:
    role = "system" if message.role == "developer" else "tool" if message.tool_results else message.role
    contents = [content for part in message.parts if (content := _content(part)) is not None]
    return TheirMessage(role, contents, message_id=message.id, author_name=message.name)


def _content(part: Part) -> Content | None:
    match part:
        case Text():
            return Content.from_text(part.text)
        case ToolCall():
            return Content.from_function_call(part.call_id, part.name, arguments=part.arguments)
        case ToolResult():
            return Content.from_function_result(part.call_id, result=Message(role="tool", parts=part.parts).text)
        case Thinking():
            return Content.from_text_reasoning(text=part.text, protected_data=part.signature)
        case JsonPart():
            return Content.from_text(dump_json(part.value))
        case _:
            return None  # sizes are ours, by id; the rest plays no part in what they decide


def _text_of(payload: dict[str, Any]) -> str:
    return "".join(content.get("text", "") for content in payload["contents"])


def _made(message_id: str, text: str) -> Message:
    return Message(role="assistant", id=message_id, kind=Kind.SUMMARY, parts=(Text(text),))


#: Configuration as it is called in the scoreboard -> how to make it.
STRATEGIES = {
    "ContextWindowCompactionStrategy(N, both thresholds 1.0, preserve_first_user_group=True)": ContextWindow,
    "TokenBudgetComposedStrategy(N, [ToolResultCompactionStrategy(1), TruncationStrategy(N, N, ...)])": TokenBudget,
}
