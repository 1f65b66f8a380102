"""What windows show of long-term memory: read before the history is laid out, and kept until there is reason to read again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from attrs import define, field

from contextport.contracts import EventKind, Head, Json, LongTermMemory, MemoryScope, Message, TokenCounter
from contextport.contracts.counting import total_tokens
from contextport.strategies.memory_reader import MemoryReader, MemoryReading

__all__ = ["MemoryKeeper", "own_scope"]

Report = Callable[[str, EventKind, dict[str, Json]], None]

_MOST_SESSIONS = 1024  # sessions for which something read is held
_RESIDENT_TOKENS, _RECALLED_TOKENS = 400, 600  # at most; an eighth and a sixth of a small room
_STALE_SECONDS = 3600.0  # providers have dropped their caches by then, so that nothing is lost by reading anew


@define
class _Read:
    """What was read for a session: `resident` for the fold at `place`, `recalled` for `question`.

    `failed` says that the resident part did not come; it is asked for again with the next turn.
    """

    place: tuple[int, str, int] = (0, "", 0)
    turn: int = 0
    at: float = 0.0
    failed: bool = False
    resident: Message | None = None
    question: tuple[object, ...] = ()
    recalled: Message | None = None


@define(kw_only=True)
class MemoryKeeper:
    """Reads `memory` for the sessions whose scope `scope_of` tells.

    The resident part stands early in the window, so what is new in it shows only where the prefix changes anyway: after a
    fold, a clear, or an hour without a question. What is gone, because it was forgotten or no longer holds, is gone with the
    next turn. What a question asks about is read once for each question. `room` is what windows have beside system prompts,
    in tokens.
    """

    memory: LongTermMemory
    scope_of: Callable[[str], MemoryScope]
    counter: TokenCounter
    clock: Callable[[], float]
    report: Report
    room: int
    _reader: MemoryReader = field(init=False)
    _held: OrderedDict[str, _Read] = field(init=False, factory=OrderedDict[str, _Read])

    def __attrs_post_init__(self) -> None:
        resident, recalled = min(_RESIDENT_TOKENS, self.room // 8), min(_RECALLED_TOKENS, self.room // 6)
        self._reader = MemoryReader(self.memory, self.counter, resident_tokens=resident, recalled_tokens=recalled)

    async def resident(self, head: Head, fold: int) -> Message | None:
        """Who the user is and what always holds, for windows that begin with the fold at that entry."""
        held = self._held.get(head.session_id)
        if held is None:
            held = self._held[head.session_id] = _Read()
            if len(self._held) > _MOST_SESSIONS:
                self._held.popitem(last=False)
        self._held.move_to_end(head.session_id)
        place = head.epoch, head.incarnation, fold
        if held.turn == head.turn and held.place == place:
            return held.resident
        read = await self._read(head.session_id)
        now, before = self.clock(), held.resident
        stands = held.place == place and now - held.at < _STALE_SECONDS
        if read.reason:
            held.resident = before if held.place == place else None
        elif not stands or held.failed or not _lines(before) <= _lines(read.resident):
            held.resident = read.resident
        held.failed = bool(read.reason)
        held.place, held.turn, held.at = place, head.turn, now
        self._tell(head.session_id, "resident", held.resident if held.resident is not before else None, read.reason)
        return held.resident

    async def recalled(self, head: Head, question: Message, beside: Sequence[Message], *, once: bool = False) -> Message | None:
        """What the question asks about, beside what is in the window. `once`: for one window that leaves nothing behind."""
        held = self._held.setdefault(head.session_id, _Read())
        if once:
            return (await self._read(head.session_id, question, beside)).recalled
        place = head.incarnation, head.epoch, question.id
        if held.question != place:
            read = await self._read(head.session_id, question, beside)
            held.question, held.recalled = place, read.recalled
            self._tell(head.session_id, "recalled", read.recalled, read.reason)
        return held.recalled

    async def _read(self, session_id: str, question: Message | None = None, beside: Sequence[Message] = ()) -> MemoryReading:
        """What the memory has for the session: what is resident, or what a question asks about."""
        try:
            scope = self.scope_of(session_id)
            verified = isinstance(scope, MemoryScope)
        except Exception as error:  # the host's own function
            return MemoryReading(reason=type(error).__name__)
        if not verified:
            return MemoryReading(reason=f"scope_of gave a {type(scope).__name__}")
        return await self._reader.read(scope, question, beside=beside, resident=question is None, not_of=session_id)

    def _tell(self, session_id: str, what: str, message: Message | None, reason: str) -> None:
        if reason:
            self.report(session_id, EventKind.MEMORY_FAILED, {"error": reason, "reading": what})
        if message is not None:
            tokens = total_tokens([message], self.counter)
            self.report(session_id, EventKind.MEMORY_RECALLED, {"what": what, "tokens": tokens})


def _lines(message: Message | None) -> set[str]:
    return set() if message is None else set(message.text.splitlines())


def own_scope(session_id: str) -> MemoryScope:
    """The scope of a session that shares its memory with no other."""
    return MemoryScope(subject=session_id)
