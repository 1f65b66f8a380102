"""The rules of `Summarizer` and `IsGrounded`."""

from __future__ import annotations

import asyncio
import copy
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from contextport.contracts import InvalidArgument, Message, dump_message
from contextport.contracts.errors import SummaryFailed
from contextport.contracts.facts import Fact, FactKind, FactLedger
from contextport.contracts.model import Usage
from contextport.contracts.summary import Hint, IsGrounded, Summarizer, Summary, SummaryRequest

from .exact_counters import CharactersCounter, WordsCounter
from .rules import NotChecked, rule
from .scripted_answers import Scripted, ScriptedAnswer, ScriptedFailure, ScriptedHold
from .summarizer_inputs import (
    DECISIONS,
    INJECTIONS,
    REASONING_SECRET,
    SYSTEM_SECRETS,
    conversations,
    earlier_summaries,
    huge_message,
    injected,
    many_messages,
    said_in,
    short_chat,
    with_secrets,
    with_steps,
)

if TYPE_CHECKING:
    from .suites import SummarizerConformance

__all__: list[str] = []

_AMPLE = 120  # words; room for what matters in each of the conversations
_USAGE = Usage(input_tokens=100, output_tokens=10, cache_read_tokens=40)
_WRITTEN = DECISIONS[0][0]  # a true summary of the short chat


def _request(messages: Iterable[Message], max_tokens: int = _AMPLE, **more: Any) -> SummaryRequest:
    return SummaryRequest(messages=tuple(messages), max_tokens=max_tokens, **more)


async def _summary(summarizer: Summarizer, request: SummaryRequest, what: str) -> Summary:
    try:
        summary = await summarizer.summarize(request)
    except Exception as error:
        raise AssertionError(f"{what}: summarize raised {type(error).__name__}: {error}") from error
    assert isinstance(summary, Summary), f"{what}: summarize returned {summary!r:.200}"
    return summary


async def _summary_or_failure(summarizer: Summarizer, request: SummaryRequest, what: str) -> Summary | SummaryFailed:
    try:
        return await summarizer.summarize(request)
    except SummaryFailed as failed:
        return failed
    except Exception as error:
        raise AssertionError(f"{what}: summarize raised {type(error).__name__}: {error}, not SummaryFailed") from error


def _said(summary: Summary) -> str:
    """All that a summary says, facts included."""
    facts = [" ".join((fact.label, fact.text, *fact.earlier)) for fact in summary.facts]
    return "\n".join([summary.render(), *facts])


async def _seen(suite: SummarizerConformance, request: SummaryRequest, what: str, all_of: Sequence[str] = ()) -> str:
    """What the model was sent, with `all_of` in it; without a model that can be looked at, what came out."""
    async with suite.built(WordsCounter()) as summarizer:
        summary = await _summary(summarizer, request, what)
        sent = suite.sent_texts(summarizer)
    if sent is None:
        return _said(summary)
    seen = "\n".join(sent)
    missing = [mark for mark in all_of if mark not in seen]
    assert not missing, f"{what}: {len(missing)} of {len(all_of)} marks were not sent to the model, such as {missing[0]!r}"
    return seen


@rule("SUMMARIZER-1", Summarizer, cause="the limit stands in the instruction only, or the tags of the items are not counted.")
async def stays_within_the_limit(suite: SummarizerConformance) -> None:
    for counter, limits in ((WordsCounter(), (1, 8, 30)), (CharactersCounter(), (10, 200))):
        async with suite.built(counter) as summarizer:
            for what, messages in conversations():
                for limit in limits:
                    made = await _summary_or_failure(summarizer, _request(messages, limit), what)
                    size = counter.count_text(made.render()) if isinstance(made, Summary) else 0
                    assert size <= limit, f"{what}: the summary takes {size} {counter.name}, and {limit} are allowed"


