"""Requests written by hand for the apis whose messages are lists of blocks, with every kind of block."""

from __future__ import annotations

from typing import Any

__all__ = ["ANTHROPIC", "BEDROCK", "GEMINI", "PNG", "PNG_BYTES", "UNKNOWN_ANTHROPIC", "UNKNOWN_BEDROCK", "UNKNOWN_GEMINI"]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEklEQVR42mNk+M/wHwMDAwMABQYBAmT0qQAAAABJRU5ErkJggg=="
PNG_BYTES = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x02\x08\x06\x00\x00\x00"
_PDF = "JVBERi0xLjQK"

Request = dict[str, Any]

ANTHROPIC: dict[str, Request] = {
    "strings": {
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi. \u00e9\u2028 \U0001f600"},
            {"content": "The keys are the other way round", "role": "user"},
        ],
    },
    "system blocks after the messages": {
        "messages": [{"role": "user", "content": [{"text": "keys in another order", "type": "text"}]}],
        "system": [
            {"type": "text", "text": "Long rules."},
            {"type": "text", "text": "Stable rules.", "cache_control": {"ttl": "1h", "type": "ephemeral"}},
        ],
    },
    "tool loop with thinking": {
        "system": [{"type": "text", "text": "Use tools.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Compare both", "cache_control": {"type": "ephemeral"}}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "", "signature": "EqQBCgIYAhIM"},
                    {"type": "redacted_thinking", "data": "EmwKAhgB"},
                    {"type": "text", "text": "First the one"},
                    {"type": "tool_use", "id": "toolu_01", "name": "read", "input": {"b": 1.0, "a": [None, True, "\u00fc"]}},
                    {"type": "text", "text": "and the other."},
                    {
                        "type": "tool_use",
                        "id": "toolu_02",
                        "name": "read",
                        "input": {},
                        "caller": {"type": "direct"},
                        "cache_control": {"type": "ephemeral"},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_01",
                        "content": [
                            {"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}},
                            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a doc"}},
                            {
                                "type": "search_result",
                                "source": "https://example.org",
                                "title": "A title",
                                "content": [{"type": "text", "text": "found"}],
                            },
                            {"type": "tool_reference", "tool_name": "read"},
                        ],
                        "is_error": False,
                    },
                    {"tool_use_id": "toolu_02", "type": "tool_result", "content": "no such file", "is_error": True},
                    {"type": "text", "text": "And be quick", "cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": "please"},
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_03", "name": "now", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_03"}]},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Two messages"},
            {"role": "user", "content": "of one role"},
        ],
    },
    "media and citations": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
                    {"type": "image", "source": {"type": "file", "file_id": "file_011"}},
                    {
                        "type": "document",
                        "title": "A paper",
                        "context": "from the archive",
                        "citations": {"enabled": True},
                        "source": {"type": "base64", "media_type": "application/pdf", "data": _PDF},
                    },
                    {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "chunk"}]}},
                    {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}},
                    {"type": "container_upload", "file_id": "file_012"},
                    {"type": "text", "text": "Read these"},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "text",
                        "text": "It says so",
                        "citations": [
                            {
                                "type": "char_location",
                                "cited_text": "so",
                                "document_index": 0,
                                "document_title": None,
                                "start_char_index": 0,
                                "end_char_index": 2,
                            }
                        ],
                    },
                    {"type": "text", "text": ".", "citations": None},
                ],
            },
        ],
    },
    "server tools and compaction": {
        "messages": [
            {"role": "user", "content": "What is new?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "compaction", "content": "What was before.", "encrypted_content": "ZW5j", "signature": "c2ln"},
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "news"}},
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "srvtoolu_1",
                        "content": [
                            {
                                "type": "web_search_result",
                                "url": "https://example.org",
                                "title": "News",
                                "encrypted_content": "c3R1ZmY=",
                                "page_age": None,
                            }
                        ],
                    },
                    {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "list", "server_name": "files", "input": {}},
                    {
                        "type": "mcp_tool_result",
                        "tool_use_id": "mcptoolu_1",
                        "is_error": False,
                        "content": [{"type": "text", "text": "a, b"}],
                    },
                    {"type": "text", "text": "This is new."},
                ],
            },
            {"role": "user", "content": "Go on"},
            {"role": "system", "content": "From now on in French."},
            {"role": "assistant", "content": [{"type": "text", "text": "D'accord."}]},
            {"role": "system", "content": [{"type": "text", "text": "And short.", "cache_control": {"type": "ephemeral"}}]},
        ],
    },
    "what the api refuses": {
        "system": "",
        "messages": [
            {"role": "system", "content": "first"},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": [{"type": "text", "text": ""}]},
            {"role": "user", "content": []},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "t1", "name": "read", "input": {}},
                    {"type": "tool_use", "id": "t2", "name": "read", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "between"},
                    {"type": "tool_result", "tool_use_id": "t2", "content": []},
                    {"type": "text", "text": "results"},
                    {"type": "tool_result", "tool_use_id": "t1", "content": ""},
                ],
                "unknown_key": {"n": 1},
            },
        ],
    },
    "nothing": {"messages": []},
}

