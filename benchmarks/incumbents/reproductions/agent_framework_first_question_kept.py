"""Agent Framework: the first question is kept whatever it costs, so a short newest question does not get through."""

import asyncio

from agent_framework import CharacterEstimatorTokenizer, ContextWindowCompactionStrategy, Message, apply_compaction

counter = CharacterEstimatorTokenizer()
limits = {"max_context_window_tokens": 250, "max_output_tokens": 0, "tool_eviction_threshold": 1.0, "truncation_threshold": 1.0}
strategy = ContextWindowCompactionStrategy(**limits, tokenizer=counter, preserve_first_user_group=True)
report, question = "The rain was soft. " * 70, "What is the cheapest flight to Oslo?"


def tokens(messages):
    return sum(counter.count_tokens(message.text) for message in messages)


for opening in (report, "Hello there"):
    chat = [Message("user", [opening]), Message("assistant", ["Noted."]), Message("user", [question])]
    kept = asyncio.run(apply_compaction(chat, strategy=strategy, tokenizer=counter))
    print([message.text[:12] for message in kept], "of", tokens(kept), "tokens, 250 are allowed")
