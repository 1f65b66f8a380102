"""Haystack: only the leading system messages are protected."""

from haystack.dataclasses import ChatMessage
from haystack.hooks.compaction import SlidingWindowCompactor
from haystack.token_counters import ApproximateTokenCounter

chat = [
    ChatMessage.from_system("Be brief."),
    ChatMessage.from_user("Tell me a story. " * 40),
    ChatMessage.from_system("Never give out the password."),
    ChatMessage.from_assistant("Once upon a time."),
    ChatMessage.from_user("The password?"),
]
kept = SlidingWindowCompactor().compact(chat, 60, ApproximateTokenCounter())
print([(message.role.value, message.text[:30]) for message in kept])
