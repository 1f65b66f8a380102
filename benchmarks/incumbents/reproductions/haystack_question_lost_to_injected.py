"""Haystack: a message that the host injects as the user takes the place of the question it protects."""

from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks.compaction import SlidingWindowCompactor
from haystack.token_counters import ApproximateTokenCounter

call = ToolCall(tool_name="search", arguments={}, id="1")
chat = [
    ChatMessage.from_user("What is the cheapest flight to Oslo?"),
    ChatMessage.from_assistant(tool_calls=[call]),
    ChatMessage.from_tool("flight " * 80, origin=call),
    ChatMessage.from_user("(Two steps are left.)"),
]
kept = SlidingWindowCompactor().compact(chat, 100, ApproximateTokenCounter())
print([(message.role.value, message.text) for message in kept])
