"""Checks of what stands inside of messages: V07 to V11, V13, V26, V27, V30 and V31."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from contextport.contracts import CacheMark, Media, Opaque, Part, Text, ToolCall
from contextport.contracts.profile import MediaLimits, ProviderProfile

from .media_forms import can_be_said
from .window import Place, Violation, Window, says, unedited

__all__ = ["CONTENT_CHECKS", "arguments_are_valid", "is_free_text", "is_sent", "lifetime", "media_in_excess", "refused_marks"]

_MINUTES_PER = {"m": 1, "h": 60, "d": 1440}
_USUAL_LIFE = 5  # minutes of a cache mark that states none, at Anthropic and on Bedrock


def unique_ids(window: Window) -> Iterator[Violation]:
    """V07: no two calls have one id, in the conversation or in one message."""
    if len(window.calls) < 2:
        return
    everywhere = window.profile.unique_ids == "conversation"
    seen: set[object] = set()
    for n, k, call in window.calls:
        key = call.call_id if everywhere else (n, call.call_id)
        if key in seen:
            yield window.violation("V07", n, k, f"call id {call.call_id} is there already")
        seen.add(key)


def id_format(window: Window) -> Iterator[Violation]:
    """V08: call ids have the provider's form."""
    pattern = window.profile.id_pattern
    if pattern is not None:
        matches = _compiled(pattern).fullmatch
        for n, k, call in window.calls:
            if matches(call.call_id) is None:
                yield window.violation("V08", n, k, f"call id {call.call_id} is not of the form {pattern}")


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def args_object(window: Window) -> Iterator[Violation]:
    """V09: the arguments of a call are JSON, or a JSON object."""
    rule = window.profile.arguments
    if rule != "any":
        for n, k, call in window.calls:
            free = is_free_text(call)
            if (free and rule == "json") or (call.arguments == "{}" and not free):
                continue
            if free or not arguments_are_valid(call.arguments, objects_only=rule == "object"):
                yield window.violation("V09", n, k, "the arguments are not a JSON " + ("object" if rule == "object" else "value"))


def is_free_text(call: ToolCall) -> bool:
    """Whether the call is of a tool without a schema, such as OpenAI's custom tools: nobody else has these."""
    return isinstance(call.raw, dict) and str(call.raw.get("type")).startswith("custom")


def arguments_are_valid(arguments: str, *, objects_only: bool) -> bool:
    """Whether an argument string is JSON as RFC 8259 has it, and an object where only these are taken."""
    try:
        value = _DECODER.decode(arguments)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) or not objects_only


def _not_a_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_not_a_number)


def no_blank_text(window: Window) -> Iterator[Violation]:
    """V10: no text is empty or, where that is refused too, blank; no message and no result is without content."""
    refused = window.profile.refused_text
    if refused != "none":
        blank = refused == "blank"
        for n, k, part in window.texts:
            if not part.text or (blank and part.text.isspace()):
                yield window.violation("V10", n, k, "a text says nothing")
        for n, k, result in window.results:
            for inner in result.parts:
                if type(inner) is Text and (not inner.text or (blank and inner.text.isspace())):
                    yield window.violation("V10", n, k, "a text in a result says nothing")
                    break
    if not window.profile.empty_results:
        for n, k, result in window.results:
            if not any(is_sent(inner, window.profile) for inner in result.parts):
                yield window.violation("V10", n, k, "a result is empty")
    yield from _without_content(window, refused)


def is_sent(inner: Part, profile: ProviderProfile) -> bool:
    """Whether a part of a result is sent: all but what another provider alone knows."""
    return not isinstance(inner, Opaque) or inner.api.startswith(profile.api)


def _without_content(window: Window, refused: str) -> Iterator[Violation]:
    """Messages, other than the assistant's, of which nothing would be sent."""
    for n in window.empty:
        message = window.messages[n]
        if message.role != "assistant" and not (refused == "none" and unedited(message, window.profile.api)):
            yield window.violation("V10", n, detail="a message says nothing")
    for n in {n for n, _, _ in (*window.opaque, *window.served, *window.marks, *window.thoughts)}:
        message = window.messages[n]
        may_say = any(type(part) in (Text, Media) or says(message, part, window.profile) for part in message.parts)
        if message.role != "assistant" and not may_say:
            yield window.violation("V10", n, detail="a message says nothing that can be sent")


