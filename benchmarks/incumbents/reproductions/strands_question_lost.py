"""Strands: with no later user message to cut at, the window begins with a tool call, and the question is gone."""

from strands import Agent
from strands.agent.conversation_manager import SlidingWindowConversationManager
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
        print([(message["role"], *(next(iter(block)) for block in message["content"])) for message in messages])
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "It costs 90."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


chat = [{"role": "user", "content": [{"text": "Cheapest flight to Oslo?"}]}]
for n in range(5):
    result = {"toolUseId": f"t{n}", "status": "success", "content": [{"text": "flight " * 20}]}
    chat.append({"role": "assistant", "content": [{"toolUse": {"toolUseId": f"t{n}", "name": "search", "input": {}}}]})
    chat.append({"role": "user", "content": [{"toolResult": result}]})
Agent(model=Provider(), messages=chat, conversation_manager=SlidingWindowConversationManager(), callback_handler=None)(None)
