"""How a window comes about: the session's mode, a fold that is due, the conversation, and what is put in beside it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile, islice, takewhile

import attrs
from attrs import define, field

from contextport.contracts import (
    BudgetTooSmall,
    CapabilityNotSupported,
    ContextStore,
    Control,
    Entry,
    Head,
    Message,
    Mode,
    ModeRules,
    SensedTurn,
    TokenCounter,
    message_tokens,
)
from contextport.strategies import newest_question
from contextport.strategies.folding import FoldDecision

from .fold_schedule import FoldSchedule, FoldUsage
from .fragment_recall import places_asked
from .memory_keeper import MemoryKeeper
from .mode_keeper import ModeKeeper, Standing
from .session_state import SessionMode
from .session_window import Basis, SessionWindow, placed
from .snippet_keeper import Asked, SnippetKeeper
from .window_keeper import WindowKeeper
from .window_plan import NO_MODES, SHOWS_FOLDS, SHOWS_SNIPPETS, plan_of

__all__ = ["Built", "WindowBuilder"]

_MOST_SESSIONS = 1024  # sessions whose newest question is held
_BEFORE = 6  # messages before a question that signals see


@define
class Built:
    """A window and what it was made for: the session's head, and what was decided on folds."""

    head: Head
    window: SessionWindow
    outlook: FoldDecision | None = None