def no_hollow_assistant(window: Window) -> Iterator[Violation]:
    """V11: an assistant message has a text, a call or other content of this provider."""
    profile = window.profile
    if profile.hollow_assistant:
        return
    for n in _may_be_hollow(window):
        message = window.messages[n]
        if message.role == "assistant" and not any(says(message, part, profile) for part in message.parts):
            yield window.violation("V11", n, detail="an assistant message has neither text nor calls")


def _may_be_hollow(window: Window) -> list[int]:
    """The messages with anything that may not count as content, in order."""
    found = {n for places in (window.thoughts, window.opaque, window.served, window.media, window.marks) for n, _, _ in places}
    found.update(window.empty)
    found.update(n for n, _, part in window.texts if not part.text or part.text.isspace())
    return sorted(found)


def tail_space(window: Window) -> Iterator[Violation]:
    """V13: the text of a last assistant message does not end in white space."""
    if not window.profile.trailing_space and window.spoken:
        n = window.spoken[-1]
        message = window.messages[n]
        sent = [k for k, part in enumerate(message.parts) if says(message, part, window.profile)]
        last = message.parts[sent[-1]] if message.role == "assistant" and sent else None
        if type(last) is Text and last.text != last.text.rstrip():
            yield window.violation("V13", n, sent[-1], "the last text ends in white space")


def media_role(window: Window) -> Iterator[Violation]:
    """V26: media stands in messages that may hold it, and is of a kind that is taken."""
    roles, kinds = window.profile.media_roles, window.profile.media_kinds
    for n, k, part in window.media:
        message = window.messages[n]
        if unedited(message, window.profile.api):
            continue
        if message.role not in roles or part.media not in kinds:
            yield window.violation("V26", n, k, f"no {part.media} in a message of role {message.role}")
        elif not can_be_said(part, message, window.profile.api):
            yield window.violation("V26", n, k, f"no {part.media} in this form: by data, URL or id, and of this type")
    for n, k, inner in window.media_in_results:
        if "tool" not in roles or inner.media not in kinds:
            yield window.violation("V26", n, k, f"no {inner.media} in a tool result")
        elif not can_be_said(inner, window.messages[n], window.profile.api):
            yield window.violation("V26", n, k, f"no {inner.media} in this form: by data, URL or id, and of this type")


def media_limits(window: Window) -> Iterator[Violation]:
    """V27: no more media than a request may hold, by number, pixels and bytes."""
    if window.profile.media_limits != _NO_LIMITS and (window.media or window.media_in_results):
        for n, k, _, why in media_in_excess(window):
            yield window.violation("V27", n, k, why)


_NO_LIMITS = MediaLimits()


def media_in_excess(window: Window) -> list[tuple[int, int, int, str]]:
    """What has to go for the limits to hold, as (message, part, index in a result, why): too large ones, then the oldest."""
    limits, places = window.profile.media_limits, window.media_places()
    excess: list[tuple[int, int, int, str]] = []
    kept: list[tuple[int, int, int, Media]] = []
    for place in places:
        why = _too_large(place[3], limits.max_side, limits.max_bytes_each)
        if why:
            excess.append((*place[:3], why))
        else:
            kept.append(place)
    images = [place for place in kept if place[3].media == "image"]
    if limits.max_images is not None and len(images) > limits.max_images:
        excess += [(*place[:3], f"more than {limits.max_images} images") for place in images[: -limits.max_images or None]]
        images = images[-limits.max_images :] if limits.max_images else []
    if limits.many is not None and len(images) > limits.many:
        large = [place for place in images if _too_large(place[3], limits.max_side_of_many, None)]
        surplus = large[: len(images) - limits.many] if len(large) > len(images) - limits.many else large
        excess += [(*place[:3], f"larger than {limits.max_side_of_many} px among {len(images)} images") for place in surplus]
    if limits.max_bytes is not None:
        gone = {place[:3] for place in excess}
        excess += _over_bytes(window, [place for place in kept if place[:3] not in gone], limits.max_bytes)
    return excess


