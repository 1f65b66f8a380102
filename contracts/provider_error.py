"""What a provider's error means and which remedy fits: the port of error classifiers."""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen

from .messages import Json
from .port import Port

__all__ = ["ErrorClassifier", "ErrorKind", "ErrorReading", "ProviderFailure", "Remedy"]


class ErrorKind(StrEnum):
    """What happened. Situations that share their words and need other remedies are kinds of their own."""

    # the window is full
    INPUT = "input"  # the input alone exceeds the limit
    INPUT_PLUS_OUTPUT = "input_plus_output"  # input and requested answer together exceed the window
    OUTPUT_HIT_WINDOW = "output_hit_window"  # the answer ran into the end of the window
    INPUT_CHARS = "input_chars"  # as `input`, counted in characters
    INPUT_BYTES = "input_bytes"  # as `input`, counted in bytes of text
    SILENT = "silent"  # the server cut the input, or answered nothing, without an error
    # look-alikes
    OUTPUT_CAP = "output_cap"  # more output was asked for than the model can write
    OUTPUT_TRUNCATED = "output_truncated"  # the answer reached its own limit
    TPM_SINGLE_REQUEST = "tpm_single_request"  # one request is larger than a minute's quota: waiting never helps
    PAYLOAD_BYTES = "payload_bytes"  # the request body is too large
    MEDIA_LIMIT = "media_limit"
    COUNT_LIMIT = "count_limit"  # too many messages, tools or parts
    FIELD_LENGTH = "field_length"  # one field is too long, such as an id
    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    ENTITLEMENT = "entitlement"  # the account may not use this size or feature
    OVERLOAD = "overload"
    TIMEOUT = "timeout"
    AUTH = "auth"
    CONTENT_FILTER = "content_filter"
    INVARIANT = "invariant"  # the order, pairs or ids of messages are not valid there
    PARAMETER = "parameter"
    CONFIG = "config"
    USER_TEXT = "user_text"  # the words stand in quoted text, not in the provider's own message
    UNKNOWN = "unknown"


class Remedy(StrEnum):
    """What helps."""

    COMPACT = "compact"
    COMPACT_OR_LOWER_MAX_OUTPUT = "compact_or_lower_max_output"
    LOWER_MAX_OUTPUT_THEN_COMPACT = "lower_max_output_then_compact"
    KEEP_OUTPUT_THEN_COMPACT = "keep_output_then_compact"
    COMPACT_BY_BYTES = "compact_by_bytes"
    LOWER_MAX_OUTPUT = "lower_max_output"
    CONTINUE_OR_RAISE_MAX_OUTPUT = "continue_or_raise_max_output"
    SHRINK_OR_RAISE_QUOTA = "shrink_or_raise_quota"
    DROP_MEDIA = "drop_media"
    RESIZE_MEDIA = "resize_media"
    DROP_TOOLS = "drop_tools"
    REDUCE_MESSAGE_COUNT = "reduce_message_count"
    SHORTEN_FIELD = "shorten_field"
    MAP_IDS = "map_ids"
    REPAIR_HISTORY = "repair_history"
    DISABLE_BETA = "disable_beta"
    FIX_PARAMS = "fix_params"
    BACKOFF = "backoff"
    NONE = "none"


_OVERFLOWS = frozenset(
    {
        ErrorKind.INPUT,
        ErrorKind.INPUT_PLUS_OUTPUT,
        ErrorKind.OUTPUT_HIT_WINDOW,
        ErrorKind.INPUT_CHARS,
        ErrorKind.INPUT_BYTES,
        ErrorKind.SILENT,
    }
)


@frozen(kw_only=True)
class ProviderFailure:
    """What a provider answered instead of a completion, without credentials: what a classifier reads.

    `status` is the HTTP status, `exception` the foreign class as `package.Class`, `body` the parsed answer if there was one.
    """

    status: int | None = None
    code: str | None = None
    type: str | None = None
    message: str = field(default="", repr=False)
    provider: str = ""
    exception: str = ""
    body: Json = field(default=None, repr=False)
    retry_after: float | None = None  # seconds


@frozen(kw_only=True)
class ErrorReading:
    """What an error means. Numbers are tokens, unless `unit` says characters or bytes; None is not said.

    `limit` is what is allowed, `input` what was sent, `output` what was asked for or written, `excess` by how much it was too
    much, `total` input and output together where only the sum is said. `is_lower_bound`: the true count is `input` or more.
    """

    kind: ErrorKind
    remedy: Remedy
    limit: int | None = None
    input: int | None = None
    output: int | None = None
    total: int | None = None
    excess: int | None = None
    is_lower_bound: bool = False
    unit: str = "tokens"
    provider: str = ""
    evidence: str = ""  # the rule that decided, such as `code context_length_exceeded`; never the text of the error

    @property
    def is_overflow(self) -> bool:
        """Whether the context window was exceeded."""
        return self.kind in _OVERFLOWS

    @property
    def overshoot(self) -> int | None:
        """By how many tokens at least the request was too large, if the error says enough."""
        if self.unit != "tokens":
            return None
        if self.excess is not None:
            return self.excess
        counted = self.total if self.total is not None else self.input
        if counted is None or self.limit is None:
            return None
        if self.kind is ErrorKind.INPUT_PLUS_OUTPUT and self.total is None:
            counted += self.output or 0
        return counted - self.limit if counted > self.limit else None


class ErrorClassifier(Port):
    """Reads a provider's error.

    Obligations
        CLASSIFIER-1  Any object is read without an error: exceptions, HTTP responses, event dicts, None.
        CLASSIFIER-2  An overflow by code, type or text of its provider is an overflow kind, whatever the HTTP status.
        CLASSIFIER-3  Rate limits, quotas, bad keys, output caps, body sizes and broken histories are never overflows.
        CLASSIFIER-4  Numbers have their roles by the wording; a number that has none (a model name, an id, a time) is not one.
        CLASSIFIER-5  An error within an error is found: JSON inside a message, a gateway's prefix, a cause.
        CLASSIFIER-6  Text that the provider quotes from the conversation decides nothing.
        CLASSIFIER-7  Bytes and characters are never given as tokens, and no rejected size as a limit.
        CLASSIFIER-8  The same error has the same reading; reading changes nothing.
        CLASSIFIER-9  What is not known is `unknown` with remedy `none`.

    Caller guarantees: none. Errors: none. Concurrency: any thread. Lifetime: usable from construction on.
    Latitude: the remedy among those that fit the kind.
    """

    def classify(self, error: object, *, provider: str = "") -> ErrorReading:
        """What `error` means: an exception, an HTTP response, a `ProviderFailure`, a dict with status and body, or a stream
        event. `provider` is who sent it, if known; codes are then read as that provider's.
        """
        ...
