"""Shortening one long text: its head and its tail stay, a marker in between says how much is missing (R101, R108, D15).

Cuts fall between grapheme clusters, not inside the marker of an earlier cut, and not inside a word, number or path when there is
a gap between words nearby.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import cast

import attrs

from contextport.contracts import Message, Part, Text, TokenCounter, ToolResult, message_tokens

from .text_markers import characters_missing, left_out, spare_marker

__all__ = ["grapheme_cut", "shorten_message", "shorten_text"]

_SEARCH_STEPS = 24  # halvings of the kept length: enough for any text, and an end for counters that never shrink
_WORD_REACH = 48  # how far a cut moves to spare a word; identifiers and paths are rarely longer
_CLUSTER_REACH = 64  # characters looked at to spare a cluster; longer ones are no writing, and would make the work quadratic
_ZERO_WIDTH_JOINER = "\u200d"


def _characters_left_out(text: str, head: int, tail: int) -> str:
    return left_out(characters_missing(text, head, tail), "character")


def shorten_text(
    text: str,
    fits: Callable[[str], bool],
    head_share: float = 0.5,
    marker: Callable[[str, int, int], str] = _characters_left_out,
) -> str | None:
    """The longest head and tail of `text`, with a marker between them, that `fits`; None when not even the marker does.

    `head_share` of the kept characters are taken from the start. `marker` makes of (text, head, tail) what stands for
    text[head:tail]. Takes at most 25 calls of `fits`, each with a text of about the size that fits or less than twice that.
    """
    best: str | None = None
    low, high = 0, len(text) - 1
    keep = 0
    for _ in range(_SEARCH_STEPS):
        if low > high:
            break
        candidate = _cut(text, keep, head_share, marker)
        if len(candidate) < len(text) and fits(candidate):
            best, low = candidate, keep + 1
            keep = min(high, max(keep * 2, 64)) if high == len(text) - 1 else (low + high) // 2
        else:
            high = keep - 1
            keep = (low + high) // 2
    return best


def _cut(text: str, keep: int, head_share: float, marker: Callable[[str, int, int], str] = _characters_left_out) -> str:
    head_keep = int(keep * head_share)
    before_word = _spare_word(text, head_keep, -1)
    head = spare_marker(text, before_word, -1)
    tail_keep = keep - head_keep
    if 0 < head_share < 1:
        tail_keep += before_word - head  # what a spared marker takes from the head, the tail may have
    tail = spare_marker(text, _spare_word(text, len(text) - tail_keep, 1), 1)
    return text[:head] + marker(text, head, tail) + text[tail:]


def _spare_word(text: str, at: int, direction: int) -> int:
    """A legal cut at `at` or further in `direction`, outside a word if one ends within reach."""
    position = at
    while 0 < position < len(text) and abs(position - at) < _WORD_REACH:
        if text[position - 1].isspace() or text[position].isspace():
            return grapheme_cut(text, position, direction)
        position += direction
    if not 0 < position < len(text):
        return position
    return grapheme_cut(text, at, direction)


def grapheme_cut(text: str, at: int, direction: int = -1) -> int:
    """The nearest position from `at` in `direction` that is not inside a grapheme cluster (after UAX #29).

    Looks at 64 characters at most. Where they are all of one cluster, it is cut at `at`.
    """
    position = at
    while 0 < position < len(text) and _joined(text, position):
        position += direction
        if abs(position - at) > _CLUSTER_REACH:
            return at
    return position


def _joined(text: str, at: int) -> bool:
    """Whether the characters around position `at` belong to one cluster."""
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return True
    if after == _ZERO_WIDTH_JOINER or before == _ZERO_WIDTH_JOINER:
        return True
    if unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    point = ord(after)
    if 0x1F3FB <= point <= 0x1F3FF or 0xE0020 <= point <= 0xE007F:  # skin tones; tag characters of flags
        return True
    if 0xDC00 <= point <= 0xDFFF and 0xD800 <= ord(before) <= 0xDBFF:  # two halves that make one character on a wire
        return True
    if 0x1160 <= point <= 0x11FF and 0x1100 <= ord(before) <= 0x11FF:  # conjoining Hangul
        return True
    return _regional(after) and _regional_run_before(text, at) % 2 == 1


def _regional(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _regional_run_before(text: str, at: int) -> int:
    """How many regional indicators stand right before `at`, counted up to a limit: flags are pairs of them."""
    start = at
    while start > max(0, at - _CLUSTER_REACH) and _regional(text[start - 1]):
        start -= 1
    return at - start


def shorten_message(message: Message, counter: TokenCounter, max_tokens: int, head_share: float = 0.5) -> Message:
    """The message with its longest texts shortened until it takes at most `max_tokens`, or as near as it gets.

    Text and tool results are shortened; calls, reasoning and media are not. Returns the same message when nothing can be done.
    """
    for path in _text_paths(message):
        if message_tokens(message, counter) <= max_tokens:
            break
        message = _shorten_at(message, path, counter, max_tokens, head_share)
    return message


def _text_paths(message: Message) -> list[tuple[int, ...]]:
    """Where the texts of a message are, longest first: (part,) or (part, inner part)."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for n, part in enumerate(message.parts):
        if isinstance(part, Text):
            found.append((len(part.text), (n,)))
        elif isinstance(part, ToolResult):
            found.extend((len(inner.text), (n, k)) for k, inner in enumerate(part.parts) if isinstance(inner, Text))
    return [path for _, path in sorted(found, key=lambda item: (-item[0], item[1]))]


def _shorten_at(message: Message, path: tuple[int, ...], counter: TokenCounter, max_tokens: int, head_share: float) -> Message:
    part = message.parts[path[0]]
    original = cast(Text, part.parts[path[1]] if isinstance(part, ToolResult) else part)

    def with_text(text: str) -> Message:
        new: Part = attrs.evolve(original, text=text)
        if isinstance(part, ToolResult):
            inner = (*part.parts[: path[1]], cast(Text, new), *part.parts[path[1] + 1 :])
            new = attrs.evolve(part, parts=inner)
        return attrs.evolve(message, parts=(*message.parts[: path[0]], new, *message.parts[path[0] + 1 :]))

    fitting = shorten_text(original.text, lambda text: counter.count_message(with_text(text)) <= max_tokens, head_share)
    if fitting is None:  # the rest of the message is too large by itself: take what this text can give
        fitting = _cut(original.text, 0, head_share)
    shorter = with_text(fitting)
    return shorter if message_tokens(shorter, counter) < message_tokens(message, counter) else message
