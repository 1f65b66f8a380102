"""Which profile a model's name means."""

from __future__ import annotations

import re
from functools import lru_cache

import attrs

from contextport.contracts import InvalidArgument
from contextport.contracts.profile import ProviderProfile

from .model_names import ModelName, model_name
from .profiles import PROFILES

__all__ = ["profile_for"]

#: Hosts that serve models behind their own chat template.
_LOCAL = frozenset(
    {"ollama", "ollama_chat", "vllm", "hosted_vllm", "lm_studio", "llamacpp", "llamafile", "huggingface", "tgi", "sglang"}
)
_OPEN_MODEL_HOSTS = frozenset({"groq", "together_ai", "together", "cerebras", "fireworks_ai", "fireworks", "deepinfra"})
#: Hosts that take Claude or Gemini in these models' own form.
_NATIVE = frozenset({"", "anthropic", "google", "gemini", "vertex_ai", "vertex", "azure_ai", "models"})
#: Families that speak OpenAI's chat form, by the plain name; the first that matches.
_CHAT_FAMILIES = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"^o1-(mini|preview)", "openai.chat_without_system"),
        (r"^(o\d|codex|gpt-([5-9]|\d\d))", "openai.reasoning_chat"),
        (r"^(ft:)?(gpt-(?!oss)|chatgpt)", "openai.chat"),
        (r"(mistral|mixtral|ministral|codestral|magistral|pixtral|devstral)", "mistral"),
        (r"deepseek.*(reasoner|r\d|thinking)", "deepseek.thinking"),
        (r"deepseek", "deepseek"),
        (r"kimi.*thinking", "moonshot.thinking"),
        (r"(kimi|moonshot)", "moonshot"),
        (r"(qwen|qwq|qvq)", "qwen"),
        (r"grok", "xai"),
        (r"(^command|c4ai|^aya)", "cohere"),
        (r"(^sonar|perplexity)", "perplexity"),
        (r"(llama|gemma|^phi|gpt-oss|vicuna|smollm)", "chat_template"),
    )
)


#: Converse has no system messages in the middle.
_CLAUDE_ON_BEDROCK = {
    "anthropic.classic": "bedrock.claude.classic",
    "anthropic.no_prefill": "bedrock.claude.no_prefill",
    "anthropic.middle_system": "bedrock.claude.no_prefill",
    "anthropic.prefix_bound": "bedrock.claude.prefix_bound",
    "anthropic.prefix_bound_middle_system": "bedrock.claude.prefix_bound",
}


@lru_cache(maxsize=1024)
def profile_for(model: str, api: str = "") -> ProviderProfile:
    """The profile for a model, by its name: `gpt-4.1`, `anthropic/claude-opus-5.5`, `bedrock/anthropic.claude-...`.

    Prefixes of hosts and vendors, dates and variants are understood. `api` names the codec, where it is not the usual one of
    the model. No text is an error: what is unknown gets the cautious profile of that api. Raises `InvalidArgument` for what is no
    text.
    """
    if not isinstance(model, str):
        raise InvalidArgument(f"model is {model!r:.80}; it must be a model's name", name="model")
    name = model_name(model)
    found = PROFILES[_chosen(name, api)]
    return attrs.evolve(found, model=name.plain, api=api or found.api)


def _chosen(name: ModelName, api: str) -> str:
    if api in ("", "langchain.messages"):
        api = _usual_api(name)
    match api:
        case "anthropic.messages":
            return _anthropic(name)
        case "bedrock.converse":
            return _bedrock(name)
        case "gemini.generate_content":
            host = "vertex" if name.host in ("vertex_ai", "vertex") else "gemini"
            return f"{host}.2" if 0 < name.version[0] < 3 else f"{host}.3"
        case "openai.responses":
            return "openai.responses"
        case _:
            return _chat(name)


def _usual_api(name: ModelName) -> str:
    """The api that a model is called by if nothing else is said."""
    if name.host == "bedrock":
        return "bedrock.converse"
    if name.host in _NATIVE and "claude" in name.plain:
        return "anthropic.messages"
    if name.host in _NATIVE and "gemini" in name.plain:
        return "gemini.generate_content"
    return "openai.chat"


def _anthropic(name: ModelName) -> str:
    """The profile of a Claude model. One without a known version gets what is valid for all that take signed reasoning."""
    line, version = name.line, name.version
    if version == (0, 0):
        return "anthropic.no_prefill"
    if version < (4, 6):
        return "anthropic.classic"
    middle = line in ("opus", "fable", "mythos")
    if version >= ((5, 1) if line == "fable" else (5, 2) if line == "mythos" else (5, 5)):
        return "anthropic.prefix_bound_middle_system" if middle else "anthropic.prefix_bound"
    return "anthropic.middle_system" if middle and version >= (4, 8) else "anthropic.no_prefill"


def _bedrock(name: ModelName) -> str:
    if "claude" in name.plain:
        return _CLAUDE_ON_BEDROCK[_anthropic(name)]
    return "bedrock.nova" if "nova" in name.plain else "bedrock.pure_results"


def _chat(name: ModelName) -> str:
    if name.host in _LOCAL:
        return "chat_template"
    if name.host in _OPEN_MODEL_HOSTS:
        return "open_model_hosts"
    if "claude" in name.plain or "gemini" in name.plain:
        return "cautious"  # spoken to through a translation that nothing is known of
    return next((family for pattern, family in _CHAT_FAMILIES if pattern.search(name.plain)), "cautious")
