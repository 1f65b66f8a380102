"""What is read of foreign errors: nested bodies, quotations, numbers, providers."""

import json
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

from contextport.adapters.errors.foreign_error import failures_of
from contextport.adapters.errors.message_text import read_text
from contextport.adapters.errors.number_roles import numbers_of
from contextport.adapters.errors.provider_hints import provider_of_host, provider_of_module, same_provider
from contextport.contracts.provider_error import ProviderFailure

INNER = {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}
TEXT = "prompt is too long: 9 tokens > 8 maximum"


def messages(error: object) -> list[str]:
    return [one.message.strip() for one in failures_of(error) if one.message.strip()]


# --- unwrapping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        INNER,
        [INNER],
        json.dumps(INNER),
        json.dumps([INNER]),
        f"API Error: 400 {json.dumps(INNER)}",
        f"event: error\ndata: {json.dumps(INNER)}\n\n",
        {"error": {"message": json.dumps(INNER), "code": 400, "status": "Bad Request"}},
        {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps(INNER), "provider_name": "X"}}},
        f"Error code: 400 - {INNER}",
        "AnthropicException - b'" + json.dumps(INNER) + "'",
        {"raw": json.dumps({"raw": json.dumps(INNER)})},
        {"detail": [{"msg": TEXT}]},
        {"validationException": {"message": TEXT}},
        {"type": "response.failed", "response": {"status": "failed", "error": {"code": "x", "message": TEXT}}},
        {"error": TEXT},
        httpx.Response(400, json=INNER),
        ExceptionGroup("several", [ValueError(TEXT)]),
    ],
    ids=lambda error: f"{error!r:.40}",
)
def test_the_innermost_message_is_found(error: object) -> None:
    assert TEXT in messages(error)


def test_truncated_json_is_read_as_text() -> None:
    [text] = messages(
        '400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 max'
    )
    assert "prompt is too long" in read_text(text).words


def test_json_that_is_no_error_stays_as_a_quotation() -> None:
    [text] = messages('Bad arguments {"query": "the prompt is too long for me"} in the call')
    assert text == 'Bad arguments  «{"query": "the prompt is too long for me"}»  in the call'
    assert "too long" not in read_text(text).words


def test_nesting_has_an_end() -> None:
    error: dict[str, Any] = {"message": "deep"}
    for _ in range(60):
        error = {"error": error}
    assert messages(error) == []
    assert messages({"error": {"error": {"error": {"message": "near"}}}}) == ["near"]


def test_causes_are_followed_and_contexts_are_not() -> None:
    caused, handled = RuntimeError("outer"), RuntimeError("outer")
    caused.__cause__ = ValueError("inner")
    handled.__context__ = ValueError("inner")
    assert messages(caused) == ["outer", "inner"]
    assert messages(handled) == ["outer"]


# --- foreign exceptions -------------------------------------------------------------------------------------------------


def test_openai_says_status_code_type_and_address() -> None:
    body = {"message": TEXT, "code": "context_length_exceeded", "type": "invalid_request_error"}
    response = httpx2.Response(400, request=httpx2.Request("POST", "https://open.bigmodel.cn/api"), json={"error": body})
    first = failures_of(openai.BadRequestError("Error code: 400", response=response, body=body))[0]
    assert (first.status, first.code, first.type, first.provider) == (400, body["code"], body["type"], "zhipu")
    assert first.exception.startswith("openai.BadRequestError openai.APIStatusError")


def test_an_amazon_header_is_a_code() -> None:
    request = httpx2.Request("POST", "https://bedrock-runtime.eu-west-1.amazonaws.com/model")
    response = httpx2.Response(
        400, request=request, headers={"x-amzn-errortype": "ValidationException:http://x"}, json={"message": TEXT}
    )
    first = failures_of(anthropic.BadRequestError(TEXT, response=response, body={"message": TEXT}))[0]
    assert (first.code, first.provider) == ("ValidationException", "bedrock")


def test_a_stream_that_was_not_read_stays_unread() -> None:
    def chunks() -> Any:
        taken.append(1)
        yield b"x"

    taken: list[int] = []
    response = httpx.Response(400, content=chunks())
    assert [one.status for one in failures_of(response)] == [400]
    assert taken == []


