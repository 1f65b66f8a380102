"""A session's window: the part of its log that was read, the view made of it, and how both grow with new entries.

Values, not services: nothing here reads or writes, and nothing is changed after it was made. The engine keeps one
`SessionWindow` per active session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import ceil

import attrs
from attrs import define, field, frozen

from contextport.contracts import (
    BudgetTooSmall,
    Entry,
    Head,
    Kind,
    Made,
    Message,
    Shortening,
    Span,
    Text,
    TokenCounter,
    remember_tokens,
)
from contextport.contracts.constructors import constructor_of
from contextport.contracts.context import make_span
from contextport.contracts.counting import message_sizes, message_tokens, total_tokens
from contextport.strategies import arrange, gap_marker, is_system, newest_question
from contextport.strategies.atoms import MEMORY, call_ids, in_order

from .live_fold import LiveFold
from .outliving import STEP_REACH, outliving
from .session_state import SessionMode
from .window_plan import NO_MODES, WindowPlan

__all__ = [
    "Basis",
    "Region",
    "Room",
    "SessionWindow",
    "View",
    "newest_steps",
    "note_sizes",
    "placed",
    "rewritings_in",
    "said_in",
    "said_of",
    "shown_in",
    "slots_of",
    "stand_ins_in",
]

_STAND_IN = Kind.STAND_IN


@frozen(kw_only=True)
class Region:
    """What was read of one epoch: `tail`, its newest entries without a hole, and `kept`, earlier ones that may outlive others.

    Holds conversation entries only. `later` continues the tail: the entries that came since it was cut, apart from it so that
    a turn copies those few only. `messages` and `tokens` are those of the whole epoch up to `last_seq`. With a `fold`, tail and
    kept are of what came after it.
    """

    kept: tuple[Entry, ...]
    tail: tuple[Entry, ...]
    later: tuple[Entry, ...] = ()
    messages: int
    tokens: int
    last_seq: int
    fold: LiveFold | None = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All that was read and said, in the order of the log."""
        standing = () if self.fold is None else self.fold.standing
        return (*standing, *self.kept, *self.tail, *self.later)

    def newest_first(self) -> Iterator[Entry]:
        """What `entries` has, from its end."""
        standing = () if self.fold is None else self.fold.standing
        return chain(reversed(self.later), reversed(self.tail), reversed(self.kept), reversed(standing))

    @property
    def sources(self) -> tuple[Entry, ...]:
        """The entries that messages of the window may be: those that were said, and the summary and facts of the fold."""
        return self.entries if self.fold is None else (*self.fold.memory, *self.entries)

    @property
    def folded(self) -> int:
        """How many messages the summary stands for."""
        return 0 if self.fold is None else self.fold.record.messages

    @property
    def is_whole(self) -> bool:
        """Whether all of the epoch that is not folded was read."""
        return len(self.entries) == self.messages - self.folded

    @property
    def unfolded_tokens(self) -> int:
        """The size of a window with all that is not folded, without the system prompt."""
        fold = self.fold
        return self.tokens if fold is None else self.tokens - fold.record.tokens - fold.record.rewriting_saved + fold.tokens

    def conversation(self, prompt: Message | None) -> list[Message]:
        """The region as one well-formed list: the prompt, summary and facts, what was read.

        A gap message stands for what was neither read nor folded, or has no place in such a list.
        """
        hole = gap_marker(1, 0)
        read = self.entries
        messages = shown_of(read, self.fold)
        place = len(read) - len(self.tail) - len(self.later)
        while 0 < place < len(read) and read[place - 1].seq + 1 == read[place].seq:  # what is kept may be next to the tail
            place -= 1
        messages.insert(place, hole)
        arranged = arrange(messages)
        sizes = {entry.message.id: entry.tokens for entry in read}
        said = [message.id for message in arranged if message.in_conversation]
        count, tokens = self.messages - self.folded - len(said), self.tokens - sum([sizes[id] for id in said])
        if self.fold is not None:
            tokens -= self.fold.record.tokens
        place = arranged.index(hole)
        arranged[place : place + 1] = [gap_marker(count, tokens)] if count else []
        memory = [] if self.fold is None else self.fold.messages
        return [*memory, *arranged] if prompt is None else [prompt, *memory, *arranged]

    def shown(self, entry: Entry) -> Message:
        """The message of an entry as it stands in windows: shorter, if the fold made it so."""
        return shown_in(entry, self.fold)

    def trimmed(self, size: int, counter: TokenCounter) -> Region:
        """The region with the newest steps of just over `size` tokens for its tail, and what may outlive them before it."""
        kept, tail = self.kept, (*self.tail, *self.later)
        start = newest_steps(tail, size, counter, self.fold)
        if start:
            kept, tail = outliving((*kept, *tail[:start]), tail[start]), tail[start:]
        return Region(kept=kept, tail=tail, messages=self.messages, tokens=self.tokens, last_seq=self.last_seq, fold=self.fold)

    def grown(self, said: Iterable[Entry], head: Head) -> Region:
        """The region with later conversation entries of the log, up to `head`."""
        return make_region(
            kept=self.kept,
            tail=self.tail,
            later=self.later + tuple(said),
            messages=head.messages,
            tokens=head.tokens,
            last_seq=head.last_seq,
            fold=self.fold,
        )


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


