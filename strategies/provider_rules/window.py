"""A window under test: its messages, indexed in one pass, so that each rule looks only at the parts that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import attrs
from attrs import field, frozen

from contextport.contracts import Json, Kind, Media, Message, Opaque, Part, Refusal, Text, Thinking, ToolCall, ToolResult
from contextport.contracts.profile import ProviderProfile

__all__ = ["LIBRARY_KINDS", "Place", "Reference", "RequestFacts", "Step", "Violation", "Window", "says", "unedited"]

#: Messages that the library makes and that always reach the model: their role is the profile's to say.
LIBRARY_KINDS = frozenset({Kind.SUMMARY, Kind.FACTS, Kind.RETRIEVED, Kind.GAP})
_CHAT = Kind.CHAT

Place = tuple[int, int, Any]  # index of the message, index of the part, the part


@frozen(kw_only=True)
class Violation:
    """A rule that does not hold: where, and why.

    `index` is that of the message in the window, `part` that of the part in it; -1 is all of them. `message_id` is empty where
    the request is at fault and no message of it.
    """

    rule: str
    message_id: str = ""
    index: int = -1
    part: int = -1
    detail: str = ""


@frozen(kw_only=True)
class Reference:
    """Something by which a provider finds earlier input itself: `previous_response_id`, a cached content, an item reference.

    It is valid for as long as the window begins with the messages that it `covers`.
    """

    name: str
    covers: tuple[Message, ...]


@frozen(kw_only=True)
class RequestFacts:
    """What rules need to know besides the messages.

    `tools` are the declared schemas: empty is not told, None is none at all. `thinking` says whether the request asks for it;
    None: yes, if the window holds any. `original` is the log, in its order. `pinned` are messages that must be in the window.
    `sizes` are the tokens before and after a reduction.
    """

    tools: Sequence[Json] | None = ()
    thinking: bool | None = None
    original: Sequence[Message] | None = None
    pinned: Sequence[Message] = ()
    references: Sequence[Reference] = ()
    sizes: tuple[int, int] | None = None


@frozen(kw_only=True)
class Step:
    """An assistant message with calls at `caller`, and the results behind it: the messages up to `stop`.

    `calls` are (part, call), `asked` their ids and `answered` those of the results, in order.
    """

    caller: int
    stop: int
    calls: list[tuple[int, ToolCall]]
    asked: list[str]
    answered: list[str]

    @property
    def is_complete(self) -> bool:
        """Whether each call has one result, and each result its call."""
        return self.asked == self.answered or sorted(self.asked) == sorted(self.answered)


@attrs.define(slots=False, eq=False)
class Window:
    """The messages of a request to a provider, with what stands where in them."""

    messages: Sequence[Message]
    profile: ProviderProfile
    facts: RequestFacts = RequestFacts()
    #: The messages as they were before any repair; None outside of repairs.
    received: Sequence[Message] | None = None
    #: Indices of the messages that are not the system's.
    spoken: list[int] = field(init=False, factory=list[int])
    systems: list[int] = field(init=False, factory=list[int])
    #: Those that are no plain part of the conversation.
    made: list[int] = field(init=False, factory=list[int])
    texts: list[Place] = field(init=False, factory=list[Place])
    calls: list[Place] = field(init=False, factory=list[Place])
    results: list[Place] = field(init=False, factory=list[Place])
    #: Calls and results of tools that the provider ran.
    served: list[Place] = field(init=False, factory=list[Place])
    thoughts: list[Place] = field(init=False, factory=list[Place])
    media: list[Place] = field(init=False, factory=list[Place])
    marks: list[Place] = field(init=False, factory=list[Place])
    opaque: list[Place] = field(init=False, factory=list[Place])
    empty: list[int] = field(init=False, factory=list[int])

    def __attrs_post_init__(self) -> None:
        spoken, systems, texts = self.spoken, self.systems, self.texts
        for n, message in enumerate(self.messages):
            role, parts = message.role, message.parts
            (systems if role == "system" or role == "developer" else spoken).append(n)
            if message.kind is not _CHAT:
                self.made.append(n)
            if len(parts) == 1 and type(parts[0]) is Text:  # most messages of a chat
                texts.append((n, 0, parts[0]))
            elif parts:
                for k, part in enumerate(parts):
                    self._index(n, k, part)
            else:
                self.empty.append(n)

    def _index(self, n: int, k: int, part: Part) -> None:
        kind = type(part)
        if kind is Text or kind is Refusal:
            self.texts.append((n, k, part))
        elif kind is ToolCall or kind is ToolResult:
            client = part.executor == "client"  # type: ignore[union-attr]
            (self.served if not client else self.calls if kind is ToolCall else self.results).append((n, k, part))
        elif kind is Thinking:
            self.thoughts.append((n, k, part))
        elif kind is Media:
            self.media.append((n, k, part))
        elif kind is Opaque:
            self.opaque.append((n, k, part))
        else:
            self.marks.append((n, k, part))

    def with_messages(self, messages: Sequence[Message]) -> Window:
        """The same request with other messages."""
        return Window(messages, self.profile, self.facts, self.received or self.messages)

    @cached_property
    def result_holders(self) -> frozenset[int]:
        """Indices of the messages with results of host-side calls."""
        return frozenset(n for n, _, _ in self.results)

    @cached_property
    def steps(self) -> list[Step]:
        """All assistant messages with calls, each with the unbroken run of results after it."""
        by_caller: dict[int, list[tuple[int, ToolCall]]] = {}
        for n, k, call in self.calls:
            by_caller.setdefault(n, []).append((k, call))
        by_holder: dict[int, list[str]] = {}
        for n, _, result in self.results:
            by_holder.setdefault(n, []).append(result.call_id)
        steps: list[Step] = []
        for caller, calls in by_caller.items():
            stop, answered = caller + 1, list[str]()
            while stop in by_holder:
                answered += by_holder[stop]
                stop += 1
            asked = [call.call_id for _, call in calls]
            steps.append(Step(caller=caller, stop=stop, calls=calls, asked=asked, answered=answered))
        return steps

    @cached_property
    def open_step(self) -> Step | None:
        """The step that the model is to go on from: its results end the conversation, and nothing else is said with them."""
        if not self.steps or not self.spoken:
            return None
        step = self.steps[-1]
        last = self.spoken[-1]
        if step.caller <= last < step.stop and all(type(part) is not Text for part in self.messages[last].parts):
            return step
        return None

    @cached_property
    def turn_start(self) -> int:
        """Index after which the current turn's answers stand: that of the newest user message that says something itself."""
        for n in reversed(self.spoken):
            message = self.messages[n]
            if message.role == "user" and any(type(part) is not ToolResult for part in message.parts):
                return n
        return -1

    @cached_property
    def thinks(self) -> bool:
        """Whether the request asks for reasoning."""
        return bool(self.thoughts) if self.facts.thinking is None else self.facts.thinking

    @cached_property
    def media_in_results(self) -> list[Place]:
        """The media inside of results, with the index of the result."""
        return [(n, k, inner) for n, k, result in self.results for inner in result.parts if type(inner) is Media]

    def media_places(self) -> list[tuple[int, int, int, Media]]:
        """All media, oldest first, as (message, part, index inside a result or -1, media)."""
        places = [(n, k, -1, part) for n, k, part in self.media]
        for n, k, result in self.results:
            places += [(n, k, i, inner) for i, inner in enumerate(result.parts) if type(inner) is Media]
        return sorted(places, key=lambda place: place[:3])

    def violation(self, rule: str, n: int, k: int = -1, detail: str = "") -> Violation:
        """A violation at message `n`."""
        return Violation(rule=rule, message_id=self.messages[n].id, index=n, part=k, detail=detail)


def unedited(message: Message, api: str) -> bool:
    """Whether the codec of `api` sends the message exactly as it came in."""
    native = message.native
    return native is not None and native.api == api and native.parts is message.parts


def says(message: Message, part: Part, profile: ProviderProfile) -> bool:
    """Whether a part is content in the profile's form: not blank, not reasoning alone, not known to another provider only."""
    match part:
        case Text() | Refusal():
            return bool(part.text) and not (profile.refused_text == "blank" and part.text.isspace())
        case ToolCall() | ToolResult():
            return part.executor == "client" or (part.raw is not None and _is_of(message, profile))
        case Opaque():
            return part.api.startswith(profile.api)
        case Media():
            return True  # where it may not stand, words take its place (V26)
        case Thinking():
            return profile.thinking_alone and bool(part.signature or part.encrypted)
        case _:
            return type(part).__name__ == "JsonPart"


def _is_of(message: Message, profile: ProviderProfile) -> bool:
    return message.native is not None and message.native.api == profile.api
