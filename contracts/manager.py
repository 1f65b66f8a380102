"""The port that hosts inject: five operations by session id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .context import Context, ContextStats, Receipt
from .messages import Json, Message
from .port import Port
from .profile import ProviderProfile

__all__ = ["AddsGroups", "ContextManager", "Replays", "ShapesWindow"]


class ContextManager(Port):
    """Decides what the model sees of a session. The log is the truth; the window is a view of it.

    Obligations
        MANAGER-1   What was added and fits comes back from `get_context` as it was added, in order, after the system prompt.
        MANAGER-2   The window fits its limit, or `BudgetTooSmall` is raised with `needed` and `available`.
        MANAGER-3   `get_context` is a view: it changes neither what was said nor what the next call returns. A fold that is due
                    may come between two calls, and may put entries of its own in the log.
        MANAGER-4   The system prompt is first, once and unchanged, in every window.
        MANAGER-5   `set_system_prompt` replaces an earlier prompt at the next `get_context`; history stays.
        MANAGER-6   A system prompt that leaves no room raises `BudgetTooSmall` when it is set, and the old one stays.
        MANAGER-7   The newest user message is in the window, whole or shortened with a marker.
        MANAGER-8   Every tool call in the window is answered by exactly one result right after it; an unanswered one gets a
                    stand-in, which the real result replaces when it arrives. Orphan results are left out.
        MANAGER-9   `clear_context` empties the window and keeps the system prompt; what was cleared never comes back.
        MANAGER-10  `get_context_stats` is true: window figures equal a recount of `get_context`, also after compression.
        MANAGER-11  Sessions are separate.
        MANAGER-12  Adding a message again with the same id and content changes nothing; other content raises `MessageConflict`.
        MANAGER-13  What cannot be a message raises `InvalidMessage` and is not stored.
        MANAGER-14  The caller's objects are neither changed nor kept: changing them later changes nothing here.
        MANAGER-15  Messages added by many tasks at once are all there, once, each caller's in order.
        MANAGER-16  An unknown session is an empty one: only the system prompt, if any, is in its window.
        MANAGER-17  What was left out shows: the window has a gap message when there is room for one, or a summary that stands
                    for it; `omitted_count` is true.
        MANAGER-18  Two managers share nothing unless they were given the same store; then each sees what the other added.
        MANAGER-19  The wire form of the window can be encoded as UTF-8.

    Caller guarantees
        Session ids are non-empty strings that the host has authorised.
    Errors
        `InvalidArgument`, `InvalidMessage`, `BudgetTooSmall`, `MessageConflict`, and the store's errors. Nothing is lost by any.
    Concurrency
        Any number of tasks; a session's messages are in the order in which their adds were acknowledged.
    Lifetime
        Usable from construction on. A manager does not close the store it was given.
    Latitude
        What is left out or shortened when not everything fits; extra optional keyword arguments.
    """

    async def add_message(self, session_id: str, message: Message | Mapping[str, Json]) -> Message:
        """Append a message, or a dict in OpenAI chat form. Returns it as stored, with its id."""
        ...

    async def get_context(self, session_id: str) -> Context:
        """The messages to send now."""
        ...

    async def clear_context(self, session_id: str) -> None:
        """Start over: a new epoch of the session."""
        ...

    async def get_context_stats(self, session_id: str) -> ContextStats:
        """Facts about the session and its window."""
        ...

    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        """Set or replace the session's system prompt. The empty text removes it."""
        ...


class AddsGroups(Port):
    """A manager that adds several messages as one.

    Obligations
        MANAGER-20  A group is added whole or not at all, and stays together.

    Caller guarantees, errors, concurrency, lifetime: as `ContextManager`. Latitude: none.
    """

    async def add_messages(self, session_id: str, messages: Sequence[Message | Mapping[str, Json]]) -> tuple[Message, ...]:
        """Append messages that belong together, such as an assistant message and its tool results."""
        ...


class Replays(Port):
    """A manager that can show again what a model saw.

    Obligations
        MANAGER-21  `replay` of a context's receipt gives the same messages, byte for byte, also after later adds and clears and
                    after the receipt went through JSON.
        MANAGER-22  A receipt that does not match the log raises `ReplayFailed`.

    Caller guarantees, concurrency, lifetime: as `ContextManager`. Errors: `ReplayFailed`. Latitude: none.
    """

    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        """The messages of the window that the receipt was made for."""
        ...


class ShapesWindow(Port):
    """A manager that makes a window for one call: of another size, or for another model.

    Obligations
        MANAGER-23  With `max_tokens` the window fits that number instead of the manager's own limit, or `BudgetTooSmall` is
                    raised. A call without it is as if there had been none.
        MANAGER-24  With a profile the window is what that provider accepts: no reasoning signed by somebody else, its first and
                    last role, its call ids. The text that was said is the same; a call without a profile is as if there had
                    been none.

    Caller guarantees, errors, concurrency, lifetime: as `ContextManager`. Latitude: which model names are known.
    """

    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        """The messages to send now. `profile` is the provider's, or the name of a model whose provider is known by it."""
        ...
