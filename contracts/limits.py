"""Where window sizes come from: the port of limit sources."""

from __future__ import annotations

from .budget import Limits
from .port import Port

__all__ = ["LimitsSource"]


class LimitsSource(Port):
    """Knows what a model on a host allows.

    Obligations
        LIMITS-1  An unknown model gives None, never an error: no library call fails because of a model's name (R66).
        LIMITS-2  What is returned names its source, so that a number can be traced.
        LIMITS-3  The same question has the same answer until the source itself changes.

    Caller guarantees: none; both arguments may be empty.
    Errors: `InvalidArgument` for a source whose own configuration is not a number.
    Concurrency: any thread. Lifetime: usable from construction on. Latitude: fields it does not know are None.
    """

    def limits(self, model: str, host: str = "") -> Limits | None:
        """The limits of `model` on `host` (empty: the model's usual host), or None."""
        ...
