"""LangChain: the window at each tool call, by `trim_messages`, and by the edit of `ContextEditingMiddleware` before it.

    python langchain_grounding.py SYSTEM FILE

FILE is a JSON list of conversations: `chats` in OpenAI form, `tokens` of each, `places` of the calls, `limit` of the window. The
answer is a list too: for each call, the places of the messages in the window, negative (minus one, minus the place) if cleared.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.messages import BaseMessage, trim_messages
from langchain_messages import theirs

_CLEARED = "[cleared]"
_CLEARED_TOKENS = 7


def windows(given: dict[str, Any], *, clears: bool) -> list[list[int]]:
    def tokens(messages: list[BaseMessage]) -> int:
        return sum(_CLEARED_TOKENS if m.content == _CLEARED else given["tokens"][int(m.id or 0)] for m in messages)

    edit = ClearToolUsesEdit(trigger=given["limit"], placeholder=_CLEARED)
    shown: list[list[int]] = []
    for place in given["places"]:
        messages = [theirs(chat, str(n)) for n, chat in enumerate(given["chats"][:place])]
        if clears:
            edit.apply(messages, count_tokens=tokens)
        kept = trim_messages(
            messages,
            max_tokens=given["limit"],
            token_counter=tokens,
            strategy="last",
            start_on=("human", "ai"),
            include_system=True,
        )
        shown.append([-1 - int(m.id or 0) if m.content == _CLEARED else int(m.id or 0) for m in kept])
    return shown


if __name__ == "__main__":
    asked = json.loads(Path(sys.argv[2]).read_text("utf-8"))
    print(json.dumps([windows(one, clears=sys.argv[1] == "clear, then trim") for one in asked]))
