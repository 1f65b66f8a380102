"""Call ids in a form that the target takes: the same for the same conversation, and no two alike."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from contextport.contracts import Message, ToolCall, ToolResult

from .foreign import unedited

__all__ = ["call_ids", "map_ids"]


def call_ids(message: Message) -> Iterator[str]:
    """The ids of the calls in a message, and those that its results answer."""
    for part in message.parts:
        if type(part) is ToolCall or type(part) is ToolResult:
            yield part.call_id


def map_ids(
    messages: Sequence[Message], *, api: str, allowed: Callable[[str], bool], prefix: str = "call_", length: int = 29
) -> dict[str, str]:
    """{id: its id in the wire form of `api`} for the ids that are not `allowed` there; all others stay as they are.

    A made id is `prefix` and hex digits of the id's SHA-256, `length` characters in all (at least 16 digits), so it does not
    change as the conversation grows. Ids in messages that go out as they came in (`unedited`) are never mapped: their wire form
    says them already, and an edited partner must keep them too. Where every message is such a one, nothing is looked at.
    """
    changed = [message for message in messages if unedited(message, api) is None]
    wanted = dict.fromkeys(one for message in changed for one in call_ids(message) if not allowed(one))
    if not wanted:
        return {}
    taken = {one for message in messages for one in call_ids(message)}
    fixed = {one for message in messages if unedited(message, api) is not None for one in call_ids(message)}
    made: dict[str, str] = {}
    for one in wanted:
        if one not in fixed:
            made[one] = _made(one, prefix, length, taken)
            taken.add(made[one])
    return made


def _made(one: str, prefix: str, length: int, taken: set[str]) -> str:
    seed = one.encode("utf-8", "surrogatepass")
    turn = 0
    while True:
        found = prefix + hashlib.sha256(seed + b"\0" * turn).hexdigest()[: length - len(prefix)]
        if found not in taken:
            return found
        turn += 1
