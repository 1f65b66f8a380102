"""Every decision as a typed event, and the port of what receives them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

from .messages import Json
from .port import Port

__all__ = ["Event", "EventKind", "EventSink"]


class EventKind(StrEnum):
    """What happened."""

    MESSAGES_ADDED = "messages_added"
    CONTEXT_BUILT = "context_built"
    CONTEXT_COMPRESSED = "context_compressed"
    CONTEXT_CLEARED = "context_cleared"
    SYSTEM_PROMPT_SET = "system_prompt_set"
    BUDGET_EXCEEDED = "budget_exceeded"
    STRATEGY_FAILED = "strategy_failed"
    HISTORY_FOLDED = "history_folded"  # old messages were replaced by a summary, or old tool results by shorter ones
    FOLD_POSTPONED = "fold_postponed"  # the window is over its light threshold, and nothing was folded: the reason says why
    FOLD_FAILED = "fold_failed"  # no fold came about; the window is trimmed where it has to be
    SUMMARY_REFUSED = "summary_refused"  # a summary did not pass its check
    MEMORY_FLUSHED = "memory_flushed"  # durable facts went to the long-term memory before a fold
    MEMORY_FAILED = "memory_failed"  # they did not; they go with the next fold
    FRAGMENT_RECALLED = "fragment_recalled"  # the question names a known fact, and what was said of it is in the window again
    SNIPPETS_RETRIEVED = "snippets_retrieved"  # pieces of history, or of what the host knows, were put before the question
    RETRIEVAL_FAILED = "retrieval_failed"  # nothing was looked up, or not all that could be: the window goes without
    MEMORY_RECALLED = "memory_recalled"  # the window has what long-term memory knows
    MODE_CHANGED = "mode_changed"  # a session went from one mode to another
    MODE_PROPOSED = "mode_proposed"  # it would, and waits for a person to confirm it
    MODE_REJECTED = "mode_rejected"  # a person did not want it
    CONTROL_CHANGED = "control_changed"  # who decides on the modes of a session
    RULES_CHANGED = "rules_changed"  # the rules of modes are others from here on
    RULES_REJECTED = "rules_rejected"  # a file of rules could not be used; those before stay
    LIMITS_DEFAULTED = "limits_defaulted"  # nothing knew the window of a model
    LIMITS_NOT_SAVED = "limits_not_saved"  # what a provider's errors taught is known to this process only
    CONTEXT_RECOVERED = "context_recovered"  # a provider found the window too large, and got a smaller one
    OUTPUT_LIMIT_LOWERED = "output_limit_lowered"  # a provider found the output limit too large, and got a lower one
    RECOVERY_FAILED = "recovery_failed"  # a request was too large, and nothing smaller is left to try
    OUTPUT_CONTINUED = "output_continued"  # an answer was cut, and the model is asked to go on
    OUTPUT_TRUNCATED = "output_truncated"  # an answer was cut, and stays so


@frozen(kw_only=True)
class Event:
    """One decision: ids, counts and reason codes. Content of messages is never in it."""

    kind: EventKind
    session_id: str
    data: Mapping[str, Json] = field(factory=dict[str, Json])


class EventSink(Port):
    """Receives events.

    Obligations
        SINK-1  `emit` accepts every event and does not raise: a failing sink never breaks a conversation.
        SINK-2  `emit` does not change the event.

    Caller guarantees: events are emitted in the order of the decisions of one session.
    Errors: none. Concurrency: any thread. Lifetime: the host owns and closes it.
    Latitude: dropping events under load, as long as it is documented.
    """

    def emit(self, event: Event) -> None:
        """Take one event. Returns quickly: it is called on the path of `get_context`."""
        ...
