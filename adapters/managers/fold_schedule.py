"""When a session is folded: in the background as a rule, waited for where the window has no room left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from attrs import define, field, frozen

from contextport.contracts import EventKind, Head, Json
from contextport.strategies.folding import FoldDecision, FoldPolicy, FoldReason, FruitlessTry, fold_decision

from .history_folder import FoldOutcome, FoldTask, HistoryFolder
from .live_fold import LiveFold

__all__ = ["FoldSchedule", "FoldUsage", "usage_of"]

Report = Callable[[str, EventKind, dict[str, Json]], None]

_SILENT = frozenset({FoldReason.BELOW_LIGHT, FoldReason.IN_FLIGHT})
_MOST_SESSIONS = 4096  # sessions whose last try is remembered


@frozen(kw_only=True)
class FoldUsage:
    """What a session's window would take with all that is not folded, in tokens: `used`, where `limit` is the most.

    Part of it are the system prompt, `system`, and summary and facts, `memory`. `mean` is the size of one message, `turns` the
    requests since the last fold, as half of the messages since. All that is so after the fold whose record is entry `fold` of
    the epoch, 0 for none. `keep` is how many of the newest messages stay, where it is not what the policy says.
    """

    session_id: str
    epoch: int
    fold: int
    used: int
    limit: int
    system: int
    memory: int
    mean: int
    turns: int
    keep: int | None = None


def usage_of(head: Head, fold: LiveFold | None, *, system: int, limit: int, recalled: int = 0) -> FoldUsage:
    """The usage of a session at `head`, with `recalled` tokens of what was brought back."""
    memory = folded_messages = folded_tokens = saved = 0
    if fold is not None:
        memory, saved = fold.tokens, fold.record.rewriting_saved
        folded_messages, folded_tokens = fold.record.messages, fold.record.tokens
    unfolded, count = head.tokens - folded_tokens - saved, head.messages - folded_messages
    return FoldUsage(
        session_id=head.session_id,
        epoch=head.epoch,
        fold=0 if fold is None else fold.record.seq,
        used=system + memory + unfolded + recalled,
        limit=limit,
        system=system,
        memory=memory,
        mean=unfolded // max(1, count),
        turns=count // 2,
    )


@define
class _Progress:
    """What is known of a session's folds in this process: one that is being made, and the last try if it was fruitless.

    After a fold, usages are stale until the next window is made.
    """

    task: asyncio.Task[bool] | None = None
    failed: bool = False
    tried_at: float | None = None
    tried_tokens: int = 0
    tried_place: tuple[int, int] = (0, 0)
    requested_at: float | None = None
    is_stale: bool = False
    reported: FoldReason | None = None


@define
class FoldSchedule:
    """Decides on folds by the policy and runs them, one at a time for each session.

    A fold that is not waited for goes on in the background of the event loop that it was started in.
    """

    folder: HistoryFolder
    policy: FoldPolicy
    clock: Callable[[], float]
    report: Report
    _sessions: dict[str, _Progress] = field(init=False, factory=dict[str, _Progress])

    def added(self, usage: FoldUsage) -> None:
        """Start a fold in the background, if one is due after an add."""
        if self._progress(usage.session_id).is_stale:
            return
        decision = self._decided(usage)
        if decision.act:
            self._start(usage, decision)

    async def before_window(self, usage: FoldUsage, *, asked: bool = False) -> tuple[FoldDecision, bool]:
        """Start a fold if one is due before a window is made, or `asked` for; wait for it if there is no room without (D17).

        Returns the decision, and whether a fold was waited for to its end: of this process or, if it lost the race, of another.
        """
        decision = self._decided(usage, asked=asked)
        progress = self._progress(usage.session_id)
        progress.requested_at, progress.is_stale = self.clock(), False
        if decision.act:
            self._start(usage, decision)
        elif decision.reason not in _SILENT and decision.reason is not progress.reported:
            self.report(usage.session_id, EventKind.FOLD_POSTPONED, decision.as_json())
        progress.reported = decision.reason
        task = progress.task
        if not decision.wait or task is None or not _here(task):
            return decision, False
        await asyncio.wait({task}, timeout=self.policy.wait_seconds)
        progress.is_stale = False
        return decision, task.done()

    async def compact(self, usage: FoldUsage) -> bool:
        """Fold now, whatever the thresholds say, and wait for it. A fold that is being made already is waited for first."""
        progress = self._progress(usage.session_id)
        if progress.task is not None and _here(progress.task):
            await asyncio.wait({progress.task})
        making = asyncio.get_running_loop().create_task(self._asked(usage))
        if progress.task is None or not _running(progress.task):
            progress.task = making
        return await making

    async def settle(self) -> None:
        """Wait until no fold is being made in this event loop."""
        while tasks := {p.task for p in self._sessions.values() if p.task is not None and _here(p.task)}:
            await asyncio.wait(tasks)

    def _decided(self, usage: FoldUsage, *, asked: bool = False) -> FoldDecision:
        policy, room = self.policy, usage.limit - usage.system
        progress = self._sessions.get(usage.session_id) or _Progress()
        keep = policy.keep_latest if usage.keep is None else usage.keep
        latest = min(usage.used - usage.system - usage.memory, keep * usage.mean)
        now = self.clock()
        last = None
        grown = usage.used - progress.tried_tokens
        if progress.tried_at is not None and progress.tried_place == (usage.epoch, usage.fold) and grown >= 0:
            last = FruitlessTry(failed=progress.failed, seconds=now - progress.tried_at, grown=grown)
        return fold_decision(
            policy,
            used=usage.used,
            limit=usage.limit,
            system=usage.system,
            foldable=usage.used - usage.system - usage.memory - usage.mean,
            expected_after=usage.system + policy.history_after(room, latest),
            turns_since_fold=usage.turns,
            since_last_request=None if progress.requested_at is None else now - progress.requested_at,
            last_try=last,
            in_flight=progress.task is not None and _running(progress.task),
            asked=asked,
        )

    def _start(self, usage: FoldUsage, decision: FoldDecision) -> None:
        place = usage.epoch, usage.fold
        task = FoldTask(session_id=usage.session_id, limit=usage.limit, reason=str(decision.reason), after=place, keep=usage.keep)
        self._progress(usage.session_id).task = asyncio.get_running_loop().create_task(self._folded(task, usage))

    async def _folded(self, task: FoldTask, usage: FoldUsage) -> bool:
        """Make the fold, and note how it went. Whatever fails, the conversation goes on."""
        progress = self._progress(task.session_id)
        outcome, failed = FoldOutcome.NOTHING, False
        try:
            async with asyncio.timeout(self.policy.give_up_seconds):
                outcome = await self.folder.fold(task, partial(self.report, task.session_id))
        except Exception as error:  # strategies, summarizers and memories are foreign code
            self.report(task.session_id, EventKind.FOLD_FAILED, {"reason": type(error).__name__, "tokens": usage.used})
            failed = True
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is None or own.cancelling():
                raise
            self.report(task.session_id, EventKind.FOLD_FAILED, {"reason": "CancelledError", "tokens": usage.used})
            failed = True  # foreign code raised it, and nobody cancelled the fold
        fruitless = outcome is FoldOutcome.NOTHING
        progress.tried_at = self.clock() if fruitless else None
        progress.tried_tokens, progress.tried_place = usage.used, (usage.epoch, usage.fold)
        progress.failed, progress.is_stale = failed, not fruitless
        return outcome is FoldOutcome.FOLDED

    async def _asked(self, usage: FoldUsage) -> bool:
        """Make a fold that a host waits for, and hand on whatever fails but the time limit."""
        task = FoldTask(session_id=usage.session_id, limit=usage.limit, reason=str(FoldReason.ASKED), keep=usage.keep)
        try:
            async with asyncio.timeout(self.policy.give_up_seconds):
                outcome = await self.folder.fold(task, partial(self.report, usage.session_id))
        except TimeoutError:
            self.report(usage.session_id, EventKind.FOLD_FAILED, {"reason": "it took too long", "tokens": usage.used})
            return False
        if outcome is not FoldOutcome.NOTHING:
            self._progress(usage.session_id).is_stale = True
        return outcome is FoldOutcome.FOLDED

    def _progress(self, session_id: str) -> _Progress:
        progress = self._sessions.setdefault(session_id, _Progress())
        if len(self._sessions) > _MOST_SESSIONS:
            idle = next((id for id, p in self._sessions.items() if id != session_id and (p.task is None or p.task.done())), None)
            if idle is not None:
                del self._sessions[idle]
        return progress


def _running(task: asyncio.Task[bool]) -> bool:
    """Whether the task will still come to an end: not where its event loop was closed over it."""
    return not task.done() and not task.get_loop().is_closed()


def _here(task: asyncio.Task[bool]) -> bool:
    """Whether the task can be waited for: it is not done, and of this event loop."""
    return _running(task) and task.get_loop() is asyncio.get_running_loop()
