"""Agent Framework: enforcing the budget leaves the newest group alone, a tool call without the question before it."""

import asyncio

from agent_framework import (
    CharacterEstimatorTokenizer,
    Content,
    Message,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    apply_compaction,
)

chat = [
    Message("user", ["What is the cheapest flight to Oslo?"]),
    Message("assistant", [Content.from_function_call("1", "search", arguments="{}")]),
    Message("tool", [Content.from_function_result("1", result="flight " * 80)]),
]
counter = CharacterEstimatorTokenizer()
first = ToolResultCompactionStrategy(keep_last_tool_call_groups=1)
strategy = TokenBudgetComposedStrategy(token_budget=240, tokenizer=counter, strategies=[first])
kept = asyncio.run(apply_compaction(chat, strategy=strategy, tokenizer=counter))
print([(message.role, message.contents[0].type) for message in kept])