GEMINI: dict[str, Request] = {
    "snake case": {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Look"}, {"inline_data": {"mime_type": "image/png", "data": PNG}}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I should call it", "thought": True, "thought_signature": "c2lnMQ=="},
                    {"text": "Calling", "thought_signature": "c2lnMg=="},
                    {"function_call": {"name": "find", "args": {"q": "a"}}, "thought_signature": "c2lnMw=="},
                    {"function_call": {"name": "find", "args": {"q": "b"}}},
                    {"function_call": {"name": "other"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"function_response": {"name": "find", "response": {"output": "one"}}},
                    {"function_response": {"name": "find", "response": {"rows": [1, 2]}}},
                    {"function_response": {"name": "other", "response": {"error": "it broke"}}},
                ],
            },
            {"role": "model", "parts": [{"function_call": {"name": "find", "args": {"q": "c"}}}]},
            {
                "role": "function",
                "parts": [
                    {
                        "function_response": {
                            "name": "find",
                            "response": {"result": "three"},
                            "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}}],
                        }
                    },
                    {"text": "and a word of the user"},
                ],
            },
            {"role": "model", "parts": [{"text": ""}]},
        ],
    },
    "camel case, bytes and ids": {
        "contents": [
            {
                "parts": [
                    {"text": "What is it?", "partMetadata": {"n": 1}},
                    {"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": "a.png"}},
                    {"fileData": {"fileUri": "gs://bucket/film.mp4", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 2}},
                    {"fileData": {"fileUri": "https://example.org/a.pdf", "mimeType": "application/pdf"}},
                ]
            },
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"id": "call-1", "name": "find", "args": {"a": {"b": [1, 2.5, None]}}},
                        "thoughtSignature": "c2ln",
                    },
                    {"functionCall": {"id": "call-2", "name": "find", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "call-2", "name": "find", "response": {"output": "second"}}},
                    {
                        "functionResponse": {
                            "id": "call-1",
                            "name": "find",
                            "response": {"output": "first"},
                            "willContinue": False,
                        }
                    },
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                    {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}}},
                    {"toolResponse": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}},
                    {"text": "It is one."},
                ],
            },
        ],
        "systemInstruction": "A string.",
    },
    "dumped with nulls": {
        "system_instruction": ["first", {"text": "second"}],
        "contents": [
            {"parts": [{"text": "Hello", "thought": None, "function_call": None}], "role": None},
            {"parts": None, "role": "model"},
            {"role": "user", "parts": [{"text": "Two contents"}]},
            {"role": "user", "parts": [{"text": "of one role"}]},
        ],
    },
}

