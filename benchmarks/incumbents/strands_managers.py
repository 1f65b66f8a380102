"""Strands Agents: its default manager, and its newer pipeline, at work when the provider says that the prompt is too long."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any, Literal, cast

from attrs import define
from strands import Agent
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.hooks import AfterModelCallEvent, BeforeModelCallEvent
from strands.models import Model
from strands.types.content import ContentBlock
from strands.types.content import Message as TheirMessage
from strands.types.exceptions import ContextWindowOverflowException
from strands.types.streaming import StreamEvent

from contextport.contracts import (
    CompressionStrategy,
    KeepsPins,
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
    """A message of theirs, and the message of ours that each of its blocks is from: results of parallel calls are one there."""

    theirs: TheirMessage
    owners: list[Message]

    @property
    def ours(self) -> list[Message]:
        """Our messages in it, a marker of theirs before the message that carries it."""
        found = list({message.id: message for message in self.owners}.values())
        return sorted(found, key=lambda message: not _is_marker(message))


@implements(CompressionStrategy, KeepsPins)
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


@implements(CompressionStrategy, KeepsPins)
class OverflowProtection(ForeignStrategy):
    """The pipeline behind an agent's `context_manager`, with the preset against overflow; its last resort is always there.

    A real agent is asked, through the events that its loop sends before and after each call to a model. The model counts with
    our counter, and refuses what is too long, as a provider does.
    """

    async def window(self, messages: Sequence[Message], max_tokens: int) -> list[Message]:
        held = _held([message for message in messages if not _is_system(message)], alternating=True)
        owners = _owners(held)
        limit = max_tokens - self.estimate_tokens([message for message in messages if _is_system(message)])
        agent = Agent(
            model=_Model(self, owners, limit),
            messages=[item.theirs for item in held],
            context_manager={"strategies": ["overflow_protection"], "stash": False},
            callback_handler=None,
            load_tools_from_directory=False,
        )
        refused = True
        while refused:
            projected = await agent.model.count_tokens(agent.messages)
            before = BeforeModelCallEvent(agent=agent, invocation_state={}, projected_input_tokens=projected)
            await agent.hooks.invoke_callbacks_async(before)
            if await agent.model.count_tokens(agent.messages) <= limit:
                break
            overflow = ContextWindowOverflowException("prompt is too long")
            after = AfterModelCallEvent(agent=agent, invocation_state={}, exception=overflow)
            await agent.hooks.invoke_callbacks_async(after)
            refused = after.retry
        return _with_system(messages, _regrouped(agent.messages, owners))


class _Model(Model):
    """A model with room for `limit` tokens, for its size and its counter; the agent is never run."""

    def __init__(self, strategy: ForeignStrategy, owners: dict[int, Message], limit: int) -> None:
        self._strategy = strategy
        self._owners = owners
        self._limit = limit

    def update_config(self, **model_config: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, Any]:
        return {"context_window_limit": max(self._limit + 1, 1)}  # their preset acts on a window that is exactly full

    async def count_tokens(self, messages: list[TheirMessage], *args: Any, **kwargs: Any) -> int:
        return self._strategy.estimate_tokens(_regrouped(messages, self._owners))

    def structured_output(self, *args: Any, **kwargs: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError("the agent is never run")

    def stream(self, *args: Any, **kwargs: Any) -> AsyncIterator[StreamEvent]:
        raise NotImplementedError("the agent is never run")


def _owners(held: list[_Held]) -> dict[int, Message]:
    """The message of ours that each block of theirs came from, by identity: they merge messages, but move blocks whole."""
    pairs = ((block, owner) for item in held for block, owner in zip(item.theirs["content"], item.owners, strict=True))
    return {id(block): owner for block, owner in pairs}


def _regrouped(sent: Sequence[TheirMessage], owners: dict[int, Message]) -> list[Message]:
    """Our messages in the order of their blocks; a block that is theirs becomes a gap message before the message it is in."""
    window: list[Message] = []
    taken = {message.id for message in owners.values()}
    for theirs in sent:
        for block in theirs["content"]:
            if id(block) not in owners:
                window.append(_marker(block["text"], theirs["role"], taken))
        known = [owner for block in theirs["content"] if (owner := owners.get(id(block))) is not None]
        window.extend(_Held(theirs, known).ours)
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


def _held(messages: Sequence[Message], *, alternating: bool = False) -> list[_Held]:
    """Results in a row are one message of theirs; with `alternating`, so is all in a row of one role, as in their pipeline."""
    held: list[_Held] = []
    for message in messages:
        blocks = [block for part in message.parts if (block := _block(part)) is not None]
        blocks = blocks or [{"text": ""}]  # blocks carry the identity of a message
        role: Literal["user", "assistant"] = "assistant" if message.role == "assistant" else "user"
        last = held[-1] if held else None
        results = last is not None and message.tool_results and last.owners[-1].tool_results
        if last is not None and (results or (alternating and last.theirs["role"] == role)):
            last.theirs["content"].extend(blocks)
            last.owners.extend([message] * len(blocks))
        else:
            last = _Held({"role": role, "content": blocks}, [message] * len(blocks))
            held.append(last)
        if message.pinned:
            last.theirs["metadata"] = {"custom": {"pinned": True}}
    return held


def _is_marker(message: Message) -> bool:
    """Whether it is a marker of theirs, which stands in an answer."""
    return message.kind is Kind.GAP and message.role == "assistant"


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
