"""Usage of every api in one meaning. The dicts have the form that the providers document and their SDKs declare."""

from typing import Any, cast

import anthropic.types
import anthropic.types.beta
import google.genai.types
import openai.types
import openai.types.responses
import pytest

from contextport.contracts import InvalidArgument
from contextport.contracts.model import Usage
from contextport.contracts.usage import usage_from

READINGS: list[tuple[str, dict[str, Any], Usage]] = [
    (
        "openai.chat",
        {
            "prompt_tokens": 1_200,
            "completion_tokens": 300,
            "total_tokens": 1_500,
            "prompt_tokens_details": {"cached_tokens": 1_024, "audio_tokens": 0, "cache_write_tokens": 100},
            "completion_tokens_details": {"reasoning_tokens": 200},
        },
        Usage(input_tokens=1_200, output_tokens=300, cache_read_tokens=1_024, cache_write_tokens=100, reasoning_tokens=200),
    ),
    (  # a host whose completion_tokens leave reasoning out
        "openai.chat",
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "total_tokens": 135,
            "completion_tokens_details": {"reasoning_tokens": 94},
        },
        Usage(input_tokens=32, output_tokens=103, reasoning_tokens=94),
    ),
    (
        "openai.chat",
        {
            "prompt_tokens": 50,
            "completion_tokens": 5,
            "total_tokens": 55,
            "prompt_cache_hit_tokens": 40,
            "prompt_cache_miss_tokens": 10,
        },
        Usage(input_tokens=50, output_tokens=5, cache_read_tokens=40),
    ),
    (
        "openai.responses",
        {
            "input_tokens": 900,
            "input_tokens_details": {"cached_tokens": 512, "cache_write_tokens": 256},
            "output_tokens": 70,
            "output_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 970,
        },
        Usage(input_tokens=900, output_tokens=70, cache_read_tokens=512, cache_write_tokens=256, reasoning_tokens=64),
    ),
    (
        "anthropic.messages",
        {
            "input_tokens": 10,
            "cache_creation_input_tokens": 2_000,
            "cache_read_input_tokens": 30_000,
            "output_tokens": 400,
            "output_tokens_details": {"thinking_tokens": 150},
        },
        Usage(
            input_tokens=32_010,
            output_tokens=400,
            cache_read_tokens=30_000,
            cache_write_tokens=2_000,
            reasoning_tokens=150,
        ),
    ),
    (
        "anthropic.messages",
        {"input_tokens": 10, "output_tokens": 4, "cache_creation_input_tokens": None, "cache_read_input_tokens": None},
        Usage(input_tokens=10, output_tokens=4),
    ),
    (  # two passes and a compaction between them: the window holds what the last pass read
        "anthropic.messages",
        {
            "input_tokens": 60_000,
            "output_tokens": 900,
            "iterations": [
                {"type": "message", "input_tokens": 40_000, "output_tokens": 500},
                {"type": "message", "input_tokens": 20_000, "cache_read_input_tokens": 5_000, "output_tokens": 400},
                {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500},
            ],
        },
        Usage(input_tokens=25_000, output_tokens=400, cache_read_tokens=5_000),
    ),
    (
        "gemini.generate_content",
        {
            "prompt_token_count": 700,
            "cached_content_token_count": 600,
            "tool_use_prompt_token_count": 50,
            "candidates_token_count": 20,
            "thoughts_token_count": 80,
            "total_token_count": 850,
        },
        Usage(input_tokens=750, output_tokens=100, cache_read_tokens=600, reasoning_tokens=80),
    ),
    (
        "gemini.generate_content",
        {"promptTokenCount": 700, "candidatesTokenCount": 20, "thoughtsTokenCount": 80, "totalTokenCount": 800},
        Usage(input_tokens=700, output_tokens=100, reasoning_tokens=80),
    ),
    (
        "bedrock.converse",
        {"inputTokens": 5, "outputTokens": 7, "totalTokens": 1_512, "cacheReadInputTokens": 1_000, "cacheWriteInputTokens": 500},
        Usage(input_tokens=1_505, output_tokens=7, cache_read_tokens=1_000, cache_write_tokens=500),
    ),
    (  # a total without cached tokens takes nothing away
        "bedrock.converse",
        {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12, "cacheReadInputTokens": 1_000},
        Usage(input_tokens=1_005, output_tokens=7, cache_read_tokens=1_000),
    ),
    (
        "langchain.messages",
        {
            "input_tokens": 350,
            "output_tokens": 240,
            "total_tokens": 590,
            "input_token_details": {"cache_creation": 200, "cache_read": 100},
            "output_token_details": {"reasoning": 200},
        },
        Usage(input_tokens=350, output_tokens=240, cache_read_tokens=100, cache_write_tokens=200, reasoning_tokens=200),
    ),
    (
        "mistral.chat",
        {"prompt_tokens": 64, "completion_tokens": 8, "total_tokens": 72, "num_cached_tokens": 32},
        Usage(input_tokens=64, output_tokens=8, cache_read_tokens=32),
    ),
    (
        "cohere.chat",
        {"billed_units": {"input_tokens": 5.0}, "tokens": {"input_tokens": 71.0, "output_tokens": 418.0}, "cached_tokens": 64},
        Usage(input_tokens=71, output_tokens=418, cache_read_tokens=64),
    ),
    (
        "ollama.chat",
        {"model": "m", "done": True, "prompt_eval_count": 26, "eval_count": 298, "prompt_eval_cached_count": 20},
        Usage(input_tokens=26, output_tokens=298, cache_read_tokens=20),
    ),
]


