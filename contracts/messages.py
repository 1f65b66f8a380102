"""Messages: immutable, provider-neutral, able to hold all that a provider sent.

A message has a wire `role` (who speaks, for the provider) and a `kind` (what it is for us). Its content is a tuple of parts.
A message that was decoded from a wire format keeps the exact wire form in `native`, which is used on the way out for as long as
`parts` is the very tuple that was decoded. So editing is `attrs.evolve(message, parts=...)`, with nothing else to remember.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from enum import IntEnum, StrEnum
from typing import Any, Literal, TypeAlias, TypeVar

from attrs import field, frozen

from .constructors import constructor_of
from .errors import InvalidMessage

__all__ = [
    "CacheMark",
    "Importance",
    "Json",
    "JsonPart",
    "Kind",
    "Media",
    "Message",
    "Native",
    "Opaque",
    "Part",
    "Refusal",
    "Role",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "make_message",
    "make_native",
    "make_text",
    "make_tool_call",
    "make_tool_result",
    "new_id",
]

Json: TypeAlias = Any  # None, bool, int, float, str, list, dict with str keys; checked where values come in
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


class Kind(StrEnum):
    """What a message is for us, apart from its wire role."""

    CHAT = "chat"  # said by the user, the model or a tool
    INTERRUPT = "interrupt"  # injected by the host while an agent works; never the current question
    SYSTEM_PROMPT = "system_prompt"  # a version of the session's system prompt
    SUMMARY = "summary"  # stands for the messages it covers
    FACTS = "facts"  # the rendered fact ledger
    RETRIEVED = "retrieved"  # brought back from folded history or from outside
    STAND_IN = "stand_in"  # answers a tool call whose result has not arrived
    GAP = "gap"  # says that messages were left out here; metadata: omitted_messages, omitted_tokens
    RECORD = "record"  # an audit entry of the log, such as a mode switch; never in a window


_CHAT, _INTERRUPT = Kind.CHAT, Kind.INTERRUPT  # looking a member up in its class takes as long as a function call


class Importance(IntEnum):
    """The order in which content is given up, least valuable first (R100). From CONCLUSION on, a message outlives newer ones."""

    REFETCHABLE = -2
    PROCESS = -1
    NORMAL = 0
    CONCLUSION = 1
    REQUIREMENT = 2
    DECISION = 3


_NORMAL = Importance.NORMAL


@frozen
class Text:
    """Plain text. `raw` is the wire part it came from, if it came as a part."""

    text: str
    citations: tuple[Json, ...] = ()
    raw: Json = None


@frozen(kw_only=True)
class Media:
    """An image, sound, video or document, by exactly one of `data` (base64), `url` and `file_id`.

    `size_px` is (width, height): an image's price depends on it, never on the length of its base64 text.
    """

    media: Literal["image", "audio", "video", "document"]
    data: str | None = field(default=None, repr=False)
    url: str | None = None
    file_id: str | None = None
    mime: str | None = None
    name: str | None = None
    detail: str | None = None
    size_px: tuple[int, int] | None = None
    raw: Json = field(default=None, repr=False)


@frozen(kw_only=True)
class ToolCall:
    """A call the model asks for. `arguments` is the exact string; `call_id` pairs it, `item_id` is its own wire identity."""

    call_id: str
    name: str
    arguments: str
    item_id: str | None = None
    namespace: str | None = None
    executor: Literal["client", "server"] = "client"
    complete: bool = True
    raw: Json = field(default=None, repr=False)


@frozen
class JsonPart:
    """Structured content of a tool result."""

    value: Json


@frozen(kw_only=True)
class ToolResult:
    """The answer to the call with the same `call_id`."""

    call_id: str
    parts: tuple[Text | Media | JsonPart | Opaque, ...]
    status: Literal["ok", "error"] | None = None
    name: str | None = None
    executor: Literal["client", "server"] = "client"
    raw: Json = field(default=None, repr=False)


@frozen(kw_only=True)
class Thinking:
    """Reasoning of the model. It may be left out as a whole; its text and signature are never changed.

    `binding` says what a provider ties it to: nothing, its turn, the exact prefix before it, or its wire item.
    """

    text: str | None = None
    summary: tuple[str, ...] = ()
    signature: str | None = None
    encrypted: str | None = None
    redacted: bool = False
    binding: Literal["none", "turn", "prefix", "item"] = "none"
    item_id: str | None = None
    origin: tuple[str, str] | None = None
    raw: Json = field(default=None, repr=False)


@frozen
class Refusal:
    """The model's refusal to answer."""

    text: str


@frozen
class CacheMark:
    """A provider's prompt-cache breakpoint after the part before it."""

    ttl: str | None = None


@frozen(kw_only=True)
class Opaque:
    """A part of a type unknown to us. It is carried unchanged, priced by estimate and never dropped on its own."""

    api: str
    type: str
    raw: Json = field(repr=False)
    pair_id: str | None = None


_Paired = TypeVar("_Paired", ToolCall, ToolResult)
Part: TypeAlias = Text | Media | ToolCall | ToolResult | Thinking | Refusal | CacheMark | Opaque | JsonPart


