"""Output: text for programs on standard output, words for people on standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, TextIO

from attrs import frozen

__all__ = ["Terminal"]

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_LONG_WORK = 2_000  # messages; below that it is over before anyone reads the line


@frozen
class Terminal:
    """Where to write. Colours and progress appear only on a terminal, colours not with NO_COLOR (no-color.org)."""

    out: TextIO
    err: TextIO

    def write_messages(self, messages: Iterable[dict[str, Any]]) -> None:
        """A JSON array with one message per line."""
        lines = ",\n".join(_compact(message) for message in messages)
        self.write_line(f"[\n{lines}\n]" if lines else "[]")

    def write_object(self, value: dict[str, Any]) -> None:
        self.write_line(_compact(value))

    def write_line(self, text: str) -> None:
        self.out.write(f"{text}\n")

    def tell(self, text: str) -> None:
        """A line for people."""
        self.err.write(f"{text}\n")

    def heading(self, text: str, stream: TextIO | None = None) -> str:
        """The text in bold, where that can be shown."""
        shown = self.err if stream is None else stream
        return f"{_BOLD}{text}{_PLAIN}" if shown.isatty() and not os.environ.get("NO_COLOR") else text

    def progress(self, done: int, total: int, what: str) -> None:
        """A line that is written over; nothing for short work, or where nobody watches."""
        if total >= _LONG_WORK and self.err.isatty():
            self.err.write(f"\r{what} {done:,} of {total:,}" + ("\r\x1b[K" if done >= total else ""))
            self.err.flush()


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