@rule("SUMMARIZER-2", Summarizer, cause="a blank answer is taken, or nothing is left once all that is too long was taken out.")
async def says_something(suite: SummarizerConformance) -> None:
    async with suite.built(WordsCounter()) as summarizer:
        for what, messages in conversations():
            for hint, handoff in ((Hint.GENERAL, False), (Hint.REACT_ITERATION, True)):
                made = await _summary(summarizer, _request(messages, hint=hint, handoff=handoff), what)
                assert not made.is_empty, f"{what}: the summary says nothing"
            tight = await _summary_or_failure(summarizer, _request(messages, 1), f"{what} in one word")
            assert isinstance(tight, SummaryFailed) or not tight.is_empty, f"{what}: the summary of one word says nothing"
    async with suite.scripted([ScriptedAnswer(word="", pieces=(" \n",))] * 4) as scripted:
        if scripted is not None:
            blank = await _summary_or_failure(scripted, _request(short_chat()), "a blank answer")
            assert isinstance(blank, SummaryFailed) or not blank.is_empty, "a blank answer of the model became the summary"


@rule("SUMMARIZER-3", Summarizer, cause="the input is cut at a limit, or calls and results have no text of their own.")
async def reads_every_message(suite: SummarizerConformance) -> None:
    for decision, wanted in DECISIONS:
        for place in (0, 59, 119):
            what = f"the decision in message {place + 1} of 120"
            messages = many_messages(decision, place)
            seen = await _seen(suite, _request(messages), what, [f"mark{n}x" for n in range(120)])
            assert wanted in seen, f"{what} was not read"
        for share in (0.0, 0.5, 1.0):
            what = f"the decision at {share:.0%} of a huge message"
            seen = await _seen(suite, _request(huge_message(decision, share)), what, [f"mark{n}x" for n in range(300)])
            assert wanted in seen, f"{what} was not read"
    steps = ("find_order", "/srv/app/main.py", "2026-03-14", "ENOENT", "It was shipped.")
    seen = await _seen(suite, _request(with_steps()), "tool steps", steps)
    assert "ORD-5512" in seen, "the order that tools were called for was not read"


@rule("SUMMARIZER-4", Summarizer, cause="a message of kind summary is left out for its role, or taken for a heading.")
async def takes_up_the_summary_before(suite: SummarizerConformance) -> None:
    later = (Message.user("The clouds are high.", id="later"), Message.assistant("They are.", id="latest"))
    for earlier, wanted in earlier_summaries():
        what = f"the {earlier.role} message of kind summary {earlier.id!r}"
        seen = await _seen(suite, _request((earlier, *later)), what)
        assert wanted in seen, f"what {what} says was not taken up"


@rule("SUMMARIZER-5", Summarizer, cause="every message, or every part of one, is turned into text.")
async def leaves_out_rules_and_reasoning(suite: SummarizerConformance) -> None:
    async with suite.built(WordsCounter()) as summarizer:
        summary = await _summary(summarizer, _request(with_secrets()), "system messages and reasoning")
        seen = "\n".join([_said(summary), *(suite.sent_texts(summarizer) or ())])
    for secret in SYSTEM_SECRETS:
        assert secret not in seen, f"what a system message says was read: {secret}"
    assert REASONING_SECRET not in seen, f"what the model thought was read: {REASONING_SECRET}"


@rule("SUMMARIZER-6", Summarizer, cause="a note is written into the messages, or a list of them is sorted in place.")
async def changes_nothing(suite: SummarizerConformance) -> None:
    tools = ({"type": "function", "function": {"name": "find_order", "parameters": {"type": "object"}}},)
    ledger = FactLedger((Fact(kind=FactKind.IDENTIFIER, text="ORD-5512", sources=("q",)),))
    for what, messages in conversations():
        request = _request(messages, live=messages, tools=tools, ledger=ledger)
        before = copy.deepcopy([dump_message(message) for message in messages])
        declared = copy.deepcopy(tools)
        async with suite.built(WordsCounter()) as summarizer:
            await _summary(summarizer, request, what)
        assert [dump_message(message) for message in request.messages] == before, f"{what}: a message was changed"
        assert [dump_message(message) for message in request.live] == before, f"{what}: a message of the live request was changed"
        unchanged = request.tools == declared and request.ledger.facts == ledger.facts
        assert unchanged, f"{what}: the tools or the ledger were changed"


