"""Strands: after a tool round that ends in an answer there is nowhere to cut, and it gives up, although the rest would fit."""

from types import SimpleNamespace

from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.types.exceptions import ContextWindowOverflowException

calls = [{"toolUse": {"toolUseId": f"t{n}", "name": "search", "input": {}}} for n in range(3)]
found = [{"toolResult": {"toolUseId": f"t{n}", "status": "success", "content": [{"text": "flight " * 20}]}} for n in range(3)]
chat = [
    {"role": "user", "content": [{"text": "Cheapest flight to Oslo?"}]},
    {"role": "assistant", "content": calls},
    {"role": "user", "content": found},
    {"role": "assistant", "content": [{"text": "It costs 90."}]},
]
agent = SimpleNamespace(messages=list(chat))
manager = SlidingWindowConversationManager()
print("question and answer:", len(str([chat[0], chat[-1]])), "characters, 400 are allowed")
while len(str(agent.messages)) > 400:
    try:
        manager.reduce_context(agent, e=ContextWindowOverflowException("prompt is too long"))
    except ContextWindowOverflowException as error:
        print(error)
        break
print([(message["role"], *(next(iter(block)) for block in message["content"])) for message in agent.messages])
print(len(str(agent.messages)), "characters")
