"""Events as JSON, one per line, at the end of a file."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from contextport.contracts import Event, EventSink, InvalidArgument, implements

__all__ = ["JsonLinesEventSink"]


@implements(EventSink)
class JsonLinesEventSink:
    r"""Appends `{"at": seconds, "event": kind, "session_id": id, "data": {...}}\n` for each event.

    Each line goes to the system in one write, so several sinks, also in several processes, may share a file. Lines are ASCII.
    An event that cannot be written (disk full, file system gone, closed sink) is dropped and counted in `dropped`; a line that
    was cut short is ended before the next one. What is written survives the process, not a loss of power. `clock` gives seconds
    since 1970. Raises `InvalidArgument` when the file cannot be opened for appending.
    """

    def __init__(self, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path)
        self.dropped = 0
        self._clock = clock
        self._lock = threading.Lock()
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            size = os.fstat(self._file).st_size
            self._cut = size > 0 and os.pread(self._file, 1, size - 1) != b"\n"
        except OSError as error:
            raise InvalidArgument(
                f"cannot append events to {self.path}: {error.strerror}; give a writable file in an existing folder",
                name="path",
                value=str(self.path),
            ) from error

    def emit(self, event: Event) -> None:
        try:
            line = _line(event, self._clock())
        except Exception:  # data that are no JSON, or a clock that fails
            line = b""
        with self._lock:
            if not (line and self._write(line)):
                self.dropped += 1

    def _write(self, line: bytes) -> bool:
        if self._file < 0:
            return False
        content = b"\n" + line if self._cut else line
        try:
            written = os.write(self._file, content)
        except OSError:
            return False
        if written:
            self._cut = written < len(content)
        return written == len(content)

    def close(self) -> None:
        """Close the file. Later events are dropped; closing again does nothing."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1


def _line(event: Event, at: float) -> bytes:
    value = {"at": at, "event": event.kind.value, "session_id": event.session_id, "data": dict(event.data)}
    return json.dumps(value, separators=(",", ":"), default=str).encode("ascii") + b"\n"
