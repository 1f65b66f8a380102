"""What the manager hands out: the window, how it came about, and what is true about the session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

import attrs
from attrs import field, frozen

from .chat_encoding import to_chat
from .constructors import constructor_of
from .errors import ReplayFailed, StoreCorrupt
from .fold import Fold
from .messages import Json, Message
from .stored_form import dump_message, load_message

__all__ = [
    "Compression",
    "Context",
    "ContextStats",
    "Made",
    "Mode",
    "Outcome",
    "Receipt",
    "Shortening",
    "Span",
    "make_context",
    "make_receipt",
    "make_span",
    "messages_digest",
]


_T = TypeVar("_T")


class Mode(StrEnum):
    """How a session's window is made up (R134 to R138)."""

    ZERO_SHOT = "zero_shot"
    FULL = "full"
    SUMMARY = "summary"
    RETRIEVAL = "retrieval"
    HYBRID = "hybrid"


class Outcome(StrEnum):
    """What a compression did."""

    UNCHANGED = "unchanged"  # the input fitted and is returned as it was
    SMALLER = "smaller"  # the output fits and is smaller than the input
    CANNOT_FIT = "cannot_fit"  # the smallest legal window is over the budget; it is returned all the same


@frozen
class Shortening:
    """A message that is in the window with less text than it has. Sizes are characters."""

    message_id: str
    chars_before: int
    chars_after: int


@frozen(kw_only=True)
class Compression:
    """The result of `CompressionStrategy.compress`.

    `messages` is what to send, `tokens` their size by `estimate_tokens`. `omitted` lists the ids of input messages that are
    not in it, in order; `shortened` those that are in it with less text. `reason` is one line for people. `extendable` says that
    later messages may simply be added while they fit: asked again, the strategy would do the same (`StablePrefix`). `fold` is
    what was replaced, for a manager to keep (`FoldsHistory`); what it covers is in `omitted` too.
    """

    messages: tuple[Message, ...]
    outcome: Outcome
    tokens: int
    omitted: tuple[str, ...] = ()
    shortened: tuple[Shortening, ...] = ()
    reason: str = ""
    extendable: bool = False
    fold: Fold | None = None

    @classmethod
    def of(
        cls,
        given: Sequence[Message],
        window: Sequence[Message],
        *,
        tokens: int,
        max_tokens: int,
        reason: str = "",
        extendable: bool = False,
        fold: Fold | None = None,
    ) -> Compression:
        """The result for a `window` made of `given`: outcome, omitted and shortened follow from the two.

        `tokens` is the size of the window.
        """
        before = {message.id: message for message in given}
        kept = {message.id for message in window}
        edited = [(old, m) for m in window if (old := before.get(m.id, m)) is not m and old.parts != m.parts]
        same = len(window) == len(given) and not edited and all(message.id in before for message in window)
        fits = Outcome.UNCHANGED if same else Outcome.SMALLER
        return cls(
            messages=tuple(window),
            outcome=fits if tokens <= max_tokens else Outcome.CANNOT_FIT,
            tokens=tokens,
            omitted=tuple([message.id for message in given if message.id not in kept and message.in_conversation]),
            shortened=tuple([Shortening(old.id, len(old.text), len(new.text)) for old, new in edited]),
            reason=reason,
            extendable=extendable,
            fold=fold,
        )


@frozen
class Span:
    """A run of a receipt: the log entries from `first` to `last`, as they are."""

    first: int
    last: int


@frozen
class Made:
    """A message of a receipt that was made for the window, such as a gap marker."""

    message: Message


def messages_digest(messages: tuple[Message, ...]) -> str:
    """SHA-256 over the stored forms of the messages, in order, in hex."""
    digest = hashlib.sha256()
    for message in messages:
        digest.update(dump_message(message).encode())
        digest.update(b"\n")
    return digest.hexdigest()


