"""langchain-core: a tool result larger than the budget takes the question, and everything else, with it."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages

call = AIMessage("", tool_calls=[{"id": "1", "name": "search", "args": {}}])
chat = [SystemMessage("Be brief."), HumanMessage("Cheapest flight to Oslo?"), call, ToolMessage("flight " * 40, tool_call_id="1")]
best = {"strategy": "last", "start_on": "human", "include_system": True, "allow_partial": False}


def words(messages):
    return sum(len(message.text.split()) for message in messages)


print("with system prompt:", [message.type for message in trim_messages(chat, max_tokens=20, token_counter=words, **best)])
print("without:           ", [message.type for message in trim_messages(chat[1:], max_tokens=20, token_counter=words, **best)])
