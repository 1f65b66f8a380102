"""Which profile a name means, and that profiles are sound."""

from __future__ import annotations

import re

import attrs
import pytest

from contextport.contracts import InvalidArgument
from contextport.strategies.provider_rules import PROFILES, profile_for

from .windows import CODECS

NAMES = {
    "gpt-4.1": "openai.chat",
    "gpt-4o-2024-08-06": "openai.chat",
    "gpt-5.5": "openai.reasoning_chat",
    "o3-mini": "openai.reasoning_chat",
    "openai/o1-mini": "openai.chat_without_system",
    "anthropic/claude-opus-5.5": "anthropic.prefix_bound_middle_system",
    "claude-opus-5-5-20260831": "anthropic.prefix_bound_middle_system",
    "claude-fable-5.1": "anthropic.prefix_bound_middle_system",
    "claude-fable-5": "anthropic.middle_system",
    "claude-mythos-5.1": "anthropic.middle_system",
    "claude-mythos-5.2": "anthropic.prefix_bound_middle_system",
    "claude-haiku-5.5": "anthropic.prefix_bound",
    "claude-opus-4-8": "anthropic.middle_system",
    "claude-opus-5": "anthropic.middle_system",
    "claude-sonnet-5": "anthropic.no_prefill",
    "claude-opus-4-6": "anthropic.no_prefill",
    "claude-sonnet-4-5-20250929": "anthropic.classic",
    "claude-3-5-sonnet@20240620": "anthropic.classic",
    "claude-opus-4-20250514": "anthropic.classic",
    "vertex_ai/claude-opus-4-7": "anthropic.no_prefill",
    "claude": "anthropic.no_prefill",
    "claude-opus-7": "anthropic.prefix_bound_middle_system",
    "bedrock/anthropic.claude-opus-5-5-v1:0": "bedrock.claude.prefix_bound",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "bedrock.claude.classic",
    "eu.anthropic.claude-opus-4-8-v1:0": "bedrock.claude.no_prefill",
    "arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0": "bedrock.nova",
    "meta.llama3-1-70b-instruct-v1:0": "bedrock.pure_results",
    "gemini-2.5-pro": "gemini.2",
    "models/gemini-2.0-flash-001": "gemini.2",
    "gemini/gemini-3-pro-preview": "gemini.3",
    "vertex_ai/gemini-3.5-flash": "vertex.3",
    "vertex_ai/gemini-2.5-pro": "vertex.2",
    "mistral-large-latest": "mistral",
    "openrouter/mistralai/mistral-large": "mistral",
    "openrouter/anthropic/claude-opus-5.5": "cautious",
    "deepseek-chat": "deepseek",
    "deepseek/deepseek-reasoner": "deepseek.thinking",
    "kimi-k2": "moonshot",
    "moonshotai/kimi-k2-thinking": "moonshot.thinking",
    "qwen3-max": "qwen",
    "xai/grok-4.3": "xai",
    "command-a-03-2025": "cohere",
    "sonar-pro": "perplexity",
    "groq/llama-3.3-70b-versatile": "open_model_hosts",
    "together_ai/meta-llama/Llama-3-70b": "open_model_hosts",
    "ollama/llama3.1:8b": "chat_template",
    "hosted_vllm/mistral-7b": "chat_template",
    "some-new-model": "cautious",
    "": "cautious",
    "/": "cautious",
}


@pytest.mark.parametrize(("model", "name"), NAMES.items())
def test_a_name_means_a_profile(model: str, name: str) -> None:
    assert profile_for(model).name == name


@pytest.mark.parametrize(
    ("model", "api", "name"),
    [
        ("us.anthropic.claude-opus-4-6-v1", "anthropic.messages", "anthropic.no_prefill"),
        ("claude-sonnet-4-5", "bedrock.converse", "bedrock.claude.classic"),
        ("claude-opus-5.5", "openai.chat", "cautious"),
        ("gpt-5.5", "openai.responses", "openai.responses"),
        ("nobody-knows", "gemini.generate_content", "gemini.3"),
        ("nobody-knows", "anthropic.messages", "anthropic.no_prefill"),
        ("nobody-knows", "bedrock.converse", "bedrock.pure_results"),
        ("claude-opus-5.5", "langchain.messages", "anthropic.prefix_bound_middle_system"),
        ("gpt-4.1", "some.other.api", "openai.chat"),
    ],
)
def test_the_api_decides_where_it_is_told(model: str, api: str, name: str) -> None:
    profile = profile_for(model, api)
    assert profile.name == name
    assert profile.api == api


def test_the_profile_knows_its_model_without_prefixes_and_dates() -> None:
    names = (
        "claude-opus-5.5",
        "anthropic/claude-opus-5-5",
        "claude-opus-5-5-20260831",
        "anthropic.claude-opus-5-5-v1:0",
    )
    assert {profile_for(name).model for name in names} == {"claude-opus-5-5"}
    assert attrs.evolve(profile_for("gpt-4.1"), model="") == PROFILES["openai.chat"]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_a_profile_is_sound(profile: object) -> None:
    found = PROFILES[profile.name]  # type: ignore[attr-defined]
    assert found is profile
    assert found.api in CODECS
    assert {"user", "assistant", "tool"} <= found.roles
    assert found.system_role in found.roles
    assert found.media_roles <= found.roles
    if found.id_pattern is not None:
        assert re.fullmatch(found.id_pattern, "0123456789abcdef"[: found.id_length].ljust(found.id_length, "0"))
    assert not (found.last_user and found.prefill == "last_assistant")
    assert found.stale_thinking == "drop" or found.thinking_bound_to == "prefix"


def test_what_is_no_name_is_refused() -> None:
    for given in (None, 5, b"gpt-4.1"):
        with pytest.raises(InvalidArgument, match="must be a model's name"):
            profile_for(given)
