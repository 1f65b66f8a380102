"""The engine: what hosts see of it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import attrs
import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.sync_facade import SyncContextManager
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Compression,
    CompressionStrategy,
    EventKind,
    InvalidArgument,
    InvalidMessage,
    Kind,
    Message,
    MessageConflict,
    Outcome,
    PortMismatch,
    Receipt,
    ReplayFailed,
    StrategyFailed,
    from_chat,
    implements,
)
from contextport.strategies import KeepRecentTokens, ShortenLongMessages
from tests.cases.words_counter import WordsCounter
from tests.strategies.conversations import assistant, calling, result, user, words

T = TypeVar("T")


def run(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(call)


def engine(budget: int | Budget = 1_000, **more: Any) -> ContextEngine:
    limits = Budget.of(budget) if isinstance(budget, int) else budget
    parts: dict[str, Any] = {"store": MemoryContextStore(), "counter": WordsCounter(), "budget": limits, **more}
    return ContextEngine(**parts)


async def filled(target: ContextEngine, messages: Sequence[Message], session: str = "s") -> ContextEngine:
    for message in messages:
        await target.add_message(session, message)
    return target


CHAT = [message for n in range(10) for message in (user(f"u{n}", 5), assistant(f"a{n}", 5))]


def test_what_was_added_as_dicts_comes_back_unchanged() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.0}'}}
    given: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief.", "id": "s1"},
        {"role": "user", "content": [{"type": "text", "text": "look", "x": 1}, image]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "", "extra": {"k": [1, None]}},
        {"role": "assistant", "content": "Done.", "reasoning_content": "It was easy."},
    ]

    async def scenario() -> list[dict[str, Any]]:
        manager = engine()
        for message in given:
            await manager.add_message("s", message)
        return (await manager.get_context("s")).as_chat()

    assert run(scenario()) == given


def test_a_group_is_added_in_one_step() -> None:
    async def scenario() -> None:
        manager = engine()
        await manager.add_messages("s", [user("u"), calling("a", "c"), result("t", "c")])
        with pytest.raises(MessageConflict):
            await manager.add_messages("s", [user("u2"), user("u", 9)])
        context = await manager.get_context("s")
        assert [m.id for m in context.messages] == ["u", "a", "t"]

    run(scenario())


def test_a_group_that_begins_with_the_system_prompt_is_one_step_too() -> None:
    async def scenario() -> None:
        manager = await filled(engine(), [user("u0")], "begun")
        await manager.clear_context("begun")
        for session in ("new", "begun"):
            group = [Message.system("be kind", id="s1"), user("u1"), user("u1", 9)]
            with pytest.raises(MessageConflict):
                await manager.add_messages(session, group)
            assert (await manager.get_context(session)).messages == ()
            added = await manager.add_messages(session, group[:2])
            assert [m.id for m in added] == [m.id for m in (await manager.get_context(session)).messages] == ["s1", "u1"]
            again = await manager.add_messages(session, group[:2])
            assert again == added

    run(scenario())


def test_the_system_prompt_is_first_and_can_be_replaced_and_removed() -> None:
    async def scenario() -> None:
        manager = await filled(engine(), CHAT[:2])
        await manager.set_system_prompt("s", "Be brief.")
        assert (await manager.get_context("s")).messages[0].text == "Be brief."
        await manager.set_system_prompt("s", "Be kind.")
        context = await manager.get_context("s")
        assert [m.role for m in context.messages] == ["system", "user", "assistant"]
        assert context.messages[0].text == "Be kind."
        await manager.set_system_prompt("s", "")
        assert [m.role for m in (await manager.get_context("s")).messages] == ["user", "assistant"]

    run(scenario())


def test_a_leading_system_message_becomes_the_prompt_and_a_later_one_stays_in_its_place() -> None:
    async def scenario() -> None:
        manager = engine(60)
        await filled(manager, [Message.system("be kind", id="s1"), *CHAT[:4], Message.system("now brief", id="s2"), *CHAT[4:]])
        context = await manager.get_context("s")
        assert [m.id for m in context.messages if m.role == "system"] == ["s1", "s2"]
        assert context.is_compressed
        assert (await manager.get_context_stats("s")).original_message_count == 22
        await manager.add_message("s", Message.system("be kind", id="s1"))
        assert (await manager.get_context("s")).messages == context.messages

    run(scenario())


def test_a_prompt_that_leaves_no_room_is_refused_when_it_is_set_and_the_old_one_stays() -> None:
    async def scenario() -> None:
        manager = engine(20)
        await manager.set_system_prompt("s", "Be brief.")
        with pytest.raises(BudgetTooSmall) as caught:
            await manager.set_system_prompt("s", words(20))
        assert caught.value.needed == 21
        assert caught.value.available == 20
        assert (await manager.get_context("s")).messages[0].text == "Be brief."

    run(scenario())


def test_reserves_are_minimums_and_what_is_measured_is_measured() -> None:
    tools = [{"name": words(30)}]
    roomy = Budget(window=200, output_reserve=50, system_reserve=20, tool_reserve=10)

    async def limit(**more: Any) -> int:
        manager = engine(roomy, **more)
        await manager.set_system_prompt("s", words(5))
        return (await manager.get_context("s")).limit

    assert run(limit()) == 200 - 50 - 20 - 10 + 5
    assert run(limit(tools=tools)) == 200 - 50 - (30 + 5) - 10 + 5
    with pytest.raises(BudgetTooSmall, match="tools"):
        engine(Budget(window=30, output_reserve=5), tools=tools)


def test_the_window_fits_or_the_numbers_are_given() -> None:
    async def scenario() -> None:
        manager = await filled(engine(30), CHAT)
        assert (await manager.get_context("s")).tokens <= 30
        tight = await filled(engine(3), [user("u", 40)])
        with pytest.raises(BudgetTooSmall) as caught:
            await tight.get_context("s")
        assert caught.value.available == 3
        assert caught.value.needed > 3

    run(scenario())


def test_strict_does_not_shorten_the_question() -> None:
    async def scenario() -> None:
        lenient, strict = engine(30), engine(30, strict=True)
        for manager in (lenient, strict):
            await filled(manager, [*CHAT[:2], user("q", 60)])
        assert [one.message_id for one in (await lenient.get_context("s")).shortened] == ["q"]
        with pytest.raises(BudgetTooSmall) as caught:
            await strict.get_context("s")
        assert caught.value.needed == 60

    run(scenario())


def test_calls_without_results_get_a_stand_in_until_the_result_arrives() -> None:
    async def scenario() -> None:
        manager = await filled(engine(), [user("u"), calling("a", "c1", "c2"), result("t1", "c1"), user("u2")])
        context = await manager.get_context("s")
        assert [m.kind for m in context.messages] == [Kind.CHAT, Kind.CHAT, Kind.CHAT, Kind.STAND_IN, Kind.CHAT]
        await manager.add_message("s", result("t2", "c2"))
        context = await manager.get_context("s")
        assert [m.id for m in context.messages] == ["u", "a", "t1", "t2", "u2"]

    run(scenario())


def test_clearing_keeps_the_prompt_and_forgets_the_rest_for_good() -> None:
    async def scenario() -> None:
        manager = engine()
        await manager.set_system_prompt("s", "Be brief.")
        await filled(manager, CHAT)
        await manager.clear_context("s")
        assert [m.text for m in (await manager.get_context("s")).messages] == ["Be brief."]
        await filled(manager, CHAT[:1])
        assert [m.id for m in (await manager.get_context("s")).messages[1:]] == ["u0"]
        assert (await manager.get_context_stats("s")).original_message_count == 2

    run(scenario())


def test_stats_are_what_a_recount_gives() -> None:
    async def scenario() -> None:
        manager = engine(60)
        await manager.set_system_prompt("s", words(6))
        await filled(manager, CHAT)
        context, stats = await manager.get_context("s"), await manager.get_context_stats("s")
        counter = WordsCounter()
        assert stats.message_count == len(context.messages)
        assert stats.token_count == sum(counter.count_message(m) for m in context.messages) == context.tokens
        assert stats.is_compressed
        assert stats.original_message_count == 21
        assert stats.history_tokens == 100
        assert stats.system_tokens == 6
        assert stats.last_turn_tokens == 10
        assert stats.usage_ratio == (context.tokens - 6) / (60 - 6)
        contract = {"message_count", "token_count", "is_compressed", "original_message_count"}
        assert contract <= stats.as_dict().keys()

    run(scenario())


def test_a_receipt_names_the_configuration_and_not_the_objects() -> None:
    """Of managers in two processes too: what an object without a description of its own shows is its address."""
    made = []
    for budget, target_share in ((1_000, 0.6), (1_000, 0.6), (900, 0.6), (1_000, 0.5)):
        counter = HeuristicTokenCounter()
        assert " at 0x" in repr(counter)
        made.append(engine(budget, counter=counter, strategy=KeepRecentTokens(counter, target_share)))
    first, same, *others = [run(one.get_context("s")).receipt.config for one in made]
    assert first == same
    assert len({first, *others}) == 3


def test_a_receipt_replays_after_adds_and_clears_and_through_json() -> None:
    async def scenario() -> None:
        manager = engine(60)
        await manager.set_system_prompt("s", "Be brief.")
        await filled(manager, [*CHAT, calling("a", "c"), user("q")])
        context = await manager.get_context("s")
        receipt = Receipt.from_json(context.receipt.to_json())
        await manager.set_system_prompt("s", "Be kind.")
        await filled(manager, [user("later")])
        await manager.clear_context("s")
        replayed = await manager.replay(receipt)
        assert replayed == context.messages
        forged = attrs.evolve(receipt, recorded_digest="0" * 64)
        with pytest.raises(ReplayFailed):
            await manager.replay(forged)
        with pytest.raises(ReplayFailed):
            await engine().replay(receipt)

    run(scenario())


def test_two_engines_on_one_store_see_each_others_messages() -> None:
    async def scenario() -> None:
        store = MemoryContextStore()
        one, two = engine(60, store=store), engine(60, store=store)
        for n, message in enumerate(CHAT):
            await (one, two)[n % 2].add_message("s", message)
            assert (await one.get_context("s")).messages == (await two.get_context("s")).messages
        await two.set_system_prompt("s", "Be brief.")
        assert (await one.get_context("s")).messages[0].text == "Be brief."
        await one.clear_context("s")
        assert len((await two.get_context("s")).messages) == 1

    run(scenario())


def test_many_tasks_add_to_one_session() -> None:
    async def scenario() -> None:
        manager = engine(100_000)

        async def writer(n: int) -> None:
            for k in range(50):
                await manager.add_message("s", user(f"{n}.{k}", 1))
                if k % 10 == 0:
                    await manager.get_context("s")

        await asyncio.gather(*(writer(n) for n in range(20)))
        ids = [m.id for m in (await manager.get_context("s")).messages]
        assert sorted(ids) == sorted(f"{n}.{k}" for n in range(20) for k in range(50))
        for n in range(20):
            own = [id for id in ids if id.startswith(f"{n}.")]
            assert own == [f"{n}.{k}" for k in range(50)]

    run(scenario())


def test_each_message_is_counted_once_in_its_life() -> None:
    async def scenario() -> None:
        counter = WordsCounter()
        store = MemoryContextStore()
        manager = engine(200, counter=counter, store=store)
        for n in range(500):
            await manager.add_message("s", user(f"u{n}", 8))
            await manager.add_message("s", assistant(f"a{n}", 8))
            await manager.get_context("s")
        cuts = 1_000 * 8 // 50
        assert counter.texts_counted <= 1_000 + 4 * cuts, "each message once; at a cut only gap messages are new"
        reopened = WordsCounter()
        await engine(200, counter=reopened, store=store).get_context("s")
        assert reopened.texts_counted <= 4

    run(scenario())


def test_the_callers_objects_are_neither_changed_nor_kept() -> None:
    async def scenario() -> None:
        manager = engine()
        given = {"role": "user", "content": [{"type": "text", "text": "look"}], "metadata": {"tags": ["a"]}}
        await manager.add_message("s", given)
        given["content"].append({"type": "text", "text": "here"})  # type: ignore[attr-defined]
        given["metadata"]["tags"].append("b")  # type: ignore[index]
        context = await manager.get_context("s")
        assert context.as_chat() == [{"role": "user", "content": [{"type": "text", "text": "look"}], "metadata": {"tags": ["a"]}}]
        context.as_chat()[0]["content"].clear()
        assert (await manager.get_context("s")).as_chat()[0]["content"] == [{"type": "text", "text": "look"}]

    run(scenario())


@pytest.mark.parametrize(
    "bad",
    [
        {"content": "no role"},
        {"role": "robot", "content": "x"},
        {"role": "tool", "content": "no call id"},
        {"role": "user", "content": 5},
        {"role": "user", "content": "x", "metadata": {"when": object()}},
        {"role": "user", "content": "x", "score": float("nan")},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
        "just a text",
        Message.user("x", kind=Kind.SUMMARY),
    ],
    ids=["no role", "unknown role", "no call id", "number", "object", "not a number", "hollow call", "text", "a kind of ours"],
)
def test_what_cannot_be_a_message_is_refused_and_not_stored(bad: Any) -> None:
    async def scenario() -> None:
        manager = engine()
        with pytest.raises(InvalidMessage):
            await manager.add_messages("s", [user("u"), bad])
        assert (await manager.get_context_stats("s")).original_message_count == 0

    run(scenario())


def test_a_session_id_has_to_be_a_non_empty_text() -> None:
    for bad in ("", None, 5):
        with pytest.raises(InvalidArgument):
            run(engine().get_context(bad))  # type: ignore[arg-type]


@implements(CompressionStrategy)
class Broken:
    """A strategy that loses everything, or raises."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if self.error is not None:
            raise self.error
        return Compression(messages=(), outcome=Outcome.SMALLER, tokens=0)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return 0


