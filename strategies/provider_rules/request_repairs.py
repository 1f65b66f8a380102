"""Repairs of media, of the number of messages, and of what was pinned: V26, V27, V32 and V35."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import attrs
from attrs import define, field

from contextport.contracts import Media, Message, Part, Role, Text, ToolCall, ToolResult, dump_json
from contextport.contracts.profile import ProviderProfile

from .content_checks import media_in_excess
from .editing import inserted, with_parts, words
from .media_forms import can_be_said
from .request_checks import missing, wire_count
from .window import Violation, Window, unedited

__all__ = ["counts_reduced", "media_moved", "media_reduced", "pinned_restored"]

MOVED = "[{kind}: in the user message below]"
FROM_ABOVE = "[from the message above]"
NOT_TAKEN = "[{kind} left out: this model does not take it]"
_SYSTEM = ("system", "developer")
LEFT_OUT = "[{kind} left out: {why}]"


@define
class _Mover:
    """Takes media out of places where it may not stand."""

    profile: ProviderProfile
    message: Message
    moved: list[Media] = field(factory=list[Media])

    def placed(self, media: Media, role: Role) -> Media | Text:
        """The media, or the words that stand in its place."""
        roles = self.profile.media_roles
        taken = media.media in self.profile.media_kinds and can_be_said(media, self.message, self.profile.api)
        if not taken or "user" not in roles:
            return Text(NOT_TAKEN.format(kind=media.media))
        if role in roles:
            return media
        self.moved.append(media)
        return Text(MOVED.format(kind=media.media))


def media_moved(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Media in a user message behind the message or step that had it; a kind that is not taken at all as words (V26)."""
    changes: dict[int, tuple[Part, ...]] = {}
    moved: dict[int, list[Media]] = {}
    ends = {n: step.stop for step in window.steps for n in range(step.caller, step.stop)}
    for n in sorted({violation.index for violation in found}):
        message = window.messages[n]
        mover = _Mover(profile=window.profile, message=message)
        own = unedited(message, window.profile.api)
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolResult):
                inside = tuple([mover.placed(inner, "tool") if isinstance(inner, Media) else inner for inner in part.parts])
                parts.append(attrs.evolve(part, parts=inside))
            else:
                parts.append(mover.placed(part, message.role) if isinstance(part, Media) and not own else part)
        changes[n] = tuple(parts)
        if mover.moved:
            moved.setdefault(_place_behind(window, n, ends), []).extend(mover.moved)
    messages = with_parts(window.messages, changes)
    return inserted(messages, {n: [words(window.messages[n - 1].id, "media", FROM_ABOVE, *parts)] for n, parts in moved.items()})


def _place_behind(window: Window, n: int, ends: dict[int, int]) -> int:
    """The index before which a user message may be put in that belongs to message `n`."""
    place = ends.get(n, n + 1)
    while place < len(window.messages) and place in window.systems:
        place += 1
    return place


def media_reduced(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Words in the place of media that is too large, and of the oldest where it is too much (V27)."""
    changes: dict[int, list[Part]] = {}
    for n, k, inner, why in media_in_excess(window):
        parts = changes.setdefault(n, list(window.messages[n].parts))
        part = parts[k]
        if isinstance(part, ToolResult):
            inside = list(part.parts)
            inside[inner] = _stub(inside[inner], why)
            parts[k] = attrs.evolve(part, parts=tuple(inside))
        else:
            parts[k] = _stub(part, why)
    return with_parts(window.messages, {n: tuple(parts) for n, parts in changes.items()})


def _stub(part: Part, why: str) -> Text:
    return Text(LEFT_OUT.format(kind=part.media if isinstance(part, Media) else "part", why=why))


def counts_reduced(window: Window, found: Sequence[Violation]) -> list[Message]:
    """The oldest steps as one transcript in a user message, as many as it takes (V32). Too many tools are the host's to mend."""
    most = window.profile.max_messages
    if most is None or wire_count(window) <= most:
        return list(window.messages)
    ends = {step.caller: step.stop for step in window.steps}
    chosen: list[int] = []
    excess = wire_count(window) - most + 1
    n = window.spoken[0]
    while n < len(window.messages) and excess > 0:
        stop = ends.get(n, n + 1)
        for m in range(n, stop):
            if m not in window.systems:
                chosen.append(m)
                excess -= max(1, len(window.messages[m].tool_results))
        n = stop
    told = _transcript([window.messages[m] for m in chosen])
    gone = set(chosen[1:])
    out = [told if m == chosen[0] else message for m, message in enumerate(window.messages) if m not in gone]
    return out if excess <= 0 else _with_one_system_message(out, excess)


def _with_one_system_message(messages: Sequence[Message], surplus: int) -> list[Message]:
    """The oldest system messages as one, as many as it takes for `surplus` fewer messages."""
    places = [n for n, message in enumerate(messages) if message.role in _SYSTEM][: surplus + 1]
    parts = tuple([part for n in places for part in messages[n].parts])
    joined = dict.fromkeys(places[1:], ()) | dict.fromkeys(places[:1], parts)
    return [attrs.evolve(one, native=None) if n == places[0] else one for n, one in enumerate(with_parts(messages, joined))]


def _transcript(messages: Sequence[Message]) -> Message:
    lines: list[str] = []
    media: list[Part] = []
    for message in messages:
        for part in message.parts:
            line = _line(part)
            if line:
                lines.append(f"{message.role}: {line}")
            held = part.parts if isinstance(part, ToolResult) else (part,)
            media.extend(one for one in held if isinstance(one, Media))
    told = words(messages[0].id, "transcript", "[Transcript of the conversation before]\n" + "\n".join(lines), *media)
    pinned, importance = any(m.pinned for m in messages), max(m.importance for m in messages)
    return attrs.evolve(told, pinned=pinned, importance=importance)


def _line(part: Part) -> str:
    if isinstance(part, ToolCall):
        return f"[calls {part.name} with {part.arguments}]"
    if isinstance(part, ToolResult):
        said = [one.text if isinstance(one, Text) else dump_json(getattr(one, "value", "")) for one in part.parts]
        return "\n".join(said)
    return str(getattr(part, "text", "") or "") if type(part).__name__ in ("Text", "Refusal") else ""


def pinned_restored(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Pinned messages where the log has them, or before all that is said (V35)."""
    order = {message.id: n for n, message in enumerate(window.facts.original or ())}
    last = len(order)
    #: The latest place in the log of any message so far: what the log does not have comes after all, system messages before.
    reached = list(accumulate((-1 if m.role in _SYSTEM else order.get(m.id, last) for m in window.messages), max))
    before: dict[int, list[Message]] = {}
    for message in sorted(missing(window.facts.pinned, window.messages), key=lambda message: order.get(message.id, -1)):
        before.setdefault(bisect_right(reached, order.get(message.id, -1)), []).append(message)
    return inserted(window.messages, before)
