"""SDK clients and models on a `ModelServer`."""

from __future__ import annotations

from typing import Any

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from contextport.adapters.models.anthropic_chat_model import AnthropicChatModel
from contextport.adapters.models.openai_chat_model import OpenAIChatModel
from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from tests.model_protocols import CHAT
from tests.model_server import ModelServer

__all__ = ["KEY", "model_on"]

KEY = "sk-test-0123456789abcdef"


def model_on(server: ModelServer, api: str, *, key: str = KEY, timeout: float = 60.0, **options: Any) -> Any:
    """A chat model whose client talks to the server: of `openai.chat` or `anthropic.messages`."""
    if api == CHAT:
        client = AsyncOpenAI(base_url=server.openai_url, api_key=key, timeout=timeout)
        return OpenAIChatModel(client, "gpt-test", OpenAIChatCodec(), **options)
    claude = AsyncAnthropic(base_url=server.anthropic_url, api_key=key, timeout=timeout)
    return AnthropicChatModel(claude, "claude-test", AnthropicCodec(), **options)