BEDROCK: dict[str, Request] = {
    "tool loop": {
        "system": [
            {"text": "Use tools."},
            {"cachePoint": {"type": "default"}},
            {"guardContent": {"text": {"text": "Guard this", "qualifiers": ["guard_content"]}}},
        ],
        "messages": [
            {
                "role": "user",
                "content": [{"text": "Compare"}, {"cachePoint": {"type": "default", "ttl": "1h"}}, {"text": "both"}],
            },
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "I think", "signature": "c2ln"}}},
                    {"reasoningContent": {"redactedContent": "cmVkYWN0ZWQ="}},
                    {"text": "One"},
                    {
                        "toolUse": {
                            "toolUseId": "tooluse_1",
                            "name": "read",
                            "input": {"bytes": {"$bytes": "not bytes"}, "n": 1.0},
                        }
                    },
                    {"text": "two"},
                    {"toolUse": {"toolUseId": "tooluse_2", "name": "read", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "tooluse_1",
                            "content": [
                                {"text": "one"},
                                {"json": {"rows": [1, {"bytes": "x"}]}},
                                {"image": {"format": "png", "source": {"bytes": PNG}}},
                                {
                                    "searchResult": {
                                        "source": "https://example.org",
                                        "title": "A title",
                                        "content": [{"text": "found"}],
                                    }
                                },
                            ],
                            "status": "success",
                        }
                    },
                    {"cachePoint": {"type": "default"}},
                    {"toolResult": {"toolUseId": "tooluse_2", "status": "error", "content": [{"text": "no such file"}]}},
                    {"text": "And be quick"},
                    {"cachePoint": {"type": "default"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {
                        "citationsContent": {
                            "content": [{"text": "It says "}, {"text": "so."}],
                            "citations": [
                                {"title": "A paper", "location": {"documentChar": {"documentIndex": 0, "start": 0, "end": 2}}}
                            ],
                        }
                    },
                    {"toolUse": {"toolUseId": "srv_1", "name": "nova_grounding", "input": {"q": "x"}, "type": "server_tool_use"}},
                    {"toolResult": {"toolUseId": "srv_1", "content": [{"text": "grounded"}], "type": "nova_grounding_result"}},
                    {"text": "Done."},
                ],
            },
            {"role": "user", "content": [{"text": "Two messages"}]},
            {"role": "user", "content": [{"text": "of one role"}]},
        ],
    },
    "media": {
        "messages": [
            {
                "content": [
                    {"image": {"format": "png", "source": {"bytes": PNG}}},
                    {
                        "image": {
                            "format": "jpeg",
                            "source": {"s3Location": {"uri": "s3://bucket/a.jpeg", "bucketOwner": "123456789012"}},
                        }
                    },
                    {
                        "document": {
                            "format": "pdf",
                            "name": "paper",
                            "source": {"bytes": _PDF},
                            "context": "from the archive",
                            "citations": {"enabled": True},
                        }
                    },
                    {"document": {"name": "notes", "source": {"text": "plain notes"}}},
                    {"document": {"format": "txt", "name": "chunks", "source": {"content": [{"text": "chunk"}]}}},
                    {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://bucket/a.mp4"}}}},
                    {"audio": {"format": "wav", "source": {"bytes": "UklGRg=="}}},
                    {"guardContent": {"image": {"format": "png", "source": {"bytes": PNG}}}},
                    {"text": "Read these"},
                ],
                "role": "user",
            },
            {"role": "system", "content": [{"text": "From now on in French."}]},
            {"role": "assistant", "content": [{"text": "D'accord."}]},
        ],
        "system": [],
    },
}

UNKNOWN_ANTHROPIC: Request = {
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "see"}, {"type": "hologram", "beam": {"x": [1, None]}, "cache_control": None}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t1", "name": "read", "input": {}},
                {"type": "hologram_tool_use", "id": "x"},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "a"}, {"type": "hologram", "beam": 2}],
                }
            ],
        },
    ]
}
UNKNOWN_GEMINI: Request = {
    "contents": [
        {"role": "user", "parts": [{"text": "see"}, {"hologram": {"beam": [1, None]}}]},
        {"role": "model", "parts": [{"text": "ok"}, {"hologramResult": {"beam": 2}, "thoughtSignature": "c2ln"}]},
    ]
}
UNKNOWN_BEDROCK: Request = {
    "messages": [
        {"role": "user", "content": [{"text": "see"}, {"hologram": {"beam": [1, None]}}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "read", "input": {}}}, {"hologram": {}}]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "a"}, {"hologram": {"beam": 2}}]}}],
        },
    ]
}
