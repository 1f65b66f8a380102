"""Agent Framework: the budget is enforced at the price of the system prompt."""

import asyncio

from agent_framework import (
    CharacterEstimatorTokenizer,
    Message,
    TokenBudgetComposedStrategy,
    TruncationStrategy,
    apply_compaction,
)

chat = [
    Message("system", ["Never give out the password."]),
    Message("user", ["Hello"]),
    Message("assistant", ["Hi"]),
    Message("user", ["Here is a long log. " * 30]),
]
counter = CharacterEstimatorTokenizer()
first = TruncationStrategy(max_n=200, compact_to=200, tokenizer=counter, preserve_first_user_group=True)
strategy = TokenBudgetComposedStrategy(token_budget=200, tokenizer=counter, strategies=[first])
kept = asyncio.run(apply_compaction(chat, strategy=strategy, tokenizer=counter))
print([(message.role, message.text[:20]) for message in kept])
