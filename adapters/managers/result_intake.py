"""Large tool results on their way into the log: a shorter form goes into the conversation, the whole one is kept beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import maxsize

from contextport.contracts import ContextStore, Entry, Kind, Message, ToolCall, message_tokens
from contextport.strategies.tool_results import IngestPolicy, original_of, original_record

__all__ = ["original_in_log", "with_originals"]

_CALLS_WITHIN = 64  # newest entries in which the call of a result is looked for
_PAGE = 256


async def with_originals(
    messages: Sequence[Message], policy: IngestPolicy, recent: Iterable[Entry], store: ContextStore, session_id: str, *, most: int
) -> tuple[Message, ...]:
    """The messages as they go into the log: in place of a too large result, a record of it and its shorter form.

    `most` is how many tokens a result may keep, whatever the policy has for its tool.
    The calls that tell which tool answered are looked for among the messages, the `recent` entries and, for what is not there,
    in the log.
    """
    waiting = {result.call_id for message in messages for result in message.tool_results}
    if not waiting:
        return tuple(messages)
    calls = _calls_in([*(entry.message for entry in recent), *messages])
    least = min(most, _least_of(policy))
    if not waiting <= calls.keys() and any(message_tokens(message, policy.counter) > least for message in messages):
        read = await store.read(session_id, limit=_CALLS_WITHIN)
        calls = _calls_in(entry.message for entry in read) | calls
    taken: list[Message] = []
    for message in messages:
        shorter = policy.shortened(message, calls, most=most)
        taken += [message] if shorter is None else [original_record(message), shorter]
    return tuple(taken)


async def original_in_log(store: ContextStore, session_id: str, message_id: str) -> Message | None:
    """The whole of a message that was shortened on its way in, from the current epoch; None if there is none."""
    wanted = f"{message_id}/original"
    before: int | None = None
    while page := await store.read(session_id, before=before, limit=_PAGE):
        for entry in reversed(page):
            if entry.message.id == wanted and entry.message.kind is Kind.RECORD:
                return original_of(entry.message)
        before = page[0].seq
    return None


def _least_of(policy: IngestPolicy) -> int:
    """The size up to which a result comes in whole, whatever tool it is of."""
    return min([rule.max_tokens for rule in policy.rules if rule.keep != "all"], default=maxsize)


def _calls_in(messages: Iterable[Message]) -> dict[str, ToolCall]:
    return {call.call_id: call for message in messages for call in message.tool_calls}
