"""The request that asks for the rest of an answer: the end of what was written, and what to do with it (R167 to R170)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from contextport.contracts import Json, Kind, Message, from_chat
from contextport.contracts.profile import Prefill, ProviderProfile
from contextport.strategies.head_and_tail import grapheme_cut
from contextport.strategies.provider_rules import repair

from .answer_parts import text_of
from .answer_state import Need, Unfinished
from .directives import Directives
from .seam import in_code_block

__all__ = ["Request", "anchor", "end_of", "request_for"]


@frozen(kw_only=True)
class Request:
    """`trimmed` is white space at the end of what was written that the request does not show."""

    messages: tuple[Message, ...] = ()
    trimmed: str = ""


def anchor(written: str, chars: int) -> str:
    """The last `chars` characters of what was written, cut between graphemes, with a mark of what is not shown."""
    if len(written) <= chars:
        return written
    start = grapheme_cut(written, len(written) - chars)
    return f"[…{start} characters left out…]{written[start:]}" if start else written


def request_for(
    answer: Unfinished,
    messages: Sequence[Message],
    *,
    anchor_chars: int,
    profile: ProviderProfile | None,
    directives: Directives,
    tools: Sequence[Json] = (),
) -> Request:
    """The next call for an answer to `messages`, which are valid for the provider, as what is returned is."""
    asked = (*messages, *answer.carried)
    end = end_of(answer, anchor_chars=anchor_chars, profile=profile, directives=directives)
    request = Request(messages=(*asked, *end.messages), trimmed=end.trimmed)
    if profile is None or not end.messages or end.messages[-1].role == "assistant":
        return request
    return Request(messages=repair(request.messages, profile, tools=tools).messages)  # such as two user turns in a row


def end_of(answer: Unfinished, *, anchor_chars: int, profile: ProviderProfile | None, directives: Directives) -> Request:
    """What follows the messages that are answered: the end of what was written, and what to do with it.

    A cut text is continued by prefill where the provider takes it, and by a user turn elsewhere: an interrupt, so that it is
    never the current question (W52).
    """
    if answer.need in (Need.ANSWER, Need.ROOM, Need.TURN):
        return Request()
    written = text_of(answer.parts)
    shown = anchor(written, anchor_chars)
    bare = shown.rstrip()
    if answer.need is Need.REST and profile is not None and profile.prefill != "no" and bare and not answer.thinks:
        return Request(messages=(_prefill(bare, profile.prefill),), trimmed=shown[len(bare) :])
    if answer.need is Need.CALL:
        told = directives.for_call(answer.cut_calls)
    else:
        told = directives.for_rest(in_code_block=in_code_block(written))
    turn = Message.user(told, kind=Kind.INTERRUPT)
    return Request(messages=(Message.assistant(shown), turn) if bare else (turn,))


def _prefill(text: str, prefill: Prefill) -> Message:
    if prefill == "flag":
        return from_chat({"role": "assistant", "content": text, "prefix": True})  # DeepSeek, Mistral
    return Message.assistant(text)
