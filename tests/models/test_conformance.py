"""The models of both SDKs under the suite that others run, on a real server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from contextport.conformance_tests import ChatModelConformance
from contextport.conformance_tests.scripted_answers import Scripted, SentRequest
from contextport.contracts.model import ChatModel, StopReason, StreamsCompletions
from tests.model_protocols import CHAT, CLAUDE, max_output_of
from tests.model_server import ModelServer
from tests.models.clients import model_on


class OnAServer(ChatModelConformance):
    claims = frozenset({StreamsCompletions})
    api: ClassVar[str]

    def make_model(self, script: Sequence[Scripted]) -> ChatModel:
        self.server = ModelServer(script)
        self.server.__enter__()
        model: ChatModel = model_on(self.server, self.api, key=self.secret)
        return model

    def sent_requests(self, model: ChatModel) -> Sequence[SentRequest]:
        return [SentRequest(max_output=max_output_of(self.api, one.body), body=one.text) for one in self.server.requests]

    async def close_model(self, model: Any) -> None:
        await model._client.close()
        self.server.close()


class TestOpenAIChatModel(OnAServer):
    api = CHAT
    words: ClassVar[Mapping[StopReason, str]] = {
        StopReason.END: "stop",
        StopReason.OUTPUT_LIMIT: "length",
        StopReason.TOOL_CALLS: "tool_calls",
        StopReason.FILTERED: "content_filter",
        StopReason.WINDOW_LIMIT: "model_length",
        StopReason.ERROR: "network_error",
    }


class TestAnthropicChatModel(OnAServer):
    api = CLAUDE
    arguments_are_text = False
    error_fields = frozenset({"type"})
    words: ClassVar[Mapping[StopReason, str]] = {
        StopReason.END: "end_turn",
        StopReason.STOP_SEQUENCE: "stop_sequence",
        StopReason.OUTPUT_LIMIT: "max_tokens",
        StopReason.WINDOW_LIMIT: "model_context_window_exceeded",
        StopReason.TOOL_CALLS: "tool_use",
        StopReason.REFUSAL: "refusal",
        StopReason.PAUSED: "pause_turn",
    }
