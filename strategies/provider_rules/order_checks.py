"""Checks of which message follows which: V01 to V06, V12, V14 to V16, V23, V24 and V29."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from contextport.contracts import CacheMark, Media, Message, Role, Text, ToolCall, ToolResult
from contextport.contracts.profile import ProviderProfile

from .window import LIBRARY_KINDS, Violation, Window, says

__all__ = [
    "ORDER_CHECKS",
    "is_among_messages",
    "is_continued",
    "is_joined",
    "library_role",
    "middle_place_is_legal",
    "of_one_group",
    "unanswerable",
]


def nonempty(window: Window) -> Iterator[Violation]:
    """V01: something is said besides the system messages."""
    if not window.spoken:
        yield Violation(rule="V01", detail="there is no message but the system's")


def first_user(window: Window) -> Iterator[Violation]:
    """V02: the first message that is not the system's is the user's, and says something itself."""
    if window.profile.first_user and window.spoken:
        n = window.spoken[0]
        message = window.messages[n]
        if message.role != "user" or all(type(part) is ToolResult for part in message.parts):
            yield window.violation("V02", n, detail=f"the conversation begins with {message.role}")


def alternate(window: Window) -> Iterator[Violation]:
    """V03: no two neighbours have one wire role once they are encoded."""
    if window.profile.alternation:
        for before, after in zip(window.spoken, window.spoken[1:], strict=False):
            if after == before + 1 and not _differ(window, window.messages[before], window.messages[after]):
                yield window.violation("V03", after, detail=f"{window.messages[after].role} follows its like")


def _differ(window: Window, before: Message, after: Message) -> bool:
    results_are_user = window.profile.results_as == "user"
    if before.role == after.role:
        return (before.role == "tool" and not results_are_user) or is_joined(window, before, after)
    return not (results_are_user and {before.role, after.role} == {"tool", "user"}) or is_joined(window, before, after)


def is_joined(window: Window, before: Message, after: Message) -> bool:
    """Whether the codec makes one wire message of two neighbours: results with what follows them, or parts of one group.

    Two that were wire messages of their own stay two.
    """
    api = window.profile.api
    one, other = before.native, after.native
    if one is not None and other is not None and one.api == other.api == api:
        return of_one_group(window.profile, before, after)
    return bool(before.tool_results) and after.role in ("tool", "user")


def of_one_group(profile: ProviderProfile, before: Message, after: Message) -> bool:
    """Whether two neighbours came as one message of this wire, and so are sent as one again."""
    one, other = before.native, after.native
    if one is None or other is None or not (one.api == other.api == profile.api):
        return False
    return one.group is not None and one.group == other.group


def call_answered(window: Window) -> Iterator[Violation]:
    """V04: every call has a result in the block right after its message."""
    for step in window.steps:
        if not step.is_complete:
            answers = Counter(step.answered)
            for k, call in step.calls:
                if answers[call.call_id] > 0:
                    answers[call.call_id] -= 1
                else:
                    yield window.violation("V04", step.caller, k, f"call {call.call_id} has no result behind it")
    for n in unanswerable(window):
        yield window.violation("V04", n, detail="calls are made by the assistant, and computers answered by a screenshot")


def unanswerable(window: Window) -> list[int]:
    """The callers of steps that cannot be sent as such: of another role, or OpenAI's computer whose result shows nothing."""
    strangers = [step.caller for step in window.steps if window.messages[step.caller].role != "assistant"]
    if strangers or not window.profile.item_pairs:
        return strangers
    blind = {result.call_id for _, _, result in window.results if not any(type(part) is Media for part in result.parts)}
    return [
        step.caller for step in window.steps if any(_is_of_computer(call) and call.call_id in blind for _, call in step.calls)
    ]


def _is_of_computer(call: ToolCall) -> bool:
    return isinstance(call.raw, dict) and call.raw.get("type") == "computer_call"


