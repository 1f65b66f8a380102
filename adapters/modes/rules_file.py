"""A policy whose rules stand in a file, and may change while it runs (R184)."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import importlib.util
import os
import stat
import threading
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from contextport.contracts.errors import CapabilityNotSupported, InvalidArgument, RulesInvalid
from contextport.contracts.events import Event, EventKind, EventSink
from contextport.contracts.messages import Json
from contextport.contracts.modes import ModeDecision, ModePolicy, ModeRules, ModeSituation
from contextport.contracts.port import implements
from contextport.strategies.modes import ModeMachine, RulesBook, TenantOf, read_rules

__all__ = ["ModeRulesFile"]

_MOST_BYTES: Final = 4 * 1024 * 1024  # some ten thousand sessions with rules of their own
_MOST_TOLD: Final = 50  # changes or problems in one event
_TICK_NS: Final = (
    2_000_000_000  # the coarsest clock of a file system in use (FAT): a file written again within it may look the same
)
_QUIET_MS: Final = 50  # a file is read when so long nothing was written
_BUSY_MS: Final = 500  # or when it has been written to for so long


@frozen
class _Stamp:
    """What a file looks like from outside: another stamp, another content. `error` is set where there is no such file."""

    error: str = ""
    times_ns: tuple[int, int] = (0, 0)
    rest: tuple[int, ...] = ()

    def is_settled(self, now_ns: int) -> bool:
        """Whether the file was written so long ago that writing again shows in its times."""
        return bool(self.error) or all(abs(now_ns - at) > _TICK_NS for at in self.times_ns)


@frozen(kw_only=True)
class _Seen:
    """The file as it was read last, and what holds since: the newest rules that were good."""

    stamp: _Stamp
    settled: bool
    version: str
    problems: tuple[str, ...]
    book: RulesBook
    machine: ModeMachine


@implements(ModePolicy)
class ModeRulesFile:
    """Decides as `ModeMachine` does, by the rules of a JSON file (`strategies/modes/mode-rules.schema.json` is its schema).

        async with ModeRulesFile("modes.json", sink=sink) as policy:
            engine = ContextEngine(..., modes=policy)

    Each decision looks whether the file is another one (one `stat`), so a change takes effect at the next decision, whether it
    was written in place, renamed over the old file or swapped behind a symbolic link. A file that is missing, half written or
    wrong changes nothing: the rules before stay, `problems` says why, and so does the event `RULES_REJECTED`, once for each
    version of the file. Good rules are told of with `RULES_CHANGED` and the settings that changed. Both have an empty session id.

    As a context manager, or between `start` and `close`, the file is also watched in the background of the event loop, so that
    events come when the file changes and not with the next question. That needs the extra `watch`; if watching ends by itself,
    `watch_problem` says why, and decisions go on looking.

    `tenant_of` finds the tenant of a session; it must not raise. `fallback` holds where the file is not good from the start;
    without it that raises `RulesInvalid`. `clock` tells the time in nanoseconds since 1970. May be used in any thread.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        tenant_of: TenantOf | None = None,
        sink: EventSink | None = None,
        fallback: ModeRules | RulesBook | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.path = Path(path).absolute()
        if "\0" in str(self.path):
            raise InvalidArgument("path has a NUL character in it", name="path", value=str(self.path))
        self._tenant_of = tenant_of
        self._sink = sink
        self._clock = clock
        self._lock = threading.Lock()
        self._watching: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self.watch_problem = ""
        self._seen = self._first(RulesBook(default=fallback) if isinstance(fallback, ModeRules) else fallback)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the file as it is now; empty if its rules hold."""
        return self._now().problems

    @property
    def book(self) -> RulesBook:
        """The rules that hold now."""
        return self._now().book

    @property
    def is_watching(self) -> bool:
        """Whether the file is watched in the background."""
        return self._watching is not None and not self._watching.done()

    def rules_for(self, session_id: str) -> ModeRules:
        return self._now().machine.rules_for(session_id)

    def decide(self, situation: ModeSituation) -> ModeDecision:
        return self._now().machine.decide(situation)

    # --- reading --------------------------------------------------------------------------------------------------------

    def _first(self, fallback: RulesBook | None) -> _Seen:
        before = fallback or RulesBook()
        empty = _Seen(stamp=_Stamp("never read"), settled=True, version="", problems=(), book=before, machine=ModeMachine(before))
        seen = self._read(empty, _stamp_of(self.path))
        if not seen.problems:
            return seen
        if fallback is None:
            told = "; ".join(seen.problems[:3])
            raise RulesInvalid(f"the rules in {str(self.path)!r} cannot be used: {told}", problems=seen.problems)
        self._tell(empty, seen)
        return seen

    def _now(self) -> _Seen:
        """What holds now: the file is read again if it may be another."""
        seen = self._seen
        if seen.settled and _stamp_of(self.path) == seen.stamp:
            return seen
        with self._lock:
            before = self._seen
            self._seen = seen = self._read(before, _stamp_of(self.path))
        if seen.version != before.version:
            self._tell(before, seen)
        return seen

    def _read(self, before: _Seen, stamp: _Stamp) -> _Seen:
        settled = stamp.is_settled(self._clock())
        try:
            data = b"" if stamp.error else _content(self.path)
        except OSError as error:  # it went away, or changed its rights, since it was looked at
            stamp, data = _Stamp(_reason(error)), b""
        if stamp.error:
            version, problems = stamp.error, (f"$: {stamp.error}",)
            return evolve(before, stamp=stamp, settled=True, version=version, problems=problems)
        version = hashlib.sha256(data).hexdigest()[:12]
        if version == before.version:
            return evolve(before, stamp=stamp, settled=settled)
        if len(data) > _MOST_BYTES:
            told = f"$: is larger than {_MOST_BYTES} bytes"
            return evolve(before, stamp=stamp, settled=settled, version=version, problems=(told,))
        try:
            book = read_rules(data, tenant_of=self._tenant_of)
        except RulesInvalid as error:
            return evolve(before, stamp=stamp, settled=settled, version=version, problems=error.problems)
        return _Seen(stamp=stamp, settled=settled, version=version, problems=(), book=book, machine=ModeMachine(book))

    def _tell(self, before: _Seen, seen: _Seen) -> None:
        if self._sink is None:
            return
        told: dict[str, Json] = {"path": str(self.path), "version": seen.version}
        if seen.problems:
            problems = {"problems": list(seen.problems[:_MOST_TOLD]), "count": len(seen.problems)}
            self._sink.emit(Event(kind=EventKind.RULES_REJECTED, session_id="", data=told | problems))
            return
        changes = seen.book.changes_from(before.book)
        if changes or before.problems:
            some = {place: changes[place] for place in list(changes)[:_MOST_TOLD]}
            data = told | {"changed": some, "count": len(changes)}
            self._sink.emit(Event(kind=EventKind.RULES_CHANGED, session_id="", data=data))

    # --- watching -------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Watch the file in the background of the running event loop, until `close`. To start twice is to start once.

        Raises `CapabilityNotSupported` without the package `watchfiles`.
        """
        if self.is_watching:
            return
        if importlib.util.find_spec("watchfiles") is None:
            raise CapabilityNotSupported(
                "to watch a file of rules needs watchfiles: pip install 'contextport[watch]'", port="ModePolicy"
            )
        self.watch_problem, self._stop = "", asyncio.Event()
        self._watching = asyncio.create_task(self._watch(self._stop), name=f"watch {self.path.name}")
        await asyncio.sleep(0)  # the task begins to watch before it first waits
        await asyncio.to_thread(self._now)

    async def close(self) -> None:
        """Stop watching. May be repeated; decisions go on."""
        watching, self._watching = self._watching, None
        self._stop.set()
        if watching is not None:
            await asyncio.wait([watching])

    async def __aenter__(self) -> ModeRulesFile:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _watch(self, stop: asyncio.Event) -> None:
        """Look at the file whenever something happens in its folder, or in the one that it is a link into."""
        from watchfiles import awatch  # here: decisions need no watching

        try:
            while not stop.is_set():
                folders = _folders_of(self.path)
                changes = awatch(*folders, watch_filter=None, debounce=_BUSY_MS, step=_QUIET_MS, stop_event=stop, recursive=False)
                async with aclosing(changes):
                    async for _ in changes:
                        await asyncio.to_thread(self._now)
                        if _folders_of(self.path) != folders:
                            break
                await asyncio.to_thread(self._now)
        except Exception as error:  # too many watches, or the folder is gone: decisions still look
            self.watch_problem = f"{type(error).__name__}: {error}"


def _stamp_of(path: Path) -> _Stamp:
    try:
        found = os.stat(path)
    except OSError as error:
        return _Stamp(_reason(error))
    if not stat.S_ISREG(found.st_mode):  # to open a pipe would wait for its other end
        return _Stamp("is no regular file")
    return _Stamp("", (found.st_mtime_ns, found.st_ctime_ns), (found.st_size, found.st_ino, found.st_dev, found.st_mode))


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "the file is missing"
    return f"the file cannot be read: {error.strerror or type(error).__name__}"


def _folders_of(path: Path) -> tuple[Path, ...]:
    """Where changes of the file show: its own folder, and that of a file elsewhere that it is a link to.

    Behind a link to somewhere below its own folder, as in a mounted config map, it is the link that changes.
    """
    own, real = Path(os.path.realpath(path.parent)), Path(os.path.realpath(path))
    return (path.parent,) if real.is_relative_to(own) else (path.parent, real.parent)
