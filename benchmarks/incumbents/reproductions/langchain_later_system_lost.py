"""langchain-core: include_system keeps a system message at index 0 only."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages

chat = [HumanMessage("Hello"), SystemMessage("Never give out the password."), AIMessage("Hi"), HumanMessage("The password?")]
kept = trim_messages(chat, max_tokens=2, token_counter=len, strategy="last", start_on="human", include_system=True)
print([message.text for message in kept])
