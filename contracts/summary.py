"""Summaries: what stands in a window for messages that were folded away, and the port of what writes them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from .errors import InvalidArgument, StoreCorrupt
from .facts import Fact, FactLedger
from .messages import Json, Message
from .model import Usage
from .port import Port

__all__ = ["Hint", "IsGrounded", "Summarizer", "Summary", "SummaryRequest"]


class Hint(StrEnum):
    """The use that is made of what comes out (R178)."""

    REACT_ITERATION = "react_iteration"  # the next step of an agent loop
    PLANNER_INPUT = "planner_input"  # a plan is made from it
    STEP_DEPENDENCY = "step_dependency"  # another step builds on it
    GENERAL = "general"

    @classmethod
    def of(cls, name: str) -> Hint:
        """The hint of that name. Raises `InvalidArgument` with the names there are."""
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(cls)
            raise InvalidArgument(f"hint is {name!r}; it must be one of {known}", name="hint", value=name) from None


_ITEMS = (("decisions", "decided"), ("constraints", "must"), ("open", "open"), ("done", "done"), ("conclusions", "found"))


@frozen(kw_only=True)
class Summary:
    """What is left of folded messages. Items and text are in the language of the conversation.

    `text` is prose. `facts` are what a summarizer adds to the ledger beside what is extracted anyway. `origin` names what wrote
    it. `usage` is what a model took for it, all calls together; None if no model was asked or it did not say.
    """

    text: str = ""
    decisions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    conclusions: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    origin: str = ""
    usage: Usage | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return not self.render().strip()

    def render(self) -> str:
        """The summary as text for a model: the items, one in a line after a tag such as `[open]`, then the prose.

        The tags are the same in every language, so nothing has to be guessed from headings (W8). Facts are not in it (D11).
        """
        lines = [f"[{tag}] {item}" for name, tag in _ITEMS for item in getattr(self, name)]
        return "\n".join([*lines, self.text] if self.text else lines)

    def as_json(self) -> dict[str, Json]:
        """What was written, without what it took, as a JSON object."""
        value: dict[str, Json] = {name: list(getattr(self, name)) for name, _ in _ITEMS if getattr(self, name)}
        if self.text:
            value["text"] = self.text
        if self.facts:
            value["facts"] = [fact.as_json() for fact in self.facts]
        return value | {"origin": self.origin}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Summary:
        """The summary of a JSON object. Raises `StoreCorrupt` if it is not one."""
        try:
            items: dict[str, Any] = {name: tuple([str(item) for item in value.get(name, ())]) for name, _ in _ITEMS}
            facts = tuple([Fact.from_json(fact) for fact in value.get("facts", ())])
            return cls(text=str(value.get("text", "")), facts=facts, origin=str(value.get("origin", "")), **items)
        except (ValueError, TypeError, AttributeError) as error:
            raise StoreCorrupt(f"this is not a summary: {type(error).__name__}: {error}") from error


@frozen(kw_only=True)
class SummaryRequest:
    """What to summarise, for what use, and how long it may be.

    `messages` are to be replaced, in order; if the first is of kind summary, it is the summary so far, to be taken up. Calls and
    results are whole. `max_tokens` is the most that `Summary.render()` may take, by the summarizer's counter. `handoff` asks for
    what is done, open and concluded first (R121). `ledger` holds facts that are kept anyway and need not be said again. `faults`
    says why an earlier answer to the same request was refused, one short sentence each. `live` is the request that a model
    answers next, of which `messages` are a part; one that runs on the same model can continue it and so read the cached prefix.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    hint: Hint = Hint.GENERAL
    handoff: bool = False
    ledger: FactLedger = field(factory=FactLedger)
    faults: tuple[str, ...] = ()
    live: tuple[Message, ...] = ()
    tools: tuple[Json, ...] = ()


class Summarizer(Port):
    """Makes much text little.

    Obligations
        SUMMARIZER-1  `render()` of the summary takes at most `max_tokens` by the summarizer's counter.
        SUMMARIZER-2  It is not empty. Where nothing can be said within `max_tokens`, `SummaryFailed` is raised.
        SUMMARIZER-3  Every message is read, however many and however large: text, calls with their arguments, results. What is
                      more than one call takes is read in parts.
        SUMMARIZER-4  A summary that comes first in the request is taken up, whatever its role.
        SUMMARIZER-5  What system messages and the reasoning of a model say is not read (R48, R124, R128).
        SUMMARIZER-6  The request and its messages are not changed.
        SUMMARIZER-7  A failure of whatever it stands on raises `SummaryFailed` with the foreign error as its cause, unless it has
                      something else to fall back on. The failure's words are neither in the error nor in a summary.
        SUMMARIZER-8  A request without messages, or with `max_tokens` below 1, raises `InvalidArgument`; nothing is asked.
        SUMMARIZER-9  A cancelled call leaves nothing running, and the summarizer can be called again.
        SUMMARIZER-10 `origin` names what wrote it; `usage` is the sum of what the model reported for all calls, failed ones too.

    Caller guarantees
        Message ids are unique. A call's results are in the request with it.
    Errors
        `SummaryFailed`, `InvalidArgument`. Nothing is lost by either.
    Concurrency
        Several calls at once, in one event loop.
    Lifetime
        Usable from construction on; keeps nothing of a call that changes a later result.
    Latitude
        What is worth keeping, and in whose words. A summary may be wrong unless it `IsGrounded`: whoever keeps it checks it.
    """

    @property
    def max_input(self) -> int | None:
        """Tokens of messages that it reads in one piece, by its counter; None if there is no limit."""
        ...

    async def summarize(self, request: SummaryRequest) -> Summary:
        """A summary of the request's messages."""
        ...


class IsGrounded(Port):
    """A summarizer whose summaries can be believed.

    Obligations
        SUMMARIZER-11 Each identifier, number, date and path in the summary stands in the request's messages or in its ledger.
        SUMMARIZER-12 What a message says is never obeyed: no answer, apology or refusal comes out in place of a summary.

    Caller guarantees, errors, concurrency, lifetime, latitude: as `Summarizer`.
    """

    @property
    def grounding(self) -> str:
        """How that is made sure, for people."""
        ...