@define(kw_only=True)
class Room:
    """What a request may take: `left` of `available` real tokens for prompt and messages, and `ratio` real per counted ones.

    `limit` is the same in counted tokens, for system prompt and messages together.
    """

    left: int
    available: int
    ratio: float
    limit: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.limit = int(self.left / self.ratio)

    def with_more(self, tokens: int) -> Room:
        """The room with so many counted tokens more, or less."""
        return Room(left=self.left + ceil(tokens * self.ratio), available=self.available, ratio=self.ratio)

    def too_small(self, needed: int, why: str) -> BudgetTooSmall:
        """The error for a window of `needed` counted tokens, in the terms of the budget: a budget of that size would do."""
        least = ceil(needed * self.ratio) + self.available - self.left
        return BudgetTooSmall(
            f"{why}; with tools, reserves and margin {least} tokens are needed and {self.available} are available: "
            "shorten them or the newest message, lower a reserve, or use a larger window",
            needed=least,
            available=self.available,
        )


@define(kw_only=True)
class Basis:
    """What a window was made for, apart from the conversation: which session's epoch, with which prompt and how much room.

    `system` is the size of the prompt in tokens. `fold` is what the window begins with, `live` the session's fold also where its
    `plan` has no place for one. `mode` is what the session's state says of modes. `reserve` tokens are taken out of the room for
    what is put in beside the conversation; `outside` tokens of the budget are for nothing else (`Budget.tool_reserve`).
    `limit` is what system prompt, messages and all that is put in beside them may take, in counted tokens.
    """

    incarnation: str
    epoch: int
    state_version: int
    prompt: Message | None
    system: int
    room: Room
    fold: LiveFold | None = None
    live: LiveFold | None = None
    mode: SessionMode | None = None
    plan: WindowPlan = NO_MODES
    extra: int = 0
    reserve: int = 0
    outside: int = 0
    limit: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.limit = self.room.limit + self.reserve + self.outside

    def is_at(self, head: Head) -> bool:
        """Whether it is of the session's epoch and state at `head`."""
        return self.epoch == head.epoch and self.state_version == head.state_version and self.incarnation == head.incarnation

    def serves(self, ratio: float, plan: WindowPlan, extra: int) -> bool:
        """Whether a window on this basis can be grown, if it is at the session's head: at `ratio` real tokens per counted one,
        by the same plan, and with `extra` tokens for what is put in besides snippets.
        """
        return self.room.ratio == ratio and self.extra == extra and (self.plan is plan or self.plan == plan)


