"""Messages that an agent loop makes itself: interrupts, stand-ins for tools that never answered, the task of a child session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from contextport.contracts import ContextManager, InvalidArgument, Kind, Message, Text, ToolResult
from contextport.strategies.arguments import check_count
from contextport.strategies.atoms import arrange

from .fit_text import fit_text

__all__ = ["cancelled_results", "child_session_id", "interrupt", "open_child_session"]


def interrupt(text: str, **more: Any) -> Message:
    """A message that the host puts in while an agent works, such as a warning, a checklist, or words the user adds (R93, R192).

    It is a user message on the wire, stays visible while its turn lasts, and is never taken for the current question: that
    stays the user's own (D6, W52). Added to the session it is part of the log; handed to one request only (`extra` of a
    `Responder`) it is ephemeral. `more` are other fields of the message, such as `pinned`.
    """
    if not text.strip():
        raise InvalidArgument("an interrupt needs a text", name="text", value=text)
    return Message.user(text, kind=Kind.INTERRUPT, **more)


def cancelled_results(message: Message, reason: str, *, answered: Sequence[Message] = ()) -> tuple[Message, ...]:
    """Results for the calls of `message` that have none among `answered`, saying `reason`: for a host that cancels tools.

    A window has stand-ins for open calls by itself; these are to be added to the session, so that the log says what happened.
    The same call has a result of the same id each time, so that adding it again changes nothing.
    """
    if not reason.strip():
        raise InvalidArgument("a cancelled tool call needs a reason, which the model is told", name="reason", value=reason)
    missing = [made for made in arrange([message, *answered]) if made.kind is Kind.STAND_IN]
    return tuple([_cancelled(made, reason) for made in missing])


def _cancelled(made: Message, reason: str) -> Message:
    parts = tuple([attrs.evolve(part, parts=(Text(reason),)) if isinstance(part, ToolResult) else part for part in made.parts])
    return attrs.evolve(made, id=made.id.replace("/stand-in", "/cancelled"), kind=Kind.CHAT, parts=parts, native=None)


def child_session_id(parent: str, name: str) -> str:
    """The id of a session of its own for a step of `parent`: the same for the same two, and different for others."""
    for what, value in (("parent", parent), ("name", name)):
        if not value:
            raise InvalidArgument(f"{what} is empty; a child session needs both", name=what, value=value)
    return f"{parent}/child/{name.replace('%', '%25').replace('/', '%2F')}"


async def open_child_session(
    manager: ContextManager,
    parent: str,
    name: str,
    *,
    task: str,
    dependencies: Mapping[str, str] | None = None,
    system_prompt: str | None = None,
    dependency_chars: int = 50_000,
) -> str:
    """Begin a session that knows its task and what it builds on, and nothing of its parent's history (R198). Returns its id.

    `manager` may be another one than the parent's, with a budget of its own, on the same store or not. Each dependency is cut at
    `dependency_chars` characters (R199), JSON so that it stays JSON. Beginning the same child again changes nothing; another task
    under its name raises `MessageConflict`.
    """
    check_count("dependency_chars", dependency_chars)
    if not task.strip():
        raise InvalidArgument(f"the task of {name!r} is empty", name="task", value=task)
    child = child_session_id(parent, name)
    if system_prompt is not None:
        await manager.set_system_prompt(child, system_prompt)
    given = [f"Result of {key}:\n{fit_text(text, dependency_chars, 'json')}" for key, text in (dependencies or {}).items()]
    await manager.add_message(child, Message.user("\n\n".join([*given, task]), id=f"{child}/task"))
    return child
