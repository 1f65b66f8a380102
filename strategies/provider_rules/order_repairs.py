"""Repairs of the order of messages: V01 to V03, V12, V14 to V16 and V24."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from contextport.contracts import Kind, Message, Part, Role, Text, Thinking, ToolResult
from contextport.contracts.profile import ProviderProfile

from .editing import inserted, words
from .order_checks import is_among_messages, library_role, middle_place_is_legal
from .window import LIBRARY_KINDS, Violation, Window

__all__ = ["begun_by_user", "ended_by_user", "filled_after_results", "merged", "roles_mapped", "system_placed"]

BEGINNING = "[The conversation goes on from here.]"
CONTINUE = "Continue."
RESULTS_SEEN = "[I have the results.]"
_SYSTEM = ("system", "developer")


def begun_by_user(window: Window, found: Sequence[Violation]) -> list[Message]:
    """A user message in front of what is said (V01, V02)."""
    if not window.spoken:
        near = window.messages[-1].id if window.messages else "empty"
        return [*window.messages, words(near, "continue", CONTINUE)]
    first = window.spoken[0]
    return inserted(window.messages, {first: [words(window.messages[first].id, "beginning", BEGINNING)]})


def merged(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Neighbours of one role as one message (V03, V24): their parts one after the other, nobody's words changed.

    The message stays what the user's own one of them is, or the one with calls: with its id, kind and name. The wire forms of
    calls may hold signatures, which codecs find by the wire form of the message.
    """
    at = {violation.index for violation in found}
    runs: list[list[Message]] = []
    for n, message in enumerate(window.messages):
        if n in at and runs:
            runs[-1].append(message)
        else:
            runs.append([message])
    return [run[0] if len(run) == 1 else _as_one(run, window.profile) for run in runs]


def _as_one(run: Sequence[Message], profile: ProviderProfile) -> Message:
    base = next((message for message in run if message.opens_turn or message.tool_calls), None)
    base = base or next((message for message in run if message.kind not in LIBRARY_KINDS), run[0])
    parts: tuple[Part, ...] = tuple([part for message in run for part in message.parts])
    if ToolResult in map(type, parts):  # results first, whatever the user says with them
        parts = tuple(sorted(parts, key=lambda part: type(part) is not ToolResult))
    elif profile.thinking_first and type(parts[0]) is not Thinking:
        parts = tuple(sorted(parts, key=lambda part: type(part) is not Thinking))
    role: Role = "user" if {message.role for message in run} == {"tool", "user"} else base.role
    native = base.native if role == base.role else None
    pinned, importance = any(message.pinned for message in run), max(message.importance for message in run)
    return attrs.evolve(base, role=role, parts=parts, native=native, pinned=pinned, importance=importance)


def ended_by_user(window: Window, found: Sequence[Violation]) -> list[Message]:
    """A user turn behind what the assistant said last (V12)."""
    return [*window.messages, words(window.messages[-1].id, "continue", CONTINUE)]


def filled_after_results(window: Window, found: Sequence[Violation]) -> list[Message]:
    """Words of the assistant between results and what the user says next (V14)."""
    before: dict[int, list[Message]] = {}
    for n in dict.fromkeys(violation.index for violation in found):
        before[n] = [words(window.messages[n - 1].id, "seen", RESULTS_SEEN, role="assistant")]
    return inserted(window.messages, before)


def roles_mapped(window: Window, found: Sequence[Violation]) -> list[Message]:
    """System and developer messages under the role that the provider knows (V16)."""
    unknown = {violation.index for violation in found}
    role = window.profile.system_role
    return [_with_role(message, role) if n in unknown else message for n, message in enumerate(window.messages)]


def _with_role(message: Message, role: Role) -> Message:
    """The message under another role. Its wire form says the old one, so it is given up; a system's words stay no question."""
    kind = Kind.INTERRUPT if role == "user" and message.kind is Kind.CHAT else message.kind
    return attrs.evolve(message, role=role, kind=kind, native=None)


def system_placed(window: Window, found: Sequence[Violation]) -> list[Message]:
    """The library's messages under the role that the profile gives them; system messages where they may stand (V15)."""
    profile = window.profile
    role = library_role(profile)
    messages = [
        _with_role(message, role) if message.kind in LIBRARY_KINDS and message.role != role else message
        for message in window.messages
    ]
    if profile.system_place == "anywhere":
        return messages
    start = next((n for n, message in enumerate(messages) if message.role not in _SYSTEM), len(messages))
    lead, rest = messages[:start], messages[start:]
    if profile.system_place != "first":
        lead = [attrs.evolve(one, native=None) if is_among_messages(one, profile) else one for one in lead]
    if profile.system_place == "field_and_middle":
        rest = _moved_to_legal_places(rest)
    misplaced = [n for n in range(len(rest)) if rest[n].role in _SYSTEM and not _may_stay(profile, rest, n)]
    if profile.misplaced_system == "user":
        rest = [_with_role(message, "user") if n in misplaced else message for n, message in enumerate(rest)]
    else:
        lead = [*lead, *(attrs.evolve(rest[n], native=None) for n in misplaced)]
        rest = [message for n, message in enumerate(rest) if n not in misplaced]
    if profile.system_place == "first" and len(lead) > 1:
        lead = [attrs.evolve(lead[0], parts=tuple([part for message in lead for part in message.parts]), native=None)]
    return [*lead, *rest]


def _may_stay(profile: ProviderProfile, rest: Sequence[Message], n: int) -> bool:
    return profile.system_place == "field_and_middle" and n > 0 and middle_place_is_legal(rest, n, profile)


def _moved_to_legal_places(rest: Sequence[Message]) -> list[Message]:
    """System messages of words, each behind the next user turn that an assistant message follows or that is the last.

    Several that come to stand there are one. Those that find no place stay where they are.
    """
    out: list[Message] = []
    waiting: list[Message] = []
    for n, message in enumerate(rest):
        if message.role in _SYSTEM and all(type(part) is Text for part in message.parts):
            waiting.append(message)
        else:
            out.append(message)
        follows_user = bool(out) and out[-1].role in ("user", "tool")
        closes = n == len(rest) - 1
        next_is_assistant = not closes and rest[n + 1].role == "assistant"
        if waiting and follows_user and (next_is_assistant or closes):
            parts = tuple([part for one in waiting for part in one.parts])
            out.append(waiting[0] if len(waiting) == 1 else attrs.evolve(waiting[0], parts=parts, native=None))
            waiting = []
    return [*out, *waiting]
