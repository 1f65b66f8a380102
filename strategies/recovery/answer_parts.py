"""The parts of an answer that is written in several calls, put together to one message."""

from __future__ import annotations

import attrs

from contextport.contracts import Completion, Message, Part, Refusal, Text, Thinking, ToolCall, Usage

__all__ = ["added_usage", "cut_calls", "in_one", "joined", "refusal_parts", "says_something", "text_of", "without_cut_calls"]


def text_of(parts: tuple[Part, ...]) -> str:
    """The visible text, as it was streamed."""
    return "".join([part.text for part in parts if type(part) is Text])


def says_something(parts: tuple[Part, ...]) -> bool:
    """Whether there is anything but reasoning and white space."""
    return any(part.text.strip() if type(part) is Text else type(part) is not Thinking for part in parts)


def cut_calls(parts: tuple[Part, ...]) -> tuple[ToolCall, ...]:
    """The calls whose arguments are not whole."""
    return tuple([part for part in parts if type(part) is ToolCall and not part.complete])


def without_cut_calls(message: Message) -> Message:
    """The message without calls that were cut; without its reasoning as well, if no call is left that needs it."""
    if not cut_calls(message.parts):
        return message
    whole = tuple([part for part in message.parts if type(part) is not ToolCall or part.complete])
    if not any(type(part) is ToolCall for part in whole):
        whole = tuple([part for part in whole if type(part) is not Thinking])
    return attrs.evolve(message, parts=whole)


def refusal_parts(message: Message) -> tuple[Part, ...]:
    """What may be kept of a refused answer: the refusal itself."""
    return tuple([part for part in message.parts if type(part) is Refusal])


def joined(before: tuple[Part, ...], after: tuple[Part, ...], skipped: int) -> tuple[Part, ...]:
    """The parts of an answer and of its continuation, without the first `skipped` characters of the latter's text.

    Texts that meet become one. Reasoning is left out as a whole, but for that of a continuation with tool calls, which stands
    first: providers want it back with the calls (STRATEGY-15), and elsewhere it is tied to an answer that never was.
    """
    said = [part for part in before if type(part) is not Thinking]
    thought = [part for part in after if type(part) is Thinking] if any(type(part) is ToolCall for part in after) else []
    for part in after:
        if type(part) is Thinking:
            continue
        if type(part) is Text and skipped:
            dropped = min(skipped, len(part.text))
            skipped -= dropped
            part = Text(part.text[dropped:], citations=part.citations)
        if type(part) is Text and not part.text:
            continue
        last = said[-1] if said else None
        if type(part) is Text and type(last) is Text:
            said[-1] = Text(last.text + part.text, citations=(*last.citations, *part.citations))
        else:
            said.append(part)
    return (*thought, *said)


def in_one(carried: tuple[Message, ...], parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts of messages that a provider paused after, and what followed, in one: texts that meet become one."""
    said: list[Part] = []
    for part in [*(part for message in carried for part in message.parts), *parts]:
        last = said[-1] if said else None
        if type(part) is Text and type(last) is Text:
            said[-1] = Text(last.text + part.text, citations=(*last.citations, *part.citations))
        else:
            said.append(part)
    return tuple(said)


def added_usage(total: Usage | None, completion: Completion) -> Usage | None:
    """The usage of all calls so far; None as long as none was reported."""
    if completion.usage is None:
        return total
    return completion.usage if total is None else total + completion.usage