@pytest.mark.parametrize("error", [None, RuntimeError("out of luck")])
def test_a_broken_strategy_degrades_the_window_and_never_the_conversation(error: Exception | None) -> None:
    async def scenario() -> None:
        sink = CollectingEventSink()
        manager = await filled(engine(30, strategy=Broken(error), sink=sink), CHAT)
        context = await manager.get_context("s")
        assert context.messages[-1].id == "a9"
        assert EventKind.STRATEGY_FAILED in [event.kind for event in sink.events]
        store = MemoryContextStore()
        strict = await filled(engine(30, store=store, strategy=Broken(error), strict=True), CHAT)
        with pytest.raises(StrategyFailed):
            await strict.get_context("s")
        assert (await store.head("s")).messages == 20

    run(scenario())


def test_a_strategy_that_cannot_fit_is_followed_by_trimming() -> None:
    async def scenario() -> None:
        manager = await filled(engine(30, strategy=ShortenLongMessages(WordsCounter(), 3)), CHAT)
        assert (await manager.get_context("s")).tokens <= 30

    run(scenario())


def test_parts_that_do_not_provide_their_port_are_refused_with_what_is_off() -> None:
    with pytest.raises(PortMismatch, match="ContextStore"):
        ContextEngine(store=object(), counter=WordsCounter())  # type: ignore[arg-type]


