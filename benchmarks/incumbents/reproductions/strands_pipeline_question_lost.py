"""Strands: the preset keeps message 0 and the last four; the question of a longer task is among those in between."""

from strands import Agent
from strands.models import Model
from strands.types.exceptions import ContextWindowOverflowException


class Provider(Model):
    """Refuses more than 900 characters, and tells what it was sent."""

    def update_config(self, **config): ...

    def get_config(self):
        return {"context_window_limit": 900}

    def structured_output(self, *args, **kwargs): ...

    async def stream(self, messages, *args, **kwargs):
        if len(str(messages)) > 900:
            raise ContextWindowOverflowException("prompt is too long")
        for message in messages:
            print(message["role"], [block.get("text", next(iter(block))) for block in message["content"]])
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "It costs 90."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


chat = [
    {"role": "user", "content": [{"text": "Hello there"}]},
    {"role": "assistant", "content": [{"text": "Hello"}]},
    {"role": "user", "content": [{"text": "Cheapest flight to Oslo?"}]},
]
for n in range(4):
    result = {"toolUseId": f"t{n}", "status": "success", "content": [{"text": "flight " * 20}]}
    chat.append({"role": "assistant", "content": [{"toolUse": {"toolUseId": f"t{n}", "name": "search", "input": {}}}]})
    chat.append({"role": "user", "content": [{"toolResult": result}]})
settings = {"strategies": ["overflow_protection"], "stash": False}
Agent(model=Provider(), messages=chat, context_manager=settings, callback_handler=None)(None)
