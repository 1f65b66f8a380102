"""What a session's state says: its system prompt, its live fold, and how far its facts went to long-term memory.

The state is read with the head and changed by compare-and-set. Every version of the prompt and every fold is in the log too.
"""

from __future__ import annotations

import json
from typing import Any, cast

import attrs
from attrs import frozen

from contextport.contracts import Head, Json, Message, StoreCorrupt, dump_json, dump_message, load_message

__all__ = ["FoldPlace", "SessionState", "prompt_of"]


@frozen(kw_only=True)
class FoldPlace:
    """Where a fold stands in the log: `entries` entries from `seq` on, its record first.

    `incarnation` is that of the session it was made for: a session that was purged since does not have it.
    """

    epoch: int
    seq: int
    entries: int
    incarnation: str = ""

    def is_of(self, head: Head) -> bool:
        """Whether the fold is of the epoch and the incarnation at `head`, as far as both are known."""
        known = self.incarnation and head.incarnation
        return self.epoch == head.epoch and (not known or self.incarnation == head.incarnation)


@frozen(kw_only=True)
class SessionState:
    """`flushed` is the epoch and the last seq whose facts the long-term memory has. A fold of an earlier epoch is none."""

    prompt: Message | None = None
    fold: FoldPlace | None = None
    flushed: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, head: Head) -> SessionState:
        """The state of the session at `head`. Raises `StoreCorrupt` when it is not one of ours."""
        if not head.state:
            return cls()
        try:
            value = cast(dict[str, Any], json.loads(head.state))
            prompt, fold, flushed = value["prompt"], value.get("fold"), value.get("flushed", [0, 0])
            place = None if fold is None else FoldPlace(**fold)
            return cls(
                prompt=None if prompt is None else load_message(prompt),
                fold=place if place is not None and place.is_of(head) else None,
                flushed=(int(flushed[0]), int(flushed[1])),
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise StoreCorrupt(f"the state of session {head.session_id!r} cannot be read: {error}") from error

    def dump(self) -> str:
        """The state as text."""
        value: dict[str, Json] = {"prompt": None if self.prompt is None else dump_message(self.prompt)}
        if self.fold is not None:
            value["fold"] = attrs.asdict(self.fold)
        if self.flushed != (0, 0):
            value["flushed"] = list(self.flushed)
        return dump_json(value)


def prompt_of(head: Head) -> Message | None:
    """The session's current system prompt."""
    return SessionState.of(head).prompt
