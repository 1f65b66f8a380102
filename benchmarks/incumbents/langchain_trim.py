"""langchain-core: `trim_messages`, set up as its docstring recommends for chat models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages

from contextport.contracts import CompressionStrategy, Message, TokenCounter, ToolCall, implements, message_tokens

from .foreign_strategy import ForeignStrategy, arguments_of

__all__ = ["STRATEGIES", "TrimMessages"]


@implements(CompressionStrategy)
class TrimMessages(ForeignStrategy):
    """The newest messages that fit, from a human message on, with a leading system message.

    `token_counter` is a function of a list of messages, so our counter is used as it is, looked up by id.
    """

    async def window(self, messages: Sequence[Message], max_tokens: int) -> list[Message]:
        ours = {message.id: message for message in messages}

        def count(theirs: list[BaseMessage]) -> int:
            return sum(message_tokens(ours[message.id or ""], self.counter) for message in theirs)

        kept = trim_messages(
            [_theirs(message) for message in messages],
            max_tokens=max_tokens,
            token_counter=count,
            strategy="last",
            start_on="human",
            include_system=True,
            allow_partial=False,
        )
        return [ours[message.id or ""] for message in kept]


def _theirs(message: Message) -> BaseMessage:
    fields: dict[str, Any] = {"content": message.text, "id": message.id, "name": message.name}
    if message.role in ("system", "developer"):
        return SystemMessage(**fields)
    if message.role == "assistant":
        return AIMessage(**fields, tool_calls=[_call(call) for call in message.tool_calls])
    if message.tool_results:
        return ToolMessage(**fields, tool_call_id=message.tool_results[0].call_id)
    return HumanMessage(**fields)


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.call_id, "name": call.name, "args": arguments_of(call)}


def _trim(counter: TokenCounter) -> TrimMessages:
    return TrimMessages(counter)


#: Configuration as it is called in the scoreboard -> how to make it.
STRATEGIES = {"trim_messages(strategy='last', start_on='human', include_system=True, allow_partial=False)": _trim}
