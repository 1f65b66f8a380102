"""Agent Framework: the first question and the newest group are protected, the newest question is not."""

import asyncio

from agent_framework import CharacterEstimatorTokenizer, Content, ContextWindowCompactionStrategy, Message, apply_compaction

counter = CharacterEstimatorTokenizer()
limits = {"max_context_window_tokens": 250, "max_output_tokens": 0, "tool_eviction_threshold": 1.0, "truncation_threshold": 1.0}
strategy = ContextWindowCompactionStrategy(**limits, tokenizer=counter, preserve_first_user_group=True)
greeting = [Message("user", ["Hello there"]), Message("assistant", ["Hello"])]


def task():
    return [
        Message("user", ["What is the cheapest flight to Oslo?"]),
        Message("assistant", [Content.from_function_call("1", "search", arguments="{}")]),
        Message("tool", [Content.from_function_result("1", result="flight " * 80)]),
    ]


for chat in ([*greeting, *task()], task()):
    kept = asyncio.run(apply_compaction(chat, strategy=strategy, tokenizer=counter))
    print([(message.role, message.text or message.contents[0].type) for message in kept])
