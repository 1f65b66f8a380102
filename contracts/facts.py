"""Facts of a conversation as records, apart from any prose (R130, R131, D11)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast

from attrs import frozen

from .errors import StoreCorrupt
from .messages import Json

__all__ = ["Fact", "FactKind", "FactLedger", "FactState"]


class FactKind(StrEnum):
    """What a fact is."""

    IDENTIFIER = "identifier"  # a name made to be exact: an order number, a hash, an e-mail address, a symbol of a program
    NUMBER = "number"  # an amount with its unit
    DATE = "date"  # a day, a time, a span between two
    PATH = "path"  # a file, a URL
    ENTITY = "entity"  # a person, a place, a product, by its proper name
    DECISION = "decision"  # what was settled
    CONSTRAINT = "constraint"  # what has to hold: limits, prohibitions, formats, preferences
    TASK = "task"  # what is to be done, or was
    CONCLUSION = "conclusion"  # what a step came to
    STATEMENT = "statement"  # anything else that the user said, in a short sentence of their own: the first to be given up


class FactState(StrEnum):
    """Whether a fact still stands."""

    CURRENT = "current"  # it holds; a task is open
    DONE = "done"  # a task that is finished or was dropped


@frozen(kw_only=True)
class Fact:
    """One fact. `text` is a verbatim piece of a source: the identifier itself, or the sentence of a decision.

    `label` says what it is about: the path of a JSON value such as `reservation.user_id`, or the words next to it. A later fact
    about the same takes its place and keeps the old texts in `earlier`, oldest first. `sources` are the ids of the messages it
    was said in, oldest first; `role` is who said it first.
    """

    kind: FactKind
    text: str
    label: str = ""
    state: FactState = FactState.CURRENT
    role: str = "user"
    sources: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """The fact as a JSON object; fields at their defaults are left out."""
        value: dict[str, Json] = {"kind": str(self.kind), "text": self.text}
        if self.label:
            value["label"] = self.label
        if self.state is not FactState.CURRENT:
            value["state"] = str(self.state)
        if self.role != "user":
            value["role"] = self.role
        if self.sources:
            value["sources"] = list(self.sources)
        if self.earlier:
            value["earlier"] = list(self.earlier)
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Fact:
        """The fact of a JSON object. Raises `StoreCorrupt` if it is not one."""
        try:
            return cls(
                kind=FactKind(value["kind"]),
                text=str(value["text"]),
                label=str(value.get("label", "")),
                state=FactState(value.get("state", FactState.CURRENT)),
                role=str(value.get("role", "user")),
                sources=tuple([str(source) for source in value.get("sources", ())]),
                earlier=tuple([str(text) for text in value.get("earlier", ())]),
            )
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise StoreCorrupt(f"this is not a fact: {type(error).__name__}: {error}") from error


@frozen
class FactLedger:
    """All facts known of a conversation, in the order in which they were first said."""

    facts: tuple[Fact, ...] = ()

    def as_json(self) -> list[Json]:
        """The ledger as a JSON list."""
        return [fact.as_json() for fact in self.facts]

    @classmethod
    def from_json(cls, value: Json) -> FactLedger:
        """The ledger of a JSON list. Raises `StoreCorrupt` if it is not one."""
        if not isinstance(value, list):
            raise StoreCorrupt(f"a ledger is a list of facts, and this is a {type(value).__name__}")
        return cls(tuple([Fact.from_json(item) for item in cast(list[Any], value)]))
