"""Our summarizers under the suite that others run: without a model, and with one on a real server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.conformance_tests import SummarizerConformance
from contextport.conformance_tests.scripted_answers import Scripted
from contextport.contracts import IsGrounded, Summarizer, TokenCounter
from contextport.strategies.summaries import ModelSummarizer
from contextport.strategies.summaries.checked import CheckedSummarizer
from contextport.strategies.summaries.extractive import ExtractiveSummarizer
from tests.model_protocols import CHAT
from tests.model_server import ModelServer, Step
from tests.models.clients import model_on
from tests.summaries.writing_server import WINDOW, sent_to, writing_server


class TestExtractiveSummarizer(SummarizerConformance):
    claims = frozenset({IsGrounded})

    def make_summarizer(self, counter: TokenCounter) -> Summarizer:
        return ExtractiveSummarizer(counter)


class TestModelSummarizer(SummarizerConformance):
    claims = frozenset()

    def make_summarizer(self, counter: TokenCounter) -> Summarizer:
        return self.on_a_server(counter, None)

    def scripted_summarizer(self, counter: TokenCounter, script: Sequence[Scripted]) -> Summarizer:
        return self.on_a_server(counter, script)

    def on_a_server(self, counter: TokenCounter, script: Iterable[Step] | None) -> Summarizer:
        self.server: ModelServer = writing_server(script)
        self.server.__enter__()
        self.model: Any = model_on(self.server, CHAT)
        window = WINDOW if counter.name == "words" else 8 * WINDOW
        return ModelSummarizer(self.model, counter, window=window, classifier=RuleErrorClassifier())

    def sent_texts(self, summarizer: Summarizer) -> Sequence[str]:
        return sent_to(self.server)

    async def close_summarizer(self, summarizer: Summarizer) -> None:
        await self.model._client.close()
        self.server.close()


class TestCheckedModelSummarizer(TestModelSummarizer):
    claims = frozenset({IsGrounded})

    def on_a_server(self, counter: TokenCounter, script: Iterable[Step] | None) -> Summarizer:
        return CheckedSummarizer(super().on_a_server(counter, script), counter)


class TestCheckedExtractiveSummarizer(SummarizerConformance):
    claims = frozenset({IsGrounded})

    def make_summarizer(self, counter: TokenCounter) -> Summarizer:
        return CheckedSummarizer(ExtractiveSummarizer(counter), counter)
