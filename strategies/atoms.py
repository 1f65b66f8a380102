"""What must not be torn apart: calls and their results, and the steps and turns of a conversation.

`arrange` makes any log a well-formed view of itself. `split` cuts a well-formed list into steps: a step is one assistant message
with all its results, or a single message; a turn is what follows a user message up to the next. Strategies choose whole steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import attrs
from attrs import define, field, frozen

from contextport.contracts import Kind, Message, Part, Text, TokenCounter, ToolCall, ToolResult, from_chat
from contextport.contracts.constructors import constructor_of
from contextport.contracts.counting import message_sizes
from contextport.contracts.messages import make_message, make_text, make_tool_result

from .gap_marker import omitted_by

__all__ = ["MEMORY", "Step", "Steps", "arrange", "in_order", "is_system", "newest_question", "split", "stands_alone"]

_GAP, _CHAT = Kind.GAP, Kind.CHAT  # looking a member up in its class takes as long as a function call
MEMORY = frozenset({Kind.SUMMARY, Kind.FACTS})  # they stand for what is no longer there
INTERRUPTED = "No result: the call was interrupted before it answered."


def is_system(message: Message) -> bool:
    """Whether the message speaks with the authority of the system."""
    return message.role == "system" or message.role == "developer"


def newest_question(messages: Sequence[Message]) -> int | None:
    """Index of the newest user message that is not an interrupt (D6), or None."""
    return next((n for n in range(len(messages) - 1, -1, -1) if messages[n].opens_turn), None)


def stands_alone(message: Message) -> bool:
    """Whether it is a text and nothing else, as most messages of a chat: neither a call nor a result, and not empty."""
    parts = message.parts
    return len(parts) == 1 and type(parts[0]) is Text


def call_ids(parts: Sequence[Part]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the calls among the parts, and of those that results among them answer; only of those that the host makes."""
    if len(parts) == 1:  # most messages
        part = parts[0]
        if type(part) is ToolResult:
            return (), (part.call_id,) if part.executor == "client" else ()
        return (part.call_id,) if type(part) is ToolCall and part.executor == "client" else (), ()
    calls = [part.call_id for part in parts if type(part) is ToolCall and part.executor == "client"]
    answered = [part.call_id for part in parts if type(part) is ToolResult and part.executor == "client"]
    return tuple(calls), tuple(answered)


@define
class _OpenCalls:
    """The calls of one assistant message, and the results that have come in for them."""

    caller: Message
    waiting: list[str]
    results: list[Message] = field(factory=list[Message])


def arrange(messages: Sequence[Message], *, stand_ins: bool = True) -> list[Message]:
    """The messages with every call answered right after it (D16).

    Results stand behind their call in the order in which they came; a call without one gets a stand-in, unless `stand_ins` is
    false. A result without a call, a second result for a call, and an assistant message without any content are left out. All
    else keeps its order.
    """
    if in_order(messages):  # nearly always
        return list(messages)
    out: list[Message | _OpenCalls] = []
    waiting: dict[str, list[_OpenCalls]] = {}
    for message in messages:
        calls, answered = call_ids(message.parts)
        if answered:
            rest = _answer(message, waiting)
            if rest is not None:
                out.append(rest)
        elif message.role == "assistant" and not message.parts:
            continue
        else:
            out.append(message)
            if calls:
                opened = _OpenCalls(message, list(calls))
                out.append(opened)
                for call_id in calls:
                    waiting.setdefault(call_id, []).append(opened)
    arranged: list[Message] = []
    for item in out:
        if isinstance(item, Message):
            arranged.append(item)
        else:
            arranged.extend(item.results)
            if stand_ins:
                arranged.extend(_stand_in(item.caller, call_id, n) for n, call_id in enumerate(item.waiting))
    return arranged


def in_order(messages: Sequence[Message]) -> bool:
    """Whether `arrange` has nothing to do: every call is answered right after it, and there is nothing to leave out."""
    waiting: list[str] = []
    for message in messages:
        parts = message.parts
        if len(parts) == 1 and type(parts[0]) is Text:  # `stands_alone`, without the price of a call
            if waiting:
                return False
            continue
        calls, answered = call_ids(parts)
        if answered:
            for call_id in answered:
                if call_id not in waiting:
                    return False
                waiting.remove(call_id)
        elif waiting or (not parts and message.role == "assistant"):
            return False
        elif calls:
            waiting = [*calls]
    return not waiting


def _answer(message: Message, waiting: dict[str, list[_OpenCalls]]) -> Message | None:
    """Put a result message behind the newest open call it answers, without results that answer nothing.

    Returns what is left of a message that answers no call but says something besides.
    """
    opened: _OpenCalls | None = None
    kept = []
    for part in message.parts:
        if isinstance(part, ToolResult) and part.executor == "client":
            callers = waiting.get(part.call_id)
            if not callers or (opened is not None and callers[-1] is not opened):
                continue
            opened = callers.pop()
            opened.waiting.remove(part.call_id)
        kept.append(part)
    if opened is None:
        return attrs.evolve(message, parts=tuple(kept)) if kept else None
    opened.results.append(message if len(kept) == len(message.parts) else attrs.evolve(message, parts=tuple(kept)))
    return None


