"""The size of the next request, from the usage of the last one."""

from __future__ import annotations

import random

import attrs
import pytest

from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import Message, TokenCounter
from contextport.contracts.counting import total_tokens
from contextport.contracts.messages import Text, Thinking
from contextport.contracts.model import Usage
from contextport.contracts.usage import usage_from
from contextport.strategies.usage_anchor import UsageAnchor, anchor_usage, request_tokens

COUNTER = HeuristicTokenCounter()
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]


def conversation(turns: int, seed: int = 1) -> list[Message]:
    draw = random.Random(seed)
    words = [" ".join(draw.choices(["alpha", "beta", "gamma", "delta"], k=draw.randint(5, 60))) for _ in range(turns)]
    return [Message.user(text) if n % 2 == 0 else Message.assistant(text) for n, text in enumerate(words)]


class TrueSize:
    """A provider that makes half again as many tokens of a text as we do, and adds framing of its own."""

    def __init__(self, counter: TokenCounter = COUNTER, factor: float = 1.5, framing: int = 40) -> None:
        self.counter, self.factor, self.framing = counter, factor, framing

    def of(self, messages: list[Message]) -> int:
        return self.framing + int(total_tokens(messages, self.counter) * self.factor)


def anchored(anchor: UsageAnchor | None) -> UsageAnchor:
    assert anchor is not None
    return anchor


def test_an_unchanged_request_is_as_large_as_was_reported() -> None:
    messages = conversation(10)
    anchor = anchored(anchor_usage(Usage(input_tokens=7_777), messages[:], counter=COUNTER, tools=TOOLS))
    assert request_tokens(messages, counter=COUNTER, tools=TOOLS, anchor=anchor) == 7_777


def test_the_answer_joins_with_what_was_reported_of_it() -> None:
    messages, answer = conversation(9), Message.assistant("said at length")
    usage = Usage(input_tokens=2_000, output_tokens=500, reasoning_tokens=450)
    anchor = anchored(anchor_usage(usage, messages, counter=COUNTER, answer=answer))
    assert request_tokens([*messages, answer], counter=COUNTER, anchor=anchor) == 2_050
    thinking = attrs.evolve(answer, parts=(Thinking(text="long thoughts"), Text("said at length")))
    anchor = anchored(anchor_usage(usage, messages, counter=COUNTER, answer=thinking))
    assert request_tokens([*messages, thinking], counter=COUNTER, anchor=anchor) == 2_500


def test_only_what_is_new_is_estimated() -> None:
    provider = TrueSize()
    for turns in (4, 40, 400):
        messages = conversation(turns)
        anchor = anchored(anchor_usage(Usage(input_tokens=provider.of(messages)), messages, counter=COUNTER))
        later = [*messages, *conversation(2, seed=2)]
        new = total_tokens(later[-2:], COUNTER)
        truth = provider.of(later)
        assert request_tokens(later, counter=COUNTER, anchor=anchor) == anchor.reported + new
        assert abs(request_tokens(later, counter=COUNTER, anchor=anchor) - truth) <= 0.5 * new + 1
        assert abs(request_tokens(later, counter=COUNTER) - truth) > 0.3 * truth


@pytest.mark.parametrize("kept", [0, 1, 5, 20, 39, 40])
def test_what_is_gone_goes_with_its_share_of_what_was_reported(kept: int) -> None:
    provider, messages = TrueSize(framing=0), conversation(40)
    anchor = anchored(anchor_usage(Usage(input_tokens=provider.of(messages)), messages, counter=COUNTER))
    size = request_tokens(messages[40 - kept :], counter=COUNTER, anchor=anchor)
    assert abs(size - provider.of(messages[40 - kept :])) <= 1
    assert size >= 0


def test_a_shortened_message_is_smaller_by_the_difference() -> None:
    messages = conversation(6)
    anchor = anchored(anchor_usage(Usage(input_tokens=3_000), messages, counter=COUNTER))
    shorter = attrs.evolve(messages[2], parts=(Text("alpha"),))
    edited = [*messages[:2], shorter, *messages[3:]]
    assert request_tokens(edited, counter=COUNTER, anchor=anchor) < 3_000
    assert request_tokens(messages, counter=COUNTER, anchor=anchor) == 3_000


def test_tools_count_when_they_come_and_go() -> None:
    messages, size = conversation(6), COUNTER.count_tools(TOOLS)
    bare = anchored(anchor_usage(Usage(input_tokens=1_000), messages, counter=COUNTER))
    assert request_tokens(messages, counter=COUNTER, tools=TOOLS, anchor=bare) == 1_000 + size
    tooled = anchored(anchor_usage(Usage(input_tokens=1_000), messages, counter=COUNTER, tools=TOOLS))
    assert request_tokens(messages, counter=COUNTER, anchor=tooled) < 1_000


def test_with_nothing_to_hold_on_to_it_is_the_plain_estimate() -> None:
    messages = conversation(8)
    counted = total_tokens(messages, COUNTER)
    assert anchor_usage(None, messages, counter=COUNTER) is None
    assert anchor_usage(Usage(), messages, counter=COUNTER) is None
    assert anchor_usage(Usage(input_tokens=counted // 2 - 1), messages, counter=COUNTER) is None  # the server cut the input
    assert request_tokens(messages, counter=COUNTER) == counted
    other = UsageAnchor(reported=9, counter="another counter", counted={message.id: 1 for message in messages})
    assert request_tokens(messages, counter=COUNTER, anchor=other) == counted
    strangers = conversation(3, seed=5)
    anchor = anchored(anchor_usage(Usage(input_tokens=4_000), messages, counter=COUNTER))
    assert request_tokens(strangers, counter=COUNTER, anchor=anchor) == total_tokens(strangers, COUNTER)
    assert request_tokens([], counter=COUNTER) == 0
    assert request_tokens([messages[0], messages[0]], counter=COUNTER) == 2 * total_tokens(messages[:1], COUNTER)


def test_a_counter_that_learns_and_the_anchor_agree_and_correct_once() -> None:
    counter, provider = CalibratedTokenCounter(COUNTER), TrueSize(framing=0)
    messages, anchor = conversation(60), None
    for turn in range(30):
        counted, reported = total_tokens(messages, counter), provider.of(messages)
        counter.record_usage(counted=counted, reported=reported, model="m")
        anchor = anchor_usage(Usage(input_tokens=reported), messages, counter=counter)
        assert request_tokens(messages, counter=counter, model="m", anchor=anchor) == reported
        messages = [*messages, *conversation(2, seed=turn + 10)]
    plain = request_tokens(messages, counter=counter, model="m")
    held = request_tokens(messages, counter=counter, model="m", anchor=anchor)
    truth = provider.of(messages)
    assert abs(plain - truth) <= 0.03 * truth  # twice corrected it would be off by half
    assert abs(held - truth) <= 0.03 * (truth - anchored(anchor).reported) + 2
    assert counter.token_ratio("m") == pytest.approx(1.5, rel=0.03)


def test_cached_input_is_part_of_the_size() -> None:
    messages = conversation(4)
    usage = usage_from(
        "anthropic.messages", {"input_tokens": 9, "cache_read_input_tokens": 8_000, "cache_creation_input_tokens": 91}
    )
    anchor = anchored(anchor_usage(usage, messages, counter=COUNTER))
    assert request_tokens(messages, counter=COUNTER, anchor=anchor) == 8_100
