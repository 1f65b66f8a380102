"""Checks of a request as a whole: V28 and V32 to V36."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from contextport.contracts import Json, Media, Message, Part, Refusal, Text, ToolResult

from .window import Violation, Window

__all__ = ["REQUEST_CHECKS", "missing", "tool_names", "wire_count"]


def tools_declared(window: Window) -> Iterator[Violation]:
    """V28: while there are calls or results, tools are declared and, where that is asked for, each called one."""
    rule, tools = window.profile.declared_tools, window.facts.tools
    if rule == "no" or not (window.calls or window.results):
        return
    if tools is None:
        for n in dict.fromkeys(n for n, _, _ in (*window.calls, *window.results)):
            yield window.violation("V28", n, detail="calls and results need declared tools, and there are none")
    elif tools and rule == "each":
        names = tool_names(tools)
        for n, k, call in window.calls:
            if call.name not in names:
                yield window.violation("V28", n, k, f"the tool {call.name} is not declared")


def tool_names(tools: Iterable[Json]) -> frozenset[str]:
    """The names in tool schemas, whether of the OpenAI chat form or flat."""
    names: set[str] = set()
    for tool in tools:
        held: Any = tool.get("function", tool) if isinstance(tool, dict) else {}
        name = held.get("name") if isinstance(held, dict) else None
        if isinstance(name, str):
            names.add(name)
    return frozenset(names)


def counts(window: Window) -> Iterator[Violation]:
    """V32: not more messages and tools than a request may have."""
    profile, tools = window.profile, window.facts.tools
    if profile.max_messages is not None and wire_count(window) > profile.max_messages:
        yield Violation(rule="V32", detail=f"{wire_count(window)} messages; a request may have {profile.max_messages}")
    if profile.max_tools is not None and tools is not None and len(tools) > profile.max_tools:
        yield Violation(rule="V32", detail=f"{len(tools)} tools; a request may have {profile.max_tools}")


def wire_count(window: Window) -> int:
    """Messages of the wire: each result is one where tool messages are; a bound from above elsewhere."""
    return len(window.messages) + max(0, len(window.results) - len(window.result_holders))


def references(window: Window) -> Iterator[Violation]:
    """V33: what the provider finds by reference is still how the window begins."""
    for reference in window.facts.references:
        for n, covered in enumerate(reference.covers):
            found = window.messages[n] if n < len(window.messages) else None
            if found is None or not (found is covered or (found.id == covered.id and found.parts == covered.parts)):
                yield Violation(rule="V33", message_id=covered.id, detail=f"{reference.name} covers what is not sent")
                break


def server_pairs(window: Window) -> Iterator[Violation]:
    """V34: a call that the provider ran and its result are both there, unless the provider is still to go on with it."""
    if not (window.profile.server_pairs and (window.served or window.opaque)):
        return
    found: dict[str, list[tuple[int, int]]] = {}
    for n, k, part in window.served:
        found.setdefault(part.call_id, []).append((n, k))
    for n, k, part in window.opaque:
        if part.pair_id is not None:
            found.setdefault(part.pair_id, []).append((n, k))
    for pair_id, places in found.items():
        if len(places) == 1 and not _is_pending(window, places[0][0]):
            yield window.violation("V34", *places[0], f"{pair_id} has lost its partner")


def _is_pending(window: Window, n: int) -> bool:
    """Whether nothing but results of host-side calls comes after message `n`, so that the provider may still answer."""
    return window.messages[n].role == "assistant" and all(later in window.result_holders for later in window.spoken if later > n)


def pinned(window: Window) -> Iterator[Violation]:
    """V35: what the user pinned is there."""
    for message in missing(window.facts.pinned, window.messages):
        yield Violation(rule="V35", message_id=message.id, detail="a pinned message is missing")


def missing(pinned: Sequence[Message], messages: Sequence[Message]) -> list[Message]:
    """The pinned messages that are not there, nor all their words and media, merged with others or told in other words.

    Calls and results stand and fall with their partners (V04, V05), so that they are not missed.
    """
    ids = {message.id for message in messages}
    gone = [message for message in pinned if message.id not in ids]
    if not gone:
        return []
    every = [part for message in messages for part in _with_inner(message)]
    texts = {part.text for part in every if isinstance(part, Text | Refusal)}
    told = "\n".join(texts)

    def is_there(part: Part) -> bool:
        match part:
            case Text() | Refusal():
                return not part.text.strip() or part.text in texts or part.text.strip() in told
            case Media():
                return f"[{part.media} left out" in told or any(part == one for one in every)
            case _:
                return True

    return [message for message in gone if not all(is_there(part) for part in message.parts)]


def _with_inner(message: Message) -> Iterator[Part]:
    for part in message.parts:
        yield part
        if isinstance(part, ToolResult):
            yield from part.parts


def shrink(window: Window) -> Iterator[Violation]:
    """V36: a reduction leaves fewer tokens than there were."""
    sizes = window.facts.sizes
    if sizes is not None and sizes[1] >= sizes[0]:
        yield Violation(rule="V36", detail=f"{sizes[1]} tokens after the reduction, {sizes[0]} before")


REQUEST_CHECKS = {
    "V28": tools_declared,
    "V32": counts,
    "V33": references,
    "V34": server_pairs,
    "V35": pinned,
    "V36": shrink,
}
