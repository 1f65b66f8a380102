"""The context manager: any store, any counter, any strategy; the log is the truth and the window a view of it."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

import attrs

from contextport.contracts import (
    AddsGroups,
    Budget,
    BudgetTooSmall,
    CapabilityNotSupported,
    Compacts,
    CompressionStrategy,
    Context,
    ContextManager,
    ContextStats,
    ContextStore,
    Draft,
    Entry,
    Event,
    EventKind,
    EventSink,
    FoldsHistory,
    Head,
    InvalidArgument,
    InvalidMessage,
    Json,
    Kind,
    LearnsFromUsage,
    Limits,
    LongTermMemory,
    MemoryScope,
    Message,
    MessageConflict,
    ProviderProfile,
    Receipt,
    Replays,
    ShapesWindow,
    Shortening,
    StablePrefix,
    StateConflict,
    TokenCounter,
    implements,
    message_tokens,
    provides,
    verify,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies import KeepRecentTokens, is_system
from contextport.strategies.folding import FoldDecision, FoldPolicy

from .compression_guard import CompressionGuard
from .context_report import context_of, figures_of, stats_of
from .fold_schedule import FoldSchedule, Usage, usage_of
from .fragment_recall import Fragments, fragments_for, with_fragments
from .history_folder import HistoryFolder
from .live_fold import read_live_fold
from .message_intake import check_session, take
from .provider_window import NO_PROVIDER, profile_of, view_for
from .receipt_replay import replayed
from .region_reader import read_region
from .session_state import SessionState
from .session_window import Basis, Region, Room, SessionWindow, View, note_sizes, said_in, slots_of, stand_ins_in

__all__ = ["ContextEngine"]

_MOST_PENDING = 512  # adds remembered between two windows of a session; beyond that its window is read again
_STATE_TRIES = 100  # lost races for one state change before it is reported


@attrs.define
class _Session:
    """What is held of one session: its last window, and entries added since by this engine."""

    session_id: str
    window: SessionWindow
    fragments: Fragments | None = None
    pending: dict[int, Entry] = attrs.field(factory=dict[int, Entry])

    def added(self, head: Head) -> list[Entry] | None:
        """The entries after the window up to `head`, if all of them were added by this engine."""
        known = self.window.region.last_seq
        if head.last_seq < known:
            return None
        try:
            return [self.pending[seq] for seq in range(known + 1, head.last_seq + 1)]
        except KeyError:
            return None

    def advance(self, window: SessionWindow) -> None:
        """Hold a later window, and no entries that are in it."""
        self.window = window
        last = window.region.last_seq
        self.pending = {seq: entry for seq, entry in self.pending.items() if seq > last}


@implements(ContextManager, AddsGroups, Compacts, Replays, ShapesWindow)
class ContextEngine:
    """Builds the window of a session from its log: system prompt, what is pinned, a mark for what is missing, the newest steps.

    `tools` are the tool schemas that the host sends along, counted against the budget. `model` names the model for a counter that
    learns from reported usage. `strict` raises `BudgetTooSmall` where the newest user message would have to be shortened, and
    `StrategyFailed` where a broken strategy would be stepped over.

    A strategy that provides `StablePrefix` is shown the newest part of the log, so that a call costs the same however long the
    session is; any other is shown all of the epoch. One that provides `FoldsHistory` is asked for folds, when and how `folding`
    says; they are kept in the log, and windows that still do not fit are trimmed to the newest steps. Before a fold, durable
    facts go to `memory`, under the scope that `scope_of` gives a session: one of its own, unless the host says otherwise.

    `active_sessions` bounds how many sessions are held between calls; one that
    is not held is read from the store again.

    Raises `PortMismatch` for a part that does not provide its port, `BudgetTooSmall` when tools and reserves leave no room.
    """

    def __init__(
        self,
        *,
        store: ContextStore,
        counter: TokenCounter,
        strategy: CompressionStrategy | None = None,
        budget: Budget | None = None,
        tools: Sequence[Json] = (),
        model: str = "",
        sink: EventSink | None = None,
        clock: Callable[[], float] = time.time,
        strict: bool = False,
        active_sessions: int = 256,
        folding: FoldPolicy | None = None,
        memory: LongTermMemory | None = None,
        scope_of: Callable[[str], MemoryScope] | None = None,
    ) -> None:
        verify(store, ContextStore)
        verify(counter, TokenCounter)
        if sink is not None:
            verify(sink, EventSink)
        if budget is not None and not isinstance(budget, Budget):
            raise InvalidArgument(f"budget is {budget!r}; it must be a Budget, such as Budget.of({budget!r})", value=budget)
        if not isinstance(active_sessions, int) or active_sessions < 1:
            raise InvalidArgument(f"active_sessions is {active_sessions!r}; it must be 1 or more", value=active_sessions)
        if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
            raise InvalidArgument(f"tools is a {type(tools).__name__}; it must be a list of tool schemas")
        self._store = store
        self._counter = counter
        self._learner = counter if provides(counter, LearnsFromUsage) else None
        chosen: CompressionStrategy = strategy if strategy is not None else KeepRecentTokens(counter)
        verify(chosen, CompressionStrategy)
        folds = provides(chosen, FoldsHistory)
        self._guard = CompressionGuard(KeepRecentTokens(counter) if folds else chosen, counter, strict)
        self._stable = folds or provides(chosen, StablePrefix)
        self._strategy = chosen
        self._budget = budget if budget is not None else Budget.from_limits(Limits(source="default"))
        self._tools = tuple(tools)
        self._tool_tokens = counter.count_tools(tools)
        self._model = model
        self._sink = sink
        self._clock = clock
        self._folds: FoldSchedule | None = None
        if folds:
            folder = HistoryFolder(
                store=store, counter=counter, strategy=chosen, clock=clock, memory=memory, scope_of=scope_of or _own_scope
            )
            self._folds = FoldSchedule(folder=folder, policy=folding or FoldPolicy(), clock=clock, report=self._emit)
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._active_sessions = active_sessions
        self._config = self._digest()
        self._room(None, None)

    # --- adding -------------------------------------------------------------------------------------------------------

    async def add_message(self, session_id: str, message: Message | Mapping[str, Json]) -> Message:
        check_session(session_id)
        return (await self._add(session_id, (take(message),)))[0]

    async def add_messages(self, session_id: str, messages: Sequence[Message | Mapping[str, Json]]) -> tuple[Message, ...]:
        """Append messages that belong together, whole or not at all. Returns them as stored.

        A system message that comes first in a session without a system prompt becomes its system prompt.
        """
        check_session(session_id)
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
            raise InvalidMessage(f"messages is a {type(messages).__name__}; it must be a list of messages", path="messages")
        return await self._add(session_id, tuple([take(message) for message in messages]))

    def _add(self, session_id: str, taken: tuple[Message, ...]) -> Coroutine[Any, Any, tuple[Message, ...]]:
        first_is_system = bool(taken) and is_system(taken[0])
        return self._append_with_prompt(session_id, taken) if first_is_system else self._append(session_id, taken)

    async def _append_with_prompt(self, session_id: str, taken: tuple[Message, ...]) -> tuple[Message, ...]:
        """Append messages of which the first may become the system prompt."""
        prompt, rest = attrs.evolve(taken[0], kind=Kind.SYSTEM_PROMPT), taken[1:]
        if await self._change_prompt(session_id, prompt, rest, only_if_new=True):
            return taken
        try:
            return await self._append(session_id, taken)
        except MessageConflict as conflict:
            if conflict.message_id != prompt.id:
                raise
        return (taken[0], *(await self._append(session_id, (prompt, *rest)))[1:])  # it was the prompt once: added again

    async def _append(self, session_id: str, messages: Sequence[Message]) -> tuple[Message, ...]:
        if not messages:
            return ()
        entries = await self._store.append(session_id, [self._draft(message) for message in messages])
        held = self._sessions.get(session_id)
        if held is not None:
            for entry in entries:
                held.pending[entry.seq] = entry
            if len(held.pending) > _MOST_PENDING:
                del self._sessions[session_id]
            elif self._folds is not None:
                self._folds.added(self._usage_with(held, entries[-1].seq))
        if self._sink is not None:
            added = {"messages": len(entries), "last_seq": entries[-1].seq, "tokens": sum(entry.tokens for entry in entries)}
            self._emit(session_id, EventKind.MESSAGES_ADDED, added)
        return tuple([entry.message for entry in entries])

    def _draft(self, message: Message) -> Draft:
        tokens = message_tokens(message, self._counter)
        return Draft(message=message, tokens=tokens, counter=self._counter.name, at=self._clock())

    # --- system prompt ------------------------------------------------------------------------------------------------

    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        check_session(session_id)
        if not isinstance(prompt, str):
            raise InvalidArgument(f"the system prompt is a {type(prompt).__name__}; it must be a string")
        message = Message.system(prompt, kind=Kind.SYSTEM_PROMPT) if prompt else None
        await self._change_prompt(session_id, message, (), only_if_new=False)

    async def _change_prompt(
        self, session_id: str, prompt: Message | None, rest: Sequence[Message], *, only_if_new: bool
    ) -> bool:
        """Set the prompt and append `rest` in one step. False if it is to be the first word of a session that has begun."""
        if prompt is not None:
            self._room(prompt, None)
        drafts = [self._draft(message) for message in (prompt, *rest) if message is not None]
        for _ in range(_STATE_TRIES):
            head = await self._store.head(session_id)
            state = SessionState.of(head)
            current = state.prompt
            if only_if_new and (head.messages or current is not None):
                return False
            if not rest and prompt is not None and current is not None and _same_words(prompt, current):
                return True
            try:
                changed = attrs.evolve(state, prompt=prompt).dump()
                await self._store.put_state(session_id, changed, expected=head.state_version, drafts=drafts)
            except StateConflict:
                continue
            self._emit(session_id, EventKind.SYSTEM_PROMPT_SET, {"tokens": self._size_of(prompt)})
            return True
        raise StateConflict(
            f"the system prompt lost {_STATE_TRIES} races against other writers; try again", session_id=session_id
        )

    # --- the window ---------------------------------------------------------------------------------------------------

    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        """The messages to send now. `max_tokens` lowers or raises the budget of this one call, system prompt included.

        With `profile`, a provider's or the name of a model, the messages are what is valid there, and that is what fits.
        """
        check_session(session_id)
        if max_tokens is not None and (not isinstance(max_tokens, int) or isinstance(max_tokens, bool)):
            raise InvalidArgument(f"max_tokens is {max_tokens!r}; it must be a whole number of tokens", value=max_tokens)
        provider = profile_of(profile)
        head, basis, outlook = await self._ready(session_id, max_tokens)
        window = await self._window(head, basis, once=max_tokens is not None)
        if self._folds is not None:
            window = await self._with_fragments(session_id, window)
        if provider is None:
            context = context_of(head, window, window.view, NO_PROVIDER, config=self._config, outlook=outlook)
        else:
            context = await self._context_for(provider, head, window, outlook)
        if self._sink is not None:
            self._emit(session_id, EventKind.CONTEXT_BUILT, figures_of(context))
        return context

    async def _ready(self, session_id: str, max_tokens: int | None) -> tuple[Head, Basis, FoldDecision | None]:
        """The session's head and what its window is made on, after a fold that was due and did not take too long."""
        head = await self._store.head(session_id)
        basis = await self._basis(head, max_tokens)
        if self._folds is None or max_tokens is not None:
            return head, basis, None
        usage = usage_of(head, basis.fold, system=basis.system, limit=basis.room.limit)
        outlook, folded = await self._folds.before_window(usage)
        if folded:
            head = await self._store.head(session_id)
            basis = await self._basis(head, None)
        return head, basis, outlook

    async def _basis(self, head: Head, max_tokens: int | None) -> Basis:
        """What a window at `head` is made on: that of the held one if it still serves, else what the state says."""
        held = self._sessions.get(head.session_id)
        if held is not None and held.window.basis.serves(head, self._ratio()):
            basis = held.window.basis
            return basis if max_tokens is None else attrs.evolve(basis, room=self._room(basis.prompt, max_tokens))
        state = SessionState.of(head)
        return Basis(
            incarnation=head.incarnation,
            epoch=head.epoch,
            state_version=head.state_version,
            prompt=state.prompt,
            system=self._size_of(state.prompt),
            room=self._room(state.prompt, max_tokens),
            fold=await read_live_fold(self._store, head, state, self._counter),
        )

    async def _context_for(
        self, provider: ProviderProfile, head: Head, window: SessionWindow, outlook: FoldDecision | None
    ) -> Context:
        """The window as the provider takes it. Where repairs make it larger than its limit, a smaller window is repaired."""
        basis = window.basis
        room = basis.room
        left = room.left
        while True:
            view, notes = view_for(window, provider, self._tools, self._counter)
            excess = view.tokens - room.limit
            if excess <= 0:
                return context_of(head, attrs.evolve(window, basis=basis), view, notes, config=self._config, outlook=outlook)
            left -= ceil(excess * room.ratio)
            try:
                smaller = attrs.evolve(basis, room=self._room(basis.prompt, left + self._tool_tokens))
                window = await self._window(head, smaller, once=True)
            except BudgetTooSmall as error:
                why = f"the window takes {view.tokens} tokens in the form that {provider.name} accepts"
                raise room.too_small(view.tokens, why) from error

    async def _window(self, head: Head, basis: Basis, *, once: bool = False) -> SessionWindow:
        """The session's window at `head`: the held one, grown by what is new, or a fresh one, which is held unless `once`."""
        held = None if once else self._sessions.get(head.session_id)
        if held is not None and held.window.basis is basis:
            new = held.added(head)
            if new is None:
                new = await self._read_new(head, held.window.region.last_seq)
            if new is not None:
                window = held.window
                if new:
                    note_sizes(new, self._counter)
                    said = [entry for entry in new if entry.message.in_conversation]
                    window = window.extended(said, head, self._counter) or await self._recut(window, said, head)
                return self._hold(head.session_id, held, window)
        region = await read_region(self._store, self._counter, head, basis.room.limit if self._stable else None, basis.fold)
        window = await self._fresh(head.session_id, basis, region)
        return window if once else self._hold(head.session_id, None, window)

    async def _with_fragments(self, session_id: str, window: SessionWindow) -> SessionWindow:
        """The window with the original words of folded messages that its newest question asks about."""
        held = self._sessions.get(session_id)
        known = None if held is None else held.fragments
        found = await fragments_for(window, session_id, self._store, self._counter, known)
        if held is not None and found is not known:
            held.fragments = found
        shown = with_fragments(window, found, self._counter)
        if shown is not window and found is not known:
            tokens = shown.view.tokens - window.view.tokens
            self._emit(session_id, EventKind.FRAGMENT_RECALLED, {"tokens": tokens})
        return shown

    def _usage_with(self, held: _Session, last_seq: int) -> Usage:
        """The usage of a session with the entries that were added since its window was made."""
        window, added = held.window, [e for e in held.pending.values() if e.message.in_conversation]
        region, basis = window.region, window.basis
        head = Head(
            session_id=held.session_id,
            last_seq=last_seq,
            messages=region.messages + len(added),
            tokens=region.tokens + sum([entry.tokens for entry in added]),
        )
        return usage_of(head, basis.fold, system=basis.system, limit=basis.room.limit)

    async def _read_new(self, head: Head, known: int) -> list[Entry] | None:
        """The entries after `known` up to `head`; None when they are not all there, or too many to be worth it."""
        missing = head.last_seq - known
        if not 0 < missing <= _MOST_PENDING:
            return None
        read = await self._store.read(head.session_id, after=known, before=head.last_seq + 1, limit=missing, epoch=head.epoch)
        return list(read) if len(read) == missing else None

    async def _recut(self, window: SessionWindow, said: Sequence[Entry], head: Head) -> SessionWindow:
        """The window of the log up to `head`, where `said` was added, made anew."""
        region = window.region.grown(said, head)
        if self._stable:
            region = region.trimmed(window.basis.room.limit, self._counter)
        return await self._fresh(head.session_id, window.basis, region)

    async def _fresh(self, session_id: str, basis: Basis, region: Region) -> SessionWindow:
        """The window of a region, with nothing taken from an earlier one."""
        view = await self._view(session_id, region, basis.prompt, basis.room)
        return SessionWindow(basis=basis, region=region, view=view, settled=view)

    def _hold(self, session_id: str, held: _Session | None, window: SessionWindow) -> SessionWindow:
        """Keep the window for the next call, and forget the session that was used longest ago."""
        if held is not None and self._sessions.get(session_id) is held:
            held.advance(window)
        else:
            self._sessions[session_id] = _Session(session_id, window)
            if len(self._sessions) > self._active_sessions:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(session_id)
        return window

    async def _view(self, session_id: str, region: Region, prompt: Message | None, room: Room) -> View:
        """The view of a region: all that was said if it was read and fits, compressed if not."""
        given = region.conversation(prompt)
        messages = [m for m in given if m.kind is not Kind.GAP] if region.is_whole else given
        tokens = total_tokens(messages, self._counter)
        shortened: tuple[Shortening, ...] = ()
        reason = ""
        extendable = stand_ins_in(messages) == 0
        if tokens > room.limit:
            result = await self._guard.fit(given, room, partial(self._emit, session_id))
            messages, tokens = list(result.messages), result.tokens
            shortened, reason = result.shortened, result.reason
            extendable = extendable and self._stable and result.extendable
        return View(
            messages=tuple(messages),
            slots=slots_of(messages, region.sources),
            tokens=tokens,
            said=said_in(messages),
            extendable=extendable,
            shortened=shortened,
            reason=reason,
        )

    def _room(self, prompt: Message | None, max_tokens: int | None) -> Room:
        """What system prompt and messages may take together. Raises `BudgetTooSmall` when nothing is left beside the prompt."""
        system = self._size_of(prompt)
        available = self._budget.usable_input if max_tokens is None else max_tokens
        if max_tokens is None:
            left = self._budget.room(system=system, tools=self._tool_tokens) + system
        else:
            left = max_tokens - self._tool_tokens
        room = Room(left=left, available=available, ratio=self._ratio())
        if room.limit <= system:
            raise room.too_small(system + 1, f"the system prompt takes {system} tokens and the tools {self._tool_tokens}")
        return room

    def _size_of(self, prompt: Message | None) -> int:
        return 0 if prompt is None else message_tokens(prompt, self._counter)

    def _ratio(self) -> float:
        """Real tokens per counted token, as far as the counter has learnt. Limits are divided by it; counts stay as they are."""
        return 1.0 if self._learner is None else self._learner.token_ratio(self._model)

    # --- the rest -----------------------------------------------------------------------------------------------------

    async def clear_context(self, session_id: str) -> None:
        check_session(session_id)
        head = await self._store.clear(session_id)
        self._sessions.pop(session_id, None)
        self._emit(session_id, EventKind.CONTEXT_CLEARED, {"epoch": head.epoch})

    async def get_context_stats(self, session_id: str) -> ContextStats:
        check_session(session_id)
        head, basis, _ = await self._ready(session_id, None)
        window = await self._with_fragments(session_id, await self._window(head, basis))
        return stats_of(head, window, self._counter, tool_tokens=self._tool_tokens, model_window=self._budget.window)

    async def compact(self, session_id: str, *, max_tokens: int | None = None) -> bool:
        """Fold what can be folded, for good, as if the window had to fit `max_tokens`. Raises `CapabilityNotSupported` if the
        strategy does not fold."""
        check_session(session_id)
        if self._folds is None:
            raise CapabilityNotSupported(
                f"the strategy {type(self._strategy).__name__} does not fold history: use one that does, such as FoldOldest",
                port="FoldsHistory",
            )
        head = await self._store.head(session_id)
        basis = await self._basis(head, max_tokens)
        usage = usage_of(head, basis.fold, system=basis.system, limit=basis.room.limit)
        return await self._folds.compact(usage, max_tokens)

    async def settle(self) -> None:
        """Wait until no fold is being made in the background. A program that ends before loses nothing: it is made next time."""
        if self._folds is not None:
            await self._folds.settle()

    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        return await replayed(receipt, self._store)

    @property
    def counter(self) -> TokenCounter:
        """What every size is measured with."""
        return self._counter

    @property
    def tools(self) -> tuple[Json, ...]:
        """The tool schemas that are sent along."""
        return self._tools

    @property
    def model(self) -> str:
        """The name under which a counter learns."""
        return self._model

    @property
    def sink(self) -> EventSink | None:
        """Where events go."""
        return self._sink

    @property
    def held_sessions(self) -> int:
        """How many sessions are held between calls; at most `active_sessions`."""
        return len(self._sessions)

    def held_entries(self, session_id: str) -> int:
        """How many entries of a session's log are held between calls: about as many as its window has."""
        held = self._sessions.get(session_id)
        return 0 if held is None else len(held.window.region.entries) + len(held.pending)

    def record_usage(self, context: Context, reported: int) -> None:
        """Tell a counter that learns how many input tokens the provider reported for a request made with `context`.

        Cached input tokens are part of `reported`. With a counter that does not learn this does nothing.
        """
        if self._learner is not None:
            counted = context.tokens + self._tool_tokens
            self._learner.record_usage(counted=counted, reported=reported, model=self._model)

    def _emit(self, session_id: str, kind: EventKind, data: dict[str, Json]) -> None:
        if self._sink is not None:
            self._sink.emit(Event(kind=kind, session_id=session_id, data=data))

    def _digest(self) -> str:
        """Names the configuration in receipts: what would make the same log give another window."""
        parts = (repr(self._strategy), self._counter.name, repr(self._budget), self._tool_tokens, self._guard.strict)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _own_scope(session_id: str) -> MemoryScope:
    """The scope of a session that shares its memory with no other."""
    return MemoryScope(subject=session_id)


def _same_words(one: Message, other: Message) -> bool:
    """Whether two system prompts are the same but for their ids."""
    return one.parts == other.parts and one.role == other.role