_WORDS_OF_THE_FAILURE = "quota-of-the-host-9917"


@rule("SUMMARIZER-7", Summarizer, cause="only some errors are caught, or the text of an error is taken for an answer.")
async def failures_are_told(suite: SummarizerConformance) -> None:
    for status, type in ((429, "rate_limit_error"), (500, "server_error"), (401, "authentication_error")):
        failure = ScriptedFailure(status=status, message=f"no answer: {_WORDS_OF_THE_FAILURE}", type=type)
        async with suite.scripted([failure] * 8) as summarizer:
            if summarizer is None:  # it stands on nothing that can fail
                return
            made = await _summary_or_failure(summarizer, _request(short_chat()), f"a model that fails with {status}")
        if isinstance(made, SummaryFailed):
            assert made.__cause__ is not None, f"the SummaryFailed after a status {status} has no cause"
            assert _WORDS_OF_THE_FAILURE not in str(made), f"the provider's words are in the error: {made}"
        else:
            said = _said(made)
            assert _WORDS_OF_THE_FAILURE not in said, f"the provider's error is in the summary: {said!r:.200}"


@rule("SUMMARIZER-8", Summarizer, cause="the request is not looked at before the model is asked.")
async def empty_requests_are_refused(suite: SummarizerConformance) -> None:
    async with suite.built(WordsCounter()) as summarizer:
        for what, request in (
            ("no messages", _request(())),
            ("max_tokens 0", _request(short_chat(), 0)),
            ("max_tokens -5", _request(short_chat(), -5)),
        ):
            try:
                made = await summarizer.summarize(request)
            except InvalidArgument:
                pass
            except Exception as error:
                raise AssertionError(f"a request with {what} raised {type(error).__name__}, not InvalidArgument") from error
            else:
                raise AssertionError(f"a request with {what} was answered: {made!r:.200}")
        sent = suite.sent_texts(summarizer)
        assert not sent, f"{len(sent or ())} requests were made for requests without messages or room"


@rule("SUMMARIZER-9", Summarizer, cause="the call runs in a task that is not cancelled, or a lock is kept.")
async def cancelling_leaves_nothing(suite: SummarizerConformance) -> None:
    hold = ScriptedHold()
    answer = ScriptedAnswer(word="", pieces=(_WRITTEN,))
    async with suite.scripted([hold, *[answer] * 8]) as summarizer:
        if summarizer is None:
            async with suite.built(WordsCounter()) as other:
                await _is_usable_after(suite, other, asyncio.create_task(other.summarize(_request(short_chat()))))
            return
        task = asyncio.create_task(summarizer.summarize(_request(short_chat())))
        assert await asyncio.to_thread(hold.begun.wait, suite.patience), "the model was not asked"
        await _is_usable_after(suite, summarizer, task, hold)


async def _is_usable_after(
    suite: SummarizerConformance, summarizer: Summarizer, task: asyncio.Task[Summary], hold: ScriptedHold | None = None
) -> None:
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=suite.patience)
    assert done, "a cancelled call does not end"
    assert task.cancelled(), "a cancelled call ended otherwise"
    if hold is not None:
        assert await asyncio.to_thread(hold.ended.wait, suite.patience), "the model's answer is waited for after the call ended"
    async with asyncio.timeout(suite.patience):
        again = await _summary(summarizer, _request(short_chat()), "the call after a cancelled one")
    assert not again.is_empty, "the call after a cancelled one says nothing"


