"""The words of the providers for the end of an answer (one table), and what follows from the answer."""

import pytest

from contextport.contracts import ToolCall
from contextport.contracts.model import StopReason, Usage
from contextport.contracts.stop_reasons import STOP_WORDS, stop_reason

WHOLE = ToolCall(call_id="a", name="f", arguments="{}")
CUT = ToolCall(call_id="b", name="f", arguments='{"x', complete=False)
SERVER = ToolCall(call_id="c", name="search", arguments="{}", executor="server")

# By API: the natural end, cut by the limit, cut by the window, calls, filtered or refused, anything else.
WORDS: list[tuple[str, str, StopReason]] = [
    ("openai.chat", "stop", StopReason.END),
    ("openai.chat", "length", StopReason.OUTPUT_LIMIT),
    ("openai.chat", "content_filter", StopReason.FILTERED),
    ("openai.chat", "eos", StopReason.END),
    ("openai.chat", "eos_token", StopReason.END),
    ("openai.chat", "model_context_window_exceeded", StopReason.WINDOW_LIMIT),
    ("openai.chat", "sensitive", StopReason.FILTERED),
    ("openai.chat", "network_error", StopReason.ERROR),
    ("mistral.chat", "model_length", StopReason.WINDOW_LIMIT),
    ("mistral.chat", "error", StopReason.ERROR),
    ("ollama.chat", "load", StopReason.UNKNOWN),
    ("openai.responses", "completed", StopReason.END),
    ("openai.responses", "max_output_tokens", StopReason.OUTPUT_LIMIT),
    ("openai.responses", "content_filter", StopReason.FILTERED),
    ("openai.responses", "failed", StopReason.ERROR),
    ("openai.responses", "steered", StopReason.UNKNOWN),
    ("anthropic.messages", "end_turn", StopReason.END),
    ("anthropic.messages", "stop_sequence", StopReason.STOP_SEQUENCE),
    ("anthropic.messages", "max_tokens", StopReason.OUTPUT_LIMIT),
    ("anthropic.messages", "model_context_window_exceeded", StopReason.WINDOW_LIMIT),
    ("anthropic.messages", "refusal", StopReason.REFUSAL),
    ("anthropic.messages", "pause_turn", StopReason.PAUSED),
    ("anthropic.messages", "compaction", StopReason.COMPACTED),
    ("bedrock.converse", "guardrail_intervened", StopReason.FILTERED),
    ("bedrock.converse", "content_filtered", StopReason.FILTERED),
    ("bedrock.converse", "malformed_tool_use", StopReason.MALFORMED),
    ("bedrock.converse", "max_tokens", StopReason.OUTPUT_LIMIT),
    ("gemini.generate_content", "STOP", StopReason.END),
    ("gemini.generate_content", "MAX_TOKENS", StopReason.OUTPUT_LIMIT),
    ("gemini.generate_content", "SAFETY", StopReason.FILTERED),
    ("gemini.generate_content", "MALFORMED_FUNCTION_CALL", StopReason.MALFORMED),
    ("gemini.generate_content", "MISSING_THOUGHT_SIGNATURE", StopReason.MALFORMED),
    ("gemini.generate_content", "CONTINUATION", StopReason.PAUSED),
    ("gemini.generate_content", "OTHER", StopReason.UNKNOWN),
    ("cohere.chat", "COMPLETE", StopReason.END),
    ("cohere.chat", "ERROR_LIMIT", StopReason.WINDOW_LIMIT),
    ("xai.chat", "REASON_MAX_CONTEXT", StopReason.WINDOW_LIMIT),
    ("xai.chat", "REASON_MAX_LEN", StopReason.OUTPUT_LIMIT),
    ("no.such.api", "stop", StopReason.UNKNOWN),
    ("openai.chat", "", StopReason.UNKNOWN),
    ("openai.chat", "STOP", StopReason.UNKNOWN),
]


@pytest.mark.parametrize(("api", "word", "reason"), WORDS)
def test_word(api: str, word: str, reason: StopReason) -> None:
    assert stop_reason(api, word) is reason


@pytest.mark.parametrize(("api", "word"), [(api, word) for api, words in STOP_WORDS.items() for word in words])
def test_a_whole_call_decides_whatever_the_word(api: str, word: str) -> None:
    assert stop_reason(api, word, calls=[CUT, WHOLE]) is StopReason.TOOL_CALLS
    assert stop_reason(api, word, calls=[CUT]) is not StopReason.TOOL_CALLS
    assert stop_reason(api, word, calls=[SERVER]) is not StopReason.TOOL_CALLS


def test_a_call_that_is_not_whole_is_no_end() -> None:
    assert stop_reason("openai.chat", "stop", calls=[CUT]) is StopReason.MALFORMED
    assert stop_reason("openai.chat", "tool_calls", calls=[CUT]) is StopReason.MALFORMED
    assert stop_reason("openai.chat", "tool_calls") is StopReason.MALFORMED
    assert stop_reason("openai.chat", "length", calls=[CUT]) is StopReason.OUTPUT_LIMIT
    assert stop_reason("anthropic.messages", "end_turn", calls=[SERVER]) is StopReason.END


def test_a_refusal_in_the_content_is_one() -> None:
    assert stop_reason("openai.chat", "stop", refused=True) is StopReason.REFUSAL
    assert stop_reason("openai.chat", "length", refused=True) is StopReason.OUTPUT_LIMIT


@pytest.mark.parametrize(
    ("read", "written", "reason"),
    [
        (979, 10, StopReason.OUTPUT_LIMIT),
        (980, 10, StopReason.WINDOW_LIMIT),
        (990, 0, StopReason.WINDOW_LIMIT),
        (10, 980, StopReason.WINDOW_LIMIT),
    ],
)
def test_a_cut_near_the_end_of_the_window_is_of_the_window(read: int, written: int, reason: StopReason) -> None:
    usage = Usage(input_tokens=read, output_tokens=written)
    assert stop_reason("openai.chat", "length", usage=usage, window=1_000) is reason
    assert stop_reason("openai.chat", "length", usage=usage) is StopReason.OUTPUT_LIMIT
    assert stop_reason("openai.chat", "length", window=1_000) is StopReason.OUTPUT_LIMIT
    assert stop_reason("openai.chat", "stop", usage=usage, window=1_000) is StopReason.END
