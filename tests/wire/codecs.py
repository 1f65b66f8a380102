"""All codecs, with requests of their own apis and how to write one as JSON text."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, cast

from attrs import frozen

from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.bedrock_converse import BedrockConverseCodec
from contextport.adapters.wire.gemini_contents import GeminiCodec
from contextport.adapters.wire.langchain_messages import LangChainCodec
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.adapters.wire.openai_responses import OpenAIResponsesCodec
from contextport.contracts import Json, MessageCodec, dump_json

from . import block_requests, langchain_requests, openai_chat_requests, openai_responses_requests

__all__ = ["CODECS", "Tried"]

Request = Mapping[str, Any]


@frozen(kw_only=True)
class Tried:
    """A codec, requests of its api, and its requests as JSON values."""

    codec: MessageCodec
    requests: tuple[Request, ...]
    as_json: Callable[[Request], Json] = dict

    def text(self, request: Request) -> str:
        return dump_json(self.as_json(request))


def _without_bytes(value: Any) -> Json:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _without_bytes(one) for key, one in cast(dict[str, Any], value).items()}
    return [_without_bytes(one) for one in cast(list[Any], value)] if isinstance(value, list) else value


CODECS: dict[str, Tried] = {
    tried.codec.api: tried
    for tried in (
        Tried(codec=OpenAIChatCodec(), requests=openai_chat_requests.REQUESTS),
        Tried(codec=OpenAIResponsesCodec(), requests=openai_responses_requests.REQUESTS),
        Tried(codec=AnthropicCodec(), requests=tuple(block_requests.ANTHROPIC.values())),
        Tried(codec=GeminiCodec(), requests=tuple(block_requests.GEMINI.values())),
        Tried(codec=BedrockConverseCodec(), requests=tuple(block_requests.BEDROCK.values()), as_json=_without_bytes),
        Tried(codec=LangChainCodec(), requests=langchain_requests.REQUESTS, as_json=langchain_requests.as_json),
    )
}
