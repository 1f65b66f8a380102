"""Strands: the pipeline never gives up message 0, so a short question after a long one does not get through."""

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
        print(len(str(messages)), [block.get("text", next(iter(block)))[:12] for m in messages for block in m["content"]])
        if len(str(messages)) > 900:
            raise ContextWindowOverflowException("prompt is too long")
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "It costs 90."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


question = {"role": "user", "content": [{"text": "Cheapest flight to Oslo?"}]}
chat = [
    {"role": "user", "content": [{"text": "The rain was soft. " * 50}]},
    {"role": "assistant", "content": [{"text": "Noted."}]},
    question,
]
settings = {"strategies": ["overflow_protection"], "stash": False}
print("the question alone:", len(str([question])))
try:
    Agent(model=Provider(), messages=chat, context_manager=settings, callback_handler=None)(None)
except ContextWindowOverflowException as error:
    print(type(error).__name__)
