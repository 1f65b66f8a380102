"""Every source of limits keeps the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import httpx
import pytest

from contextport.adapters.limits.genai_prices_limits import GenaiPricesLimits
from contextport.adapters.limits.learnt_limits import LearntLimits
from contextport.adapters.limits.live_limits import LiveLimits
from contextport.adapters.limits.models_dev_limits import ModelsDevLimits
from contextport.conformance_tests import LimitsSourceConformance
from contextport.contracts import LimitsSource
from contextport.contracts.provider_error import ErrorKind, ErrorReading, Remedy
from tests.limits.host_server import running


class TestLearntLimits(LimitsSourceConformance):
    def make_source(self) -> LimitsSource:
        learnt = LearntLimits()
        said = ErrorReading(kind=ErrorKind.INPUT, remedy=Remedy.COMPACT, limit=8_000, input=9_000)
        learnt.learn(said, model="m", host="host.example")
        learnt.learn(said, model="n")
        return learnt

    def known_models(self) -> Sequence[tuple[str, str]]:
        return [("m", "host.example"), ("n", "")]


class TestLiveLimits(LimitsSourceConformance):
    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with running() as self.server:
            self.server.answers["/v1/models"] = (200, {"data": [{"id": "m", "max_model_len": 8_192}]})
            yield

    async def make_source(self) -> LimitsSource:
        async with httpx.AsyncClient(base_url=f"{self.server.url}/v1", trust_env=False) as client:
            live = LiveLimits(client, api="openai")
            await live.refresh("m")
        return live

    def known_models(self) -> Sequence[tuple[str, str]]:
        return [("m", self.server.address)]


class TestModelsDevLimits(LimitsSourceConformance):
    def make_source(self) -> LimitsSource:
        return ModelsDevLimits()

    def known_models(self) -> Sequence[tuple[str, str]]:
        return [("gpt-4o", ""), ("gpt-4o", "api.openai.com"), ("openai/gpt-4o", "openrouter.ai/api")]


class TestGenaiPricesLimits(LimitsSourceConformance):
    def make_source(self) -> LimitsSource:
        return GenaiPricesLimits()

    def known_models(self) -> Sequence[tuple[str, str]]:
        return [("gpt-4o", ""), ("gpt-4o", "api.openai.com"), ("openai/gpt-4o", "openrouter.ai/api")]
