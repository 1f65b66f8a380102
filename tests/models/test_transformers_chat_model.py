"""The local model: its mechanics on a tiny network of random weights, and one real small model."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.decoders import ByteLevel
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.models.transformers_chat_model import TransformersChatModel
from contextport.contracts import InvalidArgument, Message, ModelCallFailed, ToolCall, provides, verify
from contextport.contracts.model import ChatModel, Completion, StopReason, StreamsCompletions, TextDelta
from tests.models.small_model import GGUF, small_model_folder

pytestmark = pytest.mark.xdist_group("local models")

_TEMPLATE = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
_WINDOW = 50_000
QUESTION = [Message.user("Hi.")]  # 21 tokens by the tiny tokenizer: a byte each, and the end


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a one-layer network of random weights and a tokenizer of bytes."""
    folder = tmp_path_factory.mktemp("tiny")
    signs = {sign: n for n, sign in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    bytes_only = Tokenizer(models.BPE(vocab=signs, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = ByteLevel()
    made_by: Any = PreTrainedTokenizerFast
    tokenizer = made_by(tokenizer_object=bytes_only, eos_token="<|end|>", chat_template=_TEMPLATE)
    tokenizer.save_pretrained(folder)
    shape: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    end = tokenizer.eos_token_id
    config = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=_WINDOW, eos_token_id=end, pad_token_id=end, **shape)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def endless(tiny: Path, **more: Any) -> TransformersChatModel:
    """A model that never ends its answer by itself, and says letters only."""
    letters = [n for n in range(257) if not 32 <= n <= 57]  # the place of a sign in the alphabet sorted by code point
    return TransformersChatModel(tiny, parameters={"suppress_tokens": letters}, **more)


def test_it_provides_both_ports(tiny: Path) -> None:
    model = endless(tiny)
    verify(model, ChatModel)
    verify(model, StreamsCompletions)
    assert provides(model, StreamsCompletions)
    assert (model.model, model.host) == (tiny.name, "")


def test_an_answer_has_its_limit_and_real_counts(tiny: Path) -> None:
    completion = asyncio.run(endless(tiny).complete(QUESTION, max_output=7))
    assert completion.stop is StopReason.OUTPUT_LIMIT
    assert completion.raw_stop == "length"
    assert completion.usage is not None
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (21, 7)
    assert len(completion.message.text) == 7


def test_an_answer_ends_by_itself(tiny: Path) -> None:
    model = TransformersChatModel(tiny, parameters={"suppress_tokens": list(range(256))})  # all but the end
    completion = asyncio.run(model.complete(QUESTION, max_output=7))
    assert (completion.stop, completion.raw_stop, completion.message.parts) == (StopReason.END, "eos", ())


def test_the_end_of_the_window_cuts_an_answer(tiny: Path) -> None:
    completion = asyncio.run(endless(tiny, window=25).complete(QUESTION, max_output=7))
    assert completion.stop is StopReason.WINDOW_LIMIT
    assert len(completion.message.text) == 4


def test_an_input_as_large_as_the_window_is_an_overflow_with_numbers(tiny: Path) -> None:
    async def run() -> None:
        await endless(tiny, window=22).complete(QUESTION, max_output=1)
        with pytest.raises(ModelCallFailed) as caught:
            await endless(tiny, window=21).complete(QUESTION, max_output=1)
        failure = caught.value.failure
        assert failure.code == "context_length_exceeded"
        assert "maximum context length is 21 tokens" in failure.message
        assert "resulted in 21 tokens" in failure.message
        reading = RuleErrorClassifier().classify(caught.value)
        assert (reading.is_overflow, reading.input, reading.limit) == (True, 21, 21)

    asyncio.run(run())


def test_the_window_is_the_one_of_the_configuration(tiny: Path) -> None:
    long = [Message.user("x" * _WINDOW)]
    with pytest.raises(ModelCallFailed) as caught:
        asyncio.run(endless(tiny).complete(long, max_output=1))
    assert f"maximum context length is {_WINDOW} tokens" in caught.value.failure.message


def test_a_stream_brings_what_complete_brings(tiny: Path) -> None:
    async def run() -> tuple[list[TextDelta | Completion], Completion]:
        model = endless(tiny)
        return [item async for item in model.stream(QUESTION, max_output=9)], await model.complete(QUESTION, max_output=9)

    items, whole = asyncio.run(run())
    streamed = items[-1]
    assert isinstance(streamed, Completion)
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == whole.message.text
    assert (streamed.message.text, streamed.stop, streamed.usage) == (whole.message.text, whole.stop, whole.usage)


def test_cancelling_ends_the_generation(tiny: Path) -> None:
    """All that the window holds would take minutes; the next answer can only come if the one before has stopped."""

    async def run() -> Completion:
        model = endless(tiny, default_max_output=_WINDOW)
        stream = model.stream(QUESTION)
        await anext(stream)
        task = asyncio.create_task(model.complete(QUESTION))  # waits for the thread
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        reading = asyncio.ensure_future(anext(stream))
        await asyncio.wait([reading])
        closing: Any = stream
        await closing.aclose()
        return await model.complete(QUESTION, max_output=1)

    started = time.monotonic()
    assert len(asyncio.run(run()).message.text) == 1
    assert time.monotonic() - started < 60


def test_cancelling_while_it_writes(tiny: Path) -> None:
    async def run() -> Completion:
        model = endless(tiny)
        await model.load()
        task = asyncio.create_task(model.complete(QUESTION, max_output=_WINDOW - 30))
        await asyncio.wait([task], timeout=0.2)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        return await model.complete(QUESTION, max_output=1)

    assert len(asyncio.run(run()).message.text) == 1


def test_calls_at_once_are_answered_one_after_the_other(tiny: Path) -> None:
    async def run() -> list[Completion]:
        model = endless(tiny)
        return await asyncio.gather(*(model.complete([Message.user("x" * n)], max_output=2) for n in range(4)))

    counts = [done.usage.input_tokens for done in asyncio.run(run()) if done.usage]
    assert counts == [18, 19, 20, 21]


def test_calls_and_results_are_written_out(tiny: Path) -> None:
    call = ToolCall(call_id="c", name="weather", arguments='{"city":"Rome"}')
    history = [*QUESTION, Message.assistant("", call), Message.tool("c", "sunny"), Message.user("And \ud800?")]
    completion = asyncio.run(endless(tiny).complete(history, max_output=1))
    said = ["<user>Hi.", '<assistant>[calls weather with {"city":"Rome"}]', "<user>sunny", "<user>And \ufffd?", "<assistant>"]
    assert completion.usage is not None
    assert completion.usage.input_tokens == sum(len(line.encode()) for line in said) + 4


@pytest.mark.parametrize("wrong", [{"max_output": 0}, {"max_output": True}, {"tools": [{}]}])
def test_wrong_arguments_are_refused_before_anything_is_loaded(tiny: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        asyncio.run(endless(tiny).complete(QUESTION, **wrong))
    with pytest.raises(InvalidArgument):
        endless(tiny).stream(QUESTION, **wrong)


def test_wrong_construction_is_refused(tiny: Path) -> None:
    with pytest.raises(InvalidArgument, match="does not exist"):
        TransformersChatModel(tiny, gguf_file="none.gguf")
    with pytest.raises(InvalidArgument, match="window"):
        TransformersChatModel(tiny, window=0)
    with pytest.raises(InvalidArgument, match="max_new_tokens"):
        TransformersChatModel(tiny, parameters={"max_new_tokens": 3})


def test_weights_that_cannot_be_read_are_a_failed_call(tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF but no more")
    model = TransformersChatModel(tmp_path, gguf_file="broken.gguf", name="broken")
    with pytest.raises(ModelCallFailed, match="broken did not answer") as caught:
        asyncio.run(model.complete(QUESTION))
    assert caught.value.__cause__ is not None
    assert caught.value.failure.provider == "transformers"


def test_a_real_small_model_answers() -> None:
    async def run() -> None:
        model = TransformersChatModel(small_model_folder(), gguf_file=GGUF)
        question = [Message.user("What is the capital of France?")]
        items = [item async for item in model.stream(question, max_output=16)]
        completion = items[-1]
        assert isinstance(completion, Completion)
        assert "Paris" in completion.message.text
        assert completion.stop is StopReason.END
        assert completion.usage is not None
        assert completion.usage.output_tokens <= 16
        assert len(items) > 2
        with pytest.raises(ModelCallFailed, match="the window 8192"):
            await model.complete([Message.user("word " * 8_200)])

    asyncio.run(run())
