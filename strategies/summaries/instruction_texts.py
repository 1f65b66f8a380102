"""What a model that summarises is told (R113, R178, R179). The words stand in text files beside this module."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from string import Template

from contextport.contracts.summary import Hint, SummaryRequest

__all__ = ["all_instructions", "brief_instruction", "closing", "fork_instruction", "full_instruction", "hint_text"]

_LEAST_FOR_JSON = 64  # tokens of a summary below which the form would take more than what it holds
_QUOTED = 80  # characters of the last message that a fork covers, to tell which it is


@cache
def _resource(name: str) -> str:
    return (files("contextport.strategies.summaries") / "instructions" / f"{name}.txt").read_text("utf-8").strip()


@cache
def all_instructions() -> tuple[str, ...]:
    """All that a model is ever told, so that it can be recognised where it comes back."""
    names = ("task", "brief_task", "fork_task", "form", "ledger", "handoff", "closing", *Hint)
    return tuple(_resource(str(name)) for name in names)


def hint_text(hint: Hint) -> str:
    """What to keep and what to leave out for a use; it ends with the rule for the language."""
    return _resource(hint.value)


def closing() -> str:
    """The words after the text: after much of it, a model has to be told again what it is to do."""
    return _resource("closing")


def full_instruction(request: SummaryRequest) -> str:
    """The instruction for a model with room."""
    return "\n\n".join([_task("task", request), *_details(request)])


def brief_instruction(request: SummaryRequest) -> str:
    """The instruction for a model whose window the full one would fill."""
    return "\n\n".join([*_refused(request), _task("brief_task", request)])


def fork_instruction(request: SummaryRequest) -> str:
    """The instruction as the last message of the live request, which holds the messages already."""
    return "\n\n".join([_task("fork_task", request), *_scope(request), *_details(request)])


def _task(name: str, request: SummaryRequest) -> str:
    return Template(_resource(name)).substitute(limit=request.max_tokens)


def _details(request: SummaryRequest) -> Iterator[str]:
    if request.handoff:
        yield _resource("handoff")
    if request.ledger.facts:
        yield _resource("ledger")
    if request.max_tokens >= _LEAST_FOR_JSON:
        yield _resource("form")
    yield from _refused(request)
    yield hint_text(request.hint)


def _refused(request: SummaryRequest) -> Iterator[str]:
    if request.faults:
        yield "An earlier answer was refused: " + " ".join(request.faults)


def _scope(request: SummaryRequest) -> Iterator[str]:
    """Where a fork ends, if more was said after what is to be replaced."""
    last = request.messages[-1]
    begun = " ".join(last.text.split())[:_QUOTED]
    if begun and request.live[-1].id != last.id:
        yield f"Summarise up to the message that begins with {begun!r}, and nothing after it."
