"""The modes of a session as lines: how things stand, and each change of the mode, of who decides on it, and of the rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, cast

from attrs import define, field

from contextport.adapters.managers.session_state import SessionMode
from contextport.contracts import Control, Entry, Kind, Message

from .log_lines import shown, time_text
from .report import first_line

__all__ = ["ModeLines", "change_of", "change_text", "plain_text"]

_MARK = "[system] "  # before what a record says to people
_ABOUT = f"{_MARK}context "
_MOST = 20  # changes on a screen
_DECIDES = {
    None: "the rules say who decides",
    Control.MANUAL: "a person decides (manual)",
    Control.SEMI_AUTOMATIC: "a person confirms what the policy proposes (semi_automatic)",
    Control.AUTOMATIC: "the policy decides (automatic)",
}


def change_of(record: Message) -> dict[str, Any] | None:
    """What the record says of a change of mode; None for any other record."""
    told = record.metadata.get("mode")
    if record.kind is not Kind.RECORD or not isinstance(told, dict) or not isinstance(told.get("line"), str):
        return None
    return cast(dict[str, Any], told)


def change_text(told: dict[str, Any]) -> str:
    """A change of mode in one line: what, by whom, why, and how full the window was if that is known."""
    how = f"{told['path']} by {told.get('by')}" if told.get("path") else f"by {told.get('by')}"
    occupancy = told.get("occupancy")
    full = f", {occupancy:.0%} full" if isinstance(occupancy, int | float) else ""
    return f"{told['line']}; {how}: {told.get('reason')}{full}"


def plain_text(record: Message) -> str:
    """What a record says to people, without the mark that it is of the system."""
    return record.text.removeprefix(_MARK)


@define
class ModeLines:
    """Is shown the entries of an epoch, and tells of its modes. Of very many changes the newest are kept."""

    _changes: deque[str] = field(init=False, factory=lambda: deque[str](maxlen=_MOST))
    _count: int = field(init=False, default=0)

    def see(self, entry: Entry) -> None:
        """Note the entry, if it tells of modes."""
        message = entry.message
        if message.kind is not Kind.RECORD or not message.text.startswith(_ABOUT):
            return
        told = change_of(message)
        text = first_line(plain_text(message), 100) if told is None else change_text(told)
        self._count += 1
        self._changes.append(shown(f"  entry {entry.seq} {time_text(entry.at)}: {text}"))

    def lines(self, now: SessionMode | None) -> Iterator[str]:
        """How things stand `now`, if it is known, and the changes, oldest first; nothing for a session without modes."""
        if now is not None and (self._count or now.mode is not None or now.control is not None):
            yield from _standing(now)
        if self._count > len(self._changes):
            yield f"  {self._count - len(self._changes)} changes before these; `contextport export` lists them all"
        yield from self._changes


def _standing(now: SessionMode) -> Iterator[str]:
    mode = "the mode that its rules begin with" if now.mode is None else f"mode {now.mode}"
    yield f"  now in {mode}; {_DECIDES[now.control]}"
    if now.floor:
        yield f"  the present task began with entry {now.floor}"
    if now.proposal is not None:
        task = " for a new task" if now.proposal.resets else ""
        proposed = f"mode {now.proposal.mode}{task}, {now.proposal.reason}, for entry {now.proposal.seq}"
        yield shown(f"  proposed, and not confirmed: {proposed}; proposal {now.proposal.id}")
