"""Each provider's words for the end of an answer, in one table, and what follows from the answer itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .messages import ToolCall
from .model import StopReason, Usage

__all__ = ["STOP_WORDS", "stop_reason"]

#: The share of the window from which an answer cut for its length is taken to have been cut by the window.
_FULL = 0.99

_END, _SEQUENCE, _CALLS = StopReason.END, StopReason.STOP_SEQUENCE, StopReason.TOOL_CALLS
_OUTPUT, _WINDOW, _FILTERED = StopReason.OUTPUT_LIMIT, StopReason.WINDOW_LIMIT, StopReason.FILTERED

# Chat completions and all that speak them: Azure, Mistral, Groq, Together, Cerebras, z.ai, TGI, Ollama, vLLM, DeepSeek.
_CHAT: Mapping[str, StopReason] = {
    "stop": _END,
    "eos": _END,
    "eos_token": _END,
    "stop_sequence": _SEQUENCE,
    "length": _OUTPUT,
    "model_length": _WINDOW,
    "model_context_window_exceeded": _WINDOW,
    "tool_calls": _CALLS,
    "tool_call": _CALLS,
    "function_call": _CALLS,
    "content_filter": _FILTERED,
    "sensitive": _FILTERED,
    "compaction": StopReason.COMPACTED,
    "error": StopReason.ERROR,
    "network_error": StopReason.ERROR,
    "insufficient_system_resource": StopReason.ERROR,
}
_CLAUDE: Mapping[str, StopReason] = {
    "end_turn": _END,
    "stop_sequence": _SEQUENCE,
    "max_tokens": _OUTPUT,
    "model_context_window_exceeded": _WINDOW,
    "tool_use": _CALLS,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSED,
    "compaction": StopReason.COMPACTED,
}
_GEMINI_FILTERS = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "LANGUAGE",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "MODEL_ARMOR",
    "ESCALATION",
)
_GEMINI_FAULTS = (
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
)

#: Per wire form, the provider's word and the neutral reason. The enums are those of the official SDKs of November 2026.
STOP_WORDS: Mapping[str, Mapping[str, StopReason]] = {
    "openai.chat": _CHAT,
    "mistral.chat": _CHAT,
    "ollama.chat": _CHAT,
    "openai.responses": {  # the reason of an incomplete response, else its status
        "completed": _END,
        "max_output_tokens": _OUTPUT,
        "content_filter": _FILTERED,
        "failed": StopReason.ERROR,
        "cancelled": StopReason.ERROR,
    },
    "anthropic.messages": _CLAUDE,
    "bedrock.converse": {
        **_CLAUDE,
        "guardrail_intervened": _FILTERED,
        "content_filtered": _FILTERED,
        "malformed_model_output": StopReason.MALFORMED,
        "malformed_tool_use": StopReason.MALFORMED,
    },
    "gemini.generate_content": {
        "STOP": _END,
        "MAX_TOKENS": _OUTPUT,
        **dict.fromkeys(_GEMINI_FILTERS, _FILTERED),
        **dict.fromkeys(_GEMINI_FAULTS, StopReason.MALFORMED),
        "CONTINUATION": StopReason.PAUSED,
    },
    "cohere.chat": {
        "COMPLETE": _END,
        "STOP_SEQUENCE": _SEQUENCE,
        "MAX_TOKENS": _OUTPUT,
        "ERROR_LIMIT": _WINDOW,
        "TOOL_CALL": _CALLS,
        "ERROR_TOXIC": _FILTERED,
        "ERROR": StopReason.ERROR,
        "TIMEOUT": StopReason.ERROR,
    },
    "xai.chat": {
        "REASON_STOP": _END,
        "REASON_MAX_LEN": _OUTPUT,
        "REASON_MAX_CONTEXT": _WINDOW,
        "REASON_TOOL_CALLS": _CALLS,
        "REASON_TIME_LIMIT": StopReason.ERROR,
        "REASON_INVALID": StopReason.ERROR,
    },
}


def stop_reason(
    api: str,
    raw: str,
    *,
    calls: Iterable[ToolCall] = (),
    refused: bool = False,
    usage: Usage | None = None,
    window: int | None = None,
) -> StopReason:
    """Why an answer ended.

    `raw` is the provider's word, read as one of `api`, such as `openai.chat`; a word that is not in the table is `unknown`.
    What the answer holds decides before the word: a whole call for the host is `tool_calls`; a word that says "finished" or
    "calls" over calls of which none is whole is `malformed`; a refusal in the content is `refusal`. An answer cut for its length
    is `window_limit` where `usage` fills 0.99 of `window`, in tokens.
    """
    for_host = [call for call in calls if call.executor == "client"]
    if any(call.complete for call in for_host):
        return _CALLS
    reason = STOP_WORDS.get(api, {}).get(raw, StopReason.UNKNOWN)
    if reason is _CALLS or (for_host and reason in (_END, _SEQUENCE)):
        return StopReason.MALFORMED
    if refused and reason is _END:
        return StopReason.REFUSAL
    if reason is _OUTPUT and usage is not None and window and usage.input_tokens + usage.output_tokens >= _FULL * window:
        return _WINDOW
    return reason
