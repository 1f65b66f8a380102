"""Repairs of calls and results: V04 to V06, V23, V29, V34, and steps written out as text where nothing else is valid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from contextport.contracts import CacheMark, JsonPart, Media, Message, Part, Role, Text, Thinking, ToolCall, ToolResult, dump_json
from contextport.strategies.atoms import arrange

from .editing import with_parts, without_parts, words
from .order_checks import is_joined, of_one_group, unanswerable
from .window import Violation, Window

__all__ = ["flattened", "lone_server_parts_dropped", "pairs_restored", "undeclared_flattened"]


def pairs_restored(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Each call with its result right behind it, a stand-in where there is none, and no other results (V04, V05, V06, V23).

    Results stand in messages of their own where they may not be mixed with other content (V29), and first in theirs elsewhere.
    """
    view = window.with_messages(arrange(window.messages))
    untold = unanswerable(view)
    if untold:
        return flattened(view, untold)
    out: list[Message] = []
    said: list[Message] = []  # besides the results of a block; it comes after the block
    for n, message in enumerate(view.messages):
        if n not in view.result_holders:
            out.extend(said)
            said = []
            out.append(message if message.role != "tool" else attrs.evolve(message, role="user", native=None))
            continue
        results, rest = _separated(view, n)
        if out and n - 1 in view.result_holders and _are_split(view, out[-1], results):
            results = attrs.evolve(out.pop(), parts=(*view.messages[n - 1].parts, *results.parts), native=None)
        out.append(results)
        if rest is not None:
            said.append(rest)
    out += said
    return out if window.profile.mixed_results else _parted(window, out)


def _parted(window: Window, messages: Sequence[Message]) -> list[Message]:
    """The messages, results no longer of one group with what came with them in a message of the wire (V29)."""
    out = list(messages)
    for n in range(1, len(out)):
        before, after = out[n - 1], out[n]
        if of_one_group(window.profile, before, after) and bool(before.tool_results) != bool(after.tool_results):
            assert after.native is not None
            out[n] = attrs.evolve(after, native=attrs.evolve(after.native, group=None))
    return out


def _are_split(window: Window, before: Message, after: Message) -> bool:
    """Whether results of one step would be two messages on a wire where they have to be one."""
    one_message = window.profile.results_as == "user" and before.role == after.role == "tool"
    return one_message and not is_joined(window, before, after)


def _separated(window: Window, n: int) -> tuple[Message, Message | None]:
    """A message's results, and what else it says if that may not stay with them."""
    message, profile = window.messages[n], window.profile
    results: list[Part] = []
    rest: list[Part] = []
    in_order = True
    for part in message.parts:
        if (type(part) is ToolResult and part.executor == "client") or (type(part) is CacheMark and not rest):
            in_order = in_order and not rest
            results.append(part)
        else:
            rest.append(part)
    if message.role == "tool" and not rest:
        return message, None
    may_stay = message.role == "user" and profile.results_as == "user"
    if may_stay and in_order and (not rest or (profile.mixed_results and n + 1 not in window.result_holders)):
        return message, None
    alone = attrs.evolve(message, role="tool", parts=tuple(results), native=None)
    if not rest:
        return alone, None
    role: Role = "assistant" if message.role == "assistant" else "user"
    return alone, attrs.evolve(message, id=f"{message.id}/said", role=role, parts=tuple(rest), native=None)


def lone_server_parts_dropped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """No half of a pair of the provider's own tools (V34)."""
    return without_parts(window.messages, [(violation.index, violation.part) for violation in found])


def undeclared_flattened(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Steps whose tools are not declared, as text (V28)."""
    named = {violation.index for violation in found}
    return flattened(window, [step.caller for step in window.steps if named & {*range(step.caller, step.stop)}])


def flattened(window: Window, callers: Iterable[int]) -> list[Message]:
    """The steps of the given callers as text: what the assistant said stays, calls and results are told in a user message."""
    chosen = set(callers)
    steps = {step.caller: step for step in window.steps if step.caller in chosen}
    out: list[Message] = []
    n = 0
    while n < len(window.messages):
        step = steps.get(n)
        out.extend((window.messages[n],) if step is None else _told(window.messages[n : step.stop]))
        n = n + 1 if step is None else step.stop
    return out


def _told(block: Sequence[Message]) -> list[Message]:
    caller, *answers = block
    spoken = tuple(p for p in caller.parts if type(p) is not ToolCall and type(p) is not Thinking and type(p) is not CacheMark)
    results: dict[str, list[ToolResult]] = {}
    beside: list[Part] = []
    for message in answers:
        for part in message.parts:
            if type(part) is ToolResult:
                results.setdefault(part.call_id, []).append(part)
            elif type(part) is not CacheMark:
                beside.append(part)
    lines: list[str] = []
    media: list[Part] = []
    for call in caller.tool_calls:
        answered = results.get(call.call_id)
        result = answered.pop(0) if answered else None
        lines.append(f"[The assistant called {call.name} with {call.arguments or '{}'}. {_outcome(result)}]")
        media.extend(part for part in (result.parts if result else ()) if type(part) is Media)
    told = words(caller.id, "told", "\n\n".join(lines), *media, *beside)
    told = attrs.evolve(told, pinned=any(m.pinned for m in block), importance=max(m.importance for m in block))
    return [*with_parts([caller], {0: spoken}), told]


def _outcome(result: ToolResult | None) -> str:
    if result is None:
        return "There is no result."
    said = [
        part.text if type(part) is Text else dump_json(part.value) if type(part) is JsonPart else f"({_what(part)})"
        for part in result.parts
    ]
    return f"The {'error' if result.status == 'error' else 'result'} was: " + ("\n".join(said) or "nothing")


def _what(part: Part) -> str:
    return part.media if isinstance(part, Media) else str(getattr(part, "type", "other content"))
