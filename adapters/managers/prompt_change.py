"""Setting a session's system prompt: by compare-and-set of its state, with the prompt's own entry in the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
from attrs import frozen

from contextport.contracts import ContextStore, Draft, Message, StateConflict

from .session_state import SessionState

__all__ = ["PromptChange"]

_STATE_TRIES = 100  # lost races for one state change before it is reported


@frozen(kw_only=True)
class PromptChange:
    """A new system `prompt`, or none, with messages `rest` to be appended in the same step.

    `only_if_new`: only where it is the first word of a session without a prompt.
    """

    prompt: Message | None
    rest: Sequence[Message] = ()
    only_if_new: bool = False

    async def make(self, session_id: str, store: ContextStore, draft: Callable[[Message], Draft]) -> tuple[bool, bool]:
        """Make the change. Returns whether it holds, and is new. Raises `StateConflict` after too many lost races."""
        drafts = [draft(message) for message in (self.prompt, *self.rest) if message is not None]
        for _ in range(_STATE_TRIES):
            head = await store.head(session_id)
            state = SessionState.of(head)
            if self.only_if_new and (head.messages or state.prompt is not None):
                return False, False
            if not self.rest and _same_words(self.prompt, state.prompt):
                return True, False
            try:
                changed = attrs.evolve(state, prompt=self.prompt).dump()
                await store.put_state(session_id, changed, expected=head.state_version, drafts=drafts)
            except StateConflict:
                continue
            return True, True
        raise StateConflict(
            f"the system prompt lost {_STATE_TRIES} races against other writers; try again", session_id=session_id
        )


def _same_words(one: Message | None, other: Message | None) -> bool:
    """Whether two system prompts are the same but for their ids."""
    return one is not None and other is not None and one.parts == other.parts and one.role == other.role
