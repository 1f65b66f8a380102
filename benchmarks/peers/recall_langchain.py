"""langchain-core: the newest messages by `trim_messages`, exact counts."""

from __future__ import annotations

import time

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, trim_messages
from recall_run import ENCODING, Asked, Windows, role_of, run, spoken


def trim(asked: Asked, budget: int) -> Windows:
    said: list[BaseMessage] = []
    for turn in asked["turns"]:
        made = HumanMessage if role_of(turn, asked) == "user" else AIMessage
        said.append(made(spoken(turn)))
    sizes: dict[str, int] = {}

    def count(messages: list[BaseMessage]) -> int:
        for message in messages:
            text = str(message.content)
            if text not in sizes:
                sizes[text] = 4 + len(ENCODING.encode_ordinary(text))
        return sum([sizes[str(message.content)] for message in messages])

    windows: Windows = []
    for question in asked["questions"]:
        start = time.perf_counter()
        kept = trim_messages([*said, HumanMessage(question)], max_tokens=budget, token_counter=count, strategy="last")
        seconds = time.perf_counter() - start
        windows.append({"messages": [(one.type, "", str(one.content)) for one in kept], "seconds": seconds})
    return windows


if __name__ == "__main__":
    run({"trim": trim})
