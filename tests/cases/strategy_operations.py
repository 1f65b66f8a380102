"""Operations on a strategy alone, and on the manager with its default store."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import Budget, Message, Outcome, dump_message, from_chat

from .case import Case
from .case_input import case_messages
from .evidence import Dict, Evidence, Moment, Row, moment, rows_of
from .manager_session import Driven, engine, pinned, stored_rows
from .strategies_of_cases import Chosen, budget_of, strategies, words_counter
from .words_counter import WordsCounter

Operation = Callable[[Case, Path], Coroutine[Any, Any, list[Evidence]]]


def _evidence(case: Case, counter: WordsCounter, variant: str) -> Evidence:
    given = case.given
    tool_tokens = counter.count_tools(given.get("tools", ()))
    reserve = int(given.get("output_reserve", 0))
    budget = given.get("budget", given["window"] - reserve - tool_tokens if "window" in given else None)
    return Evidence(variant=variant, given=given, counter=counter, budget=budget, output_reserve=reserve, tool_tokens=tool_tokens)


async def compress(case: Case, folder: Path) -> list[Evidence]:
    """`CompressionStrategy.compress`, twice: the second time on its own output."""
    counter = words_counter(case)
    return [await _compress(case, counter, name, one) for name, one in strategies(case, counter).items()]


async def _compress(case: Case, counter: WordsCounter, name: str, chosen: Chosen) -> Evidence:
    evidence, strategy = _evidence(case, counter, name), chosen.strategy
    wire = case_messages(case.given)
    before = copy.deepcopy(wire)
    messages = [from_chat(value, pinned=pinned(case, value)) for value in wire]
    held, stored_forms = list(messages), [dump_message(message) for message in messages]
    given = [Row(id=m.id, kind=m.kind, pinned=m.pinned, wire=v) for m, v in zip(messages, before, strict=True)]
    if chosen.fake is not None:
        chosen.fake.release()
    started = time.perf_counter()
    try:
        limit = _limit(case, evidence)
        result = await strategy.compress(messages, limit)
        evidence.seconds = time.perf_counter() - started
        evidence.facts["summariser_requests"] = chosen.requests
        evidence.moments.append(moment("after_first", given, result, told=chosen.told))
        second = await strategy.compress(result.messages, limit)
        evidence.again = [row.wire for row in rows_of(second.messages)]
        repeated = await strategy.compress([_anew(message) for message in held], limit)
        evidence.facts["repeated"] = [row.wire for row in rows_of(repeated.messages)]
        if case.operation == "compress_twice":
            evidence.moments.append(moment("after_second", given, second, told=chosen.told))
        if result.outcome is Outcome.CANNOT_FIT:
            evidence.facts["manager_error"] = await _manager_error(case, counter, chosen)
    except Exception as error:  # judged by the checks
        evidence.seconds = time.perf_counter() - started
        evidence.facts.setdefault("summariser_requests", chosen.requests)
        evidence.moments.append(Moment(label="after_first", given=tuple(given), error=error))
    evidence.caller_before = (before, held, stored_forms)
    evidence.caller_after = (wire, messages, [dump_message(message) for message in messages])
    return evidence


def _anew(message: Message) -> Message:
    """The same message without anything that an earlier call noted on it."""
    return from_chat(message.native.raw, pinned=message.pinned) if message.native and "id" in message.native.raw else message


def _limit(case: Case, evidence: Evidence) -> int:
    if "budget" in case.given:
        return int(case.given["budget"])
    budget: Budget = budget_of(case.given)
    return budget.usable_input - evidence.tool_tokens


async def _manager_error(case: Case, counter: WordsCounter, chosen: Chosen) -> Exception | None:
    """What the manager raises where a strategy says that nothing fits."""
    try:
        store = MemoryContextStore()
        driven = Driven(case=case, manager=engine(case, store, counter, chosen), store=store)
        for wire in case_messages(case.given):
            await driven.add(wire)
    except Exception as error:  # judged by the checks
        return error
    await driven.get("end")
    return driven.moments[-1].error


# --- the manager ------------------------------------------------------------------------------------------------------


def through_manager(steps: Callable[[Case, Driven], Awaitable[None]], *, blocked: bool = False) -> Operation:
    """An operation on the manager: `steps` adds and asks; what it cannot do is noted as the error of its last moment.

    Only with `blocked` a summariser that waits to be released waits.
    """

    async def operation(case: Case, folder: Path) -> list[Evidence]:
        counter = words_counter(case)
        found: list[Evidence] = []
        for name, chosen in strategies(case, counter).items():
            if chosen.fake is not None and not blocked:
                chosen.fake.release()
            found.append(await _drive(case, counter, name, chosen, steps))
        return found

    return operation


async def _drive(
    case: Case, counter: WordsCounter, name: str, chosen: Chosen, steps: Callable[[Case, Driven], Awaitable[None]]
) -> Evidence:
    evidence = _evidence(case, counter, name)
    store = MemoryContextStore()
    started = time.perf_counter()
    try:
        driven = Driven(case=case, manager=engine(case, store, counter, chosen), store=store, chosen=chosen)
    except Exception as error:  # judged by the checks
        evidence.moments = [Moment(label="end", given=(), error=error)]
        return evidence
    try:
        await steps(case, driven)
        evidence.facts["summariser_requests"] = chosen.requests
        if driven.moments[-1].error is None:
            again, third = [await driven.manager.get_context(driven.session_id) for _ in range(2)]
            evidence.again, evidence.facts["repeated"] = again.as_chat(), third.as_chat()
    except Exception as error:  # judged by the checks
        evidence.facts.setdefault("summariser_requests", chosen.requests)
        driven.moments.append(Moment(label="end", given=tuple(driven.given), error=error))
    evidence.seconds = time.perf_counter() - started
    evidence.facts["texts_counted"] = counter.texts_counted
    evidence.moments = driven.moments
    evidence.log_before, evidence.log_after = driven.log_before, driven.log_after
    evidence.stored = await stored_rows(store)
    return evidence


async def _add_all(case: Case, driven: Driven) -> None:
    for wire in case_messages(case.given):
        await driven.add(wire)


async def _get(case: Case, driven: Driven) -> None:
    await _add_all(case, driven)
    await driven.get("end")


async def _get_twice(case: Case, driven: Driven) -> None:
    await _add_all(case, driven)
    await driven.get("after_first")
    await driven.get("after_second")


async def _compress_then_add(case: Case, driven: Driven) -> None:
    await _add_all(case, driven)
    await driven.get("after_compress")
    for wire in _then_add(case):
        await driven.add(wire)
    await driven.get("after_add")


async def _get_each(case: Case, driven: Driven) -> None:
    for n, wire in enumerate(case_messages(case.given)):
        await driven.add(wire)
        await driven.get(f"message {n}")


async def _force_then_get_each(case: Case, driven: Driven) -> None:
    await _add_all(case, driven)
    if driven.chosen is not None and driven.chosen.folds:
        await driven.manager.compact(driven.session_id)
    await driven.get("after_compress")
    for n, wire in enumerate(_then_add(case)):
        await driven.add(wire)
        await driven.get(f"message {n}")


async def _add_during_compress(case: Case, driven: Driven) -> None:
    """Two ask for the window of a full store; while its summary is written, messages arrive; then it is written."""
    fake = None if driven.chosen is None else driven.chosen.fake
    if fake is None:
        raise ValueError("the case has no summariser")
    await _add_all(case, driven)
    asking = [asyncio.create_task(driven.get("during_compress")) for _ in range(2)]
    begun = asyncio.create_task(fake.blocked.wait())
    await asyncio.wait([begun, *asking], return_when=asyncio.FIRST_COMPLETED)
    if not fake.blocked.is_set():
        raise AssertionError("no summary was asked for while there was time to add")
    for wire in case.given["add_while_blocked"]:
        await driven.add(wire)
    fake.release()
    await asyncio.gather(*asking)
    await driven.get("end")


def _then_add(case: Case) -> list[Dict]:
    return list(case.given["then_add"])


OPERATIONS: dict[str, Operation] = {
    "compress": compress,
    "compress_twice": compress,
    "get_context": through_manager(_get),
    "compress_via_manager": through_manager(_get),
    "compress_via_manager_twice": through_manager(_get_twice),
    "get_context_twice": through_manager(_get_twice),
    "compress_then_add": through_manager(_compress_then_add),
    "add_all_compress_each_turn": through_manager(_get_each),
    "add_all_get_each_turn": through_manager(_get_each),
    "force_compress_then_add_get_each": through_manager(_force_then_get_each),
    "add_during_compress": through_manager(_add_during_compress, blocked=True),
}
