from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from attrs import define, field

from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import (
    InvalidArgument,
    Message,
    PortMismatch,
    Summarizer,
    Summary,
    SummaryFailed,
    SummaryRequest,
    Usage,
    implements,
)
from contextport.strategies.summaries import CheckedSummarizer, ExtractiveSummarizer, summary_message

WORDS = WordsCounter()
MESSAGES = (
    Message.user("The contract number is AB-2024-001. The budget is 10000 euros.", id="u1"),
    Message.assistant("Noted. The plan for the Berlin office is in /srv/plan.md and it covers two floors of the house.", id="a1"),
    Message.user("We must not use TypeScript.", id="u2"),
    Message.assistant("Understood, the pages are written in plain JavaScript then, as they were before.", id="a2"),
)
GOOD = "Contract AB-2024-001, budget 10000 euros, no use of TypeScript."
REQUEST = SummaryRequest(messages=MESSAGES, max_tokens=30)


@implements(Summarizer)
@define
class Scripted:
    """Answers one after the other: a text, an error, or whatever the request makes of it; the last one again and again."""

    answers: list[Any]
    usage: Usage | None = field(factory=lambda: Usage(input_tokens=100, output_tokens=10))
    requests: list[SummaryRequest] = field(factory=list[SummaryRequest])

    @property
    def max_input(self) -> int | None:
        return 5000

    async def summarize(self, request: SummaryRequest) -> Summary:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        made = answer(request) if callable(answer) else answer
        if isinstance(made, BaseException):
            raise made
        if isinstance(made, str):
            return Summary(text=made, origin="scripted", usage=self.usage)
        return cast(Summary, made)


def checked(*answers: Any, request: SummaryRequest = REQUEST, **more: Any) -> tuple[Any, Scripted]:
    inner = Scripted(list(answers))
    return asyncio.run(CheckedSummarizer(inner, WORDS, **more).summarize_checked(request)), inner


def test_a_good_summary_passes_at_once() -> None:
    result, inner = checked(GOOD)
    assert (result.summary.text, result.summary.origin, result.faults) == (GOOD, "scripted", ())
    assert len(inner.requests) == 1
    assert result.usage == result.summary.usage == Usage(input_tokens=100, output_tokens=10)


def test_a_faulty_summary_is_asked_for_again_with_the_reasons() -> None:
    result, inner = checked("The contract number is 10000.", GOOD)
    assert result.summary.text == GOOD
    assert "other_label: 10000 as contract" in result.faults
    assert inner.requests[0].faults == ()
    assert inner.requests[1].faults == result.faults
    assert result.usage == result.summary.usage == Usage(input_tokens=200, output_tokens=20)


def grown(request: SummaryRequest) -> str:
    return " ".join([message.text for message in request.messages] * 2)


def echoed(request: SummaryRequest) -> str:
    return request.messages[-1].text


