"""A request that was refused is followed by a strictly smaller one, whatever our own estimate said."""

import asyncio
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.contracts import (
    Budget,
    Context,
    ContextOverflow,
    ErrorKind,
    ErrorReading,
    InvalidArgument,
    Json,
    Media,
    Message,
    Remedy,
    RequestTooLarge,
    Text,
)
from contextport.strategies import newest_question
from contextport.strategies.recovery import RequestSizes, recover, recover_bytes
from contextport.strategies.recovery.request_sizes import Target, target_of
from tests.cases.words_counter import WordsCounter
from tests.recovery.scripted_model import call
from tests.recovery.sessions import SESSION, engine, filled, words

NOTHING = ErrorReading(kind=ErrorKind.INPUT, remedy=Remedy.COMPACT)


def reading(kind: ErrorKind = ErrorKind.INPUT, **numbers: Any) -> ErrorReading:
    return ErrorReading(kind=kind, remedy=Remedy.COMPACT, **numbers)


def recovered(error: ErrorReading, manager: ContextEngine | None = None, **more: Any) -> tuple[Context, Context]:
    """What was seen and the window after it."""

    async def run() -> tuple[Context, Context]:
        used = await filled(engine() if manager is None else manager)
        seen = await used.get_context(SESSION)
        sizes = more.pop("sizes", None) or RequestSizes(counter=WordsCounter())
        return seen, await recover(used, SESSION, error, seen, sizes=sizes, **more)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("error", "most"),
    [
        (NOTHING, 101),
        (reading(limit=150, input=202), 150),
        (reading(limit=1_000, input=4_040), 50),  # our count said 202: a fourth of it
        (reading(limit=150), 101),
        (reading(limit=60), 57),
        (reading(limit=100_000), 101),  # our own count is far below, and it was refused all the same (W12)
        (reading(excess=30), 172),
        (reading(excess=5_000), 101),
        (reading(limit=150, total=180, input=None, output=20), 202 * 150 // 160),
        (reading(limit=100, input=101, is_lower_bound=True), 101),
        (reading(ErrorKind.INPUT_CHARS, limit=500, input=1_000, unit="characters"), 101),
        (reading(ErrorKind.INPUT_PLUS_OUTPUT, limit=202, input=202, output=50), 202 - 40),
        (reading(ErrorKind.INPUT_PLUS_OUTPUT, limit=400, input=450, output=10), 360 * 202 // 450),
        (reading(ErrorKind.SILENT), 101),
    ],
)
def test_the_window_is_as_large_as_the_error_allows(error: ErrorReading, most: int) -> None:
    seen, after = recovered(error, answer=40)
    assert seen.tokens == 202
    assert after.tokens < seen.tokens
    assert most * 0.5 <= after.tokens <= most
    question = newest_question(after.messages)
    assert question is not None
    assert after.messages[question].text == "Go on"


def test_room_for_the_answer_is_kept_where_it_shares_the_limit() -> None:
    error = reading(ErrorKind.INPUT_PLUS_OUTPUT, limit=400, input=450)
    assert target_of(error, 450, answer=40, shrink=0.5) == Target(aim=342, most=360)
    assert target_of(reading(limit=400, input=450), 450, answer=40, shrink=0.5) == Target(aim=380, most=400)


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_every_target_is_smaller_than_what_was_sent(kind: ErrorKind) -> None:
    numbers = product((2, 7, 999, 1_000_000), (None, 1, 40, 5_000_000), (None, 1, 41, 6_000_000), (0.01, 0.5, 1.0), (False, True))
    for counted, limit, sent, shrink, bound in numbers:
        for more in ({}, {"excess": 30}, {"total": 90, "output": 5}):
            error = reading(kind, limit=limit, input=sent, is_lower_bound=bound, **more)
            target = target_of(error, counted, answer=10, shrink=shrink)
            assert 1 <= target.aim < counted
            assert target.most < counted


def test_again_and_again_it_gets_smaller_until_nothing_is_left() -> None:
    async def run() -> list[int]:
        manager = await filled(engine(), prompt="Be brief.")
        sizes = RequestSizes(counter=WordsCounter())
        window = await manager.get_context(SESSION)
        tried: list[int] = []
        last: ContextOverflow | None = None
        while last is None:
            before = window.tokens
            try:
                window = await recover(manager, SESSION, NOTHING, window, sizes=sizes, tried=tried)
                tried.append(before)
            except ContextOverflow as error:
                last = error
        assert last.tried == (*tried, window.tokens)
        assert [message.text for message in window.messages] == ["Be brief.", "Go on"]
        return tried

    tried = asyncio.run(run())
    assert tried == sorted(set(tried), reverse=True)
    assert len(tried) > 3


def test_the_smallest_window_is_tried_where_the_aim_is_below_it() -> None:
    async def run() -> Context:
        manager = await filled(engine(), turns=1, size=10, prompt=words(30))
        seen = await manager.get_context(SESSION)
        return await recover(manager, SESSION, NOTHING, seen, sizes=RequestSizes(counter=WordsCounter()))

    assert asyncio.run(run()).tokens == 32  # half would be 26, and prompt and question take 32


def test_a_size_that_the_error_rules_out_is_not_tried() -> None:
    async def run() -> None:
        manager = await filled(engine(), turns=1, prompt=words(30))
        seen = await manager.get_context(SESSION)
        error = reading(limit=31, input=52)
        await recover(manager, SESSION, error, seen, sizes=RequestSizes(counter=WordsCounter()))

    with pytest.raises(ContextOverflow) as raised:
        asyncio.run(run())
    assert (raised.value.limit, raised.value.tried) == (31, (52,))


def test_a_pasted_question_is_shortened_visibly() -> None:
    async def run() -> tuple[Context, Context]:
        manager = engine()
        await manager.add_message(SESSION, Message.user(words(300)))
        seen = await manager.get_context(SESSION)
        return seen, await recover(manager, SESSION, NOTHING, seen, sizes=RequestSizes(counter=WordsCounter()))

    seen, after = asyncio.run(run())
    assert after.tokens < seen.tokens
    assert "left out" in after.messages[0].text


def test_the_ratio_of_the_error_is_learnt_and_used() -> None:
    counter = CalibratedTokenCounter(WordsCounter(), margin=1.0)
    manager = engine(counter=counter, model="m")
    sizes = RequestSizes(counter=counter, learns_as="m")
    _, after = recovered(reading(limit=300, input=404), manager, sizes=sizes)
    assert counter.token_ratio("m") > 1.1
    assert counter.token_ratio("") == 1.0
    assert 2 * after.tokens <= 300
    assert after.tokens >= 75


@pytest.mark.parametrize(
    "error", [reading(limit=9_000, input=10_000, unit="characters"), reading(limit=10, input=404, is_lower_bound=True)]
)
def test_what_is_no_count_of_tokens_is_not_learnt(error: ErrorReading) -> None:
    counter = CalibratedTokenCounter(WordsCounter(), margin=1.0)
    recovered(error, engine(counter=counter), sizes=RequestSizes(counter=counter))
    assert counter.token_ratio() == 1.0


TOOLS: list[Json] = [{"type": "function", "function": {"name": "t", "description": words(40)}}]


def test_tools_and_extra_messages_are_part_of_the_request() -> None:
    counter = WordsCounter()
    extra = (Message.user(words(25)),)
    sizes = RequestSizes(counter=counter, tools=TOOLS, extra=extra)
    tools = counter.count_tools(TOOLS)
    assert tools >= 40
    sent = 202 + 25 + tools
    seen, after = recovered(reading(limit=sent - 60, input=sent), engine(tools=TOOLS), sizes=sizes)
    assert sizes.counted(seen) == sent
    assert sizes.counted(after) <= sent - 60
    assert after.tokens > 80


class Stubborn(ContextEngine):
    """A manager that makes the same window whatever size it is asked for."""

    async def get_context(self, session_id: str, *, max_tokens: int | None = None, profile: Any = None) -> Context:
        return await super().get_context(session_id)


def test_a_window_that_is_not_smaller_is_not_sent() -> None:
    stubborn = Stubborn(store=MemoryContextStore(), counter=WordsCounter(), budget=Budget.of(1_000))
    with pytest.raises(ContextOverflow):
        recovered(NOTHING, stubborn)


@pytest.mark.parametrize("shrink", [0, 1.5, -1, "half"])
def test_a_wrong_share_is_refused(shrink: Any) -> None:
    with pytest.raises(InvalidArgument):
        recovered(NOTHING, shrink=shrink)


# --- bytes ------------------------------------------------------------------------------------------------------------------

TOO_MANY_BYTES = ErrorReading(kind=ErrorKind.PAYLOAD_BYTES, remedy=Remedy.COMPACT_BY_BYTES)


def by_bytes(messages: Sequence[Message], **numbers: Any) -> tuple[Context, Context]:
    async def run() -> tuple[Context, Context]:
        manager = ContextEngine(store=MemoryContextStore(), counter=WordsCounter(), budget=Budget.of(100_000))
        for message in messages:
            await manager.add_message(SESSION, message)
        seen = await manager.get_context(SESSION)
        error = reading(ErrorKind.PAYLOAD_BYTES, unit="bytes", **numbers)
        return seen, await recover_bytes(manager, SESSION, error, seen, sizes=RequestSizes(counter=WordsCounter()))

    return asyncio.run(run())


def picture(size: int) -> Media:
    return Media(media="image", data="A" * size, mime="image/png", size_px=(8, 8))


def test_old_messages_of_many_bytes_are_left_out() -> None:
    old = Message(role="user", parts=(Text("Look"), picture(50_000)), id="old")
    messages = [Message.system("Be brief."), old, Message.assistant("A cat."), Message.user("And now?", id="new")]
    seen, after = by_bytes(messages)
    assert "old" in {message.id for message in seen.messages}
    assert "old" not in {message.id for message in after.messages}
    assert after.messages[0].text == "Be brief."
    assert after.messages[-1].id == "new"


def test_the_limit_of_the_error_decides_how_much_stays() -> None:
    messages = [Message.user("x" * 1_000, id=f"m{n}") for n in range(20)]
    _, after = by_bytes(messages, limit=15_000)
    assert 9 <= len(after.messages) <= 14


def test_the_message_that_is_too_large_is_named() -> None:
    messages = [Message.user("Hi"), Message.assistant("Hello"), Message.user("x" * 5_000, id="huge")]
    for numbers in ({}, {"limit": 2_000}):
        with pytest.raises(RequestTooLarge, match="huge") as raised:
            by_bytes(messages, **numbers)
        assert raised.value.message_id == "huge"
        assert 5_000 < raised.value.bytes < 5_200


def test_a_result_of_the_newest_step_may_be_what_is_too_large() -> None:
    messages = [Message.user("Read it"), Message.assistant("", call()), Message.tool("c1", "x" * 9_000, id="result")]
    with pytest.raises(RequestTooLarge) as raised:
        by_bytes(messages)
    assert raised.value.message_id == "result"