@frozen(kw_only=True)
class Native:
    """The wire form of a message and the parts decoded from it; `parts` is None once the message was edited and stored.

    A private copy: callers' objects are never aliased. It may be the log itself, so `raw`, like `Message.metadata` and what
    parts hold of JSON, is to be read and never changed; `to_chat` and `Context.as_chat` give copies to work on.

    `group` joins neighbours: messages next to each other with the same one were a single message of the wire, such as tool
    results and the user's next words in one Anthropic message, and become one again.
    """

    api: str
    raw: Json = field(repr=False)
    parts: tuple[Part, ...] | None = field(eq=False, repr=False)
    group: str | None = None


def new_id() -> str:
    """A fresh message id: 32 hex digits, of the time in nanoseconds since 1970 and of 64 random bits.

    Ids that were made one after the other lie side by side in a store's index.
    """
    return (time.time_ns().to_bytes(8, "big") + os.urandom(8)).hex()


def _nothing() -> dict[str, Any]:  # a call of dict[str, Any] takes ten times as long
    return {}


@frozen(kw_only=True)
class Message:
    """One message of a conversation.

    `pinned` asks for it to stay in the window; `importance` orders what is given up first. `created_at` is the host's time in
    seconds since 1970, for display; order comes from the log. `metadata` is the host's own, JSON, and is not sent to a model.

    Raises `InvalidMessage` for an unknown role, an empty id or parts that are not a tuple. What is inside is checked, and copied,
    when the message is handed to a manager (`own_copy`).
    """

    role: Role
    parts: tuple[Part, ...]
    id: str = field(factory=new_id)
    kind: Kind = Kind.CHAT
    name: str | None = None
    pinned: bool = False
    importance: Importance = Importance.NORMAL
    phase: str | None = None
    status: str | None = None
    created_at: float | None = None
    metadata: Mapping[str, Json] = field(factory=_nothing)
    native: Native | None = field(default=None, repr=False)
    #: (counter name, tokens), written once by `message_tokens`. Not an argument, so that an edited copy starts without it.
    counted: tuple[str, int] | None = field(init=False, default=None, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.role not in _ROLES:
            raise InvalidMessage(f"role is {self.role!r}; it must be one of {', '.join(sorted(_ROLES))}", path="role")
        if not self.id or not isinstance(self.id, str):
            raise InvalidMessage(f"id is {self.id!r}; it must be a non-empty string", path="id")
        if not isinstance(self.parts, tuple):
            raise InvalidMessage(f"parts is a {type(self.parts).__name__}; it must be a tuple", path="parts")

    @classmethod
    def user(cls, text: str, **more: Any) -> Message:
        """A user message of one text."""
        return cls(role="user", parts=(Text(text),), **more)

    @classmethod
    def assistant(cls, text: str = "", *calls: ToolCall, **more: Any) -> Message:
        """An assistant message: a text, tool calls, or both."""
        return cls(role="assistant", parts=((Text(text), *calls) if text else calls), **more)

    @classmethod
    def tool(cls, call_id: str, text: str, **more: Any) -> Message:
        """The result of one tool call."""
        return cls(role="tool", parts=(ToolResult(call_id=call_id, parts=(Text(text),)),), **more)

    @classmethod
    def system(cls, text: str, **more: Any) -> Message:
        """A system message."""
        return cls(role="system", parts=(Text(text),), **more)

    @property
    def text(self) -> str:
        """The text of the message and of its tool results, joined by line feeds; no reasoning, no arguments."""
        return "\n".join(_texts(self.parts))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls to be answered by the host: server-side calls are answered by the provider."""
        return _of_client(self.parts, ToolCall)

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The results of host-side calls."""
        return _of_client(self.parts, ToolResult)

    @property
    def opens_turn(self) -> bool:
        """Whether a turn begins here: something the user said, apart from interrupts and tool results."""
        return self.role == "user" and self.kind is _CHAT and ToolResult not in map(type, self.parts)

    @property
    def marked(self) -> bool:
        """Whether it may have to outlive newer ones: pinned, important, an interrupt, or a system message of the conversation."""
        if self.kind is _INTERRUPT:
            return True
        return self.kind is _CHAT and (
            self.pinned or self.importance > _NORMAL or self.role == "system" or self.role == "developer"
        )

    @property
    def in_conversation(self) -> bool:
        """Whether it is part of what was said, and not a record that the library keeps in the same log."""
        return self.kind is _CHAT or self.kind is _INTERRUPT


make_text, make_native, make_message = constructor_of(Text), constructor_of(Native), constructor_of(Message)
make_tool_call, make_tool_result = constructor_of(ToolCall), constructor_of(ToolResult)


def _of_client(parts: tuple[Any, ...], kind: type[_Paired]) -> tuple[_Paired, ...]:
    if len(parts) == 1 and type(parts[0]) is not kind:  # most messages
        return ()
    return tuple([part for part in parts if type(part) is kind and part.executor == "client"])


def _texts(parts: tuple[Any, ...]) -> Iterator[str]:
    for part in parts:
        if type(part) is Text or type(part) is Refusal:
            yield part.text
        elif type(part) is ToolResult:
            yield from _texts(part.parts)