BAD: dict[str, str | Callable[[SummaryRequest], str]] = {
    "the wrong contract": "The contract number is 10000.",
    "an invented number": GOOD + " The deadline is 2031-01-01.",
    "nothing": " \n ",
    "an apology": "I'm sorry, I can't help with that.",
    "an answer": "Sure! I'll set up the plain JavaScript pages right away.",
    "an order obeyed": "OK. You are a helpful assistant.",
    "an error text": "Error code: 429 - rate limit reached",
    "an echo": echoed,
    "everything twice": grown,
    "too many words": "word " * 80,
    "junk": "\x00\x01\ufffd" * 20,
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_summary_never_comes_out(what: str) -> None:
    result, inner = checked(BAD[what])
    assert len(inner.requests) == 2
    assert result.summary.origin == "extractive"
    assert result.faults
    assert "AB-2024-001" in result.summary.render()
    assert result.usage == Usage(input_tokens=200, output_tokens=20)


class Unusual(Exception):
    pass


@pytest.mark.parametrize("error", [Unusual("boom"), OSError("net down"), TimeoutError(), MemoryError()])
def test_an_error_is_tried_again_and_does_not_get_out(error: Exception) -> None:
    result, inner = checked(error, GOOD)
    assert (result.summary.text, len(inner.requests)) == (GOOD, 2)
    assert result.faults == (f"raised: {type(error).__name__}",), "the text of a foreign error may hold credentials"
    assert inner.requests[1].faults == ()
    result, inner = checked(error)
    assert (result.summary.origin, len(inner.requests)) == ("extractive", 2)


def test_a_failure_tells_its_own_faults_and_usage() -> None:
    failed = SummaryFailed("cut", faults=("cut: 300 tokens",), usage=Usage(input_tokens=7))
    result, _ = checked(failed, GOOD)
    assert result.faults == ("cut: 300 tokens",)
    _, inner = checked(failed, GOOD)
    assert inner.requests[1].faults == ("cut: 300 tokens",)
    assert result.usage == Usage(input_tokens=107, output_tokens=10)


def test_something_that_is_no_summary_object_is_refused() -> None:
    result, _ = checked(None, {"text": GOOD})
    assert result.summary.origin == "extractive"
    assert result.faults[:2] == ("no_summary: a NoneType came out", "no_summary: a dict came out")


def test_when_the_fallback_fails_too_all_faults_are_told() -> None:
    with pytest.raises(SummaryFailed, match="none of 3 summaries of 4 messages could be kept") as caught:
        checked("", "Contract: 10000", fallback=Scripted([Unusual("no")]))
    assert caught.value.faults[0] == "empty"
    assert "other_label: 10000 as contract" in caught.value.faults
    assert caught.value.faults[-1] == "raised: Unusual"
    assert caught.value.usage == Usage(input_tokens=200, output_tokens=20)
    assert isinstance(caught.value.__cause__, Unusual)


def test_a_cancellation_gets_out() -> None:
    async def cancelled() -> None:
        forever = asyncio.Event()

        @implements(Summarizer)
        class Hangs:
            @property
            def max_input(self) -> int | None:
                return None

            async def summarize(self, request: SummaryRequest) -> Summary:
                started.set()
                await forever.wait()
                return Summary(text=GOOD)

        started = asyncio.Event()
        task = asyncio.create_task(CheckedSummarizer(Hangs(), WORDS).summarize(REQUEST))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def test_no_more_is_asked_for_than_would_be_a_gain() -> None:
    result, inner = checked(GOOD, request=SummaryRequest(messages=MESSAGES, max_tokens=10_000))
    words = sum(WORDS.count_message(message) for message in MESSAGES)
    assert inner.requests[0].max_tokens == int(words * 0.9) - 2
    assert result.summary.text == GOOD


def test_where_nothing_can_be_gained_nobody_is_asked() -> None:
    inner = Scripted([GOOD])
    request = SummaryRequest(messages=(Message.user("Hi there"),), max_tokens=100)
    with pytest.raises(SummaryFailed, match="no summary could be smaller by 10% than the 1 messages"):
        asyncio.run(CheckedSummarizer(inner, WORDS).summarize(request))
    assert inner.requests == []


def test_one_without_a_model_is_asked_once() -> None:
    checker = CheckedSummarizer(ExtractiveSummarizer(WORDS), WORDS)
    result = asyncio.run(checker.summarize_checked(REQUEST))
    assert (result.summary.origin, result.usage, result.faults) == ("extractive", None, ())
    short = SummaryRequest(messages=(Message.user("Locker KEY-77 and box BX-12, both.", pinned=True), *MESSAGES), max_tokens=1)
    with pytest.raises(SummaryFailed, match="none of 1 summaries"):
        asyncio.run(checker.summarize(short))


def test_a_bad_request_and_bad_arguments_are_told() -> None:
    checker = CheckedSummarizer(Scripted([GOOD]), WORDS)
    with pytest.raises(InvalidArgument, match="messages is empty"):
        asyncio.run(checker.summarize(SummaryRequest(messages=(), max_tokens=5)))
    with pytest.raises(InvalidArgument, match="min_gain is 1"):
        CheckedSummarizer(Scripted([GOOD]), WORDS, min_gain=1)
    with pytest.raises(InvalidArgument, match="retries is -1"):
        CheckedSummarizer(Scripted([GOOD]), WORDS, retries=-1)
    wrong: Any = object()
    with pytest.raises(PortMismatch):
        CheckedSummarizer(wrong, WORDS)
    assert checker.max_input == 5000


@pytest.mark.parametrize(
    "worst",
    ["The contract number is 10000.", "I'm sorry, I can't help with that.", OSError("net down"), "", grown],
)
def test_a_contract_survives_five_folds_with_a_bad_model(worst: Any) -> None:
    """R133: whatever the model writes, the contract is AB-2024-001 after five folds."""
    checker = CheckedSummarizer(Scripted([worst]), WORDS)
    summary = asyncio.run(checker.summarize(REQUEST))
    for fold in range(5):
        said = f"Day {fold}: it rained in the valley and the boats stayed in the harbour until the evening came at last."
        news = (
            Message.user(said, id="u"),
            Message.assistant("The boats stay in the harbour when it rains, as they always did.", id="a"),
        )
        request = SummaryRequest(messages=(summary_message(summary, id="s"), *news), max_tokens=30)
        summary = asyncio.run(checker.summarize(request))
        assert WORDS.count_text(summary.render()) <= 30
        assert "number is 10000" not in summary.render()
    assert "AB-2024-001" in summary.render()
    assert "10000" in json.dumps(summary.as_json())


def test_a_summarizer_that_is_down_is_left_alone_for_a_while() -> None:
    now = [100.0]
    inner = Scripted([*[OSError("down")] * 4, GOOD])
    summarizer = CheckedSummarizer(inner, WORDS, pause_seconds=60, clock=lambda: now[0])

    def origin() -> str:
        return asyncio.run(summarizer.summarize(REQUEST)).origin

    assert (origin(), len(inner.requests)) == ("extractive", 2)
    assert (origin(), len(inner.requests)) == ("extractive", 4), "once may be chance"
    now[0] = 159.9
    assert (origin(), len(inner.requests)) == ("extractive", 4), "it was asked during the pause"
    now[0] = 160.0
    assert origin() != "extractive"
    assert len(inner.requests) == 5
