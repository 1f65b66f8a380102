"""Strands: a result that does not follow its call directly outlives it."""

from types import SimpleNamespace

from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.types.exceptions import ContextWindowOverflowException

chat = [
    {"role": "user", "content": [{"text": "Search."}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "search", "input": {}}}]},
    {"role": "user", "content": [{"text": "Still there?"}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "status": "success", "content": [{"text": "Found."}]}}]},
]
agent = SimpleNamespace(messages=chat)  # all of an agent that reduce_context uses
SlidingWindowConversationManager().reduce_context(agent, e=ContextWindowOverflowException("prompt is too long"))
print([(message["role"], *(next(iter(block)) for block in message["content"])) for message in agent.messages])
