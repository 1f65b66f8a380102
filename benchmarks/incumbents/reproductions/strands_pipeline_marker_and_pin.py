"""Strands: a marker can be larger than what it replaced, and the last resort gives up a pinned message."""

import asyncio

from strands import Agent
from strands.hooks import AfterModelCallEvent
from strands.models import Model
from strands.types.exceptions import ContextWindowOverflowException


class Small(Model):
    """One token per character, and room for 60."""

    def update_config(self, **config): ...

    def get_config(self):
        return {"context_window_limit": 60}

    def structured_output(self, *args, **kwargs): ...

    def stream(self, *args, **kwargs): ...

    async def count_tokens(self, messages, *args, **kwargs):
        return sum(len(block.get("text", "")) for message in messages for block in message["content"])


def said(*texts):
    return [{"role": ("user", "assistant")[n % 2], "content": [{"text": text}]} for n, text in enumerate(texts)]


async def overflow(messages):
    settings = {"strategies": ["overflow_protection"], "stash": False}
    agent = Agent(model=Small(), messages=messages, context_manager=settings, callback_handler=None)
    event = AfterModelCallEvent(agent=agent, invocation_state={}, exception=ContextWindowOverflowException("too long"))
    await agent.hooks.invoke_callbacks_async(event)
    print([block["text"] for message in messages for block in message["content"]])


async def main():
    await overflow(said("Hello", "Hi", "Yes?", "Go on", "word " * 20))
    pinned = said("Hello", "My name is Ann.", "word " * 20, "Go on", "Well")
    pinned[1]["metadata"] = {"custom": {"pinned": True}}
    await overflow(pinned)


asyncio.run(main())
