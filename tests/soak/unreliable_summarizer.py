"""A summarizer that nobody should rely on: each call goes well or wrong in one of many ways, by a seed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Final, cast

from attrs import define, field

from contextport.contracts import (
    Summarizer,
    Summary,
    SummaryFailed,
    SummaryRequest,
    TokenCounter,
    Usage,
    implements,
)
from contextport.strategies.summaries import ExtractiveSummarizer

__all__ = ["UnreliableSummarizer"]

_JUNK: Final = '\u0000\ufffd ~~ \u202e {"a": [1, 2, \U0001f331 ]] <summary> ]]> \\x00 999-XYZ-000 '
_REFUSALS: Final = (
    "I'm sorry, but I can't help with that request.",
    "As an AI language model I cannot summarise this conversation.",
    "抱歉我无法协助处理这个请求。",
    "Sure! What would you like to know next?",
)


@implements(Summarizer)
@define
class UnreliableSummarizer:
    """`calls` counts the calls by what became of them, `seconds` is the longest that a call that does not hang takes."""

    counter: TokenCounter
    random: Random
    seconds: float = 30.0
    calls: Counter[str] = field(factory=Counter[str])

    @property
    def max_input(self) -> int | None:
        return None

    async def summarize(self, request: SummaryRequest) -> Summary:
        name = self.random.choice(tuple(_WAYS))
        self.calls[name] += 1
        return await _WAYS[name](self, request)

    async def well(self, request: SummaryRequest) -> Summary:
        summary = await ExtractiveSummarizer(self.counter).summarize(request)
        return Summary(text=summary.render(), origin="unreliable", usage=Usage(input_tokens=10, output_tokens=5))

    async def slowly(self, request: SummaryRequest) -> Summary:
        await asyncio.sleep(self.random.uniform(0, self.seconds))
        return await self.well(request)

    async def hang(self, request: SummaryRequest) -> Summary:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("nothing ends this wait")

    async def fail(self, request: SummaryRequest) -> Summary:
        raise self.random.choice([SummaryFailed("not now"), RuntimeError("the socket is closed"), TimeoutError()])

    async def write_junk(self, request: SummaryRequest) -> Summary:
        return Summary(text=_JUNK * self.random.randint(1, 9), origin="unreliable")

    async def echo(self, request: SummaryRequest) -> Summary:
        return Summary(text="\n".join(message.text for message in request.messages), origin="unreliable")

    async def refuse(self, request: SummaryRequest) -> Summary:
        return Summary(text=self.random.choice(_REFUSALS), origin="unreliable")

    async def grow(self, request: SummaryRequest) -> Summary:
        return Summary(text=f"{request.messages[0].text} {'and so on ' * request.max_tokens}", origin="unreliable")

    async def invent(self, request: SummaryRequest) -> Summary:
        return Summary(text="The order is ZZ-4711-9 and costs 12345.67 dollars", origin="unreliable")

    async def say_nothing(self, request: SummaryRequest) -> Summary:
        nothing: list[Any] = [Summary(), Summary(text=" \n "), None, "a text"]
        return cast(Summary, self.random.choice(nothing))


_WAYS: Final[dict[str, Callable[[UnreliableSummarizer, SummaryRequest], Awaitable[Summary]]]] = {
    "well": UnreliableSummarizer.well,
    "slowly": UnreliableSummarizer.slowly,
    "hang": UnreliableSummarizer.hang,
    "fail": UnreliableSummarizer.fail,
    "junk": UnreliableSummarizer.write_junk,
    "echo": UnreliableSummarizer.echo,
    "refuse": UnreliableSummarizer.refuse,
    "grow": UnreliableSummarizer.grow,
    "invent": UnreliableSummarizer.invent,
    "nothing": UnreliableSummarizer.say_nothing,
}
