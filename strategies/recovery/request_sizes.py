"""How large a request is, by our counter, and what to aim at after a provider found it too large (R174 to R176, W12)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from attrs import field, frozen

from contextport.contracts import (
    Context,
    ErrorKind,
    ErrorReading,
    Json,
    LearnsFromUsage,
    Message,
    TokenCounter,
    message_tokens,
    provides,
)

__all__ = ["RequestSizes", "Target", "target_of"]

_MARGIN = 0.95  # share of what the numbers of an error allow that is aimed at: framing and rounding differ per request


@frozen(kw_only=True)
class RequestSizes:
    """What a request holds beside the window, and how counted tokens become the provider's.

    `tools` are the schemas that are sent along, `extra` messages that follow the window and are not stored. `learns_as` is the
    model's name for a counter that learns, the one its manager uses.
    """

    counter: TokenCounter
    tools: Sequence[Json] = ()
    extra: tuple[Message, ...] = ()
    learns_as: str = ""
    tool_tokens: int = field(init=False)
    extra_tokens: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "tool_tokens", self.counter.count_tools(self.tools))
        object.__setattr__(self, "extra_tokens", sum([message_tokens(message, self.counter) for message in self.extra]))

    @property
    def ratio(self) -> float:
        """Real tokens per counted token, as far as the counter has learnt."""
        return self.counter.token_ratio(self.learns_as) if provides(self.counter, LearnsFromUsage) else 1.0

    def counted(self, window: Context) -> int:
        """All of the request that `window` makes, in counted tokens."""
        return window.tokens + self.extra_tokens + self.tool_tokens

    def real(self, window: Context) -> int:
        """The same in the provider's tokens, as far as is known; tools are taken as counted, as managers take them."""
        return ceil((window.tokens + self.extra_tokens) * self.ratio) + self.tool_tokens

    def max_tokens(self, counted: int) -> int:
        """The `max_tokens` of a manager whose window shall take at most `counted` tokens of a request."""
        messages = max(0, counted - self.tool_tokens - self.extra_tokens)
        return int(messages * self.ratio) + self.tool_tokens

    def learn(self, window: Context, reported: int | None) -> None:
        """Tell a counter that learns how many tokens the provider made of the request."""
        counted = self.counted(window)
        if reported and counted > 0 and provides(self.counter, LearnsFromUsage):
            self.counter.record_usage(counted=counted, reported=reported, model=self.learns_as)


@frozen
class Target:
    """Sizes of a whole request in counted tokens: what to aim at, and the most that the error leaves possible."""

    aim: int
    most: int


def target_of(error: ErrorReading, counted: int, *, answer: int, shrink: float) -> Target:
    """How large a request may be after one of `counted` tokens was refused; always less than that.

    Where the error gives limit and size, in any unit, their quotient is the share that fits, whatever our own count says. Where
    it says less, the request becomes `shrink` of what it was, or smaller by the excess if that is more. `answer` tokens are
    kept free where input and output share the limit.
    """
    most = counted - 1
    aim = int(counted * shrink)
    allowed = error.limit
    if allowed is not None and error.kind is ErrorKind.INPUT_PLUS_OUTPUT:
        allowed -= answer
    sent = error.input
    if sent is None and error.total is not None and error.output is not None:
        sent = error.total - error.output
    if allowed is not None and sent is not None and sent > allowed and not error.is_lower_bound:
        most = min(most, max(0, allowed) * counted // sent)
        aim = int(most * _MARGIN)
    elif error.overshoot is not None and not error.is_lower_bound and error.overshoot < counted:
        aim = int((counted - error.overshoot) * _MARGIN)
    elif allowed is not None and error.unit == "tokens" and allowed < counted:
        aim = min(int(allowed * _MARGIN), aim)
    return Target(aim=max(1, min(aim, most)), most=most)