def _stand_in(caller: Message, call_id: str, nth: int) -> Message:
    """The stand-in for the `nth` unanswered call of a message, in the wire form that answers such a call."""
    call = next(call for call in caller.tool_calls if call.call_id == call_id)
    id = f"{caller.id}/{call_id}/stand-in" + (f"/{nth}" if nth else "")
    if call.raw is None and call_id == f"function:{call.name}":  # the legacy form has names and no ids
        legacy = from_chat({"role": "function", "name": call.name, "content": INTERRUPTED}, kind=Kind.STAND_IN)
        return attrs.evolve(legacy, id=id)
    in_content = isinstance(call.raw, dict) and call.raw.get("type") == "tool_use"  # answered inside content as well
    result = make_tool_result(call_id=call_id, name=call.name, status="error", parts=(make_text(INTERRUPTED),))
    return make_message(role="user" if in_content else "tool", id=id, kind=Kind.STAND_IN, parts=(result,))


@frozen(kw_only=True)
class Step:
    """`messages[start:stop]` of a well-formed list.

    `head` is the index of the step that opened its turn, or None before the first. `tokens` is its size. `offset` is the size of
    the conversation before it, counted from the start of the epoch: it never changes as the conversation grows.
    """

    start: int
    stop: int
    head: int | None
    tokens: int
    offset: int


_make_step = constructor_of(Step)


@frozen(kw_only=True)
class Steps:
    """A well-formed conversation in steps. System messages are apart: they are in every window.

    `first` is the index of the first step after the gap message, if there is one: those before it were kept from further back.
    `claimants` are the steps that hold a marked message, a summary or facts; `suffix_tokens[n]` is the size of steps n and later.
    """

    messages: tuple[Message, ...]
    steps: tuple[Step, ...]
    system: tuple[int, ...]
    system_tokens: int
    first: int
    claimants: tuple[int, ...]
    suffix_tokens: tuple[int, ...]
    omitted_messages: int
    omitted_tokens: int


def split(messages: Sequence[Message], counter: TokenCounter) -> Steps:
    """Arrange the messages and cut them into steps. Stand-ins do not move offsets, so that a late result does not either."""
    sizes = message_sizes(messages, counter)
    offsets = _offsets(messages, sizes)
    view: Sequence[Message] = messages
    if not in_order(messages):
        known = {message.id: offset for message, offset in zip(messages, offsets, strict=True)}
        view = arrange(messages)
        sizes = message_sizes(view, counter)
        offsets = [known.get(message.id, 0) for message in view]
    claims = [message.marked or (message.kind is not _CHAT and message.kind in MEMORY) for message in view]
    steps: list[Step] = []
    claimants: list[int] = []
    system: list[int] = []
    system_tokens = first = omitted_messages = omitted_tokens = 0
    head: int | None = None
    at, end = 0, len(view)
    while at < end:
        message = view[at]
        role, stop = message.role, at + 1
        if message.kind is _GAP:
            omitted_messages, omitted_tokens = omitted_by(message)
            first = len(steps)
        elif role == "system" or role == "developer":
            system.append(at)
            system_tokens += sizes[at]
        else:
            tokens, claim = sizes[at], claims[at]
            while stop < end and not stands_alone(view[stop]) and call_ids(view[stop].parts)[1]:
                tokens += sizes[stop]
                claim = claim or claims[stop]
                stop += 1
            if role == "user" and message.opens_turn:
                head = len(steps)
            if claim:
                claimants.append(len(steps))
            steps.append(_make_step(start=at, stop=stop, head=head, tokens=tokens, offset=offsets[at]))
        at = stop
    return Steps(
        messages=tuple(view),
        steps=tuple(steps),
        system=tuple(system),
        system_tokens=system_tokens,
        first=first,
        claimants=tuple(claimants),
        suffix_tokens=(*reversed([*accumulate([step.tokens for step in reversed(steps)])]), 0),
        omitted_messages=omitted_messages,
        omitted_tokens=omitted_tokens,
    )


def _offsets(messages: Sequence[Message], sizes: Sequence[int]) -> list[int]:
    """For each message, the tokens of the conversation before it, what a gap message stands for included."""
    offsets: list[int] = []
    total = 0
    for message, size in zip(messages, sizes, strict=True):
        offsets.append(total)
        kind = message.kind
        if kind is _CHAT:  # most messages
            total += size
        elif kind is _GAP:
            total += omitted_by(message)[1]
        elif message.in_conversation:
            total += size
    return offsets
