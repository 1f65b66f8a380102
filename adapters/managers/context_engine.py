"""The context manager: any store, any counter, any strategy; the log is the truth and the window a view of it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
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
    StablePrefix,
    StateConflict,
    TokenCounter,
    implements,
    message_tokens,
    provides,
    verify,
)
from contextport.strategies import KeepRecentTokens, is_system
from contextport.strategies.folding import FoldDecision, FoldPolicy
from contextport.strategies.tool_results import IngestPolicy

from .compression_guard import CompressionGuard
from .context_report import context_of, figures_of, stats_of
from .fold_schedule import FoldSchedule
from .history_folder import HistoryFolder
from .message_intake import check_session, take
from .provider_window import NO_PROVIDER, profile_of, view_for
from .receipt_replay import replayed
from .result_intake import original_in_log, with_originals
from .session_state import SessionState
from .session_window import Basis, SessionWindow
from .window_keeper import WindowKeeper

__all__ = ["ContextEngine"]

_MOST_PENDING = 512  # adds remembered between two windows of a session; beyond that its window is read again
_STATE_TRIES = 100  # lost races for one state change before it is reported


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

    `ingest` shortens large tool results as they come in, each to a quarter of what messages may take at most; the whole ones are
    kept in the log, see `original`.

    `active_sessions` bounds how many sessions are held between calls; one that is not held is read from the store again.

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
        ingest: IngestPolicy | None = None,
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
        if ingest is not None and not isinstance(ingest, IngestPolicy):
            raise InvalidArgument(
                f"ingest is {ingest!r:.80}; it must be an IngestPolicy, such as IngestPolicy(counter), or None",
                name="ingest",
                value=ingest,
            )
        if folding is not None and not isinstance(folding, FoldPolicy):
            raise InvalidArgument(
                f"folding is {folding!r:.80}; it must be a FoldPolicy, such as FoldPolicy(), or None",
                name="folding",
                value=folding,
            )
        self._ingest = ingest
        self._strategy = chosen
        self._strict = strict
        self._budget = budget if budget is not None else Budget.from_limits(Limits(source="default"))
        self._tools = tuple(tools)
        self._tool_tokens = counter.count_tools(tools)
        self._model = model
        self._sink = sink
        self._clock = clock
        self._folds: FoldSchedule | None = None
        if folds:
            policy = folding or FoldPolicy()
            folder = HistoryFolder(
                store=store,
                counter=counter,
                strategy=chosen,
                clock=clock,
                prices=policy.prices,
                memory=memory,
                scope_of=scope_of or _own_scope,
            )
            self._folds = FoldSchedule(folder=folder, policy=policy, clock=clock, report=self._emit)
        self._windows = WindowKeeper(
            store=store,
            counter=counter,
            guard=CompressionGuard(KeepRecentTokens(counter) if folds else chosen, counter, strict),
            stable=folds or provides(chosen, StablePrefix),
            budget=self._budget,
            tool_tokens=self._tool_tokens,
            model=model,
            report=self._emit,
            most_held=active_sessions,
        )
        self._config = self._digest()
        self._most_of_a_result = self._windows.room(None, None).limit // 4  # fixed: a message that comes again is shortened alike

    # --- adding -------------------------------------------------------------------------------------------------------

    async def add_message(self, session_id: str, message: Message | Mapping[str, Json]) -> Message:
        check_session(session_id)
        return (await self._add(session_id, (take(message),)))[-1]

    async def add_messages(self, session_id: str, messages: Sequence[Message | Mapping[str, Json]]) -> tuple[Message, ...]:
        """Append messages that belong together, whole or not at all. Returns them as stored.

        A system message that comes first in a session without a system prompt becomes its system prompt.
        """
        check_session(session_id)
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
            raise InvalidMessage(f"messages is a {type(messages).__name__}; it must be a list of messages", path="messages")
        return await self._add(session_id, tuple([take(message) for message in messages]))

    def _add(self, session_id: str, taken: tuple[Message, ...]) -> Coroutine[Any, Any, tuple[Message, ...]]:
        if self._ingest is not None:
            return self._add_shortened(session_id, taken, self._ingest)
        return self._add_as_is(session_id, taken)

    def _add_as_is(self, session_id: str, taken: tuple[Message, ...]) -> Coroutine[Any, Any, tuple[Message, ...]]:
        first_is_system = bool(taken) and is_system(taken[0])
        return self._append_with_prompt(session_id, taken) if first_is_system else self._append(session_id, taken)

    async def _add_shortened(self, session_id: str, taken: tuple[Message, ...], policy: IngestPolicy) -> tuple[Message, ...]:
        recent = self._windows.newest_of(session_id)
        most = self._most_of_a_result
        shorter = await with_originals(taken, policy, recent, self._store, session_id, most=most)
        return await self._add_as_is(session_id, shorter)

    async def _append_with_prompt(self, session_id: str, taken: tuple[Message, ...]) -> tuple[Message, ...]:
        """Append messages of which the first may become the system prompt."""
        prompt, rest = attrs.evolve(taken[0], kind=Kind.SYSTEM_PROMPT), taken[1:]
        if await self._change_prompt(session_id, prompt, rest, only_if_new=True):
            return tuple([message for message in taken if message.kind is not Kind.RECORD])
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
        self._windows.note_added(session_id, entries)
        if self._folds is not None:
            usage = self._windows.usage_after_adds(session_id)
            if usage is not None:
                self._folds.added(usage)
        if self._sink is not None:
            said = [entry for entry in entries if entry.message.in_conversation]
            added = {"messages": len(said), "last_seq": entries[-1].seq, "tokens": sum(entry.tokens for entry in said)}
            self._emit(session_id, EventKind.MESSAGES_ADDED, added)
        return tuple([entry.message for entry in entries if entry.message.kind is not Kind.RECORD])

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
            self._windows.room(prompt, None)
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
            self._emit(session_id, EventKind.SYSTEM_PROMPT_SET, {"tokens": self._windows.size_of(prompt)})
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
        head, window, outlook = await self._current(session_id, max_tokens)
        if provider is None:
            context = context_of(head, window, window.view, NO_PROVIDER, config=self._config, outlook=outlook)
        else:
            context = await self._context_for(provider, head, window, outlook)
        if self._sink is not None:
            self._emit(session_id, EventKind.CONTEXT_BUILT, figures_of(context))
        return context

    async def _current(self, session_id: str, max_tokens: int | None) -> tuple[Head, SessionWindow, FoldDecision | None]:
        """The session's head and window, after a fold that was due and did not take too long."""
        head = await self._store.head(session_id)
        basis = await self._windows.basis(head, max_tokens)
        if self._folds is None or max_tokens is not None:
            return head, await self._window(head, basis, once=max_tokens is not None), None
        usage = self._windows.usage(head, basis)
        outlook, folded = await self._folds.before_window(usage)
        head, basis = await self._after_fold(head, basis, folded)
        window = await self._window(head, basis)
        if not outlook.wait:
            now = self._windows.usage(head, basis)  # with what was brought back, and what no count foresees
            now = attrs.evolve(now, used=max(now.used, now.limit)) if window.is_cut else now
            if now.used > usage.used:
                outlook, folded = await self._folds.before_window(now)
                if folded:
                    head, basis = await self._after_fold(head, basis, folded)
                    window = await self._window(head, basis)
        return head, window, outlook

    async def _window(self, head: Head, basis: Basis, *, once: bool = False) -> SessionWindow:
        """The window, with the original words that its questions ask about."""
        window = await self._windows.window(head, basis, once=once)
        return window if basis.fold is None else await self._windows.with_fragments(head.session_id, window)

    async def _after_fold(self, head: Head, basis: Basis, folded: bool) -> tuple[Head, Basis]:
        """The head and the basis as they are now, if the log was `folded` since."""
        if not folded:
            return head, basis
        head = await self._store.head(head.session_id)
        return head, await self._windows.basis(head, None)

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
                smaller = attrs.evolve(basis, room=self._windows.room(basis.prompt, left + self._tool_tokens))
                window = await self._windows.window(head, smaller, once=True)
            except BudgetTooSmall as error:
                why = f"the window takes {view.tokens} tokens in the form that {provider.name} accepts"
                raise room.too_small(view.tokens, why) from error

    # --- the rest -----------------------------------------------------------------------------------------------------

    async def clear_context(self, session_id: str) -> None:
        check_session(session_id)
        head = await self._store.clear(session_id)
        self._windows.forget(session_id)
        self._emit(session_id, EventKind.CONTEXT_CLEARED, {"epoch": head.epoch})

    async def get_context_stats(self, session_id: str) -> ContextStats:
        check_session(session_id)
        head, window, _ = await self._current(session_id, None)
        prices = None if self._folds is None else self._folds.policy.prices
        return stats_of(
            head, window, self._counter, tool_tokens=self._tool_tokens, model_window=self._budget.window, prices=prices
        )

    async def original(self, session_id: str, message_id: str) -> Message | None:
        """The whole of a tool result that `ingest` shortened; None if there is none of that id in the current epoch."""
        check_session(session_id)
        return await original_in_log(self._store, session_id, message_id)

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
        basis = await self._windows.basis(head, max_tokens)
        usage = self._windows.usage(head, basis)
        return await self._folds.compact(usage)

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
        return len(self._windows.held)

    def held_entries(self, session_id: str) -> int:
        """How many entries of a session's log are held between calls: about as many as its window has."""
        held = self._windows.held.get(session_id)
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
        parts = (repr(self._strategy), self._counter.name, repr(self._budget), self._tool_tokens, self._strict)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _own_scope(session_id: str) -> MemoryScope:
    """The scope of a session that shares its memory with no other."""
    return MemoryScope(subject=session_id)


def _same_words(one: Message, other: Message) -> bool:
    """Whether two system prompts are the same but for their ids."""
    return one.parts == other.parts and one.role == other.role
