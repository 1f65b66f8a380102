"""Entries of a log as lines for people."""

from __future__ import annotations

from datetime import UTC, datetime

from contextport.contracts import Entry

from .report import first_line

__all__ = ["entry_line", "shown", "span_text", "time_text"]


def entry_line(entry: Entry) -> str:
    """The entry in one line: number, time, size, role, kind, and the beginning of what was said."""
    message = entry.message
    kind = "" if message.in_conversation else f" ({message.kind})"
    calls = " ".join(f"{call.name}({first_line(call.arguments, 40)})" for call in message.tool_calls)
    text = first_line(message.text, 60)
    said = shown(" ".join(filter(None, (text, calls))))
    return f"{entry.seq:>6} {time_text(entry.at):<19} {entry.tokens:>7,}  {message.role:<9}{kind} {said}"


def time_text(at: float) -> str:
    """The time in UTC; the number itself where it is outside the calendar, as a broken clock leaves it."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{at:g}"


def shown(text: str) -> str:
    """Text for one line of a terminal: control characters written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def span_text(first: int, last: int) -> str:
    """A run of entries, such as `entries 3-9`."""
    return f"entry {first}" if first == last else f"entries {first}-{last}"
