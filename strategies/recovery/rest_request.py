"""The request that asks for the rest of an answer: the end of what was written, and what to do with it (R167 to R170)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from contextport.contracts import Kind, Message, from_chat
from contextport.contracts.profile import Prefill
from contextport.strategies.head_and_tail import grapheme_cut

from .answer_parts import text_of
from .answer_state import Need, Unfinished
from .directives import Directives
from .seam import in_code_block

__all__ = ["Request", "anchor", "request_for"]


@frozen(kw_only=True)
class Request:
    """`trimmed` is white space at the end of what was written that the request does not show."""

    messages: tuple[Message, ...]
    trimmed: str = ""


def anchor(written: str, chars: int) -> str:
    """The last `chars` characters of what was written, cut between graphemes, with a mark of what is not shown."""
    if len(written) <= chars:
        return written
    start = grapheme_cut(written, len(written) - chars)
    return f"[…{start} characters left out…]{written[start:]}" if start else written


def request_for(
    answer: Unfinished, messages: Sequence[Message], *, anchor_chars: int, prefill: Prefill, directives: Directives
) -> Request:
    """The messages of the next call for an answer to `messages`.

    A cut text is continued by prefill where the provider takes it, and by a user turn elsewhere: an interrupt, so that it is
    never the current question (W52).
    """
    asked = (*messages, *answer.carried)
    if answer.need in (Need.ANSWER, Need.ROOM, Need.TURN):
        return Request(messages=asked)
    written = text_of(answer.parts)
    shown = anchor(written, anchor_chars)
    bare = shown.rstrip()
    if answer.need is Need.REST and prefill != "no" and bare:
        return Request(messages=(*asked, _prefill(bare, prefill)), trimmed=shown[len(bare) :])
    told = (
        directives.for_call(answer.cut_calls)
        if answer.need is Need.CALL
        else directives.for_rest(in_code_block=in_code_block(written))
    )
    turn = Message.user(told, kind=Kind.INTERRUPT)
    return Request(messages=(*asked, Message.assistant(shown), turn) if bare else (*asked, turn))


def _prefill(text: str, prefill: Prefill) -> Message:
    if prefill == "flag":
        return from_chat({"role": "assistant", "content": text, "prefix": True})  # DeepSeek, Mistral
    return Message.assistant(text)
