"""Repairs inside of messages: V07 to V11, V13, V30, V31, and of counts: V32, V35."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import attrs

from contextport.contracts import Message, Opaque, Part, Text, ToolCall, ToolResult, dump_json
from contextport.contracts.profile import ProviderProfile

from .content_checks import is_free_text, is_sent, refused_marks
from .editing import with_parts, without_parts
from .window import Violation, Window

__all__ = [
    "arguments_wrapped",
    "blank_dropped",
    "compaction_placed",
    "hollow_dropped",
    "ids_mapped",
    "marks_dropped",
    "space_trimmed",
]

NO_OUTPUT = "(no output)"


def ids_mapped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Calls with ids of the provider's form, no two alike, and their results with them (V07, V08).

    A new id is made of the old one by SHA-256, so that it is the same in every window. One that is there already gets one made
    of its message's id as well.
    """
    changed = {(violation.index, violation.part): violation.rule for violation in found}
    taken = {call.call_id for _, _, call in window.calls}
    made: dict[str, str] = {}
    changes: dict[int, tuple[Part, ...]] = {}
    for step in window.steps:
        names: dict[str, list[str]] = {}
        parts = list(window.messages[step.caller].parts)
        for k, call in step.calls:
            rule = changed.get((step.caller, k))
            new = call.call_id
            if rule == "V07":
                seed = f"{call.call_id}\n{window.messages[step.caller].id}\n{k}"
                new = _fresh(seed, window.profile.id_length, taken)
            elif rule == "V08":
                new = made.get(call.call_id) or _fresh(call.call_id, window.profile.id_length, taken)
                made[call.call_id] = new
            taken.add(new)
            names.setdefault(call.call_id, []).append(new)
            if rule is not None:
                parts[k] = attrs.evolve(call, call_id=new, raw=call.raw if is_free_text(call) else None)
        if any(new != old for old, all_new in names.items() for new in all_new):
            changes[step.caller] = tuple(parts)
            changes.update(_renamed_results(window, range(step.caller + 1, step.stop), names))
    return [
        attrs.evolve(message, parts=changes[n], native=None) if n in changes else message
        for n, message in enumerate(window.messages)
    ]


def _renamed_results(window: Window, block: range, names: dict[str, list[str]]) -> dict[int, tuple[Part, ...]]:
    """The results of a step under the new ids, those of one old id in the order of its calls."""
    changes: dict[int, tuple[Part, ...]] = {}
    for n in block:
        parts: list[Part] = []
        for part in window.messages[n].parts:
            if isinstance(part, ToolResult) and names.get(part.call_id):
                new = names[part.call_id].pop(0)
                part = part if new == part.call_id else attrs.evolve(part, call_id=new, raw=None)
            parts.append(part)
        if any(one is not other for one, other in zip(parts, window.messages[n].parts, strict=True)):
            changes[n] = tuple(parts)
    return changes


def _fresh(seed: str, length: int, taken: set[str]) -> str:
    """Hex digits of a hash of the seed, `length` of them, that no call has yet."""
    turn = 0
    while True:
        found = hashlib.sha256(f"{seed}\n{turn}".encode("utf-8", "surrogatepass")).hexdigest()[:length]
        if found not in taken:
            return found
        turn += 1


def arguments_wrapped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Arguments that are no JSON object in one, under the key `arguments`; none at all as `{}` (V09)."""
    return _replaced(window, found, _wrapped)


def _wrapped(part: Part) -> Part:
    assert isinstance(part, ToolCall)
    text = part.arguments if part.arguments.strip() else None
    return attrs.evolve(part, arguments="{}" if text is None else dump_json({"arguments": text}), raw=None)


def _replaced(window: Window, found: Sequence[Violation], change: Callable[[Part], Part]) -> list[Message]:
    changes: dict[int, list[Part]] = {}
    for violation in found:
        parts = changes.setdefault(violation.index, list(window.messages[violation.index].parts))
        parts[violation.part] = change(parts[violation.part])
    return with_parts(window.messages, {n: tuple(parts) for n, parts in changes.items()})


def blank_dropped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """No texts that say nothing, nor messages made of them; an empty result says that there is none (V10)."""
    profile = window.profile
    gone = {violation.index for violation in found if violation.part < 0}
    changes: dict[int, list[Part | None]] = {n: [] for n in gone}
    for violation in found:
        n, k = violation.index, violation.part
        if n not in gone:
            parts = changes.setdefault(n, list(window.messages[n].parts))
            part = window.messages[n].parts[k]
            parts[k] = _with_content(part, profile) if isinstance(part, ToolResult) else None
    return with_parts(window.messages, {n: tuple([p for p in parts if p is not None]) for n, parts in changes.items()})


def _with_content(result: ToolResult, profile: ProviderProfile) -> ToolResult:
    kept = tuple([part for part in result.parts if not (isinstance(part, Text) and _is_refused(part.text, profile))])
    said = profile.empty_results or any(is_sent(part, profile) for part in kept)
    return attrs.evolve(result, parts=kept if said else (Text(NO_OUTPUT),))


def _is_refused(text: str, profile: ProviderProfile) -> bool:
    return not text or (profile.refused_text == "blank" and text.isspace())


def hollow_dropped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """No assistant messages that say nothing there (V11)."""
    return with_parts(window.messages, {violation.index: () for violation in found})


def space_trimmed(window: Window, found: Sequence[Violation]) -> list[Message]:
    """The last text without white space at its end (V13)."""
    return _replaced(window, found, lambda part: attrs.evolve(part, text=part.text.rstrip()) if isinstance(part, Text) else part)


def marks_dropped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """No cache marks too many or in wrong places (V30)."""
    return without_parts(window.messages, [(n, k) for (n, k, _), _ in refused_marks(window)])


def compaction_placed(window: Window, found: Sequence[Violation]) -> list[Message]:
    """The newest compaction item alone, first in its message where that is its place (V31)."""
    newest = max(n for n, _, part in window.opaque if part.type == "compaction" and part.api == window.profile.api)
    messages = list(window.messages)
    last = max(k for n, k, part in window.opaque if n == newest and part.type == "compaction")
    item = messages[newest].parts[last]
    changes: dict[int, tuple[Part, ...]] = {}
    for violation in found:
        n = violation.index
        changes[n] = tuple([part for part in messages[n].parts if not _is_compaction(part, window.profile)])
    if newest in changes:
        changes[newest] = (item, *changes[newest])
    return with_parts(messages, changes)


def _is_compaction(part: Part, profile: ProviderProfile) -> bool:
    return isinstance(part, Opaque) and part.type == "compaction" and part.api == profile.api