def _too_large(media: Media, side: int | None, size: int | None) -> str:
    if side is not None and media.size_px is not None and max(media.size_px) > side:
        return f"{media.size_px[0]} x {media.size_px[1]} px; the longest side may be {side} px"
    if size is not None and media.data is not None and len(media.data) > size:
        return f"{len(media.data)} bytes; one item may have {size}"
    return ""


def _over_bytes(window: Window, kept: list[tuple[int, int, int, Media]], most: int) -> list[tuple[int, int, int, str]]:
    """The oldest media that has to go for the request to have at most `most` bytes, its text counted by characters."""
    sizes = [len(place[3].data or "") for place in kept]
    if not any(sizes):
        return []
    total = sum(sizes) + sum(len(part.text) for _, _, part in window.texts)
    excess: list[tuple[int, int, int, str]] = []
    for place, size in zip(kept, sizes, strict=True):
        if total <= most:
            break
        if size:
            excess.append((*place[:3], f"the request may have {most} bytes"))
            total -= size
    return excess


def cache_marks(window: Window) -> Iterator[Violation]:
    """V30: no more cache marks than allowed, those of longer life first, each where it may stand."""
    for (n, k, _), why in refused_marks(window):
        yield window.violation("V30", n, k, why)


def refused_marks(window: Window) -> list[tuple[Place, str]]:
    """The cache marks that have to go: those in wrong places or before a longer one; then all but the first and the newest."""
    profile = window.profile
    if profile.max_cache_marks is None or not window.marks:
        return []
    marks = [place for place in window.marks if type(place[2]) is CacheMark]
    refused = [(place, "a mark may not stand here") for place in marks if not _mark_may_stand(window, place)]
    marks = [place for place in marks if _mark_may_stand(window, place)]
    if profile.cache_marks_by_life:
        longest = 0
        kept: list[Place] = []
        for place in reversed(marks):
            life = lifetime(place[2])
            if life < longest:
                refused.append((place, "a mark of longer life comes after it"))
            else:
                kept.insert(0, place)
            longest = max(longest, life)
        marks = kept
    surplus = len(marks) - profile.max_cache_marks
    if surplus > 0:
        first = 1 if profile.max_cache_marks > 1 else 0
        refused += [(place, f"more than {profile.max_cache_marks} marks") for place in marks[first : first + surplus]]
    return refused


def lifetime(mark: CacheMark) -> int:
    """Minutes that a cache mark asks for."""
    number, unit = (mark.ttl or "")[:-1], (mark.ttl or "")[-1:]
    return int(number) * _MINUTES_PER[unit] if number.isdecimal() and unit in _MINUTES_PER else _USUAL_LIFE


def _mark_may_stand(window: Window, place: Place) -> bool:
    n, k, _ = place
    if window.profile.cache_marks_anywhere:
        return True
    before = window.messages[n].parts[k - 1] if k else None
    return before is not None and not (isinstance(before, Media) and before.media == "document")


def compaction_item(window: Window) -> Iterator[Violation]:
    """V31: there is at most one compaction item of the provider, in its place."""
    items = [place for place in window.opaque if _is_compaction(place[2], window.profile)]
    for n, k, _ in items[:-1]:
        yield window.violation("V31", n, k, "a newer compaction item stands for it")
    for n, k, _ in items[-1:]:
        if window.profile.compaction == "first_block" and k > 0:
            yield window.violation("V31", n, k, "a compaction item stands first in its message")


def _is_compaction(part: Opaque, profile: ProviderProfile) -> bool:
    return profile.compaction != "none" and part.api == profile.api and part.type == "compaction"


CONTENT_CHECKS = {
    "V07": unique_ids,
    "V08": id_format,
    "V09": args_object,
    "V10": no_blank_text,
    "V11": no_hollow_assistant,
    "V13": tail_space,
    "V26": media_role,
    "V27": media_limits,
    "V30": cache_marks,
    "V31": compaction_item,
}
