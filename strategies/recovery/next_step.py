"""What follows from one call of an answer: it is whole, goes on, or ends unfinished."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs import field, frozen

from contextport.contracts import Completion, InvalidArgument, Message, Part, StopReason, Text, Thinking
from contextport.strategies.arguments import check_count

from .answer_parts import added_usage, cut_calls, joined, refusal_parts, says_something, without_cut_calls
from .answer_state import Need, Unfinished
from .directives import Directives

__all__ = ["ContinuationPolicy", "Progress", "progress_after"]


@frozen(kw_only=True)
class ContinuationPolicy:
    """How a cut answer is dealt with.

    `mode`: `continue` asks for the rest, `stop` ends there and says so, `off` takes every answer for a whole one. Calls that were
    cut are left out in any mode. At most `max_continuations` more calls are made (D3), each shown the last `anchor_chars`
    characters of the answer (R167). Where reasoning or a tool call used up the limit of the answer, the limit is raised by
    `raise_factor`, up to `output_cap` tokens.
    """

    mode: Literal["continue", "stop", "off"] = "continue"
    max_continuations: int = 3
    anchor_chars: int = 2_000
    raise_factor: float = 2.0
    output_cap: int = 64_000
    directives: Directives = field(factory=Directives)

    def __attrs_post_init__(self) -> None:
        if self.mode not in ("continue", "stop", "off"):
            raise InvalidArgument(f"mode is {self.mode!r}; it must be continue, stop or off", name="mode", value=self.mode)
        if self.max_continuations != 0:
            check_count("max_continuations", self.max_continuations)
        check_count("anchor_chars", self.anchor_chars)
        check_count("output_cap", self.output_cap)
        if not self.raise_factor > 1:
            raise InvalidArgument(f"raise_factor is {self.raise_factor!r}; it must be above 1, such as 2", name="raise_factor")


@frozen(kw_only=True)
class Progress:
    """An answer after a call.

    `whole`: nothing is missing. `goes_on`: another call may bring the rest. `discards`: what the call wrote is void. `pause`: the
    provider asked for the next call itself.
    """

    answer: Unfinished
    whole: bool = False
    goes_on: bool = False
    discards: bool = False
    pause: bool = False


def progress_after(answer: Unfinished, completion: Completion, dropped: int, policy: ContinuationPolicy) -> Progress:
    """What became of `answer` by a call for it; the first `dropped` characters of the call's text were said before."""
    thinks = answer.thinks or any(type(part) is Thinking for part in completion.message.parts)
    answer = attrs.evolve(answer, usage=added_usage(answer.usage, completion), thinks=thinks)
    stop = completion.stop
    if stop is StopReason.REFUSAL or stop is StopReason.FILTERED:
        return _refused(answer, completion)
    if stop is StopReason.PAUSED or stop is StopReason.COMPACTED:
        return _paused(answer, completion.message, dropped)
    message = without_cut_calls(completion.message)
    more = attrs.evolve(answer, parts=joined(answer.parts, message.parts, dropped) if answer.parts else message.parts)
    cut = cut_calls(completion.message.parts)
    if message.tool_calls or policy.mode == "off":
        return Progress(answer=more, whole=True)
    if cut or stop is StopReason.MALFORMED:
        return _for_call(answer, more, completion, policy, tuple([call.name for call in cut]))
    if stop.is_cut:
        return _for_rest(answer, more, completion, policy)
    return Progress(answer=attrs.evolve(more, need=Need.REST), whole=stop is not StopReason.ERROR)


def _refused(answer: Unfinished, completion: Completion) -> Progress:
    """What a refused call wrote is dropped (providers bill it, and do not want it back); what was said before stays."""
    first = not answer.parts and not answer.carried
    kept = refusal_parts(completion.message) if first else answer.parts
    return Progress(answer=attrs.evolve(answer, parts=kept), whole=first, discards=True)


def _paused(answer: Unfinished, message: Message, dropped: int) -> Progress:
    carried = attrs.evolve(message, parts=joined(answer.parts, message.parts, dropped)) if answer.parts else message
    after = attrs.evolve(answer, need=Need.TURN, carried=(*answer.carried, carried), parts=())
    return Progress(answer=after, goes_on=True, pause=True)


def _for_call(
    before: Unfinished, answer: Unfinished, completion: Completion, policy: ContinuationPolicy, names: tuple[str, ...]
) -> Progress:
    """A cut call is asked for again, with a higher limit if there is one; with the same limit only once."""
    limit = _raised(before, completion, policy)
    after = attrs.evolve(answer, need=Need.CALL, cut_calls=names, max_output=limit or before.max_output)
    return Progress(answer=after, goes_on=limit is not None or before.need is not Need.CALL)


def _for_rest(before: Unfinished, answer: Unfinished, completion: Completion, policy: ContinuationPolicy) -> Progress:
    """A cut text is asked for the rest. Where nothing new was said, only a higher limit can help, if reasoning used it up."""
    need = Need.REST if says_something((*answer.parts, *_carried_parts(answer))) else Need.ROOM
    if completion.stop is StopReason.WINDOW_LIMIT:
        return Progress(answer=attrs.evolve(answer, need=need))
    if _gained(before, answer):
        return Progress(answer=attrs.evolve(answer, need=need), goes_on=True)
    spent = completion.usage is not None and completion.usage.output_tokens > 0
    reasoned = spent or any(type(part) is Thinking for part in completion.message.parts)
    limit = None
    if reasoned:  # of an unknown limit only the highest one is surely not the same
        limit = _raised(before, completion, policy) if _current(before, completion) else policy.output_cap
    return Progress(
        answer=attrs.evolve(answer, need=need, max_output=limit or before.max_output, parts=before.parts),
        goes_on=limit is not None,
    )


def _carried_parts(answer: Unfinished) -> tuple[Part, ...]:
    return tuple([part for message in answer.carried for part in message.parts])


def _gained(before: Unfinished, answer: Unfinished) -> bool:
    """Whether anything visible was added."""
    had = sum([len(part.text.rstrip()) for part in before.parts if type(part) is Text])
    has = sum([len(part.text.rstrip()) for part in answer.parts if type(part) is Text])
    return has > had or len(_others(answer)) > len(_others(before))


def _others(answer: Unfinished) -> list[object]:
    return [part for part in answer.parts if type(part) is not Text and type(part) is not Thinking]


def _raised(answer: Unfinished, completion: Completion, policy: ContinuationPolicy) -> int | None:
    """A higher limit for the next call, or None where there is none or the present one is not known."""
    current = _current(answer, completion)
    higher = min(policy.output_cap, int(current * policy.raise_factor))
    return higher if current and higher > current else None


def _current(answer: Unfinished, completion: Completion) -> int:
    """The limit that a call had, as far as it is known: what was asked for, else what was written; 0 if neither was said."""
    return answer.max_output or (completion.usage.output_tokens if completion.usage else 0)
