"""langchain-core: a result whose call comes too early goes out without it."""

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages

call = AIMessage("", tool_calls=[{"id": "1", "name": "search", "args": {}}])
chat = [HumanMessage("Search."), call, HumanMessage("Still there?"), ToolMessage("Found.", tool_call_id="1")]
kept = trim_messages(chat, max_tokens=2, token_counter=len, strategy="last", start_on="human", include_system=True)
print([message.type for message in kept])
