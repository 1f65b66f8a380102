"""What a session's state says: its system prompt, its live fold, its mode, and how far its facts went to long-term memory.

The state is read with the head and changed by compare-and-set. Every version of the prompt and every fold is in the log too.
"""

from __future__ import annotations

import json
from typing import Any, cast

import attrs
from attrs import frozen

from contextport.contracts import (
    Control,
    Head,
    Json,
    Message,
    Mode,
    ModeProposal,
    StoreCorrupt,
    dump_json,
    dump_message,
    load_message,
)

__all__ = ["FoldPlace", "SessionMode", "SessionState", "prompt_of"]


@frozen(kw_only=True)
class FoldPlace:
    """Where a fold stands in the log: `entries` entries from `seq` on, its record first.

    `incarnation` is that of the session it was made for: a session that was purged since does not have it.
    """

    epoch: int
    seq: int
    entries: int
    incarnation: str = ""

    def is_of(self, head: Head) -> bool:
        """Whether the fold is of the epoch and the incarnation at `head`, as far as both are known."""
        known = self.incarnation and head.incarnation
        return self.epoch == head.epoch and (not known or self.incarnation == head.incarnation)


@frozen(kw_only=True)
class SessionMode:
    """What is kept of a session's mode: in which one it is, None for that of the rules, and who decides, None for the rules.

    A policy chose it for the `question` at that entry, if that is not 0. The task of now began with entry `floor` of `epoch`,
    before which there were `floor_tokens` tokens. `refused` is the entry of a question, the mode that a person did not want
    for it, and why it was proposed. `line` tells of the last transition. `rules` is a digest of the rules that were last
    seen.
    """

    epoch: int = 1
    mode: Mode | None = None
    control: Control | None = None
    question: int = 0
    floor: int = 0
    floor_tokens: int = 0
    proposal: ModeProposal | None = None
    refused: tuple[int, str, str] = (0, "", "")
    line: str = ""
    rules: str = ""

    def at(self, epoch: int) -> SessionMode:
        """What still holds in an epoch: of an earlier one, only who decides."""
        return self if epoch == self.epoch else SessionMode(epoch=epoch, control=self.control, rules=self.rules)

    def as_json(self) -> dict[str, Json]:
        """The mode as a JSON object."""
        return attrs.asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> SessionMode:
        """What `as_json` gave."""
        mode, control, proposal = value["mode"], value["control"], value["proposal"]
        known: ModeProposal | None = None
        if proposal is not None:
            known = attrs.evolve(ModeProposal(**proposal), mode=Mode(proposal["mode"]))
        return cls(
            epoch=int(value["epoch"]),
            mode=None if mode is None else Mode(mode),
            control=None if control is None else Control(control),
            question=int(value["question"]),
            floor=int(value["floor"]),
            floor_tokens=int(value["floor_tokens"]),
            proposal=known,
            refused=(int(value["refused"][0]), str(value["refused"][1]), str(value["refused"][2])),
            line=str(value["line"]),
            rules=str(value["rules"]),
        )


@frozen(kw_only=True)
class SessionState:
    """`flushed` is the epoch and the last seq whose facts the long-term memory has. A fold of an earlier epoch is none."""

    prompt: Message | None = None
    fold: FoldPlace | None = None
    mode: SessionMode | None = None
    flushed: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, head: Head) -> SessionState:
        """The state of the session at `head`. Raises `StoreCorrupt` when it is not one of ours."""
        if not head.state:
            return cls()
        try:
            value = cast(dict[str, Any], json.loads(head.state))
            prompt, fold, flushed = value["prompt"], value.get("fold"), value.get("flushed", [0, 0])
            mode = value.get("mode")
            place = None if fold is None else FoldPlace(**fold)
            return cls(
                prompt=None if prompt is None else load_message(prompt),
                fold=place if place is not None and place.is_of(head) else None,
                mode=None if mode is None else SessionMode.from_json(mode).at(head.epoch),
                flushed=(int(flushed[0]), int(flushed[1])),
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise StoreCorrupt(f"the state of session {head.session_id!r} cannot be read: {error}") from error

    def dump(self) -> str:
        """The state as text."""
        value: dict[str, Json] = {"prompt": None if self.prompt is None else dump_message(self.prompt)}
        if self.fold is not None:
            value["fold"] = attrs.asdict(self.fold)
        if self.mode is not None:
            value["mode"] = self.mode.as_json()
        if self.flushed != (0, 0):
            value["flushed"] = list(self.flushed)
        return dump_json(value)


def prompt_of(head: Head) -> Message | None:
    """The session's current system prompt."""
    return SessionState.of(head).prompt