@attrs.define(kw_only=True, frozen=True, slots=False)
class Receipt:
    """What the model saw: enough to rebuild it byte for byte, and to tell that it was rebuilt.

    `version` is the last log entry that was considered, `config` names the manager's configuration, `profile` that of the
    provider the window was made for. `stale_thinking_from` is the id of the first message whose reasoning is bound to another
    prefix than the window has. `folding` says whether history was to be folded for it and why, with the number of requests after
    which that pays. The digest is computed when it is first asked for: a call nobody audits does not pay for it.
    """

    session_id: str
    epoch: int
    version: int
    config: str
    mode: Mode
    slots: tuple[Span | Made, ...]
    profile: str = ""
    stale_thinking_from: str | None = None
    folding: Mapping[str, Json] | None = field(default=None, eq=False)
    messages: tuple[Message, ...] = field(repr=False, eq=False, default=())
    recorded_digest: str | None = field(default=None, eq=False, repr=False)

    @cached_property
    def digest(self) -> str:
        """Digest of the messages that were handed out."""
        return self.recorded_digest if self.recorded_digest is not None else messages_digest(self.messages)

    def to_json(self) -> str:
        """The receipt as one line of JSON."""
        slots = [dump_message(slot.message) if isinstance(slot, Made) else [slot.first, slot.last] for slot in self.slots]
        value: dict[str, Json] = {
            "receipt": 1,
            "session_id": self.session_id,
            "epoch": self.epoch,
            "version": self.version,
            "config": self.config,
            "mode": self.mode,
            "slots": slots,
            "digest": self.digest,
        }
        if self.profile:
            value |= {"profile": self.profile, "stale_thinking_from": self.stale_thinking_from}
        if self.folding is not None:
            value["folding"] = dict(self.folding)
        return json.dumps(value, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """The receipt written by `to_json`. Raises `ReplayFailed` when the text is not one."""
        try:
            value = json.loads(text)
            if value["receipt"] != 1:
                raise ReplayFailed(f"the receipt has form {value['receipt']}; this version reads form 1")
            if not value["session_id"]:
                raise ValueError("session_id is empty")
            return cls(
                session_id=_typed(value["session_id"], str),
                epoch=_number(value["epoch"], least=1),
                version=_number(value["version"], least=0),
                config=_typed(value["config"], str),
                mode=Mode(value["mode"]),
                slots=tuple([_slot(item) for item in _typed(value["slots"], list)]),
                profile=_typed(value.get("profile", ""), str),
                stale_thinking_from=_text_or_none(value.get("stale_thinking_from")),
                folding=None if value.get("folding") is None else _typed(value["folding"], dict),
                recorded_digest=_typed(value["digest"], str),
            )
        except (ValueError, KeyError, TypeError, RecursionError, StoreCorrupt) as error:
            raise ReplayFailed(f"this is not a receipt: {type(error).__name__}: {error}") from error


_MOST = 2**63 - 1  # what a log can count to


def _typed(value: Any, kind: type[_T]) -> _T:
    if type(value) is kind:
        return value
    raise TypeError(f"a {type(value).__name__} stands where a {kind.__name__} belongs")


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _typed(value, str)


def _number(value: Any, *, least: int) -> int:
    if least <= _typed(value, int) <= _MOST:
        return int(value)
    raise ValueError(f"a number is not between {least} and {_MOST}")


def _slot(item: Any) -> Span | Made:
    if isinstance(item, str):
        return Made(load_message(item))
    first, last = _typed(item, list)
    return Span(_number(first, least=1), _number(last, least=_number(first, least=1)))


@frozen(kw_only=True)
class Context:
    """What `get_context` returns. `messages` is what to send, system prompt first; `tokens` counts
    them, `limit` is what was allowed.

    `omitted_count` says how many messages of the epoch are not in the window, and `folded_count` how many the summary in it
    stands for. Shortenings and reasons tell what else was done.
    In a window for a provider, `repairs` are the ids of the provider rules that had to be mended, and `needs` the request
    settings that the host has to send along, such as `tools` or `drop_block`.
    """

    session_id: str
    messages: tuple[Message, ...]
    tokens: int
    limit: int
    mode: Mode = Mode.FULL
    is_compressed: bool = False
    omitted_count: int = 0
    folded_count: int = 0
    shortened: tuple[Shortening, ...] = ()
    reason: str = ""
    repairs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    receipt: Receipt = field(repr=False)

    def as_chat(self) -> list[dict[str, Any]]:
        """The window as plain dicts in OpenAI chat form; a message that was not edited is exactly what was added."""
        return to_chat(self.messages)


make_span, make_receipt, make_context = constructor_of(Span), constructor_of(Receipt), constructor_of(Context)


@frozen(kw_only=True)
class ContextStats:
    """Facts about a session and its window, each recountable. All token figures are of the manager's counter.

    The first four are the fields of the contract (R38): messages and tokens of the window as `get_context` would return it now,
    whether that is less than was added, and how many messages were added in this epoch, the system prompt being one of them.
    `history_tokens` is the size of all that was said, without the system prompt. System, last turn and summary tokens tell who
    takes the window, and usage_ratio = (token_count - system_tokens) / (limit - system_tokens) how full it is (R40, R41).
    `token_ratio` is what a learning counter has learnt, real tokens per counted token: token_count * token_ratio is what a
    provider should report (R43). `folded_count` messages are stood for by the summary; summarizer tokens are what models took for
    the folds of this epoch, as their providers reported it, and the cost is that in uncached input tokens of the answering model,
    by the prices of the manager's folds (R126, R204).
    """

    message_count: int
    token_count: int
    is_compressed: bool
    original_message_count: int
    history_tokens: int
    system_tokens: int
    last_turn_tokens: int
    summary_tokens: int
    tool_schema_tokens: int
    limit: int
    window: int
    usage_ratio: float
    token_ratio: float = 1.0
    mode: Mode = Mode.FULL
    facts_tokens: int = 0
    folded_count: int = 0
    summarizer_input_tokens: int = 0
    summarizer_output_tokens: int = 0
    summarizer_cost: float = 0.0
    counter: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The fields by their names, ready for JSON."""
        return {**attrs.asdict(self), "mode": str(self.mode)}
