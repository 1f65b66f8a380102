"""What a provider is to answer, in no provider's form: the suite writes the script, the adapter's author translates it."""

from __future__ import annotations

import threading
from typing import TypeAlias

from attrs import field, frozen

from contextport.contracts.model import Usage

__all__ = ["Scripted", "ScriptedAnswer", "ScriptedBreak", "ScriptedCall", "ScriptedFailure", "ScriptedHold", "SentRequest"]


@frozen(kw_only=True)
class ScriptedCall:
    """A call that the model makes. `arguments` is the exact string; it may be cut."""

    id: str
    name: str
    arguments: str


@frozen(kw_only=True)
class ScriptedAnswer:
    """A whole answer; in a stream, `pieces` are the deltas of its text. `word` is the provider's own reason to end.

    Reasoning comes before the text, calls after it. `usage` is in our meaning: input with all that was cached.
    """

    word: str
    pieces: tuple[str, ...] = ()
    reasoning: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    usage: Usage = field(factory=lambda: Usage(input_tokens=20, output_tokens=10))

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.pieces)


@frozen(kw_only=True)
class ScriptedFailure:
    """An error with its HTTP status, in the provider's form; `retry_after` is in seconds, in the usual header."""

    status: int
    message: str
    type: str
    code: str | None = None
    retry_after: float | None = None


@frozen(kw_only=True)
class ScriptedBreak:
    """A stream that brings `pieces` of text and then an error event, or, without `failure`, a closed connection.

    An answer that is to come at once breaks within its body.
    """

    pieces: tuple[str, ...] = ()
    failure: ScriptedFailure | None = None


@frozen(eq=False)
class ScriptedHold:
    """An answer that does not end: after `pieces`, in a stream, nothing comes and the connection stays open.

    The backend sets `begun` when the request is there, and `ended` when the caller has closed the connection or let go of the
    request.
    """

    pieces: tuple[str, ...] = ()
    begun: threading.Event = field(factory=threading.Event, repr=False)
    ended: threading.Event = field(factory=threading.Event, repr=False)


Scripted: TypeAlias = ScriptedAnswer | ScriptedFailure | ScriptedBreak | ScriptedHold


@frozen(kw_only=True)
class SentRequest:
    """A request as the backend got it: the limit of the answer in it, and its whole body as text."""

    max_output: int | None
    body: str = field(repr=False)
