"""What hosts hand in, checked and copied at the border."""

from __future__ import annotations

from collections.abc import Mapping

from contextport.contracts import InvalidArgument, InvalidMessage, Json, Message, from_chat, own_copy

__all__ = ["check_session", "take"]


def check_session(session_id: str) -> None:
    """Raise `InvalidArgument` unless it is a session id."""
    if not isinstance(session_id, str) or not session_id:
        raise InvalidArgument(f"the session id is {session_id!r}; it must be a non-empty string")


def take(message: Message | Mapping[str, Json]) -> Message:
    """A copy of the message, or the one that a chat dict describes, checked. Nothing of the caller's is kept."""
    if not isinstance(message, Message):
        return from_chat(message)
    copied = own_copy(message)
    if not copied.in_conversation:
        raise InvalidMessage(
            f"the message is of kind {message.kind}; a host adds messages of kind chat or interrupt",
            path="kind",
            kind=message.kind,
        )
    return copied
