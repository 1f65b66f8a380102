"""Windows made for a provider: valid there, within the budget as encoded, and replayable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.bedrock_converse import BedrockConverseCodec
from contextport.adapters.wire.gemini_contents import GeminiCodec
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.adapters.wire.openai_responses import OpenAIResponsesCodec
from contextport.conformance_tests.conversations import conversations
from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    InvalidArgument,
    Message,
    MessageCodec,
    Receipt,
    Text,
    Thinking,
    ToolCall,
    dump_message,
)
from contextport.strategies.provider_rules import PROFILES, check
from tests.cases.words_counter import WordsCounter

CODECS: dict[str, Callable[[], MessageCodec]] = {
    "openai.chat": OpenAIChatCodec,
    "openai.responses": OpenAIResponsesCodec,
    "anthropic.messages": AnthropicCodec,
    "gemini.generate_content": GeminiCodec,
    "bedrock.converse": BedrockConverseCodec,
}
TOOLS = ({"type": "function", "function": {"name": "find", "description": "finds", "parameters": {"type": "object"}}},)


def engine(budget: int, **more: object) -> ContextEngine:
    return ContextEngine(store=MemoryContextStore(), counter=WordsCounter(), budget=Budget.of(budget), **more)  # type: ignore[arg-type]


async def filled(context: ContextEngine, messages: tuple[Message, ...] | list[Message]) -> None:
    await context.set_system_prompt("s", "Be brief.")
    for message in messages:
        if message.in_conversation:
            await context.add_message("s", message)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_window_is_valid_fits_as_encoded_and_is_replayed(name: str) -> None:
    profile, counter = PROFILES[name], WordsCounter()
    codec = CODECS[profile.api]()

    async def run() -> int:
        compressed = 0
        for messages in conversations(1):
            for budget in (10_000, 120, 60):
                context = engine(budget, tools=TOOLS)
                try:
                    await filled(context, messages)
                    window = await context.get_context("s", profile=profile)
                except BudgetTooSmall:
                    continue
                compressed += window.is_compressed
                assert check(window.messages, profile, tools=TOOLS) == ()
                assert window.tokens == sum(map(counter.count_message, window.messages)) <= window.limit
                request = codec.encode(window.messages).request
                again = codec.decode(request)
                assert sum(map(counter.count_message, again)) <= window.limit, "the request is larger than the budget"
                receipt = Receipt.from_json(window.receipt.to_json())
                assert receipt.profile == name
                replayed = await context.replay(receipt)
                assert list(map(dump_message, replayed)) == list(map(dump_message, window.messages))
                assert codec.encode(replayed).request == request
        return compressed

    assert asyncio.run(run()) > 5


def test_without_a_profile_nothing_changes_and_with_one_the_log_does_not() -> None:
    async def run() -> None:
        context = engine(1_000)
        thinking = Thinking(text="hm", signature="c2ln", binding="turn", origin=("anthropic", "claude-opus-4-5"))
        await filled(
            context, [Message.user("Hi"), Message(role="assistant", parts=(thinking, Text("Hello"))), Message.user("More")]
        )
        usual = await context.get_context("s")
        foreign = await context.get_context("s", profile="gpt-4.1")
        own = await context.get_context("s", profile="claude-opus-4-5")
        assert not [part for m in foreign.messages for part in m.parts if isinstance(part, Thinking)]
        assert own.messages[2] is usual.messages[2]
        assert (usual.repairs, own.repairs, foreign.repairs) == ((), (), ("V22",))
        assert (await context.get_context("s")).messages == usual.messages
        assert (usual.receipt.profile, foreign.receipt.profile) == ("", "openai.chat")

    asyncio.run(run())


@pytest.mark.parametrize("model", ["model-a", "claude-opus-4-5"])
def test_a_model_gets_its_own_reasoning_back_where_the_host_noted_who_said_it(model: str) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2lnLTM="}
    answer = {"role": "assistant", "content": [thinking, {"type": "text", "text": "Hello"}], "metadata": {"model": model}}

    async def run() -> None:
        context = engine(1_000)
        for message in ({"role": "user", "content": "Hi"}, answer, {"role": "user", "content": "More"}):
            await context.add_message("s", message)
        own = await context.get_context("s", profile=model)
        other = await context.get_context("s", profile="model-b")
        again = await context.get_context("s", profile=model)
        assert [type(part) for part in own.messages[1].parts] == [Thinking, Text]
        assert [type(part) for part in other.messages[1].parts] == [Text]
        assert again.messages == own.messages

    asyncio.run(run())


def test_reasoning_bound_to_a_prefix_that_was_cut_is_told_in_the_receipt() -> None:
    async def run(budget: int) -> tuple[str | None, tuple[str, ...], bool]:
        context = engine(budget, tools=TOOLS)
        origin = ("anthropic", "claude-opus-5.5")
        said: list[Message] = []
        for n in range(8):
            thinking = Thinking(text=f"thought {n}", signature=f"c2ln{n}", binding="prefix", origin=origin)
            call = ToolCall(call_id=f"c{n}", name="find", arguments="{}")
            said.append(Message.user(" ".join(["word"] * 20), id=f"u{n}"))
            said.append(Message(role="assistant", parts=(thinking, call), id=f"a{n}"))
            said.append(Message.tool(f"c{n}", "found it", id=f"t{n}"))
            said.append(Message.assistant("done", id=f"d{n}"))
        said.append(Message.user("And now?", id="last"))
        await filled(context, said)
        window = await context.get_context("s", profile="claude-opus-5.5")
        receipt = Receipt.from_json(window.receipt.to_json())
        return receipt.stale_thinking_from, window.needs, window.is_compressed

    assert asyncio.run(run(10_000)) == (None, (), False)
    stale, needs, compressed = asyncio.run(run(120))
    assert (compressed, (stale or "")[:1], needs) == (True, "a", ("drop_block",))


def test_the_gap_message_and_a_mid_conversation_system_message_reach_every_provider() -> None:
    async def run() -> None:
        for name, profile in PROFILES.items():
            context = engine(30)
            said = [Message.user(" ".join(["old"] * 30)), Message.assistant("yes"), Message.user("early")]
            said += [Message.system("The shop is closed today."), Message.assistant("noted"), Message.user("And now?")]
            await filled(context, said)
            window = await context.get_context("s", profile=profile)
            text = str(CODECS[profile.api]().encode(window.messages).request)
            missing = [words for words in ("left out", "The shop is closed today.", "Be brief.") if words not in text]
            assert (name, missing) == (name, [])
            assert window.omitted_count > 0

    asyncio.run(run())


def test_what_a_provider_demands_may_not_fit() -> None:
    async def run() -> None:
        context = engine(1)
        await context.add_message("s", Message(role="assistant", parts=(Text("two"),)))
        await context.get_context("s")
        with pytest.raises(BudgetTooSmall, match=r"in the form that anthropic\.no_prefill accepts") as failure:
            await context.get_context("s", profile=PROFILES["anthropic.no_prefill"])
        assert failure.value.needed > failure.value.available == 1

    asyncio.run(run())


def test_a_profile_is_a_profile_or_a_models_name() -> None:
    async def run() -> None:
        context = engine(100)
        await context.add_message("s", Message.user("Hi"))
        assert (await context.get_context("s", profile="no such model")).receipt.profile == "cautious"
        with pytest.raises(InvalidArgument, match="profile is 5"):
            await context.get_context("s", profile=5)  # type: ignore[arg-type]

    asyncio.run(run())
