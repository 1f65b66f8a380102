"""What a manager checks of a fold before it keeps it: a strategy may be anyone's, and a fold is for good."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.contracts import Compression, Fold, Kind, Message
from contextport.strategies import is_system, newest_question

from .result_check import answered

__all__ = ["broken_fold_rule"]


def broken_fold_rule(given: Sequence[Message], result: Compression, fold: Fold) -> str:
    """The id of the first rule of `FoldsHistory` that the fold breaks, or the empty text. `given` is well formed."""
    covers = set(fold.covers)
    messages = {message.id: message for message in given}
    question = newest_question(given)
    waiting = {call for message in given if message.kind is Kind.STAND_IN for call in _calls_of(message)}
    covered = [message for message in given if message.id in covers]
    if [message.id for message in covered] != list(fold.covers) or covers & {message.id for message in result.messages}:
        return "STRATEGY-23"
    if not answered(covered) or not {message.id for message in fold.rewritten} <= messages.keys() - covers:
        return "STRATEGY-23"
    for message in covered:
        if is_system(message) or not message.in_conversation or waiting & {call.call_id for call in message.tool_calls}:
            return "STRATEGY-23"
    if question is not None and given[question].id in covers:
        return "STRATEGY-23"
    kinds = [message.kind for message in result.messages]
    if kinds.count(Kind.SUMMARY) > 1 or kinds.count(Kind.FACTS) > 1 or _wrong_kind(fold) or (covers and fold.summary is None):
        return "STRATEGY-24"
    first = [message.kind for message in result.messages if not is_system(message)][
        : kinds.count(Kind.SUMMARY) + kinds.count(Kind.FACTS)
    ]
    return "STRATEGY-25" if any(kind not in (Kind.SUMMARY, Kind.FACTS) for kind in first) else ""


def _calls_of(message: Message) -> list[str]:
    return [result.call_id for result in message.tool_results]


def _wrong_kind(fold: Fold) -> bool:
    summary, facts = fold.summary, fold.facts
    return (summary is not None and summary.kind is not Kind.SUMMARY) or (facts is not None and facts.kind is not Kind.FACTS)
