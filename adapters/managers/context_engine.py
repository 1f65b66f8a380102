"""The context manager: any store, any counter, any strategy; the log is the truth and the window a view of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
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
    Control,
    ControlsMode,
    Draft,
    Event,
    EventKind,
    EventSink,
    FoldsHistory,
    IndexesHistory,
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
    Mode,
    ModePolicy,
    ModeState,
    NeedsOnlyNewest,
    ProviderProfile,
    Receipt,
    Replays,
    Retriever,
    ShapesWindow,
    StablePrefix,
    TokenCounter,
    implements,
    message_tokens,
    provides,
)
from contextport.contracts.store import make_draft
from contextport.strategies import KeepRecentTokens, is_system
from contextport.strategies.folding import FoldPolicy
from contextport.strategies.modes import ModeMachine
from contextport.strategies.tool_results import IngestPolicy

from .compression_guard import CompressionGuard
from .context_report import context_of, figures_of, stats_of
from .engine_arguments import check_companions, check_kind, check_number, check_ports, check_tokens, check_tools, config_digest
from .fold_schedule import FoldSchedule
from .history_folder import HistoryFolder
from .memory_keeper import MemoryKeeper, own_scope
from .message_intake import check_session, take
from .mode_guard import ModeGuard
from .mode_keeper import ModeKeeper, ModeSenses
from .prompt_change import PromptChange
from .provider_window import NO_PROVIDER, profile_of, view_for
from .receipt_replay import replayed
from .result_intake import original_in_log, with_originals
from .snippet_keeper import SnippetKeeper
from .window_builder import Built, WindowBuilder
from .window_keeper import WindowKeeper

__all__ = ["ContextEngine"]

_RECORD = Kind.RECORD  # looking a member up in its class takes as long as a function call


@implements(ContextManager, AddsGroups, Compacts, ControlsMode, Replays, ShapesWindow)
class ContextEngine:
    """Builds the window of a session from its log: system prompt, what is pinned, a mark for what is missing, the newest steps.

    `tools` are the tool schemas that the host sends along, counted against the budget. `model` names the model for a counter that
    learns from reported usage. `strict` raises `BudgetTooSmall` where the newest user message would have to be shortened, and
    `StrategyFailed` where a broken strategy would be stepped over.

    A strategy that provides `NeedsOnlyNewest` is shown the newest part of the log, so that a call costs the same however long the
    session is; any other is shown all of the epoch. For one that does not provide `KeepsPins` the engine keeps pins. One that
    provides `FoldsHistory` is asked for folds, when and how `folding` says; they are kept in the log, and windows that still do
    not fit are trimmed to the newest steps. Before a fold, durable facts go to `memory`, under the scope that `scope_of` gives a
    session: one of its own, unless the host says otherwise. Where the host does, windows have what other sessions of that scope
    told: early what always holds, late what is asked about.

    `ingest` shortens large tool results as they come in, each to a quarter of what messages may take at most; the whole ones are
    kept in the log, see `original`.

    `modes` decides how each window is made up, and who may change that; the whole history is folded only in its modes SUMMARY
    and HYBRID then. `senses` are the signals it is told of. Windows of RETRIEVAL and HYBRID have what `retriever` finds in the
    history for their newest question, and `knowledge` in whatever else the host knows, right before that question. With one of
    the two, there are modes: `ModeMachine`, unless others are given. `search_in` names other sessions that a session's
    questions may reach into.

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
        modes: ModePolicy | None = None,
        senses: ModeSenses | None = None,
        retriever: Retriever | None = None,
        knowledge: Retriever | None = None,
        search_in: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        chosen: CompressionStrategy = strategy if strategy is not None else KeepRecentTokens(counter)
        if modes is None and (retriever is not None or knowledge is not None):
            modes = ModeMachine()
        check_ports([(store, ContextStore), (counter, TokenCounter), (sink, EventSink), (chosen, CompressionStrategy)])
        check_ports([(modes, ModePolicy), (retriever, Retriever), (knowledge, Retriever), (memory, LongTermMemory)])
        check_kind("budget", budget, Budget, "Budget.of(8000)")
        check_kind("ingest", ingest, IngestPolicy, "IngestPolicy(counter)")
        check_kind("folding", folding, FoldPolicy, "FoldPolicy()")
        check_kind("senses", senses, ModeSenses, "ModeSenses()")
        check_number("active_sessions", active_sessions)
        check_companions([("search_in", search_in, "retriever", retriever), ("scope_of", scope_of, "memory", memory)])
        check_tools(tools)
        folds = provides(chosen, FoldsHistory)
        self._store = store
        self._counter = counter
        self._learner = counter if provides(counter, LearnsFromUsage) else None
        self._ingest = ingest
        self._strategy = chosen
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
                scope_of=scope_of or own_scope,
            )
            self._folds = FoldSchedule(folder=folder, policy=policy, clock=clock, report=self._emit)
        trimming: CompressionStrategy = KeepRecentTokens(counter) if folds else chosen  # folds are made apart from windows
        self._windows = WindowKeeper(
            store=store,
            counter=counter,
            guard=CompressionGuard(trimming, counter, strict),
            only_newest=provides(trimming, NeedsOnlyNewest),
            stable=provides(trimming, StablePrefix),
            budget=self._budget,
            tool_tokens=self._tool_tokens,
            model=model,
            report=self._emit,
            most_held=active_sessions,
        )
        self._modes: ModeKeeper | None = None
        if modes is not None:
            felt, guard, emit = senses or ModeSenses(), ModeGuard(policy=modes, report=self._emit), self._emit
            self._modes = ModeKeeper(
                policy=guard, senses=felt, store=store, counter=counter, clock=clock, report=emit, can_fold=folds
            )
        self._searches = retriever if retriever is not None and provides(retriever, IndexesHistory) else None
        snippets: SnippetKeeper | None = None
        if retriever is not None or knowledge is not None:
            snippets = SnippetKeeper(history=retriever, knowledge=knowledge, counter=counter, report=self._emit, others=search_in)
        remembered: MemoryKeeper | None = None
        if memory is not None and scope_of is not None:  # the scope of a session alone knows nothing that it does not
            room = self._windows.room(None, None).limit
            remembered = MemoryKeeper(
                memory=memory, scope_of=scope_of, counter=counter, clock=clock, report=self._emit, room=room
            )
        self._builder = WindowBuilder(
            store=store,
            counter=counter,
            windows=self._windows,
            folds=self._folds,
            modes=self._modes,
            snippets=snippets,
            memory=remembered,
        )
        put_in = [type(part).__name__ for part in (modes, retriever, knowledge, remembered) if part is not None]
        self._config = config_digest(repr(chosen), counter.name, repr(self._budget), self._tool_tokens, strict, *put_in)
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
        if await self._change_prompt(session_id, PromptChange(prompt=prompt, rest=rest, only_if_new=True)):
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
                self._folds.added(self._builder.with_rules(usage))
        if self._searches is not None:
            self._searches.note_added(session_id)
        if self._sink is not None:
            said = [entry for entry in entries if entry.message.in_conversation]
            added = {"messages": len(said), "last_seq": entries[-1].seq, "tokens": sum(entry.tokens for entry in said)}
            self._emit(session_id, EventKind.MESSAGES_ADDED, added)
        return tuple([entry.message for entry in entries if entry.message.kind is not _RECORD])

    def _draft(self, message: Message) -> Draft:
        tokens = message_tokens(message, self._counter)
        return make_draft(message=message, tokens=tokens, counter=self._counter.name, at=self._clock())

    # --- system prompt ------------------------------------------------------------------------------------------------

    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        check_session(session_id)
        if not isinstance(prompt, str):
            raise InvalidArgument(f"the system prompt is a {type(prompt).__name__}; it must be a string")
        message = Message.system(prompt, kind=Kind.SYSTEM_PROMPT) if prompt else None
        await self._change_prompt(session_id, PromptChange(prompt=message))

    async def _change_prompt(self, session_id: str, change: PromptChange) -> bool:
        """Make the change; False where it does not hold."""
        if change.prompt is not None:
            self._windows.room(change.prompt, None)
        holds, new = await change.make(session_id, self._store, self._draft)
        if new:
            self._emit(session_id, EventKind.SYSTEM_PROMPT_SET, {"tokens": self._windows.size_of(change.prompt)})
        return holds

    # --- the window ---------------------------------------------------------------------------------------------------

    async def get_context(
        self, session_id: str, *, max_tokens: int | None = None, profile: ProviderProfile | str | None = None
    ) -> Context:
        """The messages to send now. `max_tokens` lowers or raises the budget of this one call, system prompt included.

        With `profile`, a provider's or the name of a model, the messages are what is valid there, and that is what fits.
        """
        check_session(session_id)
        check_tokens(max_tokens)
        provider = profile_of(profile)
        built = await self._builder.built(session_id, max_tokens)
        if provider is None:
            context = context_of(built, built.window.view, NO_PROVIDER, config=self._config)
        else:
            context = await self._context_for(provider, built)
        if self._sink is not None:
            self._emit(session_id, EventKind.CONTEXT_BUILT, figures_of(context))
        return context

    async def _context_for(self, provider: ProviderProfile, built: Built) -> Context:
        """The window as the provider takes it. Where repairs make it larger than its limit, a smaller window is repaired."""
        basis = built.window.basis
        excess = 0
        while True:
            view, notes = view_for(built.window, provider, self._tools, self._counter)
            over = view.tokens - basis.limit
            if over <= 0:
                window = attrs.evolve(built.window, basis=basis)
                return context_of(attrs.evolve(built, window=window), view, notes, config=self._config)
            excess += over
            try:
                built = await self._builder.smaller(attrs.evolve(built, window=attrs.evolve(built.window, basis=basis)), excess)
            except BudgetTooSmall as error:
                why = f"the window takes {view.tokens} tokens in the form that {provider.name} accepts"
                raise basis.room.too_small(view.tokens, why) from error

    # --- the rest -----------------------------------------------------------------------------------------------------

    async def clear_context(self, session_id: str) -> None:
        check_session(session_id)
        head = await self._store.clear(session_id)
        self._windows.forget(session_id)
        self._emit(session_id, EventKind.CONTEXT_CLEARED, {"epoch": head.epoch})

    async def get_context_stats(self, session_id: str) -> ContextStats:
        check_session(session_id)
        built = await self._builder.built(session_id, None)
        prices = None if self._folds is None else self._folds.policy.prices
        return stats_of(built, self._counter, tool_tokens=self._tool_tokens, model_window=self._budget.window, prices=prices)

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
        return await self._folds.compact(await self._builder.usage_now(session_id, max_tokens))

    # --- modes ----------------------------------------------------------------------------------------------------------

    async def mode_state(self, session_id: str) -> ModeState:
        return await self._mode_keeper(session_id).state(session_id)

    async def set_mode(self, session_id: str, mode: Mode, *, new_task: bool = False) -> ModeState:
        """Put the session into a mode, where it stays until `set_control` gives it back. Raises `CapabilityNotSupported` for a
        mode that needs a folding strategy, or something to search, where there is none."""
        keeper = self._mode_keeper(session_id)
        check_kind("mode", mode, Mode, "Mode.FULL")
        self._builder.check_mode(mode)
        return await keeper.set_mode(session_id, mode, new_task=new_task)

    async def set_control(self, session_id: str, control: Control | None) -> ModeState:
        keeper = self._mode_keeper(session_id)
        check_kind("control", control, Control, "Control.MANUAL")
        return await keeper.set_control(session_id, control)

    async def confirm(self, session_id: str, proposal_id: str) -> ModeState:
        return await self._mode_keeper(session_id).confirm(session_id, proposal_id)

    async def reject(self, session_id: str, proposal_id: str) -> ModeState:
        return await self._mode_keeper(session_id).reject(session_id, proposal_id)

    def _mode_keeper(self, session_id: str) -> ModeKeeper:
        check_session(session_id)
        if self._modes is None:
            raise CapabilityNotSupported(
                "this manager has no modes: make it with modes=ModeMachine(), or with a retriever", port="ModePolicy"
            )
        return self._modes

    # --- the rest -----------------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Wait until no fold is made in the background, and nothing prepared for searches. Ending before loses nothing."""
        if self._folds is not None:
            await self._folds.settle()
        if self._searches is not None:
            await self._searches.settle()

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
