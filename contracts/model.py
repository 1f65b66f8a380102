"""One answer of a language model: the port of chat models, its stop reasons and its usage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from enum import StrEnum

from attrs import frozen

from .messages import Json, Message
from .port import Port

__all__ = ["ChatModel", "Completion", "StopReason", "StreamsCompletions", "TextDelta", "Usage"]


class StopReason(StrEnum):
    """Why an answer ended, whatever the provider calls it."""

    END = "end"
    STOP_SEQUENCE = "stop_sequence"
    TOOL_CALLS = "tool_calls"  # the message holds at least one whole call for the host, whatever the raw reason says
    OUTPUT_LIMIT = "output_limit"  # cut by the limit of the answer
    WINDOW_LIMIT = "window_limit"  # cut because the window is full
    REFUSAL = "refusal"
    FILTERED = "filtered"
    PAUSED = "paused"  # to be sent back unchanged to go on
    MALFORMED = "malformed"  # the provider could not read what its model wrote
    COMPACTED = "compacted"  # the provider compacted the conversation itself
    ERROR = "error"
    UNKNOWN = "unknown"

    @property
    def is_cut(self) -> bool:
        """Whether the answer is unfinished because of a limit."""
        return self is StopReason.OUTPUT_LIMIT or self is StopReason.WINDOW_LIMIT


@frozen(kw_only=True)
class Usage:
    """Tokens as the provider reported them, in one meaning for all.

    `input_tokens` is all that the model read, cached tokens included; `output_tokens` all that it wrote, reasoning included.
    The others are shares of these two.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


@frozen(kw_only=True)
class Completion:
    """An answer: one assistant message, why it ended, and what it cost.

    A call whose arguments were cut has `ToolCall.complete` false. `usage` is None where the provider reported none.
    """

    message: Message
    stop: StopReason
    raw_stop: str = ""
    usage: Usage | None = None
    model: str = ""


@frozen
class TextDelta:
    """A piece of the answer's visible text, as it arrives."""

    text: str


class ChatModel(Port):
    """Answers a conversation.

    Obligations
        MODEL-1  `complete` returns one assistant message with what the model said: text, reasoning, calls with their exact
                 argument strings and ids, so that sending it back is valid there. A call whose id is empty, or that of a call
                 before it, gets another, since a result names its call by it alone.
        MODEL-2  `stop` is the neutral reason, `raw_stop` the provider's own word. A reason unknown here is `unknown`.
        MODEL-3  A call whose arguments are not whole JSON is there with `complete` false, and does not make the stop reason
                 `tool_calls`.
        MODEL-4  `usage.input_tokens` includes cached tokens, whatever the provider's field means.
        MODEL-5  `max_output`, if given, is sent as the limit of the answer; below 1 it raises `InvalidArgument` before any
                 request.
        MODEL-6  A failure raises `ModelCallFailed` with status, code, type and text of the provider in `failure`, the foreign
                 error as its cause, and no credentials; also when it comes in the middle of a stream.
        MODEL-7  One call is one request: no retry is made behind the caller's back.
        MODEL-8  Messages and tools are not changed.
        MODEL-9  A cancelled call leaves nothing running, and the model can be called again.

    Caller guarantees: messages are valid for the provider (see its profile).
    Errors: `ModelCallFailed`, `InvalidArgument`.
    Concurrency: several calls at once, in one event loop. Lifetime: until the client it was given is closed by its owner.
    Latitude: which sampling parameters are sent; they are the adapter's construction arguments.
    """

    @property
    def model(self) -> str:
        """The model's name, as the host knows it."""
        ...

    @property
    def host(self) -> str:
        """Where it runs, such as `api.openai.com`; empty for a model in this process."""
        ...

    @property
    def api(self) -> str:
        """The wire form it is spoken to in, such as `openai.chat`: with the name, what its profile is found by; may be empty."""
        ...

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        """The answer to `messages`. `tools` are schemas in the OpenAI chat form; `max_output` is in tokens."""
        ...


class StreamsCompletions(Port):
    """A chat model that hands out its answer while it is written.

    Obligations
        MODEL-10  `stream` yields the visible text in pieces, then exactly one `Completion`, last. The pieces put together are
                  the texts of its message, one after the other.
        MODEL-11  A stream that breaks raises `ModelCallFailed`; what was yielded before stands.
        MODEL-12  Leaving the loop early closes the connection.

    Caller guarantees, errors, concurrency, lifetime, latitude: as `ChatModel`.
    """

    def stream(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> AsyncIterator[TextDelta | Completion]:
        """The answer to `messages`, piece by piece."""
        ...
