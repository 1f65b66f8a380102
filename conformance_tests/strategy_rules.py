"""The rules of `CompressionStrategy`, each held to windows of all shapes and budgets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from contextport.contracts import CompressionStrategy, Message, OnlyShortens, Outcome, provides

from .conversations import (
    is_complete,
    is_system,
    newest_question,
    segments,
)
from .rules import rule
from .shortened_text import shortening_problem
from .windows import Window, all_inputs, complete_inputs, every_window

if TYPE_CHECKING:
    from .suites import CompressionStrategyConformance as Suite

__all__: list[str] = []


@rule("STRATEGY-1", CompressionStrategy, cause="the check whether it fits is missing, or compares with < instead of <=.")
async def what_fits_comes_back(suite: Suite) -> None:
    def check(window: Window) -> None:
        if window.cost(window.given) <= window.budget:
            assert window.kept == window.given, "an input that fits was changed"
            assert window.result.outcome is Outcome.UNCHANGED, f"an input that fits has the outcome {window.result.outcome}"
        else:
            assert window.result.outcome is not Outcome.UNCHANGED, "an input that does not fit has the outcome unchanged"

    await every_window(suite, chain(complete_inputs(suite), [()]), check, admits=is_complete)


@rule(
    "STRATEGY-2",
    CompressionStrategy,
    cause="where it does not fit, something is added after measuring: a marker, a system message, a pinned turn; where it fits "
    "and says cannot_fit, the outcome is settled before the last messages are left out.",
)
async def output_fits_or_says_not(suite: Suite) -> None:
    def check(window: Window) -> None:
        tokens = window.strategy.estimate_tokens(window.kept)
        fits = tokens <= window.budget
        if window.result.outcome is Outcome.CANNOT_FIT:
            assert not fits, f"the outcome is cannot_fit, and {tokens} tokens fit {window.budget}"
        else:
            assert fits, f"the outcome is {window.result.outcome}, and {tokens} tokens do not fit {window.budget}"

    await every_window(suite, all_inputs(suite), check)


@rule("STRATEGY-3", CompressionStrategy, cause="made messages are left a plain chat message, or kept ones are added twice.")
async def output_is_made_of_the_input(suite: Suite) -> None:
    def check(window: Window) -> None:
        ids = [message.id for message in window.kept]
        assert len(ids) == len(set(ids)), f"an id occurs twice in the output: {ids}"
        known = window.by_id
        for message in window.kept:
            original = known.get(message.id)
            if original is None:
                assert not message.in_conversation, f"{message.id!r} is not from the input, and poses as a {message.kind} message"
                continue
            same = (original.role, original.kind, original.name, original.pinned)
            assert (message.role, message.kind, message.name, message.pinned) == same, f"{message.id!r} is another message now"
            before, after = window.cost([original]), window.cost([message])
            assert after <= before, f"{message.id!r} costs {after} tokens, {before} in the input"
            pairs = _pairs(original)
            given = _pairs(message)
            assert given <= pairs, f"{message.id!r} has calls or results that it had not before: {given - pairs}"

    await every_window(suite, all_inputs(suite), check)


def _pairs(message: Message) -> set[str]:
    return {call.call_id for call in message.tool_calls} | {result.call_id for result in message.tool_results}


@rule("STRATEGY-4", CompressionStrategy, cause="pinned messages or the question are moved to the front or the end.")
async def order_is_kept(suite: Suite) -> None:
    def check(window: Window) -> None:
        places = {message.id: n for n, message in enumerate(window.given)}
        found = [places[message.id] for message in window.kept if message.id in places]
        assert found == sorted(found), f"the messages come out in another order: {[window.given[n].id for n in found]}"

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


@rule("STRATEGY-5", CompressionStrategy, cause="the cut falls between a call and its result, or between parallel results.")
async def calls_and_results_stay_together(suite: Suite) -> None:
    def check(window: Window) -> None:
        assert is_complete(window.kept), "a call stands without its result right after it, or a result without its call"
        known = window.by_id
        for message in window.kept:
            original = known.get(message.id)
            if original is not None and message.tool_calls:
                calls = [call.call_id for call in message.tool_calls]
                wanted = [call.call_id for call in original.tool_calls]
                assert calls == wanted, f"of the parallel calls {wanted} only {calls} are left"

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


@rule(
    "STRATEGY-6",
    CompressionStrategy,
    cause="the first message alone is taken for the system prompt, or it is dropped or cut like others.",
)
async def system_messages_stay(suite: Suite) -> None:
    def check(window: Window) -> None:
        found = [message for message in window.kept if message.id in window.by_id and is_system(message)]
        wanted = [message for message in window.given if is_system(message)]
        assert found == wanted, f"of the system messages {[m.id for m in wanted]} the output has {[m.id for m in found]}"

    await every_window(suite, all_inputs(suite), check)


@rule(
    "STRATEGY-7",
    CompressionStrategy,
    cause="the newest messages are tool results or an interrupt, and the question is not looked for.",
)
async def newest_question_stays(suite: Suite) -> None:
    def check(window: Window) -> None:
        question = newest_question(window.given)
        if question is None:
            return
        found = next((message for message in window.kept if message.id == question.id), None)
        assert found is not None, f"the newest user message {question.id!r} is not in the output"
        if found.text != question.text:
            problem = shortening_problem(question, found)
            assert not problem, f"the newest user message was changed: {problem}"

    await every_window(suite, all_inputs(suite), check)


@rule("STRATEGY-8", CompressionStrategy, cause="the cut falls before an assistant message or a tool call.")
async def output_begins_with_a_user_message(suite: Suite) -> None:
    def check(window: Window) -> None:
        kept = {message.id for message in window.kept}
        given = [message for message in window.given if not is_system(message)]
        if all(message.id in kept for message in window.given) or not given or given[0].role != "user":
            return
        found = [message for message in window.kept if not is_system(message)]
        assert found, "nothing but system messages is left"
        assert found[0].role == "user", f"the output begins with {found[0].id!r}, a message of role {found[0].role}"

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


@rule(
    "STRATEGY-29",
    CompressionStrategy,
    cause="the newest turn is not cut into, or pins or the first messages are kept at any price, or it gives up at once.",
)
async def what_can_be_made_fit_is_made_fit(suite: Suite) -> None:
    def check(window: Window) -> None:
        if window.result.outcome is not Outcome.CANNOT_FIT or provides(window.strategy, OnlyShortens):
            return
        needed = _least(window.given)
        tokens = window.cost(needed)
        assert tokens > window.budget, (
            f"the outcome is cannot_fit, and {[m.id for m in needed]} take {tokens} of {window.budget} tokens"
        )

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


def _least(given: Sequence[Message]) -> list[Message]:
    """The system messages, the newest question and the newest step."""
    question = newest_question(given)
    steps = segments([message for message in given if not is_system(message)])
    newest = {message.id for step in steps[-1:] for message in step} | ({question.id} if question is not None else set())
    return [message for message in given if is_system(message) or message.id in newest]