def test_reported_usage_moves_the_limit_and_no_count() -> None:
    async def scenario() -> None:
        manager = await filled(engine(100, counter=CalibratedTokenCounter(WordsCounter())), CHAT)
        before = await manager.get_context("s")
        assert before.limit == 100
        for _ in range(30):
            manager.record_usage(before, 2 * before.tokens)
        after, stats = await manager.get_context("s"), await manager.get_context_stats("s")
        assert 45 <= after.limit <= 60
        assert after.tokens <= after.limit
        assert stats.token_count == after.tokens
        assert stats.limit == after.limit

    run(scenario())


def test_a_budget_for_one_call_leaves_the_next_as_it_was() -> None:
    async def scenario() -> None:
        manager = await filled(engine(60), CHAT)
        usual = await manager.get_context("s")
        assert (await manager.get_context("s", max_tokens=27)).tokens <= 27
        assert len((await manager.get_context("s", max_tokens=500)).messages) == 20
        assert (await manager.get_context("s")).messages == usual.messages

    run(scenario())


def test_few_sessions_are_held_and_the_others_are_read_again() -> None:
    async def scenario() -> None:
        manager = engine(60, active_sessions=3)
        for n in range(10):
            await filled(manager, CHAT[:4], f"s{n}")
            await manager.get_context(f"s{n}")
        assert manager.held_sessions <= 3
        assert len((await manager.get_context("s0")).messages) == 4

    run(scenario())


