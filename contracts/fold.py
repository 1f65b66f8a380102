"""Folds: old messages replaced by a summary, kept in the log so that every later window begins with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from attrs import field, frozen

from .errors import StoreCorrupt
from .facts import FactLedger
from .messages import Json, Kind, Message
from .model import Usage
from .port import Port
from .stored_form import dump_message, load_message

__all__ = ["Compacts", "Fold", "FoldRecord", "FoldsHistory", "ledger_of"]


@frozen(kw_only=True)
class Fold:
    """What a compression replaced, so that a manager can keep it.

    `covers` are the ids of the messages that the summary stands for, in order; an earlier summary and its facts, if the input
    had them, are replaced too. `summary` is of kind summary and `facts` of kind facts: both are in the output, if they fit.
    `ledger` is all that is known, also where no room is left for a message of facts. `rewritten` are messages that stay with
    less text. `faults` says why summaries were refused, `origin` what wrote the one that stands, `usage` what models took for
    all of them.
    """

    covers: tuple[str, ...] = ()
    summary: Message | None = None
    facts: Message | None = None
    ledger: FactLedger = field(factory=FactLedger)
    rewritten: tuple[Message, ...] = ()
    origin: str = ""
    faults: tuple[str, ...] = ()
    usage: Usage | None = None


def ledger_of(facts: Message | None) -> FactLedger:
    """The ledger that a message of kind facts carries in its metadata; an empty one for None."""
    return FactLedger() if facts is None else FactLedger.from_json(facts.metadata.get("ledger", []))


@frozen(kw_only=True)
class FoldRecord:
    """A fold as it stands in the log.

    The summary covers the entries from `first` to `through` of the epoch: `messages` of them, of `tokens` tokens, by itself and
    by the summaries before it. `kept` are the seqs up to `through` that it does not cover: they stay in windows, before the tail
    that begins after `through`. `seq` is the log entry of the record, `previous` that of the fold before it, or 0. `summary_id`
    and `facts_id` name the messages next to it. `rewritten` are later messages that stand in the window with less text;
    `rewriting_saved` is what that saves. Sizes before and after are those of the window, in tokens by the manager's counter.
    `usage_so_far` is what models took for this fold and those before it. `places` says by message id where the sources of facts
    stand in the log. `ledger` holds the facts where there is no message of facts to hold them.
    """

    seq: int = 0
    previous: int = 0
    first: int = 0
    through: int = 0
    messages: int = 0
    tokens: int = 0
    kept: tuple[int, ...] = ()
    summary_id: str | None = None
    facts_id: str | None = None
    rewritten: tuple[Message, ...] = ()
    rewriting_saved: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    reason: str = ""
    origin: str = ""
    faults: tuple[str, ...] = ()
    usage: Usage | None = None
    usage_so_far: Usage | None = None
    places: Mapping[str, int] = field(factory=dict[str, int])
    ledger: FactLedger = field(factory=FactLedger)

    def as_message(self, id: str) -> Message:
        """The record as a message of the log. (`seq` is that of its entry.)"""
        value: dict[str, Json] = {name: getattr(self, name) for name in _NUMBERS}
        value |= {name: getattr(self, name) for name in _TEXTS}
        value |= {"rewritten": [dump_message(message) for message in self.rewritten], "faults": list(self.faults)}
        value |= {"kept": list(self.kept), "ledger": self.ledger.as_json()}
        value |= {"places": dict(self.places), "usage": _usage_json(self.usage)}
        value["usage_so_far"] = _usage_json(self.usage_so_far)
        return Message(role="system", parts=(), id=id, kind=Kind.RECORD, metadata={"fold": value})

    @classmethod
    def from_message(cls, message: Message, seq: int) -> FoldRecord:
        """The record in a message of the log. Raises `StoreCorrupt` if there is none."""
        try:
            value = message.metadata["fold"]
            more: dict[str, Any] = {name: int(value[name]) for name in _NUMBERS}
            more |= {name: value[name] for name in _TEXTS}
            return cls(
                seq=seq,
                rewritten=tuple([load_message(stored) for stored in value["rewritten"]]),
                kept=tuple([int(place) for place in value["kept"]]),
                faults=tuple([str(fault) for fault in value["faults"]]),
                places={str(id): int(place) for id, place in cast(dict[str, Any], value["places"]).items()},
                ledger=FactLedger.from_json(value["ledger"]),
                usage=_usage_of(value["usage"]),
                usage_so_far=_usage_of(value["usage_so_far"]),
                **more,
            )
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise StoreCorrupt(f"entry {seq} is no record of a fold: {type(error).__name__}: {error}") from error


_NUMBERS = ("previous", "first", "through", "messages", "tokens", "rewriting_saved", "tokens_before", "tokens_after")
_TEXTS = ("summary_id", "facts_id", "reason", "origin")


def _usage_of(value: Json) -> Usage | None:
    return None if value is None else Usage(**value)


def _usage_json(usage: Usage | None) -> dict[str, Json] | None:
    if usage is None:
        return None
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    return {name: getattr(usage, name) for name in names}


class FoldsHistory(Port):
    """A strategy whose compressions may carry a fold for the manager to keep.

    Obligations
        STRATEGY-23  A fold covers only what was said in the input, each message once and in order, and nothing of it is in the
                     output: no system message, not the newest question, no call that waits for a result, no call without its
                     results. What it rewrites is also of the input, and not covered.
        STRATEGY-24  A fold that covers messages has a summary. At most one message of kind summary and one of kind facts come
                     out: those of the fold, or without one those of the input, while there is room. A fold takes up those of
                     the input: the summarizer reads the earlier summary first, and the ledger keeps what the earlier one has.
        STRATEGY-25  Its summary and facts come before everything else but system messages.
        STRATEGY-26  Where the summarizer fails, another stands in for it, or `compress` does without a summary, or it raises
                     `StrategyFailed`: no other error comes out, and nothing is covered without a summary.

    Caller guarantees: the messages of an earlier fold, if there is one, come right after the system messages.
    Errors, concurrency, lifetime: as `CompressionStrategy`. A summarizer may take long: the caller sets the time limit.
    Latitude: as `CompressionStrategy`; what a model writes need not be the same twice, nor what `faults` and `usage` of a fold
    tell of models (STRATEGY-10 is about the rest).
    """

    @property
    def reach(self) -> int:
        """Tokens of history that it reads in one compression, and best from the raw messages again (R122)."""
        ...


class Compacts(Port):
    """A manager that can be told to make a session's history smaller now, for good.

    Obligations
        MANAGER-25  After `compact` returned true, what windows have to hold takes fewer tokens than before, and the newest user
                    message is in them as it was. All that was said is in the window, or was read by the summary in it, or is
                    named as left out; `folded_count` is true. False means that there was nothing to fold: nothing changes.
        MANAGER-26  The log keeps every message, and the same messages are found from the summary that stands for them.
        MANAGER-27  At most one message of kind summary and one of kind facts are in a window, however often a session was
                    compacted, also by several tasks at once.

    Caller guarantees, concurrency, lifetime: as `ContextManager`. Errors: also `CapabilityNotSupported`, where the manager's
    strategy does not fold. Latitude: what is folded, and how small it gets.
    """

    async def compact(self, session_id: str, *, max_tokens: int | None = None) -> bool:
        """Fold what can be folded, as if the window had to fit `max_tokens`; without it, as if it were over its trigger."""
        ...
