"""Checks of reasoning: V17 to V22 and V25."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, cast

from contextport.contracts import CacheMark, Kind, Message, Opaque, Part, Thinking, ToolCall
from contextport.contracts.profile import ProviderProfile

from .model_names import plain_name
from .window import LIBRARY_KINDS, Step, Violation, Window

__all__ = ["REASONING_CHECKS", "carries_signature", "is_sealed", "stale_thinking", "without_reasoning"]


def is_sealed(part: Thinking) -> bool:
    """Whether reasoning carries something that its provider verifies: a seal, or the identity of a stored item."""
    return part.signature is not None or part.encrypted is not None or part.redacted or part.binding == "item"


def thinking_first(window: Window) -> Iterator[Violation]:
    """V17: with thinking on, the last assistant message of an open tool loop begins with its thinking."""
    step = window.open_step
    if window.profile.thinking_first and step is not None and window.thinks:
        first = window.messages[step.caller].parts[0]
        if type(first) is not Thinking or _why_refused(window.messages[step.caller], first, window.profile):
            yield window.violation("V17", step.caller, 0, "the open tool loop has lost its thinking")


def thinking_frozen(window: Window) -> Iterator[Violation]:
    """V18: sealed reasoning is as it was received."""
    if not (window.profile.thinking_frozen and window.thoughts and window.facts.original is not None):
        return
    received = {message.id: message for message in window.facts.original}
    for n, k, part in window.thoughts:
        before = received.get(window.messages[n].id)
        if is_sealed(part) and before is not None and before is not window.messages[n] and part not in before.parts:
            yield window.violation("V18", n, k, "the reasoning was changed since it was received")


def thinking_prefix(window: Window) -> Iterator[Violation]:
    """V19: what is before reasoning that is bound to its prefix is what was there when it was made."""
    if window.profile.stale_thinking == "drop":
        for n, k in stale_thinking(window):
            yield window.violation("V19", n, k, "what was before the reasoning has changed")


def stale_thinking(window: Window) -> list[tuple[int, int]]:
    """(message, part) of the sealed reasoning whose prefix is not that of the log or, without a log, of what was received.

    Cautious: what a repair or a summary put before it counts as a change, even where the model has seen it before.
    """
    if window.profile.thinking_bound_to != "prefix" or not window.thoughts:
        return []
    log = window.facts.original
    told = log is not None
    known = log if log is not None else window.messages if window.received is None else window.received
    same = _unchanged(window.messages, known, told=told)
    newest_prompt = _newest_prompt(known) if told else None
    in_force = [m.id for m in window.messages if m.kind is Kind.SYSTEM_PROMPT]
    prompt_changed = told and in_force != ([] if newest_prompt is None else [known[newest_prompt].id])
    since = _said_since_prompt(known, newest_prompt)
    stale: list[tuple[int, int]] = []
    for n, k, part in window.thoughts:
        if is_sealed(part):
            fresh = n < same and not prompt_changed and (since is None or window.messages[n].id in since)
            if not fresh:
                stale.append((n, k))
    return stale


def _unchanged(messages: Sequence[Message], known: Sequence[Message], *, told: bool) -> int:
    """How many messages of the window are, from its start on, those that are known; system prompts aside."""
    said = iter([message for message in known if _is_said(message)])
    for n, message in enumerate(messages):
        if not _is_said(message):
            continue
        if not told and (message.kind in LIBRARY_KINDS or message.kind is Kind.STAND_IN):
            return n
        expected = next(said, None)
        if expected is None or not (message is expected or _says_the_same(message, expected)):
            return n + 1 if expected is not None and _only_tail_differs(message, expected) else n
    return len(messages)


def _is_said(message: Message) -> bool:
    return message.kind is not Kind.SYSTEM_PROMPT and message.kind is not Kind.RECORD


def _says_the_same(message: Message, expected: Message) -> bool:
    return message.id == expected.id and message.role == expected.role and message.parts == expected.parts


def _only_tail_differs(message: Message, expected: Message) -> bool:
    """Whether reasoning at the front of a changed message is untouched: what stands behind it does not bind it."""
    front = 0
    for one, other in zip(message.parts, expected.parts, strict=False):
        if one != other:
            break
        front += 1
    return message.id == expected.id and all(type(part) is not Thinking for part in message.parts[front:])


def _newest_prompt(known: Sequence[Message]) -> int | None:
    return next((n for n in range(len(known) - 1, -1, -1) if known[n].kind is Kind.SYSTEM_PROMPT), None)


def _said_since_prompt(known: Sequence[Message], newest: int | None) -> frozenset[str] | None:
    """Ids of what was said under the newest of several system prompts; None where there was no change."""
    if newest is None or not any(message.in_conversation for message in known[:newest]):
        return None
    return frozenset(message.id for message in known[newest:])


def reasoning_pair(window: Window) -> Iterator[Violation]:
    """V20: a reasoning item stands before the item it led to, and no item has lost the reasoning it came with."""
    if not window.profile.item_pairs:
        return
    for n, k, part in window.thoughts:
        rest = window.messages[n].parts[k + 1 :]
        if part.item_id is not None and all(type(later) in (Thinking, CacheMark) for later in rest):
            yield window.violation("V20", n, k, f"reasoning {part.item_id} has nothing behind it")
    for n, message in enumerate(window.messages):
        for k, item_id in without_reasoning(message, window.profile.api):
            yield window.violation("V20", n, k, f"item {item_id} has lost its reasoning")


def without_reasoning(message: Message, api: str) -> list[tuple[int, str]]:
    """(part, id of its item) for what an edited message sends of items that came with reasoning which it no longer has."""
    native = message.native
    if native is None or native.api != api or native.parts is message.parts or not isinstance(native.raw, list):
        return []
    kept = {part.item_id for part in message.parts if type(part) is Thinking}
    items = cast(list[dict[str, Any]], native.raw)
    texts = [item for item in items if "role" in item]
    lost: list[tuple[int, str]] = []
    for one, later in pairwise(items):
        bound = one.get("type") == "reasoning" and isinstance(one.get("id"), str) and isinstance(later.get("id"), str)
        if bound and later.get("type") != "reasoning" and one["id"] not in kept:
            sent = (k for k, part in enumerate(message.parts) if _is_sent_as(part, later, alone=len(texts) == 1))
            lost += [(k, later["id"]) for k in sent][:1]
    return lost


def _is_sent_as(part: Part, item: dict[str, Any], *, alone: bool) -> bool:
    """Whether a part is sent as an item, or in it: new text is put into the only message item there was."""
    if type(part) is ToolCall:
        return bool(part.item_id == item["id"])
    if "role" not in item:
        return isinstance(part, Opaque) and bool(part.raw == item)
    if type(part) is Thinking or (isinstance(part, Opaque) and not part.api.endswith(".content")):
        return False
    content = cast(Any, item.get("content"))
    return alone or (isinstance(content, list) and bool(getattr(part, "raw", None) in cast(list[Any], content)))


def thought_signature(window: Window) -> Iterator[Violation]:
    """V21: the first call of each step of the current turn carries a signature."""
    if window.profile.thought_signatures:
        for step in window.steps:
            k, _ = step.calls[0]
            if step.caller > window.turn_start and not carries_signature(window.messages[step.caller], k, window.profile):
                yield window.violation("V21", step.caller, k, "the first call of the step has no signature")


def carries_signature(message: Message, k: int, profile: ProviderProfile) -> bool:
    """Whether the call at part `k` is sent with a signature: its own one, or one without a text right before it."""
    call = message.parts[k]
    raw: Any = call.raw if isinstance(call, ToolCall) else None
    own = isinstance(raw, dict) and message.native is not None and message.native.api == profile.api
    if own and (raw.get("thoughtSignature") or raw.get("thought_signature")):
        return True
    before = message.parts[k - 1] if k else None
    if not isinstance(before, Thinking) or before.text or before.signature is None:
        return False
    return _is_signed_here(before, profile)


def _is_signed_here(part: Thinking, profile: ProviderProfile) -> bool:
    return part.origin is not None and part.origin[0] in profile.signed_by


def signature_origin(window: Window) -> Iterator[Violation]:
    """V22: reasoning is of a form that the provider takes and, where it is sealed, sealed by this provider or model."""
    for n, k, part in window.thoughts:
        why = _why_refused(window.messages[n], part, window.profile)
        if why:
            yield window.violation("V22", n, k, why)


def _why_refused(message: Message, part: Thinking, profile: ProviderProfile) -> str:
    """Why reasoning is not valid here, or ''. Where nothing says who sealed it, the host may have noted the model."""
    if message.role != "assistant":
        return "only the assistant reasons"
    if not is_sealed(part) and profile.thinking in ("signed", "encrypted"):
        return "reasoning without a signature is not taken"
    noted = message.metadata.get("model") if part.origin is None else None
    if isinstance(noted, str) and profile.model and plain_name(noted) == profile.model:
        return ""
    sent = message.native is not None and message.native.api == profile.api  # codecs leave out what other apis put as text
    if profile.thinking == "none" and (sent or is_sealed(part)):
        return "reasoning is not taken"
    if not is_sealed(part):
        return ""
    if part.origin is None:
        return "nothing says who sealed the reasoning"
    by, model = part.origin
    if by not in profile.signed_by:
        return f"the reasoning was sealed by {by}"
    of_this_model = profile.signatures_of == "provider" or not (model and profile.model) or plain_name(model) == profile.model
    return "" if of_this_model else f"the reasoning was sealed for {model}"


def reasoning_echo(window: Window) -> Iterator[Violation]:
    """V25: an assistant message with calls says the reasoning that led to them."""
    rule = window.profile.reasoning_echo
    if rule == "no":
        return
    steps: list[Step] = window.steps
    if rule == "open_loop":
        steps = [] if window.open_step is None else [window.open_step]
    for step in steps:
        message = window.messages[step.caller]
        own = message.native is not None and message.native.api == window.profile.api  # the codec sends no other reasoning
        if not own or not any(type(part) is Thinking and (part.text or part.summary) for part in message.parts):
            yield window.violation("V25", step.caller, detail="the reasoning that led to the calls is missing")


REASONING_CHECKS = {
    "V17": thinking_first,
    "V18": thinking_frozen,
    "V19": thinking_prefix,
    "V20": reasoning_pair,
    "V21": thought_signature,
    "V22": signature_origin,
    "V25": reasoning_echo,
}
