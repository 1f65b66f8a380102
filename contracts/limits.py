"""Where window sizes come from: the port of limit sources."""

from __future__ import annotations

from .budget import Limits
from .port import Port
from .provider_error import ErrorReading

__all__ = ["LearnsLimits", "LimitsSource"]


class LimitsSource(Port):
    """Knows what a model on a host allows.

    The key is the pair: hosts differ in what they allow of one model. `resolve_budget` asks several sources in their order.

    Obligations
        LIMITS-1  An unknown model gives None, never an error: no library call fails because of a model's name (R66).
        LIMITS-2  What is returned names its source, so that a number can be traced.
        LIMITS-3  The same question has the same answer until the source itself changes.
        LIMITS-4  A number of one host is never given for another: a host that is not known has what no host in particular has,
                  or None.
        LIMITS-5  A number of one model is never given for another: a name that merely contains a known one is unknown.
        LIMITS-6  An answer is at hand: asking opens no connection, since `limits` is called on the path of a conversation.
                  A source that has to fetch does so in a method of its own.

    Caller guarantees: none; both arguments may be empty.
    Errors: `InvalidArgument` for a source whose own configuration is not a number.
    Concurrency: any thread. Lifetime: usable from construction on. Latitude: fields it does not know are None; how the name of
    a host is written; which spellings are one model, as long as it is documented.
    """

    def limits(self, model: str, host: str = "") -> Limits | None:
        """The limits of `model` on `host` (empty: the model's usual host), or None."""
        ...


class LearnsLimits(Port):
    """A source that learns from errors what a host allows.

    Obligations
        LIMITS-7  After an overflow that says its limit in tokens, no input limit of that model on that host is larger; a larger
                  one that is told later does not widen it. Other models and hosts stay as they are.
        LIMITS-8  Anything else teaches nothing about the input: rate limits, output caps, bytes, characters, an error without a
                  limit, one whose limit was not exceeded. A size that was rejected is never a limit.

    Caller guarantees: the reading is of an error of that model on that host.
    Errors: none. Concurrency: any thread. Lifetime: what was learnt may expire. Latitude: for how long it is known, and which
    field it goes into.
    """

    def learn(self, reading: ErrorReading, *, model: str, host: str = "") -> bool:
        """Learn from what an error said of `model` on `host`. Returns whether there was something to learn."""
        ...
