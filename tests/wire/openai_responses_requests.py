"""Requests of Responses with what is hard to bring back unchanged."""

from typing import Any

__all__ = ["INVALID", "REQUESTS", "UNKNOWN_BLOCKS"]

_PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0k"


def _said(id: str, text: str, **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": id, "type": "message", "status": "completed", "role": "assistant", "content": [part], **more}


REQUESTS: tuple[dict[str, Any], ...] = (
    {
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Weather in Oslo and Rome?"},
            {
                "id": "rs_1",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "Two cities."}],
                "encrypted_content": "own==",
            },
            _said("msg_1", "I look both up.", phase="commentary"),
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "weather",
                "arguments": '{ "city":"Oslo" }',
                "status": "completed",
            },
            {"id": "fc_2", "call_id": "call_2", "type": "function_call", "arguments": "", "name": "weather", "namespace": "sky"},
            {
                "type": "function_call_output",
                "call_id": "call_2",
                "output": [{"type": "input_text", "text": "31 °C"}, {"type": "input_image", "image_url": _PNG, "detail": "low"}],
            },
            {"output": "", "call_id": "call_1", "type": "function_call_output", "id": "fco_1"},
            {
                "id": "rs_2",
                "type": "reasoning",
                "summary": [],
                "content": [{"type": "reasoning_text", "text": "Only Rome."}],
                "status": "completed",
            },
            _said("msg_2", "Rome 31 °C.", phase="final_answer"),
        ],
    },
    {"input": "Hello"},
    {"input": "", "instructions": None},
    {"instructions": "alone"},
    {"input": []},
    {
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You see."}]},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {"type": "input_image", "file_id": "file-1", "detail": "auto"},
                    {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
                    {"type": "input_file", "file_url": "https://example.org/b.pdf"},
                ],
            },
            {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "cats"}},
            _said("msg_3", "A cat."),
            _said("msg_4", "Or a dog."),
            {"role": "user", "content": "Say more."},
            {
                "id": "msg_5",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": "I cannot."}],
            },
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": "As you wish.", "phase": None},
            {"role": "user", "content": ""},
        ]
    },
    {
        "input": [
            {"type": "compaction", "id": "cmp_1", "encrypted_content": "squeezed=="},
            {"role": "user", "content": "Run it."},
            {"type": "custom_tool_call", "call_id": "call_c", "id": "ctc_1", "name": "shell", "input": "ls -l | wc"},
            {
                "type": "local_shell_call",
                "id": "lsh_1",
                "call_id": "call_l",
                "status": "completed",
                "action": {"type": "exec", "command": ["ls"], "env": {}},
            },
            {"type": "custom_tool_call_output", "call_id": "call_c", "output": "3"},
            {"type": "local_shell_call_output", "id": "call_l", "output": '{"stdout":"3"}'},
            {
                "type": "computer_call",
                "id": "cu_1",
                "call_id": "call_u",
                "status": "completed",
                "action": {"type": "screenshot"},
                "pending_safety_checks": [],
            },
            {"type": "computer_call_output", "call_id": "call_u", "output": {"type": "computer_screenshot", "image_url": _PNG}},
            {"type": "mcp_approval_request", "id": "mcpr_1", "name": "send", "arguments": "{}", "server_label": "mail"},
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
            {"id": "msg_6", "type": "item_reference"},
            {"id": "rs_9"},
            {"type": "compaction_trigger"},
        ],
        "instructions": "Work.",
    },
)

UNKNOWN_BLOCKS: tuple[dict[str, Any], ...] = (
    {
        "input": [
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "look"}, {"type": "input_hologram", "beam": {"b": None, "a": [1.5]}}],
            },
            {"type": "hologram", "id": "ho_1", "beam": [1, None]},
            _said("msg_1", "I see it."),
        ]
    },
    {
        "input": [
            {"role": "user", "content": "go"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": [{"type": "input_text", "text": "is"}, {"type": "hologram", "beam": 2}],
            },
        ]
    },
)

INVALID: tuple[dict[str, Any], ...] = (
    {},
    {"input": None},
    {"instructions": ["x"], "input": []},
    {"input": [{"content": "neither type nor role"}]},
    {"input": [{"role": "narrator", "content": "x"}]},
    {"input": [{"type": 5}]},
    {"input": [{"role": "user", "content": 5}]},
    {"input": [{"role": "user", "content": [5]}]},
    {"input": [{"role": "user", "content": float("inf")}]},
    {"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]},
    {"input": [{"type": "function_call_output", "output": "x"}]},
)
