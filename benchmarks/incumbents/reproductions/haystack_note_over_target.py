"""Haystack: the note is added also where it is what no longer fits."""

from haystack.dataclasses import ChatMessage
from haystack.hooks.compaction import SlidingWindowCompactor
from haystack.token_counters import ApproximateTokenCounter

question = ChatMessage.from_user("Explain compaction. " * 20)
chat = [ChatMessage.from_user("Tell me a story. " * 40), ChatMessage.from_assistant("Once upon a time. " * 40), question]
counter = ApproximateTokenCounter()
target = counter.count([question]) + 5
print("target:", target, "question alone:", counter.count([question]))
print("with the note:", counter.count(SlidingWindowCompactor().compact(chat, target, counter)))
print("without:", counter.count(SlidingWindowCompactor(omission_note=None).compact(chat, target, counter)))