@pytest.mark.parametrize(("api", "fields", "usage"), READINGS)
def test_each_api_is_read_in_its_own_meaning(api: str, fields: dict[str, Any], usage: Usage) -> None:
    assert usage_from(api, fields) == usage


@pytest.mark.parametrize("api", sorted({api for api, _, _ in READINGS}))
@pytest.mark.parametrize("junk", [None, "12", -5, True, [], {}, float("inf"), float("nan")])
def test_a_field_that_is_no_count_is_nothing(api: str, junk: object) -> None:
    for fields in [fields for of, fields, _ in READINGS if of == api]:
        assert usage_from(api, dict.fromkeys(fields, junk)) == Usage()
    assert usage_from(api, {}) == Usage()


def test_the_sdks_own_objects_are_read_as_dicts() -> None:
    chat = openai.types.CompletionUsage.model_validate(READINGS[0][1])
    assert usage_from("openai.chat", chat.model_dump()) == READINGS[0][2]
    response = openai.types.responses.ResponseUsage.model_validate(READINGS[3][1])
    assert usage_from("openai.responses", response.model_dump()) == READINGS[3][2]
    message = anthropic.types.Usage.model_validate(READINGS[4][1])
    assert usage_from("anthropic.messages", message.model_dump()) == READINGS[4][2]
    beta = anthropic.types.beta.BetaUsage.model_validate(
        READINGS[6][1]
        | {
            "iterations": [
                {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0} | row for row in READINGS[6][1]["iterations"]
            ]
        }
    )
    assert usage_from("anthropic.messages", beta.model_dump()) == READINGS[6][2]
    gemini = google.genai.types.GenerateContentResponseUsageMetadata.model_validate(READINGS[7][1])
    assert usage_from("gemini.generate_content", gemini.model_dump()) == READINGS[7][2]
    assert usage_from("gemini.generate_content", gemini.model_dump(by_alias=True)) == READINGS[7][2]


def test_an_api_that_is_not_known_and_a_usage_that_is_no_dict_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"anthropic\.messages") as raised:
        usage_from("openai", {})
    assert raised.value.value == "openai"
    with pytest.raises(InvalidArgument, match="model_dump"):
        usage_from("openai.chat", cast(Any, openai.types.CompletionUsage(prompt_tokens=1, completion_tokens=1, total_tokens=2)))
