"""Which provider an error comes from, by what the error carries: a class, a header, an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["provider_of_headers", "provider_of_host", "provider_of_module", "same_provider"]

#: Other names of a provider -> the name that the code tables use.
_SAME: Final = {
    "mistralai": "mistral",
    "mistral_ai": "mistral",
    "zai": "zhipu",
    "z.ai": "zhipu",
    "z_ai": "zhipu",
    "zhipuai": "zhipu",
    "bigmodel": "zhipu",
    "glm": "zhipu",
    "alibaba": "dashscope",
    "aliyun": "dashscope",
    "qwen": "dashscope",
    "kimi": "moonshot",
    "moonshotai": "moonshot",
    "google": "gemini",
    "genai": "gemini",
    "google_genai": "gemini",
    "x_ai": "xai",
    "xai_sdk": "xai",
    "aws": "bedrock",
    "botocore": "bedrock",
    "cerebras_cloud": "cerebras",
    "baidu": "qianfan",
    "wenxin": "qianfan",
    "ernie": "qianfan",
    "xfyun": "iflytek",
    "spark": "iflytek",
    "sparkdesk": "iflytek",
}
#: First part of the module of an exception class -> provider. OpenAI's package is used for many hosts, so it says nothing.
_MODULES: Final = {
    "anthropic": "anthropic",
    "botocore": "bedrock",
    "cerebras": "cerebras",
    "cohere": "cohere",
    "dashscope": "dashscope",
    "google": "gemini",
    "groq": "groq",
    "huggingface_hub": "hf_inference",
    "litellm": "litellm",
    "mistralai": "mistral",
    "ollama": "ollama",
    "together": "together",
    "xai_sdk": "xai",
    "zai": "zhipu",
    "zhipuai": "zhipu",
}
#: End of a host name, or a part of it -> provider.
_HOSTS: Final = {
    "api.openai.com": "openai",
    "openai.azure.com": "azure_openai",
    "anthropic.com": "anthropic",
    "amazonaws.com": "bedrock",
    "googleapis.com": "gemini",
    "mistral.ai": "mistral",
    "bigmodel.cn": "zhipu",
    "z.ai": "zhipu",
    "minimax": "minimax",
    "dashscope": "dashscope",
    "moonshot": "moonshot",
    "deepseek.com": "deepseek",
    "groq.com": "groq",
    "cerebras.ai": "cerebras",
    "cohere.": "cohere",
    "openrouter.ai": "openrouter",
    "together.": "together",
    "x.ai": "xai",
    "baidubce.com": "qianfan",
    "xf-yun.com": "iflytek",
    "githubcopilot.com": "github_copilot",
}
_HEADERS: Final = {
    "x-amzn-errortype": "bedrock",
    "x-amzn-requestid": "bedrock",
    "x-groq-region": "groq",
    "minimax-request-id": "minimax",
}


def same_provider(name: str) -> str:
    """The name that the tables use, in lower case; names that are not known stay as they are."""
    lowered = name.strip().lower().replace("-", "_").replace(" ", "_")
    return _SAME.get(lowered, lowered)


def provider_of_module(module: str) -> str:
    """Provider by the package of an exception class, or empty."""
    return _MODULES.get(module.partition(".")[0], "")


def provider_of_host(host: str) -> str:
    """Provider by host name, or empty."""
    lowered = host.lower()
    for part, provider in _HOSTS.items():
        # a short name such as x.ai must be a whole label, or the end of another name would be taken for it
        if lowered == part or lowered.endswith("." + part) or (part.count(".") != 1 and part in lowered):
            return provider
        if part.endswith(".") and part in lowered:
            return provider
    return ""


def provider_of_headers(headers: Mapping[str, str]) -> str:
    """Provider by response headers (lower-case names), or empty."""
    return next((provider for name, provider in _HEADERS.items() if name in headers), "")
