"""The size of the next request: what the provider reported of the last one, and an estimate of what changed since (R70)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from contextport.contracts import Json, LearnsFromUsage, Message, TokenCounter, provides
from contextport.contracts.counting import message_sizes, message_tokens
from contextport.contracts.messages import Thinking
from contextport.contracts.model import Usage

__all__ = ["UsageAnchor", "anchor_usage", "request_tokens"]

_LEAST: Final = 0.5  # as in CalibratedTokenCounter: a provider that reports less has cut the input


@frozen(kw_only=True)
class UsageAnchor:
    """`reported` tokens by the provider for messages that `counter` (its name) counts as `counted`, by message id, and for
    tool schemas that it counts as `tools`."""

    reported: int
    counter: str
    counted: Mapping[str, int]
    tools: int = 0


def anchor_usage(
    usage: Usage | None,
    sent: Sequence[Message],
    *,
    counter: TokenCounter,
    answer: Message | None = None,
    tools: Sequence[Json] = (),
) -> UsageAnchor | None:
    """What `usage` says of a request made of `sent` and `tools`, and of its `answer` if that joins the conversation.

    An answer without a `Thinking` part goes back without the reasoning that was reported with it, so that is not part of the
    size. None where there is nothing to hold on to: no usage, no input tokens, or less than half of what was counted, which
    means that the provider cut the input without a word.
    """
    counted = _sizes(sent, counter)
    tool_tokens = counter.count_tools(tools)
    if usage is None or usage.input_tokens <= 0 or usage.input_tokens < _LEAST * (sum(counted.values()) + tool_tokens):
        return None
    reported = usage.input_tokens
    if answer is not None:
        kept = any(type(part) is Thinking for part in answer.parts)
        reported += max(0, usage.output_tokens - (0 if kept else usage.reasoning_tokens))
        counted[answer.id] = message_tokens(answer, counter)
    return UsageAnchor(reported=reported, counter=counter.name, counted=counted, tools=tool_tokens)


def request_tokens(
    messages: Sequence[Message],
    *,
    counter: TokenCounter,
    model: str = "",
    tools: Sequence[Json] = (),
    anchor: UsageAnchor | None = None,
) -> int:
    """The size of a request of `messages` and `tools` in the provider's own tokens, rounded up.

        size = reported - removed * reported / counted + added * token_ratio

    `reported` and `counted` are of the anchor; `removed` and `added` are counted tokens, by message id, of a message whose size
    changed the difference. Without an anchor, or with one of another counter, everything is added: the plain estimate.

    What was reported is the truth and is not corrected. What is new is corrected by the `token_ratio` that the counter learnt
    for `model`, and what is gone by the ratio of the very request it was in, so nothing is corrected twice. Compare the size
    with `Budget.usable_input` as it is: a limit divided by `token_ratio` is for counted tokens.
    """
    ratio = counter.token_ratio(model) if provides(counter, LearnsFromUsage) else 1.0
    now = _sizes(messages, counter)
    tool_tokens = counter.count_tools(tools)
    if anchor is None or anchor.counter != counter.name:
        return math.ceil((sum(now.values()) + tool_tokens) * ratio)
    changes = [now.get(name, 0) - anchor.counted.get(name, 0) for name in now.keys() | anchor.counted.keys()]
    changes.append(tool_tokens - anchor.tools)
    added = sum(change for change in changes if change > 0)
    removed = -sum(change for change in changes if change < 0)
    counted = sum(anchor.counted.values()) + anchor.tools
    per_counted = anchor.reported / counted if counted else 1.0
    return math.ceil(anchor.reported - removed * per_counted + added * ratio - 1e-6)  # not one up for a rounding of floats


def _sizes(messages: Sequence[Message], counter: TokenCounter) -> dict[str, int]:
    """Counted tokens by message id; of a message that is there twice, of both."""
    sizes: dict[str, int] = {}
    for message, size in zip(messages, message_sizes(messages, counter), strict=True):
        sizes[message.id] = sizes.get(message.id, 0) + size
    return sizes
