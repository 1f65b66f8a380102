"""Strands Agents: its default manager, and its newer pipeline, at work when the provider says that the prompt is too long."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

from attrs import define
from strands import Agent
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.models import Model
from strands.types.content import ContentBlock
from strands.types.content import Message as TheirMessage
from strands.types.exceptions import ContextWindowOverflowException
from strands.types.streaming import StreamEvent

from contextport.contracts import (
    CompressionStrategy,
    Kind,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    implements,
)

from .foreign_strategy import ForeignStrategy, arguments_of, with_result_text

__all__ = ["STRATEGIES", "SlidingWindow"]


@define
class _Held:
    """A message of theirs and the messages of ours in it: the results of parallel calls are one message there."""

    theirs: TheirMessage
    ours: list[Message]


@implements(CompressionStrategy)
class SlidingWindow(ForeignStrategy):
    """Old tool results lose their middle, then the oldest messages go, again and again while the provider refuses.

    The system prompt is outside their history, so it is taken out, paid for first, and put back. There is no counter hook on
    this path: the provider's refusal is the signal, and our counter plays the provider. Pins are handed over.
    """

    async def window(self, messages: Sequence[Message], max_tokens: int) -> list[Message]:
        held = _held([message for message in messages if not _is_system(message)])
        agent = SimpleNamespace(messages=[item.theirs for item in held])
        by_theirs = {id(item.theirs): item for item in held}
        manager = SlidingWindowConversationManager()
        while True:
            kept = [ours for theirs in agent.messages for ours in _ours(theirs, by_theirs)]
            window = _with_system(messages, kept)
            if self.estimate_tokens(window) <= max_tokens:
                return window
            try:
                manager.reduce_context(cast(Agent, agent), e=ContextWindowOverflowException("prompt is too long"))
            except ContextWindowOverflowException:
                return window  # this is what their agent gives up with


@implements(CompressionStrategy)
class OverflowProtection(ForeignStrategy):
    """The pipeline behind an agent's `context_manager`, with the preset against overflow; its last resort is always there.

    A real agent runs, with a model that refuses what is too long, as a provider does, and counts with our counter.
    """

    async def window(self, messages: Sequence[Message], max_tokens: int) -> list[Message]:
        spoken = [message for message in messages if not _is_system(message)]
        if not spoken:
            return list(messages)
        system = self.estimate_tokens([message for message in messages if _is_system(message)])
        held = _held(spoken)
        owners = _owners(held)
        model = _Model(self, owners, max_tokens - system)
        agent = Agent(
            model=model,
            messages=[item.theirs for item in held],
            context_manager={"strategies": ["overflow_protection"], "stash": False},
            callback_handler=None,
            load_tools_from_directory=False,
        )
        model.conversation = agent.messages
        try:
            await agent.invoke_async(None)
            sent = agent.messages[:-1]  # without the answer
        except ContextWindowOverflowException:
            sent = agent.messages
        return _with_system(messages, _regrouped(sent, owners))


class _Model(Model):
    """A provider with room for `limit` tokens, that answers one word."""

    def __init__(self, strategy: ForeignStrategy, owners: dict[int, Message], limit: int) -> None:
        self._strategy = strategy
        self._owners = owners
        self._limit = limit
        self.conversation: list[TheirMessage] = []

    def update_config(self, **model_config: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, Any]:
        return {"context_window_limit": max(self._limit + 1, 1)}  # their preset acts on a window that is exactly full

    def structured_output(self, *args: Any, **kwargs: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError("this model gives no structured output")

    async def count_tokens(self, messages: list[TheirMessage], *args: Any, **kwargs: Any) -> int:
        return self._strategy.estimate_tokens(_regrouped(messages, self._owners))

    async def stream(self, messages: list[TheirMessage], *args: Any, **kwargs: Any) -> AsyncIterator[StreamEvent]:
        if await self.count_tokens(self.conversation) > self._limit:  # `messages` are copies, which have lost their identity
            raise ContextWindowOverflowException("prompt is too long")
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": "yes"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def _owners(held: list[_Held]) -> dict[int, Message]:
    """The message of ours that each block of theirs came from, by identity: they merge messages, but move blocks whole."""
    owners: dict[int, Message] = {}
    for item in held:
        results = {result.call_id: message for message in item.ours for result in message.tool_results}
        for block in item.theirs["content"]:
            owners[id(block)] = results[block["toolResult"]["toolUseId"]] if "toolResult" in block else item.ours[0]
    return owners


def _regrouped(sent: Sequence[TheirMessage], owners: dict[int, Message]) -> list[Message]:
    """Our messages in the order of their blocks; a block that is theirs becomes a gap message before the message it is in."""
    window: list[Message] = []
    taken = {message.id for message in owners.values()}
    for theirs in sent:
        for block in theirs["content"]:
            if id(block) not in owners:
                window.append(_marker(block["text"], theirs["role"], taken))
        found = {message.id: message for block in theirs["content"] if (message := owners.get(id(block))) is not None}
        window.extend(found.values())
    return window


def _marker(text: str, role: Any, taken: set[str]) -> Message:
    """Their marker as a message; it has no id of theirs, and a second one may have the same text."""
    marker_id = next(name for n in range(len(taken) + 1) if (name := f"strands/{n}/{text}") not in taken)
    taken.add(marker_id)
    return Message(role=role, id=marker_id, kind=Kind.GAP, parts=(Text(text),))


def _is_system(message: Message) -> bool:
    return message.role in ("system", "developer")


def _with_system(given: Sequence[Message], kept: list[Message]) -> list[Message]:
    """`kept` with every system message before the message that it stood before."""
    order = {message.id: n for n, message in enumerate(given)}
    system = [message for message in given if _is_system(message)]
    window: list[Message] = []
    for message in kept:
        while system and order[system[0].id] < order.get(message.id, -1):
            window.append(system.pop(0))
        window.append(message)
    return window + system


def _held(messages: Sequence[Message]) -> list[_Held]:
    held: list[_Held] = []
    for message in messages:
        theirs = _theirs(message)
        last = held[-1] if held else None
        if last is not None and message.tool_results and last.ours[-1].tool_results:
            last.theirs["content"].extend(theirs["content"])
            last.ours.append(message)
            if message.pinned:
                last.theirs["metadata"] = {"custom": {"pinned": True}}
        else:
            held.append(_Held(theirs, [message]))
    return held


def _theirs(message: Message) -> TheirMessage:
    content = [block for part in message.parts if (block := _block(part)) is not None]
    theirs: TheirMessage = {"role": "assistant" if message.role == "assistant" else "user", "content": content}
    if message.pinned:
        theirs["metadata"] = {"custom": {"pinned": True}}
    return theirs


def _block(part: Part) -> ContentBlock | None:
    match part:
        case Text():
            return {"text": part.text}
        case ToolCall():
            return {"toolUse": {"toolUseId": part.call_id, "name": part.name, "input": arguments_of(part)}}
        case ToolResult():
            texts: list[Any] = [{"text": Message(role="tool", parts=(piece,)).text} for piece in part.parts]
            return {
                "toolResult": {
                    "toolUseId": part.call_id,
                    "status": "error" if part.status == "error" else "success",
                    "content": texts,
                }
            }
        case Thinking():
            return {"reasoningContent": {"reasoningText": {"text": part.text or "", "signature": part.signature or ""}}}
        case _:
            return None  # sizes are ours, by id; the rest plays no part in what they decide


def _ours(theirs: TheirMessage, held: dict[int, _Held]) -> list[Message]:
    item = held[id(theirs)]
    texts = {
        block["toolResult"]["toolUseId"]: "\n".join(piece.get("text", "") for piece in block["toolResult"]["content"])
        for block in theirs["content"]
        if "toolResult" in block
    }
    return [_result(message, texts) if message.tool_results else message for message in item.ours]


def _result(message: Message, texts: dict[str, str]) -> Message:
    changed = {
        result.call_id: texts[result.call_id]
        for result in message.tool_results
        if texts[result.call_id] != Message(role="tool", parts=(result,)).text
    }
    return with_result_text(message, changed) if changed else message


#: Configuration as it is called in the scoreboard -> how to make it.
STRATEGIES = {
    "SlidingWindowConversationManager(), on overflow, until it fits or gives up": SlidingWindow,
    "Agent(context_manager={'strategies': ['overflow_protection'], 'stash': False})": OverflowProtection,
}