@define(kw_only=True)
class WindowBuilder:
    """Makes the windows of a manager out of its parts."""

    store: ContextStore
    counter: TokenCounter
    windows: WindowKeeper
    folds: FoldSchedule | None = None
    modes: ModeKeeper | None = None
    snippets: SnippetKeeper | None = None
    memory: MemoryKeeper | None = None
    _questions: dict[str, tuple[tuple[object, ...], Asked]] = field(
        init=False, factory=dict[str, tuple[tuple[object, ...], Asked]]
    )

    async def built(self, session_id: str, max_tokens: int | None) -> Built:
        """The session's window now, after a change of its mode and a fold that were due; without them for `max_tokens`."""
        head = await self.store.head(session_id)
        modes = self.modes
        is_plain = modes is None and self.memory is None
        if is_plain and self.folds is None and max_tokens is None:
            grown = self.windows.grown(head)
            if grown is not None:
                return Built(head, grown)
        basis = await (self.windows.basis(head, max_tokens) if is_plain else self._basis(head, max_tokens))
        if max_tokens is not None:
            return Built(head, await self._window(head, basis, once=True))
        entered = False
        if modes is not None:
            head, basis, entered = await self._after_mode(modes, head, basis)
        if self.folds is None or not basis.plan.folded:
            return Built(head, await self._window(head, basis))
        return await self._after_folds(self.folds, head, basis, asked=entered and basis.live is None)

    def check_mode(self, mode: Mode) -> None:
        """Raise `CapabilityNotSupported` for a mode whose windows cannot be made up here."""
        if mode in SHOWS_FOLDS and self.folds is None:
            raise CapabilityNotSupported(
                f"mode {mode} needs a strategy that folds history, such as FoldOldest; this manager's does not",
                port="FoldsHistory",
            )
        if mode in SHOWS_SNIPPETS and self.snippets is None:
            raise CapabilityNotSupported(
                f"mode {mode} needs something to search: make the manager with a retriever, or with knowledge", port="Retriever"
            )

    async def smaller(self, built: Built, excess: int) -> Built:
        """The window for the same call with `excess` tokens less. Raises `BudgetTooSmall` when it cannot get so small."""
        basis = built.window.basis
        room = basis.room
        less = room.with_more(-excess)
        if less.limit <= basis.system:
            raise room.too_small(basis.limit + excess, "the system prompt leaves no room")
        window = await self._window(built.head, attrs.evolve(basis, room=less), once=True)
        return attrs.evolve(built, window=window)

    async def usage_now(self, session_id: str, max_tokens: int | None) -> FoldUsage:
        """How full the session's window is, or would be in `max_tokens`, as folds are decided by it."""
        head = await self.store.head(session_id)
        return self._usage(head, await self.windows.basis(head, max_tokens))

    def with_rules(self, usage: FoldUsage) -> FoldUsage:
        """The usage with what the rules of modes say of folds."""
        return usage if self.modes is None else attrs.evolve(usage, keep=self._rules(usage.session_id).keep_messages)

    def _usage(self, head: Head, basis: Basis) -> FoldUsage:
        return self.with_rules(self.windows.usage(head, basis))

    def _rules(self, session_id: str) -> ModeRules:
        return ModeRules() if self.modes is None else self.modes.policy.rules_for(session_id)

    async def _basis(self, head: Head, max_tokens: int | None) -> Basis:
        """What the window is made on, with room for what is put in."""
        plan = NO_MODES
        kept, fold = self.windows.state_at(head)
        if self.modes is not None:
            plan = plan_of(kept or SessionMode(epoch=head.epoch), self._rules(head.session_id), folds=self.folds is not None)
        if self.memory is None or not plan.remembers:
            return await self.windows.basis(head, max_tokens, plan)
        resident = await self.memory.resident(head, fold)
        extra = 0 if resident is None else message_tokens(resident, self.counter)
        return await self.windows.basis(head, max_tokens, plan, extra)

    # --- modes ----------------------------------------------------------------------------------------------------------

    async def _after_mode(self, modes: ModeKeeper, head: Head, basis: Basis) -> tuple[Head, Basis, bool]:
        """Head and basis after the mode was decided on, and whether folds are shown from here on."""
        if await modes.note_rules(head.session_id, basis.mode or SessionMode(epoch=head.epoch)):
            head = await self.store.head(head.session_id)
            basis = await self._basis(head, None)
        if basis.plan.control is Control.MANUAL:
            return head, basis, False
        window = await self._shown(head, basis, once=False)
        standing = await self._standing(modes, head, window)
        if not await modes.before_window(standing, basis.mode or SessionMode(epoch=head.epoch)):
            return head, basis, False
        head = await self.store.head(head.session_id)
        after = await self._basis(head, None)
        return head, after, after.plan.folded and not basis.plan.folded

    async def _standing(self, modes: ModeKeeper, head: Head, window: SessionWindow) -> Standing:
        """What the session's mode is decided by."""
        basis = window.basis
        usage = self.windows.usage(head, basis)
        mode = basis.mode or SessionMode(epoch=head.epoch)
        began_after_fold = basis.live is None or basis.live.record.through < mode.floor
        used = usage.system + head.tokens - mode.floor_tokens if mode.floor and began_after_fold else usage.used
        room = basis.limit - basis.system
        asked = await self._asked(head, window)
        history = None if self.snippets is None else self.snippets.history
        knowledge = None if self.snippets is None else self.snippets.knowledge
        others = () if self.snippets is None or history is None else self.snippets.others_of(head.session_id)
        turn: SensedTurn | None = None
        if asked is not None:
            turn = await self._turn(modes, head, window, asked)
        return Standing(
            head=head,
            turn=turn,
            question_seq=0 if asked is None else asked.seq,
            tokens_before=head.tokens if asked is None else head.tokens - _tokens_from(window, asked.seq),
            occupancy=(used - usage.system) / room if room > 0 else 1.0,
            has_folded=not began_after_fold,
            has_earlier=mode.floor > 0,
            can_search=history is not None,
            has_knowledge=knowledge is not None or bool(others),
        )

    async def _turn(self, modes: ModeKeeper, head: Head, window: SessionWindow, asked: Asked) -> SensedTurn:
        """What signals look at; it is searched for only where something is out of sight, and once for a question."""
        found: tuple[float, ...] | None = None
        others = () if self.snippets is None else self.snippets.others_of(head.session_id)
        hides = window.region.messages > window.view.said or bool(others)
        sensed = modes.has_sensed(head, asked.message)
        basis = window.basis
        is_alone = basis.plan.mode is Mode.ZERO_SHOT  # each question by itself, whatever was said
        if self.snippets is not None and self.snippets.history is not None and hides and not sensed and not is_alone:
            rules = self._rules(head.session_id)
            most = min(rules.snippet_tokens, int((basis.limit - basis.system) * rules.snippet_share))
            snippets = await self.snippets.found(head, window, asked, most)
            found = tuple(sorted([snippet.score for snippet in snippets if snippet.session_id], reverse=True))
        before = () if sensed else tuple(islice(_before(window, asked.seq), _BEFORE))
        earlier = next(_before(window, asked.seq), None)
        since = None if earlier is None or asked.at is None else max(0.0, asked.at - (earlier.message.created_at or earlier.at))
        return SensedTurn(
            question=asked.message,
            before=tuple([entry.message for entry in reversed(before)]),
            known_facts=len(asked.known),
            found=found,
            seconds_since=since,
        )

    async def _asked(self, head: Head, window: SessionWindow) -> Asked | None:
        """The newest question of the window, as what is searched for."""
        question = newest_question(window.view.messages)
        if question is None:
            return None
        message, live = window.view.messages[question], window.basis.live
        place = message.id, head.epoch, head.incarnation, 0 if live is None else live.record.seq
        held = self._questions.get(head.session_id)
        if held is not None and held[0] == place:
            return attrs.evolve(held[1], message=message)
        entry = next((entry for entry in window.region.newest_first() if entry.message.id == message.id), None)
        if entry is None:
            return None
        known = () if live is None else await places_asked(live, entry.message)
        asked = Asked(message=message, seq=entry.seq, at=entry.message.created_at or entry.at, known=known)
        self._questions[head.session_id] = place, asked
        if len(self._questions) > _MOST_SESSIONS:
            del self._questions[next(iter(self._questions))]
        return asked

    # --- folds ----------------------------------------------------------------------------------------------------------

    async def _after_folds(self, folds: FoldSchedule, head: Head, basis: Basis, *, asked: bool) -> Built:
        """The window after a fold that was due and did not take too long."""
        usage = self._usage(head, basis)
        outlook, folded = await folds.before_window(usage, asked=asked)
        head, basis = await self._refreshed(head, basis, folded)
        window = await self._window(head, basis)
        if not outlook.wait:
            now = self._usage(head, basis)  # with what was brought back, and what no count foresees
            now = attrs.evolve(now, used=max(now.used, now.limit)) if window.is_cut else now
            if now.used > usage.used:
                outlook, folded = await folds.before_window(now)
                if folded:
                    head, basis = await self._refreshed(head, basis, folded)
                    window = await self._window(head, basis)
        return Built(head, window, outlook)

    async def _refreshed(self, head: Head, basis: Basis, folded: bool) -> tuple[Head, Basis]:
        """The head and the basis as they are now, if the log was `folded` since."""
        if not folded:
            return head, basis
        head = await self.store.head(head.session_id)
        return head, await self._basis(head, None)

    # --- the window -----------------------------------------------------------------------------------------------------

    async def _window(self, head: Head, basis: Basis, *, once: bool = False) -> SessionWindow:
        """The window with all that its plan puts in."""
        if basis.plan is NO_MODES and self.memory is None:
            window = await self.windows.window(head, basis, once=once)
            return window if basis.fold is None else await self.windows.with_fragments(head.session_id, window)
        reserving = await self._reserving(head, basis, once=once)
        if reserving is None or (basis.reserve and _cuts_question(reserving)):  # what is put in yields to the question
            whole = attrs.evolve(basis, room=basis.room.with_more(basis.reserve), reserve=0)
            reserving = await self._shown(head, whole, once=True)
        window = reserving
        if basis.fold is not None and not basis.plan.snippets:
            window = await self.windows.with_fragments(head.session_id, window)
        return await self._filled(head, window, once=once)

    async def _reserving(self, head: Head, basis: Basis, *, once: bool) -> SessionWindow | None:
        """The window with room for what is put in; None where it cannot get so small."""
        try:
            return await self._shown(head, basis, once=once)
        except BudgetTooSmall:
            if not basis.reserve:
                raise
            return None

    async def _shown(self, head: Head, basis: Basis, *, once: bool) -> SessionWindow:
        window = await self.windows.window(head, basis, once=once)
        return await self.windows.narrowed(head.session_id, window)

    async def _filled(self, head: Head, window: SessionWindow, *, once: bool) -> SessionWindow:
        """The window with what long-term memory knows, and what was found for its newest question, as far as there is room."""
        basis = window.basis
        asked = await self._asked(head, window)
        first: list[Message] = []
        late: list[Message] = []
        room = basis.limit - window.view.tokens
        if self.memory is not None and basis.plan.remembers:
            resident = await self.memory.resident(head, 0 if basis.live is None else basis.live.record.seq)
            room -= self._put(first, resident, room)
            if asked is not None:
                beside = (*window.view.messages, *first)
                room -= self._put(late, await self.memory.recalled(head, asked.message, beside, once=once), room)
        if self.snippets is not None and basis.plan.snippets and asked is not None and room > 0:
            most = min(room, basis.plan.most_snippets(basis.limit - basis.system))
            if once:
                found = await self.snippets.message_once(head, window, asked, most)
            else:
                found = await self.snippets.message(head, window, asked, room, most)
            room -= self._put(late, found, room)
        tokens = basis.limit - window.view.tokens - room
        return placed(window, first, late, tokens) if tokens else window

    def _put(self, place: list[Message], message: Message | None, room: int) -> int:
        """Put the message there if there is room for it. Returns what it takes."""
        tokens = 0 if message is None else message_tokens(message, self.counter)
        if message is None or tokens > room:
            return 0
        place.append(message)
        return tokens


def _cuts_question(window: SessionWindow) -> bool:
    question = newest_question(window.view.messages)
    if question is None:
        return False
    id = window.view.messages[question].id
    return any(one.message_id == id for one in window.view.shortened)


def _before(window: SessionWindow, seq: int) -> Iterator[Entry]:
    """What was said before the entry, the newest first."""
    return dropwhile(lambda entry: entry.seq >= seq, window.region.newest_first())


def _tokens_from(window: SessionWindow, seq: int) -> int:
    """The size of what was said from the entry on."""
    return sum([entry.tokens for entry in takewhile(lambda entry: entry.seq >= seq, window.region.newest_first())])
