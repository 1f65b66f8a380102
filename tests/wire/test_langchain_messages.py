"""LangChain messages in and out."""

from collections.abc import Mapping

from contextport.adapters.wire.langchain_messages import LangChainCodec
from contextport.conformance_tests import MessageCodecConformance
from contextport.contracts import Json, MessageCodec

from .langchain_requests import INVALID, REQUESTS, UNKNOWN_BLOCKS, as_json


class TestLangChainCodec(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return LangChainCodec()

    def requests(self) -> tuple[Mapping[str, Json], ...]:
        return REQUESTS

    def unknown_blocks(self) -> tuple[Mapping[str, Json], ...]:
        return UNKNOWN_BLOCKS

    def invalid_requests(self) -> tuple[Mapping[str, Json], ...]:
        return INVALID

    def as_json(self, request: Mapping[str, Json]) -> Json:
        return as_json(request)
