"""Window sizes that a host's own errors stated."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from contextport.contracts import (
    ContextPortError,
    Event,
    EventKind,
    EventSink,
    InvalidArgument,
    LearnsLimits,
    Limits,
    LimitsSource,
    implements,
)
from contextport.contracts.provider_error import ErrorKind, ErrorReading

from .host_names import host_name
from .learnt_file import LearntNumber, LearntNumbers, read_learnt, write_learnt

__all__ = ["LearntLimits"]

_WEEK: Final = 7 * 24 * 3600.0

#: What the limit in an error says. A limit of input and output together bounds the input alone, too.
_TAUGHT: Final[Mapping[ErrorKind, tuple[str, ...]]] = {
    ErrorKind.INPUT: ("max_input",),
    ErrorKind.INPUT_PLUS_OUTPUT: ("window", "max_input"),
    ErrorKind.OUTPUT_HIT_WINDOW: ("window", "max_input"),
    ErrorKind.OUTPUT_CAP: ("max_output",),
    ErrorKind.TPM_SINGLE_REQUEST: ("entitlement",),
    ErrorKind.ENTITLEMENT: ("entitlement",),
}


@implements(LimitsSource, LearnsLimits)
class LearntLimits:
    """Learns from errors what a host allows: `learn(reading, model=..., host=...)`, then `limits(model, host)`.

    Learnt is only the number that the error states as its limit, in tokens. The size that was refused is never taken for one,
    nor a limit that the refused size did not exceed: that number is something else. A limit of the account (its plan, or more
    tokens in one request than a minute allows) is the `entitlement`, not the window.

    A number is tightened by a smaller one and never widened by a larger one. It expires `lifetime` seconds after the host last
    stated it: plans and servers change. `forget` drops what is known of one model at once.

    With `path` it is kept in a file, which processes may share: each change reads it, takes the tighter numbers of both, and
    replaces it at once, so a reader never sees half a file. Of two processes that learn in the same instant the later one may
    win; the host states the other number again. When the file cannot be read or written later on, what is learnt counts in this
    process, and `sink` receives a `limits_not_saved` event: recovery from an error must not fail for want of a disk.

    Raises, at construction: `InvalidArgument` for a lifetime that is not above 0 and for a path in no folder; `StoreCorrupt`
    for a file that is damaged, of a later version, or not of this kind, which is left as it is; `StoreUnavailable` for one that
    cannot be read.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        lifetime: float = _WEEK,
        clock: Callable[[], float] = time.time,
        sink: EventSink | None = None,
    ) -> None:
        if isinstance(lifetime, bool) or not isinstance(lifetime, int | float) or not lifetime > 0:
            raise InvalidArgument(f"lifetime is {lifetime!r}; it must be seconds, above 0", name="lifetime", value=lifetime)
        self._path = None if path is None else Path(path).resolve()
        if self._path is not None and not self._path.parent.is_dir():
            raise InvalidArgument(
                f"there is no folder {str(self._path.parent)!r} for the learnt limits; make it, or give another path",
                name="path",
                value=str(path),
            )
        self._lifetime = lifetime
        self._clock = clock
        self._sink = sink
        self._lock = threading.Lock()
        self._learnt: LearntNumbers = {} if self._path is None else read_learnt(self._path)

    def limits(self, model: str, host: str = "") -> Limits | None:
        known = self._alive(self._learnt.get((host_name(host), model), {}))
        if not known:
            return None
        kinds = sorted({number.kind for number in known.values()})
        oldest = min(number.at for number in known.values())
        tokens: dict[str, Any] = {name: number.tokens for name, number in known.items()}
        return Limits(
            **tokens,
            source=f"errors of the host ({', '.join(kinds)})",
            as_of=datetime.fromtimestamp(oldest, UTC).date().isoformat(),
        )

    def learn(self, reading: ErrorReading, *, model: str, host: str = "") -> bool:
        """Learn from what an error said of `model` on `host`. Returns whether a number was new, tighter or confirmed."""
        names = _TAUGHT.get(reading.kind, ())
        if reading.kind is ErrorKind.OUTPUT_CAP and reading.input is not None:
            names = _TAUGHT[ErrorKind.INPUT_PLUS_OUTPUT]  # an answer of more than the window was asked for
        limit = reading.limit
        if limit is None or limit <= 0 or reading.unit != "tokens" or not _was_exceeded(reading, limit):
            return False
        stated = LearntNumber(tokens=limit, kind=reading.kind.value, at=self._clock())
        key = (host_name(host), model)
        with self._lock:
            before = self._alive(self._learnt.get(key, {}))
            taken = {name: stated for name in names if name not in before or limit <= before[name].tokens}
            if taken:
                self._change(key, before | taken)
        return bool(taken)

    def forget(self, model: str, host: str = "") -> None:
        """Drop what was learnt of `model` on `host`, such as after a change of the plan."""
        with self._lock:
            self._change((host_name(host), model), {})

    def _change(self, key: tuple[str, str], numbers: dict[str, LearntNumber]) -> None:
        """Set what is known of `key`; of everything else, take the tighter of what is in memory and in the file."""
        learnt = dict(self._learnt)
        try:
            stored = {} if self._path is None else read_learnt(self._path)
            for other in stored.keys() | learnt.keys():
                learnt[other] = _tighter(self._alive(learnt.get(other, {})), self._alive(stored.get(other, {})))
            learnt[key] = _tighter(numbers, self._alive(stored.get(key, {}))) if numbers else {}
            self._learnt = {known: numbers for known, numbers in learnt.items() if numbers}
            if self._path is not None:
                write_learnt(self._path, self._learnt)
        except ContextPortError as error:
            self._learnt = learnt | {key: numbers}
            if self._sink is not None:
                self._sink.emit(
                    Event(kind=EventKind.LIMITS_NOT_SAVED, session_id="", data={"path": str(self._path), "reason": error.code})
                )

    def _alive(self, numbers: Mapping[str, LearntNumber]) -> dict[str, LearntNumber]:
        now = self._clock()
        return {name: number for name, number in numbers.items() if abs(now - number.at) < self._lifetime}


def _was_exceeded(reading: ErrorReading, limit: int) -> bool:
    """Whether what was refused, as far as it is said, is more than the limit."""
    if reading.kind is ErrorKind.OUTPUT_CAP:
        refused = reading.output
    elif reading.total is not None:
        refused = reading.total
    elif reading.kind is ErrorKind.INPUT_PLUS_OUTPUT and reading.input is not None and reading.output is not None:
        refused = reading.input + reading.output
    elif reading.kind is ErrorKind.INPUT_PLUS_OUTPUT:
        refused = None  # one of the two alone may well be below the limit
    else:
        refused = reading.input
    return refused is None or refused > limit or reading.is_lower_bound


def _tighter(first: Mapping[str, LearntNumber], second: Mapping[str, LearntNumber]) -> dict[str, LearntNumber]:
    """By name the smaller number, of equal ones the later."""
    both = dict(first)
    for name, number in second.items():
        have = both.get(name)
        if have is None or (number.tokens, -number.at) < (have.tokens, -have.at):
            both[name] = number
    return both
