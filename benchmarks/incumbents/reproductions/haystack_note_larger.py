"""Haystack: the note that replaces what was removed can be larger than it, against rule 1 of its `Compactor` protocol."""

from haystack.dataclasses import ChatMessage
from haystack.hooks.compaction import SlidingWindowCompactor
from haystack.token_counters import ApproximateTokenCounter

chat = [ChatMessage.from_user("Hi"), ChatMessage.from_assistant("Hello"), ChatMessage.from_user("Explain compaction. " * 20)]
counter = ApproximateTokenCounter()
shorter = SlidingWindowCompactor().compact(chat, 90, counter)
print("before:", counter.count(chat), "after:", counter.count(shorter))
