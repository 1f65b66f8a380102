"""What a run of a case leaves for its checks to judge: the wire dicts that came out, and what was stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import Factory, define, frozen

from contextport.contracts import (
    Compression,
    Context,
    ContextStats,
    Kind,
    Message,
    Outcome,
    TokenCounter,
    from_chat,
    to_chat,
)

Dict = dict[str, Any]


@frozen(kw_only=True)
class Row:
    """One wire dict, with the id and kind of the message it was made from."""

    id: str
    kind: Kind
    pinned: bool
    wire: Dict


def rows_of(messages: Iterable[Message]) -> tuple[Row, ...]:
    """The wire form of messages, dict by dict."""
    return tuple(Row(id=m.id, kind=m.kind, pinned=m.pinned, wire=wire) for m in messages for wire in to_chat([m]))


@define(kw_only=True)
class Moment:
    """What was returned at one point of a run. `given` is all that had been put in by then, in order, each id once.

    `flagged` says that the result is over its budget and says so; `error` that there is no result. `told` are the requests that
    summarisers had been given by then.
    """

    label: str
    given: tuple[Row, ...]
    rows: tuple[Row, ...] = ()
    stats: ContextStats | None = None
    flagged: bool = False
    error: Exception | None = None
    told: tuple[list[Dict], ...] = ()

    @property
    def wire(self) -> list[Dict]:
        return [row.wire for row in self.rows]

    def row(self, message_id: str) -> Row | None:
        return next((row for row in self.rows if row.id == message_id), None)

    def input(self, message_id: str) -> Row | None:
        return next((row for row in self.given if row.id == message_id), None)

    @property
    def kept_ids(self) -> list[str]:
        """Ids of input messages in the result, in its order."""
        known = {row.id for row in self.given}
        return [row.id for row in self.rows if row.id in known]


def moment(
    label: str,
    given: Sequence[Row],
    result: Compression | Context,
    stats: ContextStats | None = None,
    told: tuple[list[Dict], ...] = (),
) -> Moment:
    """The moment at which `result` was returned."""
    flagged = isinstance(result, Compression) and result.outcome is Outcome.CANNOT_FIT
    return Moment(label=label, given=tuple(given), rows=rows_of(result.messages), stats=stats, flagged=flagged, told=told)


@define(kw_only=True)
class Evidence:
    """One run. `variant` tells runs of the same case apart: the strategy, counter or store.

    `stored` are the messages in the log at the end. `before` and `after` are what must not change in between: the caller's
    objects for a strategy, the log for a manager. `facts` holds what only one operation can say.
    """

    variant: str = ""
    given: Dict = Factory(dict)
    counter: TokenCounter | None = None
    budget: int | None = None
    output_reserve: int = 0
    tool_tokens: int = 0
    moments: list[Moment] = Factory(list[Moment])
    stored: list[Row] | None = None
    caller_before: Any = None
    caller_after: Any = None
    log_before: Any = None
    log_after: Any = None
    again: list[Dict] | None = None
    seconds: float = 0.0
    facts: Dict = Factory(dict)

    @property
    def last(self) -> Moment:
        return self.moments[-1]

    def count(self, wire: Iterable[Dict]) -> int:
        """Tokens of wire dicts, counted anew."""
        if self.counter is None:
            raise ValueError("this operation has no token counter")
        return sum(self.counter.count_message(from_chat(value)) for value in wire)

    @property
    def errors(self) -> list[Exception]:
        return [one.error for one in self.moments if one.error is not None]
