"""A session's window: the part of its log that was read, the view made of it, and how both grow with new entries.

Values, not services: nothing here reads or writes. The engine keeps one `SessionWindow` per active session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
from attrs import frozen

from contextport.contracts import (
    Entry,
    Head,
    Made,
    Message,
    Shortening,
    Span,
    TokenCounter,
    dump_message,
    message_tokens,
    remember_tokens,
)
from contextport.strategies import arrange, gap_marker

__all__ = ["Region", "SessionWindow", "View", "note_sizes", "said_in", "size_of", "slots_of"]


@frozen(kw_only=True)
class Region:
    """What was read of one epoch: `tail`, its newest entries without a hole, and `kept`, earlier ones that may outlive others.

    Holds conversation entries only. `messages` and `tokens` are those of the whole epoch up to `last_seq`.
    """

    kept: tuple[Entry, ...]
    tail: tuple[Entry, ...]
    messages: int
    tokens: int
    last_seq: int

    def omitted(self) -> tuple[int, int]:
        """(messages, tokens) of the epoch that were not read."""
        read = (*self.kept, *self.tail)
        return self.messages - len(read), self.tokens - sum(entry.tokens for entry in read)

    def conversation(self, prompt: Message | None) -> list[Message]:
        """The region as one well-formed list, with a gap message for what was not read."""
        count, tokens = self.omitted()
        messages = [entry.message for entry in self.kept]
        if count > 0:
            messages.append(gap_marker(count, tokens))
        messages.extend(entry.message for entry in self.tail)
        arranged = arrange(messages)
        return arranged if prompt is None else [prompt, *arranged]

    def trimmed(self, size: int, counter: TokenCounter) -> Region:
        """The region with no more of the tail than the newest steps of over `size` tokens; as it is if a mark would be lost."""
        start, tokens = len(self.tail), 0
        while start > 0 and (tokens <= size or self.tail[start].message.tool_results):
            start -= 1
            tokens += message_tokens(self.tail[start].message, counter)
        dropped, tail = self.tail[:start], self.tail[start:]
        if not dropped or any(entry.message.marked for entry in dropped):
            return self
        question = tuple(entry for entry in dropped if entry.seq == tail[0].turn)
        return attrs.evolve(self, kept=(*self.kept, *question), tail=tail)

    def grown(self, entries: Sequence[Entry], head: Head) -> Region:
        """The region with later entries of the log."""
        said = tuple(entry for entry in entries if entry.message.in_conversation)
        return attrs.evolve(self, tail=(*self.tail, *said), messages=head.messages, tokens=head.tokens, last_seq=head.last_seq)


@frozen(kw_only=True)
class View:
    """The messages of a window and how they came about. `extendable`: later steps may simply be added while they fit."""

    messages: tuple[Message, ...]
    slots: tuple[Span | Made, ...]
    tokens: int
    said: int
    extendable: bool
    shortened: tuple[Shortening, ...] = ()
    reason: str = ""

    def extended(self, entries: Sequence[Entry], tokens: int) -> View:
        """The view with the messages of later entries, of `tokens` tokens."""
        return View(
            messages=self.messages + tuple(entry.message for entry in entries),
            slots=_join((*self.slots[:-1],), [*self.slots[-1:], *(Span(entry.seq, entry.seq) for entry in entries)]),
            tokens=self.tokens + tokens,
            said=self.said + len(entries),
            extendable=True,
            shortened=self.shortened,
            reason=self.reason,
        )


@frozen(kw_only=True)
class SessionWindow:
    """The view of a session at one version of its log, for one system prompt, limit, and ratio of real to counted tokens."""

    epoch: int
    state_version: int
    ratio: float
    limit: int
    prompt: Message | None
    region: Region
    view: View

    def serves(self, head: Head, ratio: float) -> bool:
        """Whether it can still be grown to the log at `head`."""
        return self.epoch == head.epoch and self.state_version == head.state_version and self.ratio == ratio


def note_sizes(entries: Iterable[Entry], counter: TokenCounter) -> None:
    """Put stored sizes on the messages, so that the counter is not asked again."""
    name = counter.name
    for entry in entries:
        if entry.counter == name:
            remember_tokens(entry.message, name, entry.tokens)


def slots_of(messages: Sequence[Message], region: Region) -> tuple[Span | Made, ...]:
    """Where each message of a view comes from: log entries as they are, or made for the window."""
    origin = {id(entry.message): entry.seq for entry in (*region.kept, *region.tail)}
    slots: list[Span | Made] = []
    for message in messages:
        seq = origin.get(id(message))
        slots.append(Made(dump_message(message)) if seq is None else Span(seq, seq))
    return _join((), slots)


def _join(done: tuple[Span | Made, ...], slots: Iterable[Span | Made]) -> tuple[Span | Made, ...]:
    """Adjacent spans as one."""
    joined: list[Span | Made] = list(done)
    for slot in slots:
        last = joined[-1] if joined else None
        if isinstance(slot, Span) and isinstance(last, Span) and slot.first == last.last + 1:
            joined[-1] = Span(last.first, slot.last)
        else:
            joined.append(slot)
    return tuple(joined)


def said_in(messages: Iterable[Message]) -> int:
    """How many of the messages were said, and not made for the window."""
    return sum(1 for message in messages if message.in_conversation)


def size_of(messages: Iterable[Message], counter: TokenCounter) -> int:
    """The size of the messages."""
    return sum(message_tokens(message, counter) for message in messages)