def test_pins_from_far_back_stay_with_their_whole_step() -> None:
    async def scenario() -> None:
        pinned = attrs.evolve(result("t", "c", 2), pinned=True)
        filler = [attrs.evolve(CHAT[n % 20], id=f"f{n}") for n in range(400)]
        store = MemoryContextStore()
        manager = await filled(
            engine(80, store=store), [user("q", 2), calling("a", "c", "d"), pinned, result("t2", "d", 2), *filler]
        )
        cold = ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(80))
        for target in (manager, cold):
            assert [m.id for m in (await target.get_context("s")).messages[:4]] == ["q", "a", "t", "t2"]

    run(scenario())


def test_the_sync_facade_blocks_and_raises_as_the_manager_does() -> None:
    with SyncContextManager(engine(30)) as manager:
        manager.set_system_prompt("s", "Be brief.")
        for message in CHAT:
            manager.add_message("s", message)
        assert manager.get_context("s").tokens <= 30
        assert manager.get_context_stats("s").is_compressed
        with pytest.raises(InvalidMessage):
            manager.add_message("s", {"role": "robot"})
        manager.clear_context("s")
        assert len(manager.get_context("s").messages) == 1
    with pytest.raises(InvalidArgument, match="closed"):
        manager.get_context("s")
    manager.close()