@frozen(kw_only=True)
class SessionWindow:
    """The view of a session at one version of its log.

    `settled` is the view before the entries `open`, which hold calls that wait for results; without such calls it is the view.
    """

    basis: Basis
    region: Region
    view: View
    settled: View
    open: tuple[Entry, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether something is left out that no summary stands for: stand-ins and repairs take room that no count foresees."""
        return self.region.messages - self.region.folded > self.view.said

    def extended(self, said: Sequence[Entry], head: Head, counter: TokenCounter) -> SessionWindow | None:
        """The window of the log up to `head`, where `said` was added; None if that is not the old one with more behind it."""
        settled = self.settled
        if not settled.extendable:
            return None
        entries = (*self.open, *said)
        messages = [entry.message for entry in entries]
        stand_ins, seqs = 0, [entry.seq for entry in entries]
        if in_order(messages):
            name = counter.name
            tokens = sum([e.tokens if e.counter == name else message_tokens(e.message, counter) for e in entries])
        else:
            note_sizes(entries, counter)
            messages = arrange(messages)
            stand_ins, seqs = stand_ins_in(messages), _seqs_of(messages, entries)
            tokens = total_tokens(messages, counter)
        tokens += settled.tokens
        if tokens > self.basis.room.limit or len(messages) - stand_ins < len(entries):
            return None
        region = self.region.grown(said, head)
        view = make_view(
            messages=settled.messages + tuple(messages),
            slots=_slots_after(settled.slots, messages, seqs),
            tokens=tokens,
            said=settled.said + len(entries),
            extendable=True,
            shortened=settled.shortened,
            reason=settled.reason,
        )
        if not stand_ins:
            return make_window(basis=self.basis, region=region, view=view, settled=view)
        return make_window(basis=self.basis, region=region, view=view, settled=settled, open=entries)


make_region, make_view, make_window = constructor_of(Region), constructor_of(View), constructor_of(SessionWindow)


def shown_in(entry: Entry, fold: LiveFold | None) -> Message:
    """The message of an entry in the form in which it stands in windows under the fold."""
    return entry.message if fold is None else fold.rewritten.get(entry.message.id, entry.message)


def shown_of(entries: Iterable[Entry], fold: LiveFold | None) -> list[Message]:
    """The messages of the entries, each in the form in which it stands in windows under the fold."""
    return [entry.message for entry in entries] if fold is None else [shown_in(entry, fold) for entry in entries]


def newest_steps(entries: Sequence[Entry], size: int, counter: TokenCounter, fold: LiveFold | None = None) -> int:
    """The index at which the newest whole steps of just over `size` tokens begin; 0 if they are not all among the entries.

    What the fold made shorter is as large as it is in windows.
    A result counts once its call is found, and no step begins where one within `STEP_REACH` entries before may hold such a call.
    """
    tokens = 0
    sizes = message_sizes(shown_of(entries, fold), counter)
    waiting: dict[str, int] = {}
    for start in range(len(entries) - 1, -1, -1):
        parts = entries[start].message.parts
        if not (len(parts) == 1 and type(parts[0]) is Text):  # most messages: neither a call nor a result
            calls, results = call_ids(parts)
            if results:
                waiting.update(dict.fromkeys(results, start))
                continue
            if calls and waiting:
                answered = {waiting.pop(call_id) for call_id in calls if call_id in waiting}
                tokens += sum([sizes[n] for n in answered])
        tokens += sizes[start]
        if tokens > size and all(n - start >= STEP_REACH for n in waiting.values()):
            return start
    return 0


def note_sizes(entries: Iterable[Entry], counter: TokenCounter) -> None:
    """Put stored sizes on the messages, so that the counter is not asked again."""
    name = counter.name
    for entry in entries:
        counted = entry.message.counted
        if (counted is None or counted[0] != name) and entry.counter == name:
            remember_tokens(entry.message, name, entry.tokens)


def slots_of(messages: Sequence[Message], entries: Iterable[Entry]) -> tuple[Span | Made, ...]:
    """Where each of the messages comes from: an entry of the log as it is, or made for the window."""
    return _slots_after((), messages, _seqs_of(messages, entries))


def _seqs_of(messages: Sequence[Message], entries: Iterable[Entry]) -> list[int]:
    """The entry that each of the messages is, 0 for none."""
    origin = {id(entry.message): entry.seq for entry in entries}
    return [origin.get(id(message), 0) for message in messages]


def _slots_after(before: tuple[Span | Made, ...], messages: Sequence[Message], seqs: Sequence[int]) -> tuple[Span | Made, ...]:
    """The slots `before`, then those of the messages, each with the entry that it is, or 0."""
    slots = list(before)
    first = last = 0  # the span that may still grow, if first is not 0
    if slots and type(newest := slots[-1]) is Span:
        first, last = newest.first, newest.last
        slots.pop()
    for n, seq in enumerate(seqs):
        if first and seq == last + 1:
            last = seq
            continue
        if first:
            slots.append(make_span(first, last))
        if not seq:
            slots.append(Made(messages[n]))
        first = last = seq
    if first:
        slots.append(make_span(first, last))
    return tuple(slots)


def stand_ins_in(messages: Iterable[Message]) -> int:
    """How many of the messages answer for a result that may still come."""
    return [message.kind for message in messages].count(_STAND_IN)


def rewritings_in(messages: Iterable[Message], region: Region) -> tuple[Shortening, ...]:
    """Which of the messages stand in the window with less text because the fold made them shorter."""
    if region.fold is None or not region.fold.rewritten:
        return ()
    shorter = region.fold.rewritten
    texts = {entry.message.id: entry.message.text for entry in region.entries if entry.message.id in shorter}
    return tuple([Shortening(m.id, len(texts[m.id]), len(m.text)) for m in messages if shorter.get(m.id) is m])


def placed(window: SessionWindow, first: Sequence[Message], late: Sequence[Message], tokens: int) -> SessionWindow:
    """The window with `first` after its system prompt, summary and facts, and `late` before its newest question; they take
    `tokens` together.
    """
    messages = list(window.view.messages)
    question = newest_question(messages)
    place = len(messages) if question is None else question
    messages[place:place] = late
    start = next((n for n, m in enumerate(messages) if not is_system(m) and m.kind not in MEMORY), len(messages))
    messages[start:start] = first
    slots = slots_of(messages, window.region.sources)
    return attrs.evolve(
        window, view=attrs.evolve(window.view, messages=tuple(messages), tokens=window.view.tokens + tokens, slots=slots)
    )


def said_of(entries: Iterable[Entry]) -> list[Entry]:
    """Those of the entries that were said, and are no records of the library."""
    return [entry for entry in entries if entry.message.in_conversation]


def said_in(messages: Iterable[Message]) -> int:
    """How many of the messages were said, and not made for the window."""
    return len([message for message in messages if message.in_conversation])
