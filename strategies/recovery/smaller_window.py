"""Reactive compaction: after a provider found a request too large, a window that is strictly smaller (R174 to R177)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from contextport.contracts import (
    BudgetTooSmall,
    Compacts,
    Context,
    ContextOverflow,
    ContextPortError,
    ErrorReading,
    Event,
    EventKind,
    EventSink,
    Json,
    Message,
    RequestTooLarge,
    TokenCounter,
    message_tokens,
    provides,
    to_chat,
)
from contextport.contracts.manager import ShapesWindow
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.arguments import check_share
from contextport.strategies.atoms import is_system, newest_question, split

from .request_sizes import RequestSizes, target_of

__all__ = ["body_bytes", "recover", "recover_bytes", "request_too_large"]

_FOLD_SECONDS = 10.0  # how long a refused request waits for a summary before its window is cut instead
_NEEDS = 4  # times that a manager is asked for what it says it needs: for the prompt, for prompt and question, and to spare


async def recover(
    manager: ShapesWindow,
    session_id: str,
    error: ErrorReading,
    seen: Context,
    *,
    sizes: RequestSizes,
    profile: ProviderProfile | str | None = None,
    answer: int = 0,
    shrink: float = 0.5,
    tried: Sequence[int] = (),
    sink: EventSink | None = None,
) -> Context:
    """A window of the session that is strictly smaller than `seen`, which a provider refused with `error`.

    Its size follows from the numbers of the error, whatever our own estimate says (W12); they are reported to a counter that
    learns. Without numbers it is `shrink` of what was sent. A manager that `Compacts` folds old history first, if that does not
    take long. `answer` is how many tokens the answer needs. `tried` are the sizes of requests that were refused before.

    Raises `ContextOverflow` with `tried` and `limit` when the manager has nothing smaller, or nothing that the error allows.
    """
    check_share("shrink", shrink, zero=False)
    counted = sizes.counted(seen)
    if error.unit == "tokens" and not error.is_lower_bound:
        sizes.learn(seen, error.input)
    target = target_of(error, counted, answer=answer, shrink=shrink)
    await _folded(manager, session_id, sizes.max_tokens(target.aim))
    window = await _at_most(manager, session_id, sizes.max_tokens(target.aim), sizes.max_tokens(target.most), profile)
    if window is None or window.tokens >= seen.tokens:
        said = "" if error.limit is None else f" (its limit is {error.limit} {error.unit})"
        raise ContextOverflow(
            f"the provider found {counted} tokens too many{said}, and session {session_id!r} has no smaller window: "
            "shorten the newest message or the system prompt, send fewer tools, or use a larger model",
            tried=(*tried, counted),
            limit=error.limit,
        )
    _report(sink, session_id, error, counted, sizes.counted(window))
    return window


async def _folded(manager: ShapesWindow, session_id: str, max_tokens: int) -> None:
    """Have old history folded, if the manager can, so that what has to go is summed up rather than left out (D4)."""
    folding: object = manager
    if provides(folding, Compacts):
        try:
            async with asyncio.timeout(_FOLD_SECONDS):
                await folding.compact(session_id, max_tokens=max_tokens)
        except (ContextPortError, TimeoutError):
            return


async def _at_most(
    manager: ShapesWindow, session_id: str, aim: int, most: int, profile: ProviderProfile | str | None
) -> Context | None:
    """A window of at most `aim` tokens, else the smallest one of at most `most`, else None."""
    limit = aim
    for _ in range(_NEEDS):
        try:
            return await manager.get_context(session_id, max_tokens=limit, profile=profile)
        except BudgetTooSmall as error:
            needed = error.details.get("needed", most)
        if not limit < needed <= most:
            return None
        limit = needed
    return None


async def recover_bytes(
    manager: ShapesWindow,
    session_id: str,
    error: ErrorReading,
    seen: Context,
    *,
    sizes: RequestSizes,
    profile: ProviderProfile | str | None = None,
    again: bool = False,
    sink: EventSink | None = None,
) -> Context:
    """A window whose request body is smaller, after a provider refused the one of `seen` for its size in bytes.

    Older messages are left out until the body is within nine tenths of the limit, or of a quarter of its size if no limit was
    said. What has to be sent stays; if that is refused as well, or `again` says that a smaller body was, nothing else is sent.

    Raises `RequestTooLarge` with `message_id` when what must be sent is larger than the limit, or makes nearly all of the body:
    leaving out others would not help.
    """
    sent = (*seen.messages, *sizes.extra)
    body, beside = sum(map(body_bytes, sent)), sum(map(body_bytes, sizes.extra))
    known = error.limit if error.unit == "bytes" and error.limit is not None and error.limit < body else None
    allowed = 0 if again else body // 4 if known is None else known * 9 // 10
    kept = _kept(seen.messages, allowed - beside, sizes.counter)
    if sum(map(body_bytes, kept)) + beside > (body * 9 // 10 if known is None else known):
        raise request_too_large(sent, known)
    tokens = sum([message_tokens(message, sizes.counter) for message in kept]) + sizes.extra_tokens + sizes.tool_tokens
    limit = sizes.max_tokens(min(tokens, sizes.counted(seen) - 1))
    window = await _at_most(manager, session_id, limit, limit, profile)
    if window is None or sum(map(body_bytes, window.messages)) + beside >= body:
        raise request_too_large(sent, known)
    _report(sink, session_id, error, sizes.counted(seen), sizes.counted(window))
    return window


def _kept(messages: tuple[Message, ...], allowed: int, counter: TokenCounter) -> list[Message]:
    """What must be sent (system and pinned messages, the newest question, the newest step), and newer steps within `allowed`
    bytes.
    """
    question = newest_question(messages)
    kept = [message for n, message in enumerate(messages) if is_system(message) or message.pinned or n == question]
    known = {message.id for message in kept}
    spent = sum(map(body_bytes, kept))
    steps = split(messages, counter)
    for nth, step in enumerate(reversed(steps.steps)):
        more = [message for message in steps.messages[step.start : step.stop] if message.id not in known]
        spent += sum(map(body_bytes, more))
        if nth and spent > allowed:
            break
        kept.extend(more)
    return kept


def body_bytes(message: Message) -> int:
    """About how many bytes a message takes in a request body: those of its JSON in OpenAI chat form, media included."""
    return len(json.dumps(to_chat([message]), ensure_ascii=False).encode("utf-8", "replace"))


def request_too_large(messages: tuple[Message, ...], limit: int | None) -> RequestTooLarge:
    """The error that names the largest of the messages; `limit` is the provider's, in bytes, if it said so."""
    largest = max(messages, key=body_bytes)
    size, total = body_bytes(largest), sum(map(body_bytes, messages))
    said = "" if limit is None else f", and the provider takes {limit}"
    return RequestTooLarge(
        f"message {largest.id!r} makes {size} of the {total} bytes of the request{said}: make it smaller, or send a reference to "
        "what it holds; leaving out other messages does not help",
        message_id=largest.id,
        bytes=size,
        total=total,
        limit=limit,
    )


def _report(sink: EventSink | None, session_id: str, error: ErrorReading, before: int, after: int) -> None:
    if sink is not None:
        figures: dict[str, Json] = {
            "kind": error.kind.value,
            "evidence": error.evidence,
            "tokens_before": before,
            "tokens": after,
        }
        sink.emit(Event(kind=EventKind.CONTEXT_RECOVERED, session_id=session_id, data=figures))
