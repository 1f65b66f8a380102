"""The system prompt as the session's state: read with the head, changed by compare-and-set, every version kept in the log."""

from __future__ import annotations

import json

from contextport.contracts import Head, Message, StoreCorrupt, dump_json, dump_message, load_message

__all__ = ["prompt_of", "state_with_prompt"]


def prompt_of(head: Head) -> Message | None:
    """The session's current system prompt. Raises `StoreCorrupt` when the state is not one of ours."""
    if not head.state:
        return None
    try:
        stored = json.loads(head.state)["prompt"]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreCorrupt(f"the state of session {head.session_id!r} cannot be read: {error}") from error
    return None if stored is None else load_message(stored)


def state_with_prompt(prompt: Message | None) -> str:
    """The state text that holds `prompt`."""
    return dump_json({"prompt": None if prompt is None else dump_message(prompt)})
