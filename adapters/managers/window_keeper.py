"""The windows of many sessions: made from the log, held between calls, grown with what is added."""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

import attrs

from contextport.contracts import (
    Budget,
    ContextStore,
    Entry,
    EventKind,
    Head,
    Json,
    Kind,
    LearnsFromUsage,
    Message,
    TokenCounter,
    message_tokens,
    provides,
)
from contextport.contracts.counting import total_tokens

from .compression_guard import CompressionGuard
from .fold_schedule import FoldUsage, usage_of
from .fragment_recall import Fragments, fragments_for, with_fragments
from .live_fold import read_live_fold
from .region_reader import read_region
from .session_state import SessionMode, SessionState
from .session_window import (
    Basis,
    Region,
    Room,
    SessionWindow,
    View,
    note_sizes,
    rewritings_in,
    said_in,
    said_of,
    slots_of,
    stand_ins_in,
)
from .window_plan import NO_MODES, WindowPlan

__all__ = ["WindowKeeper"]

Report = Callable[[str, EventKind, dict[str, Json]], None]

_MOST_RESERVED = 0.5  # of the room, for what is put in beside the conversation
_MOST_PENDING = 512  # adds remembered between two windows of a session; beyond that its window is read again


@attrs.define
class _Session:
    """What is held of one session: its last window, and in `pending` what this engine added since, in the order of the log."""

    session_id: str
    window: SessionWindow
    fragments: Fragments | None = None
    pending: list[Entry] = attrs.field(factory=list[Entry])

    def note(self, entries: Sequence[Entry]) -> None:
        """Remember what was added."""
        pending, known = self.pending, self.window.region.last_seq
        for entry in entries:
            if entry.seq <= known:  # added again
                continue
            if not pending or entry.seq > pending[-1].seq:
                pending.append(entry)
            elif all(entry.seq != other.seq for other in pending):  # another task's later ones were noted before it
                insort(pending, entry, key=_seq)

    def added(self, head: Head) -> list[Entry] | None:
        """The entries after the window up to `head`, if this engine added all of them."""
        missing = head.last_seq - self.window.region.last_seq
        if not missing:
            return []
        pending = self.pending
        whole = 0 < missing <= len(pending) and pending[missing - 1].seq == head.last_seq  # they rise: then none is left out
        return pending[:missing] if whole else None

    def advance(self, window: SessionWindow) -> None:
        """Hold a later window, and no entries that are in it."""
        last = window.region.last_seq
        self.pending = [] if not self.pending or self.pending[-1].seq <= last else [e for e in self.pending if e.seq > last]
        self.window = window


def _seq(entry: Entry) -> int:
    return entry.seq


