"""LangChain: `trim_messages` before every request, and `ClearToolUsesEdit`, the edit of `ContextEditingMiddleware`, before it."""

from __future__ import annotations

from cache_cost_runs import Given, answer, enough, sent
from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.messages import BaseMessage, trim_messages
from langchain_messages import theirs
from prefix_cache import Piece, piece

_CLEARED = "[cleared]"
_CLEARED_TOKENS = 7
_TRIGGER = 0.6  # of the limit, as for ours


class Run:
    """A conversation as LangChain's messages; their ids are their places."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.messages = [theirs(chat, str(n)) for n, chat in enumerate(given.chats)]

    def tokens(self, messages: list[BaseMessage]) -> int:
        counts = self.given.tokens
        return sum([_CLEARED_TOKENS if message.content == _CLEARED else counts[int(message.id or 0)] for message in messages])

    def pieces(self, messages: list[BaseMessage]) -> list[Piece]:
        return [self.cleared(int(m.id or 0)) if m.content == _CLEARED else self.given.pieces[int(m.id or 0)] for m in messages]

    def cleared(self, place: int) -> Piece:
        return piece(self.given.chats[place] | {"content": _CLEARED}, _CLEARED_TOKENS)

    def trimmed(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        """The newest that fit. They begin with a human's or a model's message, since a result may not stand alone."""
        return trim_messages(
            messages,
            max_tokens=self.given.limit,
            token_counter=self.tokens,
            strategy="last",
            start_on=("human", "ai"),
            include_system=True,
        )


def trim(given: Given) -> dict[str, list[int]]:
    run = Run(given)
    return sent(given, lambda end: run.pieces(run.trimmed([run.messages[0], *run.messages[enough(given, end) : end]])))


def clear_then_trim(given: Given) -> dict[str, list[int]]:
    run = Run(given)
    edit = ClearToolUsesEdit(trigger=int(given.limit * _TRIGGER), placeholder=_CLEARED)

    def window(end: int) -> list[Piece]:
        edited = run.messages[:end]
        edit.apply(edited, count_tokens=run.tokens)
        return run.pieces(run.trimmed(edited) if run.tokens(edited) > given.limit else edited)

    return sent(given, window)


if __name__ == "__main__":
    answer({"LangChain trim_messages": trim, "LangChain ClearToolUsesEdit, then trim_messages": clear_then_trim})
