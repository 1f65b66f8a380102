"""`RuleErrorClassifier`: the suite, the order of its stages, and text that nobody wrote."""

import random
from typing import Any

import pytest

from contextport.adapters.errors.rule_classifier import REMEDIES, RuleErrorClassifier
from contextport.conformance_tests import ErrorClassifierConformance
from contextport.contracts.errors import ModelCallFailed
from contextport.contracts.provider_error import ErrorClassifier, ErrorKind, ProviderFailure, Remedy

PROMPT = "prompt is too long: 210000 tokens > 200000 maximum"


class TestRuleErrorClassifier(ErrorClassifierConformance):
    def make_classifier(self) -> ErrorClassifier:
        return RuleErrorClassifier()


def kind(error: object, provider: str = "") -> ErrorKind:
    return RuleErrorClassifier().classify(error, provider=provider).kind


def failure(message: str = "", status: int | None = 400, **more: Any) -> ProviderFailure:
    return ProviderFailure(status=status, message=message, **more)


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        pytest.param(failure(PROMPT, 402), ErrorKind.QUOTA, id="402 is about money"),
        pytest.param(failure(PROMPT, 401), ErrorKind.AUTH, id="401 is about the key"),
        pytest.param(failure(PROMPT, 429), ErrorKind.INPUT, id="429 of a gateway with a plain overflow"),
        pytest.param(failure("Token limit exceeded", 429), ErrorKind.RATE_LIMIT, id="429 with vague words"),
        pytest.param(failure("Token limit exceeded", 400), ErrorKind.INPUT, id="400 with the same words"),
        pytest.param(failure("tokens per day", None), ErrorKind.QUOTA, id="no status, per day"),
        pytest.param(failure("no", code="context_length_exceeded", status=503), ErrorKind.INPUT, id="code against status"),
        pytest.param(failure("rate limit: wait", code="context_length_exceeded"), ErrorKind.INPUT, id="code against words"),
        pytest.param(
            failure("string too long. Expected a string with maximum length 40", code="context_length_exceeded"),
            ErrorKind.FIELD_LENGTH,
            id="plain words against code",
        ),
        pytest.param(failure("", 413), ErrorKind.INPUT, id="413 without a body"),
        pytest.param(failure("Request Entity Too Large", 413), ErrorKind.PAYLOAD_BYTES, id="413 of a proxy"),
        pytest.param(failure("", 400), ErrorKind.UNKNOWN, id="400 without a body"),
        pytest.param(TimeoutError(), ErrorKind.TIMEOUT, id="a timeout without words"),
        pytest.param(
            failure("", 200, code="model_context_window_exceeded"), ErrorKind.OUTPUT_HIT_WINDOW, id="a stop reason as code"
        ),
        pytest.param(failure("", 400, code="model_context_window_exceeded"), ErrorKind.INPUT, id="the same code of an error"),
        pytest.param(ModelCallFailed("no answer", failure=failure(PROMPT)), ErrorKind.INPUT, id="our own error"),
    ],
)
def test_which_stage_decides(error: object, wanted: ErrorKind) -> None:
    assert kind(error) is wanted


def test_codes_are_read_as_those_of_the_provider() -> None:
    assert kind(failure("no", code="3051"), "mistral") is ErrorKind.INPUT
    assert kind(failure("no", code="3051"), "Mistral AI") is ErrorKind.INPUT
    assert kind(failure("no", code="3051"), "openai") is ErrorKind.UNKNOWN
    assert kind({"base_resp": {"status_code": 1039, "status_msg": "token limit"}}) is ErrorKind.INPUT


def test_the_wait_is_no_part_of_the_text() -> None:
    reading = RuleErrorClassifier().classify(failure("context size has been exceeded, retry with less", 500))
    assert (reading.kind, reading.remedy) == (ErrorKind.INPUT, Remedy.COMPACT)


