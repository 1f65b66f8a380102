"""Responses items in and out."""

from contextport.adapters.wire.openai_responses import OpenAIResponsesCodec
from contextport.conformance_tests import MessageCodecConformance
from contextport.contracts import MessageCodec

from .openai_responses_requests import INVALID, REQUESTS, UNKNOWN_BLOCKS


class TestOpenAIResponsesCodec(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return OpenAIResponsesCodec()

    def requests(self) -> tuple[dict[str, object], ...]:
        return REQUESTS

    def unknown_blocks(self) -> tuple[dict[str, object], ...]:
        return UNKNOWN_BLOCKS

    def invalid_requests(self) -> tuple[dict[str, object], ...]:
        return INVALID
