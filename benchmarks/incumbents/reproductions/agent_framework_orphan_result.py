"""Agent Framework: a second result for one call is a group of its own, and outlives the call."""

import asyncio

from agent_framework import CharacterEstimatorTokenizer, Content, Message, TruncationStrategy, apply_compaction

chat = [
    Message("user", ["Search. " * 20]),
    Message("assistant", [Content.from_function_call("1", "search", arguments="{}")]),
    Message("tool", [Content.from_function_result("1", result="Found. " * 20)]),
    Message("user", ["Still there?"]),
    Message("tool", [Content.from_function_result("1", result="Found again.")]),
]
counter = CharacterEstimatorTokenizer()
strategy = TruncationStrategy(max_n=150, compact_to=150, tokenizer=counter)
kept = asyncio.run(apply_compaction(chat, strategy=strategy, tokenizer=counter))
print([(message.role, message.contents[0].type) for message in kept])
