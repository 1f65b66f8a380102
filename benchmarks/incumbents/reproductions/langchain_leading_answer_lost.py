"""langchain-core: start_on drops what comes before the first human message, even when everything fits."""

from langchain_core.messages import AIMessage, HumanMessage, trim_messages

chat = [AIMessage("Welcome. Your booking number is 7."), HumanMessage("Cancel it.")]
kept = trim_messages(chat, max_tokens=100, token_counter=len, strategy="last", start_on="human", include_system=True)
print([message.text for message in kept])
