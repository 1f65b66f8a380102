"""Responses without ids in the order of their calls: Gemini pairs these by the name of the function and the order alone."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from contextport.contracts import Message, ToolResult

from .gemini_parts import is_made_id

__all__ = ["in_call_order"]


def in_call_order(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages, the results of each step in the order of its calls where calls have no ids on the wire.

    The same objects where that is so already, or where a result answers none of the calls. Results come in as tools end, which
    may be in any order.
    """
    out: list[Message] | None = None
    for n, message in enumerate(messages):
        calls = message.tool_calls if message.role == "assistant" else ()
        if len(calls) < 2 or not any(is_made_id(call.call_id, call.name) for call in calls):
            continue
        stop = n + 1
        while stop < len(messages) and messages[stop].role == "tool":
            stop += 1
        places = {call.call_id: k for k, call in enumerate(calls)}
        run = messages[n + 1 : stop]
        found = [places.get(result.call_id, -1) for one in run for result in one.tool_results]
        if found != sorted(found) and -1 not in found:
            out = list(messages) if out is None else out
            out[n + 1 : stop] = _sorted(run, places)
    return messages if out is None else [message for message in out if message.parts or message.role != "tool"]


def _sorted(run: Sequence[Message], places: dict[str, int]) -> list[Message]:
    """As many messages as there were: whole ones in another order, or the first with all that they hold."""

    def place(part: object) -> int:
        return places.get(part.call_id, len(places)) if isinstance(part, ToolResult) else len(places)

    if all(len(message.parts) == 1 for message in run):
        return sorted(run, key=lambda message: place(message.parts[0]))
    parts = sorted((part for message in run for part in message.parts), key=place)
    return [attrs.evolve(run[0], parts=tuple(parts), native=None), *(attrs.evolve(one, parts=(), native=None) for one in run[1:])]
