"""A real small model that summarises: what it invents is never what comes out."""

from __future__ import annotations

import asyncio

import pytest

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.models.transformers_chat_model import TransformersChatModel
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import Message, SummaryRequest
from contextport.strategies.facts.exact_values import exact_values
from contextport.strategies.summaries import ModelSummarizer
from contextport.strategies.summaries.checked import CheckedSummarizer
from tests.models.small_model import GGUF, small_model_folder

pytestmark = pytest.mark.xdist_group("local models")

DIALOG = (
    Message.user("We signed the contract AB-2024-001. The budget is 10000 euros, and it must not be exceeded.", id="u1"),
    Message.assistant("I noted the contract and the budget. What comes next?", id="a1"),
    Message.user("Write the plan for the new warehouse. The deadline is 2026-12-18.", id="u2"),
    Message.assistant("I start with the plan and send it to you when it is finished. It will have three parts.", id="a2"),
)


def test_what_a_small_model_writes_is_checked() -> None:
    counter = HeuristicTokenCounter()
    model = TransformersChatModel(small_model_folder(), gguf_file=GGUF)
    writer = ModelSummarizer(model, counter, window=600, classifier=RuleErrorClassifier())
    checked = CheckedSummarizer(writer, counter, retries=0, attempt_seconds=600)
    done = asyncio.run(checked.summarize_checked(SummaryRequest(messages=DIALOG, max_tokens=40)))
    said = done.summary.render()
    source = exact_values("\n".join(message.text for message in DIALOG))
    assert counter.count_text(said) <= 40
    assert exact_values(said) <= source
    assert said.strip()
    assert done.usage is not None
    assert 0 < done.usage.output_tokens <= 40 + 20
    assert bool(done.faults) == (done.summary.origin != f"model:{model.model}")
