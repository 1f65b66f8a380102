"""The rules of `FoldsHistory`: folds of conversations of all shapes, and the folds that follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from contextport.contracts import (
    Fold,
    FoldsHistory,
    Kind,
    Message,
    Outcome,
    StrategyFailed,
    Summarizer,
    Summary,
    SummaryFailed,
    SummaryRequest,
    Text,
    TokenCounter,
    ToolCall,
    ToolResult,
    implements,
    ledger_of,
)
from contextport.contracts.summary import IsGrounded

from .conversations import is_complete, is_system, newest_question, tool_heavy, with_calls
from .exact_counters import WordsCounter
from .reference_summarizer import ReferenceSummarizer
from .rules import NotChecked, rule
from .shortened_text import shortening_problem
from .windows import Check, Window, budgets, complete_inputs, compressed, every_window, shown

if TYPE_CHECKING:
    from .suites import CompressionStrategyConformance as Suite

__all__ = ["RecordingSummarizer"]

_SHARES = (0.8, 0.6, 0.4, 0.25)  # of a long conversation: at one of them at least, a strategy that folds does so
_MEMORY = (Kind.SUMMARY, Kind.FACTS)
_FAILURE = "quota-exhausted-4711"
_LATER = (
    Message.user("what about the north table and the seven files", id="later 0"),
    Message.assistant("", ToolCall(call_id="later", name="find", arguments='{"q": "north"}'), id="later 1"),
    Message.tool("later", " ".join(f"row {n} of the north table" for n in range(12)), id="later 2"),
    Message.assistant("the north table has twelve rows, none of them about the seven files", id="later 3"),
    Message.user("then look into the river query once more, please", id="later 4"),
    Message.assistant("the river query returned nothing that we had not seen before today", id="later 5"),
    Message.user("go on", id="later 6"),
)


def _waiting(rounds: int) -> Iterator[tuple[Message, ...]]:
    """Conversations as managers hand them in whose newest call, or one before the newest question, waits for its results."""
    for seed in range(rounds):
        for given in with_calls(seed):
            call = ToolCall(call_id="open", name="find", arguments="{}")
            stand_in = ToolResult(call_id="open", parts=(Text("no result"),))
            opened = (
                Message.assistant("I look", call, id="open call"),
                Message(role="tool", id="stand in", kind=Kind.STAND_IN, parts=(stand_in,)),
            )
            yield (*given, *opened)
            yield (*given, Message.user("look it up", id="look"), *opened, *_LATER)


def _first_and_next(check: Callable[[Window], None]) -> Check:
    """The check of a window, and of those that follow where it came with a fold: more is said, and folded again."""

    async def checked(window: Window) -> None:
        check(window)
        if window.result.fold is None or any(message.id.startswith("later") for message in window.given):
            return
        for budget in (window.budget, window.budget * 2 // 3):
            check(await _next(window, budget))

    return checked


async def _next(window: Window, budget: int) -> Window:
    return await compressed(window.strategy, window.counter, [*window.kept, *_LATER], budget)


async def _every_fold(suite: Suite, check: Callable[[Window], None]) -> None:
    """Hold the check to windows of all inputs, with a fold or without; some must have one, first and second ones."""
    inputs = chain(_waiting(suite.rounds), complete_inputs(suite))
    await every_window(suite, inputs, _first_and_next(check), admits=is_complete)
    await _assert_folds(suite)


async def _assert_folds(suite: Suite) -> None:
    counter, given = WordsCounter(), tool_heavy()
    strategy = await suite.strategy(counter)
    total = sum(map(counter.count_message, given))
    first = [await compressed(strategy, counter, given, int(total * share)) for share in _SHARES]
    first = [window for window in first if _covers(window)]
    assert first, f"a conversation of {total} tokens is folded at none of the budgets {[int(total * s) for s in _SHARES]}"
    second = [await _next(window, budget) for window in first for budget in (window.budget, window.result.tokens)]
    assert any(map(_covers, second)), "the output of a fold with more messages behind it is folded at no budget"


def _covers(window: Window) -> bool:
    return window.result.fold is not None and bool(window.result.fold.covers)


@rule(
    "STRATEGY-23",
    FoldsHistory,
    cause="covers is made before what stays was decided, or takes single messages out of steps.",
)
async def fold_covers_whole_steps_that_went(suite: Suite) -> None:
    await _every_fold(suite, _assert_covers)


def _assert_covers(window: Window) -> None:
    fold, given = window.result.fold, window.by_id
    if fold is None:
        return
    covers = fold.covers
    foreign = [id for id in covers if id not in given]
    assert not foreign, f"covered are {foreign}, which are not in the input"
    places = [n for id in covers for n, message in enumerate(window.given) if message.id == id]
    assert places == sorted(set(places)), f"covered are {list(covers)}: not each message once and in the order of the input"
    left = [message.id for message in window.kept if message.id in covers]
    assert not left, f"{left} are covered and in the output as well"
    wrong = [id for id in covers if is_system(given[id]) or not given[id].in_conversation]
    assert not wrong, f"covered are {wrong}: system messages, or messages that were not said"
    question = newest_question(window.given)
    if question is not None:
        assert question.id not in covers, f"the newest question {question.id!r} is covered"
    rewritten = [message.id for message in fold.rewritten if message.id not in given or message.id in covers]
    assert not rewritten, f"{rewritten} are rewritten, and covered or not in the input"
    _assert_whole_steps(window.given, set(covers))


def _assert_whole_steps(given: Sequence[Message], covers: set[str]) -> None:
    caller: dict[str, Message] = {}
    for message in given:
        for result in message.tool_results:
            if result.call_id not in caller:
                continue
            before = caller[result.call_id]
            if message.kind is Kind.STAND_IN:
                assert before.id not in covers, f"{before.id!r} is covered, and its call {result.call_id!r} waits for a result"
            else:
                both = (before.id in covers, message.id in covers)
                assert both[0] == both[1], f"of the call {before.id!r} and its result {message.id!r} only one is covered"
        caller.update((call.call_id, message) for call in message.tool_calls)


@rule(
    "STRATEGY-24",
    FoldsHistory,
    cause="the earlier summary is kept beside the new one, is taken for a message like others, or is forgotten.",
)
async def one_summary_takes_up_the_earlier(suite: Suite) -> None:
    await _every_fold(suite, _assert_one_memory)
    recorder = RecordingSummarizer(WordsCounter())
    built = await suite.strategy_on(WordsCounter(), recorder)
    if built is None:
        return
    given = tool_heavy()
    total = sum(map(recorder.counter.count_message, given))
    taken_up = 0
    for share in _SHARES:
        window = await compressed(built, recorder.counter, given, int(total * share))
        for budget in (window.budget, window.budget * 2 // 3, window.result.tokens):
            recorder.requests.clear()
            taken_up += _is_taken_up(await _next(window, budget), recorder.requests)
    assert taken_up, "the strategy was built on a summarizer, and never asked it for a summary in place of an earlier one"


def _is_taken_up(window: Window, requests: Sequence[SummaryRequest]) -> bool:
    """Whether a new summary takes the place of the earlier one, which the summarizer must have read first."""
    before, after = _of_kind(window.given, Kind.SUMMARY), _of_kind(window.kept, Kind.SUMMARY)
    if not before or not after or before[0] == after[0]:
        return False
    first = [request.messages[0].text for request in requests]
    assert before[0].text in first, (
        f"the summarizer was asked {len(first)} times, and never read the earlier summary first: {before[0].text[:80]!r}"
    )
    return True


def _of_kind(messages: Sequence[Message], kind: Kind) -> list[Message]:
    return [message for message in messages if message.kind is kind]


def _assert_one_memory(window: Window) -> None:
    fold = window.result.fold
    if fold is not None:
        assert not fold.covers or fold.summary is not None, f"{len(fold.covers)} messages are covered, and there is no summary"
        kinds = (fold.summary and fold.summary.kind, fold.facts and fold.facts.kind)
        assert kinds[0] in (None, Kind.SUMMARY), f"the fold's summary is of kind {kinds[0]}"
        assert kinds[1] in (None, Kind.FACTS), f"the fold's facts are of kind {kinds[1]}"
        _assert_facts_kept(window, fold)
    made = [m for m in window.given if m.kind in _MEMORY] if fold is None else [m for m in (fold.summary, fold.facts) if m]
    known = {message.id: message for message in made}
    for kind in _MEMORY:
        there = _of_kind(window.kept, kind)
        assert len(there) <= 1, f"{len(there)} messages of kind {kind} are in the output: {[m.id for m in there]}"
        for message in there:
            assert message.id in known, f"{message.id!r} is in the output, and is not the {'fold' if fold else 'input'}'s {kind}"
            problem = "" if message == known[message.id] else shortening_problem(known[message.id], message)
            assert not problem, f"{message.id!r}: {problem}"
    lost = fold is not None and fold.summary is None and _of_kind(window.given, Kind.SUMMARY)
    assert not lost, "the input has a summary, and the fold has none"
    kept = {message.id for message in window.kept}
    out = [message for message in made if message.id not in kept]
    size, free = window.cost(out), window.budget - window.cost(window.kept)
    assert not out or size > free, f"{[m.id for m in out]} of {size} tokens are left out, with {free} tokens free"


def _assert_facts_kept(window: Window, fold: Fold) -> None:
    known = {text for fact in fold.ledger.facts for text in (fact.text, *fact.earlier)}
    for message in _of_kind(window.given, Kind.FACTS):
        lost = [fact.text for fact in ledger_of(message).facts if fact.text not in known]
        assert not lost, f"of the earlier ledger the new one lacks {lost[:5]}"


@rule("STRATEGY-25", FoldsHistory, cause="the summary stands where the folded messages stood, after what was kept from before.")
async def summary_and_facts_come_first(suite: Suite) -> None:
    def check(window: Window) -> None:
        kinds = [message.kind in (Kind.SUMMARY, Kind.FACTS) for message in window.kept if not is_system(message)]
        assert kinds == sorted(kinds, reverse=True), f"summary and facts do not come first:\n{shown(window.kept)}"

    await _every_fold(suite, check)


@rule(
    "STRATEGY-26",
    FoldsHistory,
    cause="the summarizer is called where no error is expected, or its error text is taken for a summary.",
)
async def failing_summarizer_is_survived(suite: Suite) -> None:
    counter = WordsCounter()
    for failing in (_Failing(), _GroundedFailing()):
        strategy = await suite.strategy_on(counter, failing)
        if strategy is None:
            raise NotChecked("write make_strategy_on, so that the strategy can be tried on a summarizer that fails")
        for given in complete_inputs(suite):
            total = sum(map(counter.count_message, given))
            for budget in budgets(total)[:: 3 * suite.budget_step]:
                try:
                    window = await compressed(strategy, counter, given, budget)
                except StrategyFailed:
                    continue
                except Exception as error:
                    raise AssertionError(f"at max_tokens={budget} compress raised {type(error).__name__}: {error}") from error
                _assert_survived(window)
        assert failing.asked, "the strategy was built on a summarizer and does not ask it, at any budget"


def _assert_survived(window: Window) -> None:
    kept = {message.id for message in window.kept}
    question, fold = newest_question(window.given), window.result.fold
    assert window.kept, f"{len(window.given)} messages became none"
    if question is not None:
        assert question.id in kept, f"the newest user message {question.id!r} is not in the output"
    covers = () if fold is None or fold.summary is not None else fold.covers
    assert not covers, f"{len(covers)} messages are covered, and there is no summary"
    assert all(_FAILURE not in message.text for message in window.kept), f"the error is in the output:\n{shown(window.kept)}"
    fits = window.cost(window.kept) <= window.budget
    assert fits or window.result.outcome is Outcome.CANNOT_FIT, f"{window.cost(window.kept)} tokens do not fit {window.budget}"


@implements(Summarizer)
class _Failing:
    """A summarizer that fails each time."""

    max_input = None

    def __init__(self) -> None:
        self.asked = 0

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.asked += 1
        raise SummaryFailed(f"the model did not answer: {_FAILURE}", faults=("failed",))


@implements(IsGrounded)
class _GroundedFailing(_Failing):
    """One whose word is taken without a check, if there is one."""

    grounding = "it says nothing"


class RecordingSummarizer(ReferenceSummarizer):
    """A plain summarizer that keeps what it was asked for."""

    def __init__(self, counter: TokenCounter) -> None:
        super().__init__(counter)
        self.requests: list[SummaryRequest] = []

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.requests.append(request)
        return await super().summarize(request)