def test_surrogates_are_stored_and_do_not_reach_the_wire() -> None:
    async def scenario() -> None:
        manager = engine()
        added = await manager.add_message("s", {"role": "user", "content": "caf\udce9 \x00 menu \ud83c\udf78"})
        context = await manager.get_context("s")
        assert context.messages[0] == added == attrs.evolve(from_chat({"role": "user", "content": added.text}), id=added.id)
        assert context.as_chat()[0]["content"] == "caf\ufffd \x00 menu \U0001f378"

    run(scenario())


def test_a_system_message_that_was_replaced_can_be_added_again() -> None:
    async def scenario() -> None:
        manager = engine()
        first = {"role": "system", "content": "be kind", "id": "s1"}
        added = await manager.add_message("s", first)
        await manager.set_system_prompt("s", "be brief")
        assert await manager.add_message("s", first) == added
        assert await manager.add_message("s", added) == added
        assert [m.text for m in (await manager.get_context("s")).messages] == ["be brief"]
        with pytest.raises(MessageConflict):
            await manager.add_message("s", {**first, "content": "be unkind"})

    run(scenario())


def test_setting_the_same_prompt_again_writes_nothing() -> None:
    async def scenario() -> None:
        store = MemoryContextStore()
        manager = engine(store=store)
        for _ in range(5):
            await manager.set_system_prompt("s", "be brief")
        assert (await store.head("s")).last_seq == 1
        await manager.set_system_prompt("s", "be kind")
        await manager.set_system_prompt("s", "be brief")
        assert (await store.head("s")).last_seq == 3

    run(scenario())


@pytest.mark.parametrize("reserve", [0, 7])
@pytest.mark.parametrize("strict", [False, True])
def test_a_budget_of_the_size_that_the_error_names_will_do(reserve: int, strict: bool) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}

    async def window(tokens: int, words_of_prompt: int) -> None:
        limits = Budget(window=tokens + reserve, output_reserve=reserve)
        manager = engine(limits, counter=CalibratedTokenCounter(WordsCounter(), margin=1.1), strict=strict)
        await manager.set_system_prompt("s", words(words_of_prompt))
        await manager.add_message("s", {"role": "user", "content": [{"type": "text", "text": words(60)}, image]})
        await manager.get_context("s")

    for words_of_prompt in (5, 30):
        needed = 12
        for _ in range(2):  # first the prompt, then the newest message: each names what it needs
            with suppress(BudgetTooSmall):
                run(window(needed, words_of_prompt))
                break
            with pytest.raises(BudgetTooSmall) as caught:
                run(window(needed, words_of_prompt))
            needed = int(caught.value.needed)
        run(window(needed, words_of_prompt))
        with pytest.raises(BudgetTooSmall):
            run(window(needed - 1, words_of_prompt))


@pytest.mark.parametrize(
    "more", [{"budget": "8000"}, {"budget": 8000.5}, {"active_sessions": 0}, {"tools": None}, {"tools": "f"}], ids=str
)
def test_arguments_that_are_none_are_named(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        ContextEngine(store=MemoryContextStore(), counter=WordsCounter(), **more)


@pytest.mark.parametrize("tokens", ["x", 1.5, True])
def test_a_budget_for_one_call_is_a_whole_number(tokens: Any) -> None:
    with pytest.raises(InvalidArgument):
        run(engine().get_context("s", max_tokens=tokens))


def test_a_group_is_a_list() -> None:
    for bad in (None, "text", {"role": "user", "content": "x"}, 5):
        with pytest.raises(InvalidMessage):
            run(engine().add_messages("s", bad))  # type: ignore[arg-type]