def result_has_call(window: Window) -> Iterator[Violation]:
    """V05: every result has its call in the assistant message before its block."""
    steps = window.steps
    if sum([len(step.answered) for step in steps]) == len(window.results) and all(step.is_complete for step in steps):
        return
    waiting: dict[int, Counter[str]] = {}
    for step in steps:
        asked = Counter(step.asked)
        waiting.update((n, asked) for n in range(step.caller + 1, step.stop))
    for n, k, result in window.results:
        asked = waiting.get(n, Counter())
        if asked[result.call_id] > 0:
            asked[result.call_id] -= 1
        else:
            yield window.violation("V05", n, k, f"no call {result.call_id} waits for a result here")


def results_contiguous(window: Window) -> Iterator[Violation]:
    """V06: the results of a message are one block: first in it, in messages that may hold results, as one wire message."""
    for n in window.spoken:
        if window.messages[n].role == "tool" and n not in window.result_holders:
            yield window.violation("V06", n, detail="a tool message holds no result")
    roles = ("tool", "user") if window.profile.results_as == "user" else ("tool",)
    for n in sorted(window.result_holders):
        message = window.messages[n]
        if message.role not in roles:
            yield window.violation("V06", n, detail=f"results stand in a message of role {message.role}")
        elif len(message.parts) > 1 and (why := _interrupted(window, n)):
            yield window.violation("V06", n, detail=why)
    if window.profile.results_as == "user":
        for step in window.steps:
            for n in range(step.caller + 2, step.stop):
                before, after = window.messages[n - 1], window.messages[n]
                if not is_joined(window, before, after):
                    yield window.violation("V06", n, detail="results of one step are in two wire messages")


def _interrupted(window: Window, n: int) -> str:
    """Why the results of a message are no unbroken run at its front, with nothing else before the next results; or ''."""
    others = False
    for part in window.messages[n].parts:
        if type(part) is ToolResult and part.executor == "client":
            if others:
                return "something else stands before a result"
        elif type(part) is not CacheMark:
            others = True
    if others and window.messages[n].role == "tool":
        return "a tool message holds more than results"
    return "something else stands between results" if others and n + 1 in window.result_holders else ""


def tail_role(window: Window) -> Iterator[Violation]:
    """V12: the last message is the user's or a tool's, unless it is to be continued in a way that the provider knows."""
    if window.profile.last_user and window.spoken:
        n = window.spoken[-1]
        message = window.messages[n]
        if message.role == "assistant" and not is_continued(window, message):
            yield window.violation("V12", n, detail="the last message is the assistant's")
        elif window.profile.system_place == "anywhere" and n < len(window.messages) - 1:
            yield window.violation("V12", len(window.messages) - 1, detail="the last message is the system's")


def is_continued(window: Window, message: Message) -> bool:
    """Whether a last assistant message is flagged for prefill, or was paused by the provider in the middle of a server tool."""
    if message.status == "paused" or _ends_served(message, window.profile):
        return True
    raw = message.native.raw if message.native is not None else None
    return window.profile.prefill == "flag" and isinstance(raw, dict) and raw.get("prefix") is True


def _ends_served(message: Message, profile: ProviderProfile) -> bool:
    """Whether the message ends in a tool that this provider ran: parts of another one's are not sent."""
    last = message.parts[-1] if message.parts else None
    return isinstance(last, ToolCall | ToolResult) and last.executor == "server" and says(message, last, profile)


def after_tool(window: Window) -> Iterator[Violation]:
    """V14: the assistant speaks after a block of results."""
    if window.profile.assistant_after_results:
        for step in window.steps:
            answered = step.caller + 1 < step.stop < len(window.messages)
            if answered and window.messages[step.stop].role != "assistant":
                yield window.violation("V14", step.stop, detail=f"{window.messages[step.stop].role} follows results")


