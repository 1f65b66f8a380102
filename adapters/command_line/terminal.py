"""Output: text for programs on standard output, words for people on standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TextIO

from attrs import frozen

__all__ = ["OutputFailed", "Terminal", "silence"]

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_LONG_WORK = 2_000  # messages; below that it is over before anyone reads the line


class OutputFailed(Exception):
    """Standard output cannot be written, such as on a full disk. A reader that went away stays a `BrokenPipeError`."""


@frozen
class Terminal:
    """Where to write. Words that cannot be written are dropped: what counts is the result.

    Colours and progress appear only on a terminal, colours not with NO_COLOR (no-color.org).
    """

    out: TextIO
    err: TextIO

    def write_messages(self, messages: Iterable[dict[str, Any]]) -> None:
        """A JSON array with one message per line."""
        lines = ",\n".join(_compact(message) for message in messages)
        self.write_line(f"[\n{lines}\n]" if lines else "[]")

    def write_object(self, value: dict[str, Any]) -> None:
        self.write_line(_compact(value))

    def write_line(self, text: str) -> None:
        self._result(lambda: self.out.write(f"{text}\n"))

    def flush(self) -> None:
        """Hand over what was written. Raises `OutputFailed`."""
        self._result(self.out.flush)

    def tell(self, text: str) -> None:
        """A line for people."""
        self._words(f"{text}\n")

    def heading(self, text: str, stream: TextIO | None = None) -> str:
        """The text in bold, where that can be shown."""
        shown = self.err if stream is None else stream
        return f"{_BOLD}{text}{_PLAIN}" if shown.isatty() and not os.environ.get("NO_COLOR") else text

    def progress(self, done: int, total: int, what: str) -> None:
        """A line that is written over; nothing for short work, or where nobody watches."""
        if total >= _LONG_WORK and self.err.isatty():
            self._words(f"\r{what} {done:,} of {total:,}" + ("\r\x1b[K" if done >= total else ""))

    def _result(self, write: Callable[[], object]) -> None:
        try:
            write()
        except BrokenPipeError:
            raise
        except (OSError, ValueError) as error:  # ValueError: it is closed
            raise OutputFailed(f"cannot write to standard output: {getattr(error, 'strerror', None) or error}") from error

    def _words(self, text: str) -> None:
        try:
            self.err.write(text)
            self.err.flush()
        except OSError:
            silence(self.err)


def silence(stream: TextIO) -> None:
    """Let what is left in a stream that cannot be written go nowhere, or Python complains of it at the end."""
    with suppress(OSError, ValueError):  # not of a file: nothing to complain of
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
