"""A summary as a message of the window, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from contextport.contracts import Json, Kind, Message, Summary

__all__ = ["HEADING", "summary_in", "summary_message"]

HEADING = "[Conversation summary]"
_KEY = "summary"


def summary_message(summary: Summary, *, id: str, metadata: Mapping[str, Json] | None = None) -> Message:
    """The message that stands for what `summary` covers: of role user and kind summary, the summary as text under a heading.

    `metadata` is kept beside the summary itself, from which `summary_in` reads it again.
    """
    kept = {_KEY: summary.as_json(), **(metadata or {})}
    return Message.user(f"{HEADING}\n{summary.render()}", id=id, kind=Kind.SUMMARY, metadata=kept)


def summary_in(message: Message) -> Summary | None:
    """The summary that a message of kind summary stands for; None for any other message.

    One that came without the record of ours, such as from another library, is taken as prose. Raises `StoreCorrupt` for a
    record that is none.
    """
    if message.kind is not Kind.SUMMARY:
        return None
    stored = message.metadata.get(_KEY)
    if isinstance(stored, Mapping):
        return Summary.from_json(cast(Mapping[str, Any], stored))
    return Summary(text=message.text.removeprefix(HEADING).strip())
