"""The message that tells a model that something is missing (R106): a truncated history must not pose as a whole one."""

from __future__ import annotations

from contextport.contracts import Kind, Message, Text

__all__ = ["gap_marker", "omitted_by"]


def gap_marker(messages: int, tokens: int) -> Message:
    """A gap message for `messages` left-out messages of `tokens` tokens. Equal numbers give an equal message."""
    what = "1 earlier message" if messages == 1 else f"{messages} earlier messages"
    return Message(
        role="user",
        id=f"gap/{messages}/{tokens}",
        kind=Kind.GAP,
        parts=(Text(f"[{what} left out here]"),),
        metadata={"omitted_messages": messages, "omitted_tokens": tokens},
    )


def omitted_by(gap: Message) -> tuple[int, int]:
    """(messages, tokens) that a gap message stands for."""
    return int(gap.metadata.get("omitted_messages", 0)), int(gap.metadata.get("omitted_tokens", 0))
