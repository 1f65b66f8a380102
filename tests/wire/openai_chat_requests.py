"""Requests of Chat Completions with what is hard to bring back unchanged."""

from typing import Any

__all__ = ["INVALID", "REQUESTS", "UNKNOWN_BLOCKS"]

_PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0k"

REQUESTS: tuple[dict[str, Any], ...] = (
    {
        "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"name": "ann", "content": "Weather in Oslo and Rome?", "role": "user"},
            {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "annotations": [],
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{ "city":"Oslo" }'}},
                    {"type": "function", "id": "call_2", "function": {"arguments": "", "name": "weather"}},
                ],
            },
            {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "31 °C"}]},
            {"content": "", "tool_call_id": "call_1", "role": "tool"},
            {
                "role": "assistant",
                "content": "Rome 31 °C.",
                "reasoning_content": "Only Rome answered.",
                "x_vendor": {"b": 1, "a": []},
            },
        ]
    },
    {
        "messages": [
            {"role": "system", "content": "You see."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?", "prompt_cache_breakpoint": {"mode": "explicit"}},
                    {"type": "image_url", "image_url": {"url": _PNG, "detail": "low"}},
                    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                    {"type": "file", "file": {"file_id": "file-1"}},
                ],
            },
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot say."}]},
            {"role": "user", "content": "Why?"},
            {"role": "assistant", "refusal": "I may not.", "content": None},
            {"role": "user", "content": "Say it aloud."},
            {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
        ]
    },
    {
        "messages": [
            {"role": "user", "content": "Run it."},
            {
                "role": "assistant",
                "content": "Running.",
                "tool_calls": [{"id": "call_c", "type": "custom", "custom": {"name": "shell", "input": "ls -l | wc"}}],
            },
            {"role": "tool", "tool_call_id": "call_c", "content": "3"},
            {"role": "assistant", "content": "", "function_call": {"name": "old", "arguments": "{}"}},
            {"role": "function", "name": "old", "content": "legacy"},
            {"role": "user", "content": ""},
            {"role": "assistant", "content": "Three.", "prefix": True},
        ]
    },
    {"messages": []},
)

UNKNOWN_BLOCKS: tuple[dict[str, Any], ...] = (
    {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "look"}, {"type": "hologram", "beam": {"b": None, "a": [1.5]}}],
            },
            {"role": "assistant", "content": "I see it."},
        ]
    },
    {
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "is"}, {"type": "hologram", "beam": 2}]},
        ]
    },
)

INVALID: tuple[dict[str, Any], ...] = (
    {},
    {"messages": [{"content": "no role"}]},
    {"messages": [{"role": "narrator", "content": "x"}]},
    {"messages": [{"role": "tool", "content": "no id"}]},
    {"messages": [{"role": "user", "content": 5}]},
    {"messages": [{"role": "user", "content": [5]}]},
    {"messages": [{"role": "user", "content": float("nan")}]},
    {"messages": [{"role": "assistant", "content": None, "tool_calls": [{"type": "function"}]}]},
)
