"""One tree of errors. Programs act on the class or on `code`; people read the message, which names the numbers and the remedy."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

__all__ = [
    "AnswerNotStored",
    "BudgetTooSmall",
    "CapabilityNotSupported",
    "ContextOverflow",
    "ContextPortError",
    "EmbeddingFailed",
    "EncodingLossy",
    "ErrorCode",
    "IndexUnavailable",
    "InvalidArgument",
    "InvalidMessage",
    "MemoryUnavailable",
    "MessageConflict",
    "ModelCallFailed",
    "PortMismatch",
    "ReplayFailed",
    "RequestTooLarge",
    "RetrievalFailed",
    "RulesInvalid",
    "StateConflict",
    "StoreCorrupt",
    "StoreUnavailable",
    "StrategyFailed",
    "SummaryFailed",
]


class ErrorCode(StrEnum):
    """Stable names of what went wrong; they never change meaning between versions."""

    INVALID_ARGUMENT = "invalid_argument"
    INVALID_MESSAGE = "invalid_message"
    BUDGET_TOO_SMALL = "budget_too_small"
    MESSAGE_CONFLICT = "message_conflict"
    STATE_CONFLICT = "state_conflict"
    STORE_UNAVAILABLE = "store_unavailable"
    STORE_CORRUPT = "store_corrupt"
    STRATEGY_FAILED = "strategy_failed"
    REPLAY_FAILED = "replay_failed"
    ENCODING_LOSSY = "encoding_lossy"
    MODEL_CALL_FAILED = "model_call_failed"
    CONTEXT_OVERFLOW = "context_overflow"
    REQUEST_TOO_LARGE = "request_too_large"
    ANSWER_NOT_STORED = "answer_not_stored"
    SUMMARY_FAILED = "summary_failed"
    MEMORY_UNAVAILABLE = "memory_unavailable"
    EMBEDDING_FAILED = "embedding_failed"
    INDEX_UNAVAILABLE = "index_unavailable"
    RETRIEVAL_FAILED = "retrieval_failed"
    RULES_INVALID = "rules_invalid"
    CAPABILITY_NOT_SUPPORTED = "capability_not_supported"
    PORT_MISMATCH = "port_mismatch"


class ContextPortError(Exception):
    """Root of every error this library raises on purpose.

    `details` holds the numbers and ids of the message as values; each is also an attribute
    (`error.needed`). Details never hold message content or credentials.
    """

    code: ErrorCode

    def __init__(self, message: str, /, **details: Any) -> None:
        super().__init__(message)
        self.details = details

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["details"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self), self.details)


def _rebuild(kind: type[ContextPortError], message: str, details: dict[str, Any]) -> ContextPortError:
    """Unpickle an error: worker processes hand them back to their parent."""
    return kind(message, **details)


class InvalidArgument(ContextPortError, ValueError):
    """An argument is outside its domain, such as a negative budget or an empty session id."""

    code = ErrorCode.INVALID_ARGUMENT


class InvalidMessage(ContextPortError, ValueError):
    """A message cannot be taken as one. `path` says where in it, such as `tool_calls[0].function`."""

    code = ErrorCode.INVALID_MESSAGE


class BudgetTooSmall(ContextPortError):
    """What must be in the window does not fit. `needed` and `available` are tokens."""

    code = ErrorCode.BUDGET_TOO_SMALL


class MessageConflict(ContextPortError):
    """An id is already in the session's current epoch with other content. `message_id` names it."""

    code = ErrorCode.MESSAGE_CONFLICT


class StateConflict(ContextPortError):
    """Compare-and-set lost: `expected` is the version the caller knew, `actual` the one stored."""

    code = ErrorCode.STATE_CONFLICT


class StoreUnavailable(ContextPortError):
    """The backend failed or refused; nothing of this call was written. The foreign error is `__cause__`."""

    code = ErrorCode.STORE_UNAVAILABLE


class StoreCorrupt(ContextPortError):
    """What is stored is not ours, not readable, or of a later version. It was left untouched."""

    code = ErrorCode.STORE_CORRUPT


class StrategyFailed(ContextPortError):
    """A compression strategy raised or broke its contract. `rule` is the id of the broken rule, or empty."""

    code = ErrorCode.STRATEGY_FAILED


class ReplayFailed(ContextPortError):
    """A receipt does not match the log it names."""

    code = ErrorCode.REPLAY_FAILED


class SummaryFailed(ContextPortError):
    """No summary was made that could be kept. `faults` lists what was wrong with those that were written.

    `usage` is what a model took all the same. Nothing that was said is lost.
    """

    code = ErrorCode.SUMMARY_FAILED


class MemoryUnavailable(ContextPortError):
    """The backend of a long-term memory failed, or the memory is closed."""

    code = ErrorCode.MEMORY_UNAVAILABLE


class EmbeddingFailed(ContextPortError):
    """An embedder's model or service failed, or the embedder is closed."""

    code = ErrorCode.EMBEDDING_FAILED


class IndexUnavailable(ContextPortError):
    """The backend of an index failed, or the index is closed. What it had can be filled in again."""

    code = ErrorCode.INDEX_UNAVAILABLE


class RetrievalFailed(ContextPortError):
    """A retriever could not search, or is closed. The window is made without what it would have found."""

    code = ErrorCode.RETRIEVAL_FAILED


class RulesInvalid(ContextPortError, ValueError):
    """Rules of modes that cannot be used. `problems` lists what is wrong, each with its place; the rules before stay."""

    code = ErrorCode.RULES_INVALID


class CapabilityNotSupported(ContextPortError):
    """An optional ability was asked of an adapter that does not provide its port. `port` names it."""

    code = ErrorCode.CAPABILITY_NOT_SUPPORTED


class PortMismatch(ContextPortError, TypeError):
    """An object handed in does not provide the port it was handed in for. `problems` lists what is off."""

    code = ErrorCode.PORT_MISMATCH


class EncodingLossy(ContextPortError):
    """A conversation cannot be put in a provider's form without loss, and loss was not allowed. `losses` lists each."""

    code = ErrorCode.ENCODING_LOSSY


class ModelCallFailed(ContextPortError):
    """A model did not answer. `failure` is the provider's `ProviderFailure`; the foreign error is `__cause__`."""

    code = ErrorCode.MODEL_CALL_FAILED


class ContextOverflow(ContextPortError):
    """The provider found the context too large, and no smaller one is left to try.

    `tried` lists the sizes that were sent, in tokens by our counter; `limit` is the provider's, if it said so.
    """

    code = ErrorCode.CONTEXT_OVERFLOW


class RequestTooLarge(ContextPortError):
    """One message alone makes the request body larger than the provider takes. `message_id` names it; sizes are bytes."""

    code = ErrorCode.REQUEST_TOO_LARGE


class AnswerNotStored(ContextPortError):
    """A model answered and the answer could not be added to the session; the manager's error is `__cause__`.

    `answer` is what was answered, so that it is not lost: adding its message again is safe.
    """

    code = ErrorCode.ANSWER_NOT_STORED

    def __init__(self, message: str, /, *, answer: Any = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.answer = answer
