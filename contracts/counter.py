"""How big a text or a message is for a model: the port of token counters."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import frozen

from .messages import Json, Message
from .port import Port

__all__ = ["CountKind", "ErrorBound", "LearnsFromUsage", "TokenCounter"]


class CountKind(StrEnum):
    """How far a count can be trusted."""

    EXACT = "exact"  # the model's own tokenizer
    CALIBRATED = "calibrated"  # corrected by what the provider reported
    ESTIMATE = "estimate"  # a rule


@frozen
class ErrorBound:
    """How far a count may be off: the true size is expected in [count * (1 - over), count * (1 + under)].

    `under` is the worst under-estimate as a share of the count (0.5: the truth may be 1.5 times the count), `over` the worst
    over-estimate. Both are 0 for an exact counter.
    """

    under: float
    over: float


class TokenCounter(Port):
    """Counts tokens. The one source of size: strategy, trigger and stats all ask the same counter.

    Obligations
        COUNTER-1   `count_text` of a non-empty text is at least 1; of the empty text it is 0.
        COUNTER-2   The same input has the same count, in any order of calls and from any thread.
        COUNTER-3   Any text is counted: every script, U+0000, lone surrogates, names of special tokens, megabytes of one sign.
        COUNTER-4   `count_message` counts all that the model reads: text, names, tool-call names and arguments, tool results,
                    reasoning, refusals. A longer argument string costs more.
        COUNTER-5   The base64 text of media is never counted as text: the price depends on kind, size in pixels and detail.
        COUNTER-6   The wire form does not matter: content as string, as one text part, null, empty or missing costs the same.
        COUNTER-7   `count_tools` of no tools is 0, and grows with the schemas' text.
        COUNTER-8   `kind` is exact only with a bound of zero; `bound` has no negative share.
        COUNTER-9   `name` is not empty and identifies the counts: two counters of one name give equal counts.
        COUNTER-10  Counting changes nothing in what is counted.
        COUNTER-11  A repeated text costs in proportion: n repeats cost at most n times the first count plus n.

    Caller guarantees: messages are well-formed; tools are JSON objects.
    Errors: none for text and messages.
    Concurrency: any method from any thread.
    Lifetime: usable from construction on; holds no resources that need closing.
    Latitude: how special tokens inside a text are counted, as long as they are counted as text; framing per message.
    """

    @property
    def name(self) -> str:
        """Identity of the counts, stored beside them, such as `estimate:o200k`."""
        ...

    @property
    def kind(self) -> CountKind:
        """How far counts can be trusted."""
        ...

    @property
    def bound(self) -> ErrorBound:
        """The stated error of counts of ordinary text."""
        ...

    def count_text(self, text: str) -> int:
        """Tokens of a text on its own."""
        ...

    def count_message(self, message: Message) -> int:
        """Tokens of one message in a request, its framing included. A request costs the sum of its messages and tools."""
        ...

    def count_tools(self, tools: Sequence[Json]) -> int:
        """Tokens of tool schemas, given as the JSON objects that are sent."""
        ...


class LearnsFromUsage(Port):
    """A counter that learns how many tokens a provider makes of those it counts.

    The counts stay as they are, so that stored ones stay valid: a manager divides the limit by `token_ratio`, in one place.

    Obligations
        COUNTER-12  After `record_usage` with a constant ratio of reported to counted, `token_ratio` of that model approaches it,
                    clamped; counts do not change.
        COUNTER-13  A report of zero or less raises `InvalidArgument` and changes nothing.
        COUNTER-14  What is learnt of one model does not change the ratio of another.

    Caller guarantees: `counted` is what this counter said for the whole request to `model`, tools included.
    Errors: `InvalidArgument`. Concurrency: any thread. Lifetime: what was learnt lives as long as the counter.
    Latitude: how fast it learns, the clamp, and the ratio before anything is learnt.
    """

    def record_usage(self, *, counted: int, reported: int, model: str = "") -> None:
        """Learn from one request: `counted` tokens by us, `reported` input tokens by the provider (cached ones included)."""
        ...

    def token_ratio(self, model: str = "") -> float:
        """Real tokens per counted token for `model`."""
        ...
