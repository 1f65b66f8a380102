"""Chat Completions messages in and out."""

from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.conformance_tests import MessageCodecConformance
from contextport.contracts import MessageCodec

from .openai_chat_requests import INVALID, REQUESTS, UNKNOWN_BLOCKS


class TestOpenAIChatCodec(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return OpenAIChatCodec()

    def requests(self) -> tuple[dict[str, object], ...]:
        return REQUESTS

    def unknown_blocks(self) -> tuple[dict[str, object], ...]:
        return UNKNOWN_BLOCKS

    def invalid_requests(self) -> tuple[dict[str, object], ...]:
        return INVALID