@attrs.define(kw_only=True)
class WindowKeeper:
    """Makes windows of the sessions of one store, and holds those of the `most_held` that were used last.

    `only_newest` says that the strategy behind `guard` needs the newest part of the log only, `stable` that a window it calls
    extendable may be extended. Tools are `tool_tokens` large.
    """

    store: ContextStore
    counter: TokenCounter
    guard: CompressionGuard
    only_newest: bool
    stable: bool
    budget: Budget
    tool_tokens: int
    model: str
    report: Report
    most_held: int
    held: OrderedDict[str, _Session] = attrs.field(init=False, factory=OrderedDict[str, _Session])
    _learner: LearnsFromUsage | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._learner = self.counter if provides(self.counter, LearnsFromUsage) else None

    async def basis(self, head: Head, max_tokens: int | None, plan: WindowPlan = NO_MODES, extra: int = 0) -> Basis:
        """What a window at `head` is made on: that of the held one if it still serves, else what the state says.

        `extra` tokens are kept free for what is put in besides snippets.
        """
        held = self.held.get(head.session_id)
        known = held.window.basis if held is not None and held.window.basis.is_at(head) else None
        if known is not None and max_tokens is None and known.serves(self.ratio(), plan, extra):
            return known
        if known is not None:
            prompt, system, live, mode = known.prompt, known.system, known.live, known.mode
        else:
            state = SessionState.of(head)
            prompt, system, mode = state.prompt, self.size_of(state.prompt), state.mode
            live = await read_live_fold(self.store, head, state, self.counter)
        room, reserve, outside = self._shared(prompt, max_tokens, plan, extra)
        return Basis(
            incarnation=head.incarnation,
            epoch=head.epoch,
            state_version=head.state_version,
            prompt=prompt,
            system=system,
            room=room,
            fold=live if plan.folded and live is not None and live.record.through >= plan.floor else None,
            live=live,
            mode=mode,
            plan=plan,
            extra=extra,
            reserve=reserve,
            outside=outside,
        )

    def state_at(self, head: Head) -> tuple[SessionMode | None, int]:
        """What the session's state at `head` says of modes, and the entry of its live fold, 0 for none."""
        held = self.held.get(head.session_id)
        basis = None if held is None else held.window.basis
        if basis is not None and basis.is_at(head):
            return basis.mode, 0 if basis.live is None else basis.live.record.seq
        state = SessionState.of(head)
        return state.mode, 0 if state.fold is None else state.fold.seq

    async def narrowed(self, session_id: str, window: SessionWindow) -> SessionWindow:
        """The window with no more of the conversation than its plan shows."""
        basis = window.basis
        if basis.plan.turns is None and (basis.fold is not None or not basis.plan.floor):
            return window
        entries = window.region.entries
        region = window.region
        start = _start_of(entries, basis, len(entries) - len(region.tail) - len(region.later))
        if not start:
            return window
        shown = entries[start:]
        narrow = Region(
            kept=(),
            tail=shown,
            messages=len(shown) + _missing(shown, window.region),
            tokens=sum([entry.tokens for entry in shown]),
            last_seq=window.region.last_seq,
        )
        view = await self._view(session_id, narrow, basis.prompt, basis.room)
        return attrs.evolve(window, view=view)

    def _shared(self, prompt: Message | None, max_tokens: int | None, plan: WindowPlan, extra: int) -> tuple[Room, int, int]:
        """The room for the conversation, what of it is kept for other things, and what the budget has for those alone."""
        room = self.room(prompt, max_tokens)
        if not extra and not plan.snippets:
            return room, 0, 0
        outside = int(self.budget.tool_reserve / room.ratio) if max_tokens is None else 0
        free = room.limit - self.size_of(prompt)
        wanted = extra + plan.reserve_in(free)
        reserve = min(max(0, wanted - outside), int(free * _MOST_RESERVED))
        smaller = room.with_more(-reserve)
        return smaller, room.limit - smaller.limit, outside

    def grown(self, head: Head) -> SessionWindow | None:
        """The window at `head` where that is the held one, or it with what this engine added since; None if there is more to do.

        For windows without a plan and without a fold, which have nothing in them but what was said.
        """
        held = self.held.get(head.session_id)
        if held is None:
            return None
        basis = held.window.basis
        if basis.fold is not None or not basis.is_at(head) or not basis.serves(self.ratio(), NO_MODES, 0):
            return None
        new = held.added(head)
        if new is None:
            return None
        window = held.window.extended(said_of(new), head, self.counter) if new else held.window
        if window is not None:
            held.advance(window)
            self.held.move_to_end(head.session_id)
        return window

    async def window(self, head: Head, basis: Basis, *, once: bool = False) -> SessionWindow:
        """The session's window at `head`: the held one, grown by what is new, or a fresh one, which is held unless `once`."""
        held = None if once else self.held.get(head.session_id)
        if held is not None and held.window.basis is basis:
            window = held.window  # another task may hold a later one by the time that something was read
            new = held.added(head)
            if new is None:
                new = await self._read_new(head, window.region.last_seq)
            if new is not None:
                if new:
                    said = said_of(new)
                    window = window.extended(said, head, self.counter) or await self._recut(window, said, head)
                return self._hold(head.session_id, held, window)
        region = await read_region(self.store, self.counter, head, basis.room.limit if self.only_newest else None, basis.fold)
        window = await self._fresh(head.session_id, basis, region)
        return window if once else self._hold(head.session_id, None, window)

    async def with_fragments(self, session_id: str, window: SessionWindow) -> SessionWindow:
        """The window with the original words of folded messages that its newest question asks about."""
        held = self.held.get(session_id)
        known = None if held is None else held.fragments
        found = await fragments_for(window, session_id, self.store, self.counter, known)
        if held is not None and found is not known:
            held.fragments = found
        shown = with_fragments(window, found, self.counter)
        brought = 0 if found is None else found.tokens - (known.tokens if known is not None and known.first == found.first else 0)
        if brought > 0:
            self.report(session_id, EventKind.FRAGMENT_RECALLED, {"tokens": brought})
        return shown

    def usage(self, head: Head, basis: Basis) -> FoldUsage:
        """How full a window at `head` is with all that is not folded, fragments that it is known to have included."""
        held = self.held.get(head.session_id)
        known = None if held is None else held.fragments
        fold = basis.live if basis.plan.folded else None
        is_of_fold = known is not None and fold is not None and known.record_seq == fold.record.seq
        recalled = known.tokens if known is not None and is_of_fold else 0
        return usage_of(head, fold, system=basis.system, limit=basis.room.limit, recalled=recalled)

    def note_added(self, session_id: str, entries: Sequence[Entry]) -> None:
        """Remember what was appended, for the next window."""
        held = self.held.get(session_id)
        if held is None:
            return
        held.note(entries)
        if len(held.pending) > _MOST_PENDING:
            del self.held[session_id]

    def newest_of(self, session_id: str) -> tuple[Entry, ...]:
        """The entries that came since the session's window was cut, as far as they are held."""
        held = self.held.get(session_id)
        return () if held is None else (*held.window.region.later, *held.pending)

    def forget(self, session_id: str) -> None:
        """Hold nothing of the session."""
        self.held.pop(session_id, None)

    def usage_after_adds(self, session_id: str) -> FoldUsage | None:
        """How full the session's next window will be, with what was added since the last one; None if that is not known."""
        held = self.held.get(session_id)
        if held is None:
            return None
        if not held.window.basis.plan.folded:
            return None
        window, added = held.window, said_of(held.pending)
        region, basis = window.region, window.basis
        head = Head(
            session_id=held.session_id,
            epoch=basis.epoch,
            last_seq=held.pending[-1].seq if held.pending else region.last_seq,
            messages=region.messages + len(added),
            tokens=region.tokens + sum([entry.tokens for entry in added]),
        )
        return self.usage(head, basis)

    async def _read_new(self, head: Head, known: int) -> list[Entry] | None:
        """The entries after `known` up to `head`; None when they are not all there, or too many to be worth it."""
        missing = head.last_seq - known
        if not 0 < missing <= _MOST_PENDING:
            return None
        read = await self.store.read(head.session_id, after=known, before=head.last_seq + 1, limit=missing, epoch=head.epoch)
        if len(read) != missing:
            return None
        note_sizes(read, self.counter)
        return list(read)

    async def _recut(self, window: SessionWindow, said: Sequence[Entry], head: Head) -> SessionWindow:
        """The window of the log up to `head`, where `said` was added, made anew."""
        region = window.region.grown(said, head)
        note_sizes(region.later, self.counter)
        if self.only_newest:
            region = region.trimmed(window.basis.room.limit, self.counter)
        return await self._fresh(head.session_id, window.basis, region)

    async def _fresh(self, session_id: str, basis: Basis, region: Region) -> SessionWindow:
        """The window of a region, with nothing taken from an earlier one."""
        view = await self._view(session_id, region, basis.prompt, basis.room)
        return SessionWindow(basis=basis, region=region, view=view, settled=view)

    def _hold(self, session_id: str, held: _Session | None, window: SessionWindow) -> SessionWindow:
        """Keep the window for the next call, and forget the session that was used longest ago."""
        if held is not None and self.held.get(session_id) is held:
            if held.window.basis is not window.basis or held.window.region.last_seq <= window.region.last_seq:
                held.advance(window)
        else:
            self.held[session_id] = _Session(session_id, window)
            if len(self.held) > self.most_held:
                self.held.popitem(last=False)
        self.held.move_to_end(session_id)
        return window

    async def _view(self, session_id: str, region: Region, prompt: Message | None, room: Room) -> View:
        """The view of a region: all that was said if it was read and fits, compressed if not."""
        given = region.conversation(prompt)
        messages = [m for m in given if m.kind is not Kind.GAP] if region.is_whole else given
        tokens = total_tokens(messages, self.counter)
        shortened = rewritings_in(messages, region)
        reason = ""
        extendable = stand_ins_in(messages) == 0
        if tokens > room.limit:
            result = await self.guard.fit(given, room, partial(self.report, session_id))
            messages, tokens = list(result.messages), result.tokens
            cut = {one.message_id for one in result.shortened}
            shortened = (*result.shortened, *(one for one in rewritings_in(messages, region) if one.message_id not in cut))
            reason = result.reason
            extendable = extendable and self.stable and result.extendable
        return View(
            messages=tuple(messages),
            slots=slots_of(messages, region.sources),
            tokens=tokens,
            said=said_in(messages),
            extendable=extendable,
            shortened=shortened,
            reason=reason,
        )

    def room(self, prompt: Message | None, max_tokens: int | None) -> Room:
        """What system prompt and messages may take together. Raises `BudgetTooSmall` when nothing is left beside the prompt."""
        system = self.size_of(prompt)
        available = self.budget.usable_input if max_tokens is None else max_tokens
        if max_tokens is None:
            left = self.budget.room(system=system, tools=self.tool_tokens) + system
        else:
            left = max_tokens - self.tool_tokens
        room = Room(left=left, available=available, ratio=self.ratio())
        if room.limit <= system:
            raise room.too_small(system + 1, f"the system prompt takes {system} tokens and the tools {self.tool_tokens}")
        return room

    def size_of(self, prompt: Message | None) -> int:
        return 0 if prompt is None else message_tokens(prompt, self.counter)

    def ratio(self) -> float:
        """Real tokens per counted token, as far as the counter has learnt. Limits are divided by it; counts stay as they are."""
        return 1.0 if self._learner is None else self._learner.token_ratio(self.model)


def _start_of(entries: Sequence[Entry], basis: Basis, unbroken: int) -> int:
    """The index of the first entry that the plan shows. From index `unbroken` on, nothing is missing."""
    plan = basis.plan
    floor = plan.floor if basis.fold is None else 0
    start = next((n for n, entry in enumerate(entries) if entry.seq >= floor), 0) if floor else 0
    if plan.turns is None:
        return start
    turns = [n for n, entry in enumerate(entries) if entry.message.opens_turn and n >= start]
    whole = [n for n in turns if n >= unbroken] or turns[-1:]  # what was kept from before is no turn of the last
    return whole[max(0, len(whole) - 1 - plan.turns)] if whole else start


def _missing(shown: Sequence[Entry], region: Region) -> int:
    """How many messages of what is shown were not read, at most: a turn that is larger than the window is not read whole."""
    if region.is_whole or not region.tail or shown[0].seq >= region.tail[0].seq:
        return 0
    before = [entry.seq for entry in region.kept if entry.seq >= shown[0].seq]
    return region.tail[0].seq - before[-1] - 1 if before else 0
