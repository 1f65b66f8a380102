"""What providers refuse, told from the JSON of a request alone: written without any of the code that it checks.

A profile is only asked which of the rules its provider has.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from contextport.contracts.profile import ProviderProfile

__all__ = ["refusals"]

Wire = dict[str, Any]


def refusals(request: Wire, profile: ProviderProfile) -> list[str]:
    """Why the provider would refuse the request; empty if it would not."""
    json.dumps(request, allow_nan=False).encode()
    return list(_CHECKERS[profile.api](request, profile))


# --- OpenAI Chat Completions ------------------------------------------------------------------------------------------


def _chat(request: Wire, profile: ProviderProfile) -> Iterator[str]:
    messages: list[Wire] = request["messages"]
    spoken = [m for m in messages if m["role"] not in ("system", "developer")]
    if not spoken:
        yield "nothing is said"
        return
    for message in messages:
        if message["role"] not in profile.roles:
            yield f"unknown role {message['role']}"
        yield from _chat_content(message, profile)
    yield from _chat_pairs(messages, profile)
    if profile.first_user and spoken[0]["role"] != "user":
        yield f"begins with {spoken[0]['role']}"
    if profile.system_place == "first" and any(m["role"] in ("system", "developer") for m in messages[1:]):
        yield "a system message is not the first"
    if profile.last_user and messages[-1]["role"] not in ("user", "tool"):
        yield f"ends with {messages[-1]['role']}"
    for before, after in pairwise(messages):
        if profile.alternation and before["role"] == after["role"] and after["role"] in ("user", "assistant"):
            yield f"two messages of {after['role']}"
        if profile.assistant_after_results and before["role"] == "tool" and after["role"] not in ("tool", "assistant"):
            yield f"{after['role']} after tool"


def _chat_content(message: Wire, profile: ProviderProfile) -> Iterator[str]:
    content, role = message.get("content"), message["role"]
    beside = any(message.get(key) for key in ("tool_calls", "function_call", "audio", "refusal"))
    if role == "assistant" and not content and not beside:
        yield "an assistant message is hollow"
    if role != "assistant" and content is None:
        yield f"a {role} message has no content"
    parts = content if isinstance(content, list) else []
    texts = [content] if isinstance(content, str) and not (role == "tool" and content == "") else []
    texts += [part["text"] for part in parts if part.get("type") == "text"]
    yield from _blank(texts, profile)
    if role != "user" and any(part["type"] in ("image_url", "input_audio", "file") for part in parts):
        yield f"media in a {role} message"
    if any(part.get("signature") for part in parts):
        yield "a signature of another provider"


def _blank(texts: Sequence[str], profile: ProviderProfile) -> Iterator[str]:
    for text in texts:
        if (profile.refused_text != "none" and not text) or (profile.refused_text == "blank" and not text.strip()):
            yield f"blank text {text!r}"


def _chat_pairs(messages: list[Wire], profile: ProviderProfile) -> Iterator[str]:
    waiting: Counter[str] = Counter()
    end: Wire = {"role": "end"}
    for message in [*messages, end]:
        if message["role"] == "tool":
            if not waiting[message["tool_call_id"]]:
                yield "a tool message without its call"
            waiting[message["tool_call_id"]] -= 1
            continue
        if waiting.total():
            yield "calls without results"
        calls: list[Wire] = message.get("tool_calls") or []
        waiting = Counter(call["id"] for call in calls)
        if any(count > 1 for count in waiting.values()):
            yield "two calls of one id"
        for call in calls:
            yield from _id(call["id"], profile)
            if call["type"] == "custom" and profile.provider == "openai":
                continue
            yield from _arguments(call["function"]["arguments"], profile) if "function" in call else ["a custom tool"]


def _id(call_id: str, profile: ProviderProfile) -> Iterator[str]:
    if profile.id_pattern is not None and not re.fullmatch(profile.id_pattern, call_id):
        yield f"call id {call_id}"


def _arguments(text: str, profile: ProviderProfile) -> Iterator[str]:
    if profile.arguments == "any":
        return
    try:
        value = json.loads(text)
    except ValueError:
        yield f"arguments {text!r}"
    else:
        if profile.arguments == "object" and not isinstance(value, dict):
            yield f"arguments {text!r} are no object"


# --- OpenAI Responses -------------------------------------------------------------------------------------------------


def _responses(request: Wire, profile: ProviderProfile) -> Iterator[str]:
    items: list[Wire] = request["input"] if isinstance(request["input"], list) else [{"role": "user"}]
    for kind in ("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"):
        calls: Counter[str] = Counter(item["call_id"] for item in items if item.get("type") == kind)
        found: Counter[str] = Counter(item.get("call_id") or item["id"] for item in items if item.get("type") == f"{kind}_output")
        if calls != found:
            yield f"{kind} of {calls} have outputs {found}"
    ids = Counter(item["id"] for item in items if isinstance(item.get("id"), str))
    if any(count > 1 for count in ids.values()):
        yield "two items of one id"
    if not items:
        yield "nothing is said"
    for item in items:
        if item.get("type") == "function_call":
            yield from _id(item["call_id"], profile)
    for before, after in pairwise([*items, {"type": "end"}]):
        if before.get("type") == "reasoning" and "id" in before and _follows_no_reasoning(after):
            yield "reasoning without its following item"


def _follows_no_reasoning(item: Wire) -> bool:
    return item.get("type") in ("end", "function_call_output") or item.get("role") in ("user", "system", "developer")


# --- Anthropic --------------------------------------------------------------------------------------------------------


def _anthropic(request: Wire, profile: ProviderProfile) -> Iterator[str]:
    messages: list[Wire] = request["messages"]
    if not messages:
        yield "nothing is said"
        return
    if messages[0]["role"] != "user":
        yield f"begins with {messages[0]['role']}"
    if profile.last_user and messages[-1]["role"] == "assistant" and not _is_paused(messages[-1], "server_tool_use"):
        yield "ends with assistant"
    content = [_blocks(message) for message in messages]
    every = [block for blocks in content for block in blocks]
    for blocks in content:
        if not blocks:
            yield "a message without content"
    yield from _blank([block["text"] for block in _with_inner(every) if block["type"] == "text"], profile)
    last = content[-1][-1] if content[-1] else {}
    if messages[-1]["role"] == "assistant" and last.get("type") == "text" and last["text"] != last["text"].rstrip():
        yield "trailing white space"
    turns = list(zip([message["role"] for message in messages], content, strict=True))
    yield from _turn_pairs(turns, "tool_use", "tool_result", lambda use: use["id"], lambda found: found["tool_use_id"])
    ids = [block["id"] for block in every if block["type"] == "tool_use"]
    if len(ids) != len(set(ids)):
        yield "tool_use ids must be unique"
    for block in every:
        if block["type"] == "tool_use":
            yield from _id(block["id"], profile)
            if not isinstance(block["input"], dict):
                yield "input is no object"
        if block["type"] == "thinking" and not block.get("signature"):
            yield "thinking without signature"
    if sum("cache_control" in block for block in every) > 4:
        yield "more than 4 cache marks"
    yield from _served(messages)


def _served(messages: list[Wire]) -> Iterator[str]:
    for n, message in enumerate(messages):
        blocks = _blocks(message)
        asked = {block["id"] for block in blocks if block["type"] in ("server_tool_use", "mcp_tool_use")}
        found = {block["tool_use_id"] for block in blocks if block["type"].endswith("_tool_result")}
        pending = all(block["type"] == "tool_result" for later in messages[n + 1 :] for block in _blocks(later))
        if found - asked or (asked - found and not pending):
            yield "half of a server tool's pair"


def _is_paused(message: Wire, kind: str) -> bool:
    blocks = _blocks(message)
    return bool(blocks) and (blocks[-1]["type"] == kind or blocks[-1]["type"].endswith("_tool_result"))


def _blocks(message: Wire) -> list[Wire]:
    content = message["content"]
    return ([{"type": "text", "text": content}] if content else []) if isinstance(content, str) else content


def _with_inner(blocks: Sequence[Wire]) -> Iterator[Wire]:
    for block in blocks:
        yield block
        inner = block.get("content") if block["type"] == "tool_result" else None
        yield from [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []


def _turn_pairs(
    turns: list[tuple[str, list[Wire]]], use: str, found: str, use_id: Callable[[Wire], str], found_id: Callable[[Wire], str]
) -> Iterator[str]:
    """Each call is answered at the beginning of the message after it, and nothing else is. Servers answer for themselves."""
    turns = [
        (role, [block for block in blocks if "type" not in (block.get("toolUse") or block.get("toolResult") or {})])
        for role, blocks in turns
    ]
    before: list[str] = []
    for role, blocks in [*turns, ("end", [])]:
        answers = [found_id(block) for block in blocks if _type(block) == found]
        if sorted(answers) != sorted(before):
            yield f"calls {before} have results {answers}"
        if any(_type(block) == found for block in blocks[len(answers) :]):
            yield "results are not first in their message"
        if answers and role != "user":
            yield f"results in a message of {role}"
        before = [use_id(block) for block in blocks if _type(block) == use]


def _type(block: Wire) -> str:
    return block["type"] if isinstance(block.get("type"), str) else next(iter(block), "")


# --- Gemini -----------------------------------------------------------------------------------------------------------


def _gemini(request: Wire, profile: ProviderProfile) -> Iterator[str]:
    contents: list[Wire] = request["contents"]
    if not contents:
        yield "nothing is said"
        return
    if contents[0].get("role") == "model":
        yield f"begins with {contents[0]['role']}"
    if profile.last_user and contents[-1].get("role") == "model":
        yield "ends with the model"
    waiting = 0
    before = "start"
    for content in contents:
        parts = [_in_snake_case(part) for part in content["parts"] or ()]
        if not parts:
            yield "a content without parts"
        calls = [part for part in parts if "function_call" in part]
        found = [part for part in parts if "function_response" in part]
        if len(found) != waiting:
            yield f"{waiting} calls have {len(found)} responses"
        if found and len(found) < len(parts):
            yield "responses stand with other parts"
        if calls and before == "model":
            yield f"calls follow {before}"
        if any(not isinstance(part["function_call"].get("args") or {}, dict) for part in calls):
            yield "args are no object"
        yield from _blank([part["text"] for part in parts if "text" in part and "thought_signature" not in part], profile)
        waiting, before = len(calls), content.get("role", "user")
    if waiting:
        yield "calls without responses"
    if profile.thought_signatures:
        yield from _unsigned(contents)


def _in_snake_case(part: Wire) -> Wire:
    """What a part says, without the keys that say nothing."""
    return {re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", key): one for key, one in part.items() if one is not None}


def _unsigned(contents: list[Wire]) -> Iterator[str]:
    """Steps of the current turn whose first call has no signature."""
    for content in reversed(contents):
        parts = [_in_snake_case(part) for part in content["parts"] or ()]
        if content.get("role") != "model" and any("function_response" not in part for part in parts):
            return
        calls = [part for part in parts if "function_call" in part]
        if calls and "thought_signature" not in calls[0]:
            yield "function call is missing a thought_signature"


# --- Bedrock ----------------------------------------------------------------------------------------------------------


def _bedrock(request: Wire, profile: ProviderProfile) -> Iterator[str]:
    messages: list[Wire] = request["messages"]
    if not messages:
        yield "nothing is said"
        return
    if messages[0]["role"] != "user":
        yield f"begins with {messages[0]['role']}"
    if profile.last_user and messages[-1]["role"] != "user":
        yield "ends with assistant"
    for before, after in pairwise(messages):
        if before["role"] == after["role"]:
            yield f"two messages of {after['role']}"
    turns = [(message["role"], [one for one in message["content"] if "cachePoint" not in one]) for message in messages]
    yield from _turn_pairs(
        turns,
        "toolUse",
        "toolResult",
        lambda use: use["toolUse"]["toolUseId"],
        lambda found: found["toolResult"]["toolUseId"],
    )
    ids: list[str] = []
    for message in messages:
        yield from _bedrock_blocks(message["content"], profile)
    for _, blocks in turns:
        ids += [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block and "type" not in block["toolUse"]]
    if len(ids) != len(set(ids)):
        yield "toolUse ids must be unique"


def _bedrock_blocks(blocks: list[Wire], profile: ProviderProfile) -> Iterator[str]:
    if not blocks:
        yield "a message without content"
    results = [block["toolResult"] for block in blocks if "toolResult" in block and "type" not in block["toolResult"]]
    inner = [one for found in results for one in found["content"]]
    yield from _blank([block["text"] for block in (*blocks, *inner) if "text" in block], profile)
    if any(not found["content"] for found in results):
        yield "a result without content"
    if not profile.mixed_results and results and len(results) < len([block for block in blocks if "cachePoint" not in block]):
        yield "results stand with other content"
    if blocks and "cachePoint" in blocks[0]:
        yield "a cache point is first"
    for block in blocks:
        if "toolUse" in block:
            yield from _id(block["toolUse"]["toolUseId"], profile)
            if not isinstance(block["toolUse"]["input"], dict):
                yield "input is no object"


_CHECKERS: dict[str, Callable[[Wire, ProviderProfile], Iterator[str]]] = {
    "openai.chat": _chat,
    "openai.responses": _responses,
    "anthropic.messages": _anthropic,
    "gemini.generate_content": _gemini,
    "bedrock.converse": _bedrock,
}
