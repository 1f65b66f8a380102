"""LangChain: `SummarizationMiddleware` of an agent, and `trim_messages` for what is left without summaries."""

from __future__ import annotations

from typing import Any

from folding_run import Windows, run
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AnyMessage, BaseMessage
from langchain_openai import ChatOpenAI
from langchain_trim import exact, theirs, trimmed
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime


class Calls(BaseCallbackHandler):
    """How often a model was asked."""

    count = 0

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.count += 1


def texts(messages: list[BaseMessage]) -> list[str]:
    """What a model reads of them: the text, and the arguments of calls."""
    return [f"{message.text} {[call['args'] for call in getattr(message, 'tool_calls', ())] or ''}" for message in messages]


def summaries(asked: dict[str, Any]) -> Windows:
    """The middleware is asked where a fold is due; it keeps `keep` tokens and puts a summary before them."""
    calls = Calls()
    model = ChatOpenAI(
        model=asked["model"], base_url=asked["url"], api_key="none", max_tokens=asked["cap"], temperature=0, callbacks=[calls]
    )
    middleware: Any = SummarizationMiddleware(
        model, trigger=("tokens", asked["keep"]), keep=("tokens", asked["keep"]), token_counter=exact()
    )
    state: list[AnyMessage] = []
    windows: list[list[str]] = []
    for count, chat in enumerate(asked["chats"], 1):
        state = add_messages(state, [theirs(chat)])
        for _ in range(asked["places"].count(count)):
            update = middleware.before_model({"messages": state}, Runtime())
            state = add_messages(state, update["messages"]) if update else state
            windows.append(texts(state))
    return {"windows": windows, "calls": calls.count}


def trimming(asked: dict[str, Any]) -> Windows:
    """What `trim_messages` leaves at the same places."""
    messages = [theirs(chat) for chat in asked["chats"]]
    counter = exact()
    return {"windows": [texts(trimmed(messages[:place], asked["budget"], counter)) for place in asked["places"]], "calls": 0}


if __name__ == "__main__":
    run({"summaries": summaries, "trimming": trimming})
