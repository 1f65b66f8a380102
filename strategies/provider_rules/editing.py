"""Edits of a list of messages that repairs have in common. Messages that are not edited stay the same objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from contextport.contracts import Kind, Message, Part, Text

__all__ = ["inserted", "with_parts", "without_parts", "words"]


def with_parts(messages: Sequence[Message], changes: Mapping[int, tuple[Part, ...]]) -> list[Message]:
    """The messages, those at the given indices with other parts, and without those that have none left."""
    out: list[Message] = []
    for n, message in enumerate(messages):
        parts = changes.get(n)
        if parts is None:
            out.append(message)
        elif parts:
            out.append(attrs.evolve(message, parts=parts))
    return out


def without_parts(messages: Sequence[Message], places: Iterable[tuple[int, int]]) -> list[Message]:
    """The messages without the parts at (message, part)."""
    gone: dict[int, set[int]] = {}
    for n, k in places:
        gone.setdefault(n, set()).add(k)
    changes = {n: tuple(part for k, part in enumerate(messages[n].parts) if k not in ks) for n, ks in gone.items()}
    return with_parts(messages, changes)


def inserted(messages: Sequence[Message], before: Mapping[int, Sequence[Message]]) -> list[Message]:
    """The messages, with others put in before the given indices."""
    out: list[Message] = []
    for n, message in enumerate(messages):
        out.extend(before.get(n, ()))
        out.append(message)
    out.extend(before.get(len(messages), ()))
    return out


def words(near: str, what: str, text: str, *parts: Part, role: str = "user") -> Message:
    """A message that a repair puts in: nothing the user said, so never the current question.

    Its id is made of that of a message nearby, so that the same window is repaired in the same way.
    """
    given: tuple[Part, ...] = (Text(text),) if text else ()
    kind = Kind.INTERRUPT if role == "user" else Kind.CHAT
    return Message(role=role, id=f"{near}/{what}", kind=kind, parts=(*given, *parts))  # type: ignore[arg-type]