def test_our_own_failure_is_read_whole() -> None:
    failure = ProviderFailure(status=400, code="a", type="b", message="c", provider="kimi", body={"error": {"message": "d"}})
    read = failures_of(failure)
    assert {one.provider for one in read} == {"moonshot"}
    assert {one.message for one in read} >= {"c", "d"}


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("api.openai.com", "openai"),
        ("api.x.ai", "xai"),
        ("api.z.ai", "zhipu"),
        ("fax.ai", ""),
        ("mine.openai.azure.com", "azure_openai"),
        ("localhost", ""),
    ],
)
def test_provider_by_host(host: str, provider: str) -> None:
    assert provider_of_host(host) == provider


def test_provider_by_module_and_by_other_names() -> None:
    assert provider_of_module("mistralai.models.sdkerror") == "mistral"
    assert provider_of_module("openai") == ""
    assert same_provider(" Z.AI ") == "zhipu"
    assert same_provider("something-new") == "something_new"


# --- the provider's own words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The  `max_tokens`\nis *large*", "the max tokens is large"),
        ("ContextWindowExceededError: no", "context window exceeded error: no"),
        ("<html><title>413 Too Large</title></html>", "# too large"),
        ('returned error "the prompt is too long" now', "returned error the prompt is too long now"),
        ("{'message': 'the prompt is too long'}", "{ message : the prompt is too long }"),
        ('field "the prompt is too long" is odd', "field … is odd"),
        ("it\u2019s the model\u2018s limit", "it's the model's limit"),
        ("near text: all of this\nand not this", "… and not this"),
        ("value 'abc' of user's key", "value abc of user's key"),
    ],
)
def test_words(text: str, words: str) -> None:
    assert read_text(text).words == words


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("8192 8,192 8.192 8_192 8\u202f192 8'192", (8_192,) * 6),
        ("(2013) [1, 4096] >100 =7", (2_013, 1, 4_096, 100, 7)),
        ("gpt-4o-2024-08-06 qwen3-480b req_77 a1 v1.2.3 10:15:00 2026-11-30 messages.12.x tools[3] $5 50%", ()),
        ("128k 1M 2 K", (None, None, None)),
        ("<400> bad", ()),
        ("限制为4096\uff0c当前9000\u3002", (4_096, 9_000)),
        ("1,048,576 tokens, 3 parts", (1_048_576, 3)),
        ("12345678901234567890", ()),
    ],
)
def test_numbers(text: str, numbers: tuple[int | None, ...]) -> None:
    assert read_text(text).numbers == numbers


# --- roles --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("9 tokens > 8 maximum", {"requested": 9, "limit": 8}),
        ("limit is 8 but the prompt has 9 tokens", {"limit": 8, "input": 9}),
        ("exceed context limit: 7 + 5 > 8", {"input": 7, "output": 5, "limit": 8}),
        ("max_tokens: 5 > context_window: 8 - input_tokens: 7 = available_tokens: 1", {"output": 5, "limit": 8, "input": 7}),
        ("(6 in the messages, 1 in the functions, 2 in the completion)", {"part": 7, "output": 2}),
        ("range of input length should be [1, 8]", {"limit": 8}),
        ("over the limit by 3 tokens", {"excess": 3}),
        ("at most 8 tokens; you sent 9", {"limit": 8, "requested": 9}),
        ("for a total of at least 9 tokens", {"total": 9}),
        ("Error code: 400, retry after 20 seconds, 3 images", {}),
        ("llm-70b failed with status 500", {}),
    ],
)
def test_roles(text: str, roles: dict[str, int]) -> None:
    assert numbers_of(read_text(text)).tokens == roles


def test_a_lower_bound_is_marked() -> None:
    assert numbers_of(read_text("your prompt contains at least 9000 input tokens")).lower_bound
    assert not numbers_of(read_text("the limit is at least enough; your prompt contains 9000 input tokens")).lower_bound


def test_units_are_kept_apart() -> None:
    found = numbers_of(read_text("limit 8 tokens, prompt has 70 characters, text bytes: 900 > 800"))
    assert found.by_unit == {"tokens": {"limit": 8}, "characters": {"input": 70}, "bytes": {"requested": 900, "limit": 800}}


def test_of_two_limits_the_larger_was_counted() -> None:
    found = numbers_of(read_text("exceeds maximum context 9000, maximum context 8000"))
    assert (found.tokens["limit"], found.tokens["input"]) == (8_000, 9_000)