def system_place(window: Window) -> Iterator[Violation]:
    """V15: system messages stand where the provider takes them, and messages of the library have the role it gives them."""
    role = library_role(window.profile)
    for n in window.made:
        message = window.messages[n]
        if message.kind in LIBRARY_KINDS and message.role != role:
            yield window.violation("V15", n, detail=f"{message.kind} is sent as {role} here")
    place = window.profile.system_place
    if place == "anywhere" or not window.systems:
        return
    start = window.spoken[0] if window.spoken else len(window.messages)
    for n in window.systems:
        if n < start:
            if place == "first" and n > 0:
                yield window.violation("V15", n, detail="there may be one system message")
            elif place != "first" and is_among_messages(window.messages[n], window.profile):
                yield window.violation("V15", n, detail="it would stand first among the messages, apart from the system prompt")
        elif place != "field_and_middle":
            yield window.violation("V15", n, detail="a system message may not stand in the conversation")
        elif not middle_place_is_legal(window.messages, n, window.profile):
            yield window.violation("V15", n, detail="it must follow a user turn and be last or before an assistant turn")


def is_among_messages(message: Message, profile: ProviderProfile) -> bool:
    """Whether a system message came as one of the messages of this wire, and so is sent as one again."""
    native = message.native
    return native is not None and native.api == profile.api and isinstance(native.raw, dict) and "role" in native.raw


def library_role(profile: ProviderProfile) -> Role:
    """The role of what the library says: that of the profile, under the name that the provider knows."""
    return profile.summary_role if profile.summary_role in profile.roles else profile.system_role


def middle_place_is_legal(messages: Sequence[Message], n: int, profile: ProviderProfile) -> bool:
    """Whether a system message of words may stand at `n` where the middle of a conversation is open to it."""
    before = messages[n - 1]
    after = messages[n + 1] if n + 1 < len(messages) else None
    behind = before.role in ("user", "tool") or (before.role == "assistant" and _ends_served(before, profile))
    ahead = after is None or after.role == "assistant"
    return behind and ahead and all(type(part) is Text for part in messages[n].parts)


def role_known(window: Window) -> Iterator[Violation]:
    """V16: the provider knows the role."""
    roles = window.profile.roles
    for n in window.systems:
        if window.messages[n].role not in roles:
            yield window.violation("V16", n, detail=f"there is no role {window.messages[n].role}")


def parity(window: Window) -> Iterator[Violation]:
    """V23: a step has as many results as calls."""
    if window.profile.parity:
        for step in window.steps:
            if len(step.answered) != len(step.asked):
                detail = f"{len(step.asked)} calls have {len(step.answered)} results"
                yield window.violation("V23", step.caller, detail=detail)


def call_position(window: Window) -> Iterator[Violation]:
    """V24: a message with calls follows the user or results."""
    if window.profile.calls_after_user:
        before = dict(zip(window.spoken[1:], window.spoken, strict=False))
        for step in window.steps:
            n = before.get(step.caller)
            if n is None or window.messages[n].role == "assistant":
                yield window.violation("V24", step.caller, detail="calls follow neither the user nor results")


def pure_results(window: Window) -> Iterator[Violation]:
    """V29: a wire message with results holds nothing else."""
    if not window.profile.mixed_results:
        for n in sorted(window.result_holders):
            if any(type(part) is not ToolResult and type(part) is not CacheMark for part in window.messages[n].parts):
                yield window.violation("V29", n, detail="results stand with other content")
            for before in (n - 1, n):
                if 0 <= before < len(window.messages) - 1 and _mixes(window, before):
                    yield window.violation("V29", n, detail="results came in one wire message with other content")


def _mixes(window: Window, before: int) -> bool:
    """Whether a message and the one behind it are one on the wire, of which only the one holds results."""
    both = window.messages[before : before + 2]
    held = [n in window.result_holders for n in (before, before + 1)]
    return held[0] != held[1] and of_one_group(window.profile, both[0], both[1])


ORDER_CHECKS = {
    "V01": nonempty,
    "V02": first_user,
    "V03": alternate,
    "V04": call_answered,
    "V05": result_has_call,
    "V06": results_contiguous,
    "V12": tail_role,
    "V14": after_tool,
    "V15": system_place,
    "V16": role_known,
    "V23": parity,
    "V24": call_position,
    "V29": pure_results,
}