def test_output_at_or_over_the_window_is_a_cap() -> None:
    text = (
        "This model's maximum context length is 8192 tokens. However, you requested {} tokens "
        "(100 in the messages, {} in the completion)."
    )
    capped = RuleErrorClassifier().classify(failure(text.format(8_292, 8_192)))
    assert (capped.kind, capped.remedy, capped.output) == (ErrorKind.OUTPUT_CAP, Remedy.LOWER_MAX_OUTPUT, 8_192)
    summed = RuleErrorClassifier().classify(failure(text.format(8_200, 8_100)))
    assert (summed.kind, summed.overshoot) == (ErrorKind.INPUT_PLUS_OUTPUT, 8)


def test_an_empty_answer_at_its_limit_is_a_silent_overflow() -> None:
    answer = {"choices": [{"finish_reason": "length"}], "usage": {"prompt_tokens": 4_096, "completion_tokens": 0}}
    reading = RuleErrorClassifier().classify(answer)
    assert (reading.kind, reading.input) == (ErrorKind.SILENT, 4_096)
    answer["usage"] = {"prompt_tokens": 4_000, "completion_tokens": 96}
    assert kind(answer) is ErrorKind.OUTPUT_TRUNCATED
    assert kind({"choices": [{"finish_reason": "stop"}]}) is ErrorKind.UNKNOWN


def test_evidence_names_the_rule_and_never_the_text() -> None:
    secret = "sk-0123456789abcdef"
    for text in (f"{PROMPT} {secret}", f"Invalid api key {secret}", f"rate limit {secret}"):
        reading = RuleErrorClassifier().classify(failure(text, code=None))
        assert reading.evidence
        assert secret not in repr(reading)


def test_every_kind_that_can_be_helped_has_a_remedy() -> None:
    helpless = {ErrorKind.QUOTA, ErrorKind.AUTH, ErrorKind.CONTENT_FILTER, ErrorKind.USER_TEXT, ErrorKind.UNKNOWN}
    assert set(ErrorKind) - set(REMEDIES) == helpless


WORDS = [
    *(
        "context",
        "window",
        "prompt",
        "tokens",
        "limit",
        "exceeded",
        "maximum",
        "too",
        "long",
        "input",
        "output",
        "max_tokens",
        "is",
        "your",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "`",
        "\\",
        ":",
        ",",
        ".",
        ";",
        ">",
        "+",
        "-",
        "#",
        "\n",
        "null",
        "true",
        "\u0000",
        "\ud800",
        "«",
    ),
    *(
        "128000",
        "8,192",
        "200k",
        "<400>",
        "error",
        "message",
        "raw",
        "data:",
        "上下文",
        "超过",
        "токен",
        '{"error": {"message": ',
        "}}",
    ),
]
VETOES = (
    "Rate limit reached on tokens per minute.",
    "You exceeded your current quota.",
    "Invalid 'messages[1].tool_calls[0].id': string too long.",
    "Invalid API key.",
    "The server is overloaded.",
)


def test_random_text_is_read_and_read_the_same() -> None:
    chance = random.Random(7)
    classifier = RuleErrorClassifier()
    for _ in range(400):
        text = " ".join(chance.choices(WORDS, k=chance.randrange(1, 60)))
        shapes = (
            text,
            {"error": {"message": text}},
            ValueError(text),
            failure(text),
            [text],
            {"status": text, "error": [text, {"code": text}]},
        )
        for error in shapes:
            assert classifier.classify(error) == classifier.classify(error)


@pytest.mark.parametrize("veto", VETOES)
def test_a_veto_holds_whatever_stands_around_it(veto: str) -> None:
    chance = random.Random(veto)
    for _ in range(60):
        around = [
            chance.choice(("The prompt uses many tokens.", "Maximum tokens exceeded.", "See the docs.", "Input too long?"))
            for _ in range(3)
        ]
        around.insert(chance.randrange(4), veto)
        assert not RuleErrorClassifier().classify(failure(" ".join(around))).is_overflow


def test_long_text_is_read_at_both_ends() -> None:
    filler = "nothing to see here. " * 100_000
    assert kind(ValueError(f"{PROMPT} {filler}")) is ErrorKind.INPUT
    assert kind(ValueError(f"{filler} {PROMPT}")) is ErrorKind.INPUT
    assert kind(ValueError(f"{filler} {PROMPT} {filler}")) is ErrorKind.UNKNOWN
