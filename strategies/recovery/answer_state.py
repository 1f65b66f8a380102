"""What is known of an answer that is being written: its state between two calls, and the result."""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen

from contextport.contracts import Completion, Message, ModelCallFailed, Part, StopReason, Usage, new_id

__all__ = ["ContinuedOutput", "Discarded", "Need", "Unfinished"]


class Need(StrEnum):
    """What the next call of an unfinished answer is for."""

    ANSWER = "answer"  # nothing was said yet: the question as it stands
    REST = "rest"  # a text was cut
    CALL = "call"  # a tool call was cut
    ROOM = "room"  # all of the limit went into reasoning: the same question with a higher one
    TURN = "turn"  # the provider paused: what it wrote goes back unchanged


@frozen(kw_only=True)
class Unfinished:
    """An answer so far: all that is needed to go on with it, now or later, after the messages it answers.

    `dump_unfinished` and `load_unfinished` take it to another process and back.

    `carried` are whole messages of the provider that go back unchanged, `parts` is what was written after them. `max_output` is
    the limit of the next call, in tokens; None sends none. `cut_calls` names the tools whose calls were cut. `thinks`: the model
    shows reasoning, and then takes no prefill.
    """

    message_id: str = field(factory=new_id)
    need: Need = Need.ANSWER
    carried: tuple[Message, ...] = ()
    parts: tuple[Part, ...] = ()
    max_output: int | None = None
    cut_calls: tuple[str, ...] = ()
    thinks: bool = False
    usage: Usage | None = None


@frozen(kw_only=True)
class ContinuedOutput:
    """One answer, of as many calls as it took.

    `message` is what to store: one assistant message, without cut calls; None if there is nothing to store. `truncated` says
    that it is not all of the answer, and `unfinished` is then what goes on with it. `usage` is that of all calls together.
    `completions` are the answers as they came, for the record. `failure` is why a continuation could not be had.
    """

    message: Message | None
    stop: StopReason
    truncated: bool = False
    usage: Usage | None = None
    completions: tuple[Completion, ...] = ()
    unfinished: Unfinished | None = None
    failure: ModelCallFailed | None = None

    @property
    def model_calls(self) -> int:
        """How many calls were answered."""
        return len(self.completions)


@frozen
class Discarded:
    """The last `chars` characters of streamed text are no part of the answer: it was refused, or is begun anew."""

    chars: int
