"""Haystack: a result that does not follow its call directly joins the step it stands in, and outlives the call."""

from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks.compaction import SlidingWindowCompactor
from haystack.token_counters import ApproximateTokenCounter

call = ToolCall(tool_name="search", arguments={}, id="1")
chat = [
    ChatMessage.from_user("Search."),
    ChatMessage.from_assistant(tool_calls=[call]),
    ChatMessage.from_assistant("It takes a while. " * 20),
    ChatMessage.from_assistant("Here it is."),
    ChatMessage.from_tool("Found.", origin=call),
]
kept = SlidingWindowCompactor().compact(chat, 60, ApproximateTokenCounter())
print([(message.role.value, bool(message.tool_calls), bool(message.tool_call_results)) for message in kept])