@rule(
    "SUMMARIZER-10", Summarizer, cause="the usage of the last call replaces those before, or is lost when the answer is refused."
)
async def names_its_origin_and_its_price(suite: SummarizerConformance) -> None:
    for what, messages in conversations()[:4]:
        async with suite.built(WordsCounter()) as summarizer:
            summary = await _summary(summarizer, _request(messages), what)
            sent = suite.sent_texts(summarizer)
        assert summary.origin.strip(), f"{what}: origin is empty"
        nothing_asked = sent is not None and not sent
        assert not nothing_asked or summary.usage is None, f"{what}: no model was asked, and usage is {summary.usage}"
    many = many_messages(DECISIONS[0][0], 60)
    for what, text, given in (
        ("a short chat", _WRITTEN, short_chat()),
        ("120 messages", DECISIONS[0][0], many),
        ("a blank answer", " ", short_chat()),
        ("blank answers to 120 messages", "", many),
    ):
        await _usage_is_the_sum(suite, what, [ScriptedAnswer(word="", pieces=(text,), usage=_USAGE)] * 64, given)


async def _usage_is_the_sum(
    suite: SummarizerConformance, what: str, script: Sequence[Scripted], given: Iterable[Message]
) -> None:
    async with suite.scripted(script) as summarizer:
        if summarizer is None:
            return
        made = await _summary_or_failure(summarizer, _request(given), what)
        sent = suite.sent_texts(summarizer)
        if sent is None:
            raise NotChecked("write sent_texts, so that the calls of the model can be counted")
        wanted = sum([_USAGE] * len(sent), Usage())
        usage = made.usage if isinstance(made, Summary) else made.details.get("usage")
        assert usage == wanted, f"{what}: after {len(sent)} calls of {_USAGE} each, usage is {usage}"


_VALUE = re.compile(r"[A-Za-z0-9_./@:+-]*\d[A-Za-z0-9_./@:+-]*|/[A-Za-z0-9_./-]{3,}")
_LIES = (
    "The contract number is 10000 and the order is ORD-9999.",
    '{"decisions": ["The database is PostgreSQL-16 on port 5434."], "text": "See /etc/passwd and 2031-01-01."}',
)


@rule("SUMMARIZER-11", IsGrounded, cause="what a model wrote is taken as it is, or values are compared by their form only.")
async def invents_no_value(suite: SummarizerConformance) -> None:
    async with suite.built(WordsCounter()) as summarizer:
        for what, messages in conversations():
            _grounded(await _summary(summarizer, _request(messages), what), messages, what)
    ledger = FactLedger((Fact(kind=FactKind.IDENTIFIER, text="AB-2024-001"),))
    for lie in _LIES:
        async with suite.scripted([ScriptedAnswer(word="", pieces=(lie,))] * 8) as scripted:
            if scripted is not None:
                made = await _summary_or_failure(scripted, _request(short_chat(), ledger=ledger), f"a model that writes {lie!r}")
                if isinstance(made, Summary):
                    _grounded(made, short_chat(), f"a model that writes {lie!r}", ledger)


def _grounded(summary: Summary, messages: tuple[Message, ...], what: str, ledger: FactLedger | None = None) -> None:
    source = "\n".join([said_in(messages), *(fact.text for fact in (ledger or FactLedger()).facts)])
    for match in _VALUE.finditer(_said(summary)):
        value = match[0].strip("./:@+-")
        assert value in source, f"{what}: the summary says {value!r}, which stands neither in a message nor in the ledger"


@rule("SUMMARIZER-12", IsGrounded, cause="the conversation is sent as messages that can be obeyed, or any answer is taken.")
async def obeys_no_message(suite: SummarizerConformance) -> None:
    wanted = DECISIONS[0][1]
    for nth, (order, obeyed) in enumerate(INJECTIONS):
        async with suite.built(WordsCounter()) as summarizer:
            summary = await _summary(summarizer, _request(injected(nth)), f"the order {order!r}")
            assert wanted in _said(summary), f"after {order!r} the summary is {_said(summary)!r:.200}"
        async with suite.scripted([ScriptedAnswer(word="", pieces=(obeyed,))] * 8) as scripted:
            if scripted is not None:
                made = await _summary_or_failure(scripted, _request(injected(nth)), f"a model that obeys {order!r}")
                assert isinstance(made, SummaryFailed) or wanted in _said(made), (
                    f"a model that obeyed {order!r} was believed: {_said(made)!r:.200}"
                )
