"""Retrieval and hybrid as strategies: held to the suite, and to what they are for."""

from __future__ import annotations

import asyncio

import pytest

from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.conformance_tests import CompressionStrategyConformance
from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import (
    Compression,
    CompressionStrategy,
    InvalidArgument,
    KeepsPins,
    Kind,
    Message,
    Outcome,
    PortMismatch,
    TokenCounter,
)
from contextport.strategies import KeepRecentTokens, KeepRecentTurns
from contextport.strategies.folding import FoldOldest
from contextport.strategies.retrieval import RetrieveOlder

COUNTER = WordsCounter()


class TestRetrieval(CompressionStrategyConformance):
    claims = frozenset({KeepsPins})
    rounds = 1
    budget_step = 7

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return RetrieveOlder(KeepRecentTurns(counter, 2), counter, Fts5LexicalIndex())


class TestHybrid(CompressionStrategyConformance):
    claims = frozenset({KeepsPins})
    rounds = 1
    budget_step = 7

    def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
        return RetrieveOlder(FoldOldest(counter), counter, Fts5LexicalIndex())


def talk(turns: int, question: str) -> list[Message]:
    """The boat key first, then so many turns about nothing, then the question."""
    said = [Message.user("The boat key is under the blue pot", id="u0"), Message.assistant("Noted", id="a0")]
    for n in range(1, turns):
        said.append(Message.user(f"Row {n} shall have beans and onions and more", id=f"u{n}"))
        said.append(Message.assistant("That is a fine row for them", id=f"a{n}"))
    return [Message.system("You keep a garden", id="s"), *said, Message.user(question, id="ask")]


def compressed(strategy: CompressionStrategy, messages: list[Message], limit: int) -> Compression:
    return asyncio.run(strategy.compress(messages, limit))


def retrieval(**more: float) -> RetrieveOlder:
    return RetrieveOlder(KeepRecentTurns(COUNTER, 2), COUNTER, Fts5LexicalIndex(), **more)


def test_what_is_asked_about_stands_right_before_the_question() -> None:
    messages = talk(30, "Where is the key of the boat")
    result = compressed(retrieval(), messages, 120)
    assert [message.id for message in result.messages[:1]] == ["s"]
    found, question = result.messages[-2:]
    assert (found.kind, question.id) == (Kind.RETRIEVED, "ask")
    assert "The boat key is under the blue pot" in found.text
    assert result.tokens <= 120
    assert "u0" in result.omitted, "it is quoted, and not in the window as it was"


def test_nothing_is_there_twice() -> None:
    messages = talk(4, "Where is the key of the boat")
    result = compressed(RetrieveOlder(KeepRecentTokens(COUNTER), COUNTER, Fts5LexicalIndex(), share=0.3), messages, 55)
    texts = "\n".join(message.text for message in result.messages)
    for message in messages:
        assert texts.count(message.text) <= sum(other.text == message.text for other in messages)


def test_a_hybrid_window_has_a_summary_too() -> None:
    messages = talk(30, "Where is the key of the boat")
    strategy = RetrieveOlder(FoldOldest(COUNTER), COUNTER, Fts5LexicalIndex())
    result = compressed(strategy, messages, 160)
    kinds = [message.kind for message in result.messages]
    assert kinds[1] is Kind.SUMMARY
    assert kinds[-2] is Kind.RETRIEVED
    assert result.fold is None


def test_a_question_that_needs_the_room_has_it() -> None:
    messages = talk(10, "Where is the key of the boat " + "and tell me more " * 10)
    result = compressed(retrieval(share=0.6), messages, 60)
    assert result.messages[-1] == messages[-1]
    assert result.outcome is Outcome.SMALLER


def test_a_question_without_words_brings_nothing_back() -> None:
    result = compressed(retrieval(), talk(30, "?"), 120)
    assert all(message.kind is not Kind.RETRIEVED for message in result.messages)


@pytest.mark.parametrize("share", [0, 1.5, -0.1, True])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(InvalidArgument, match="share is"):
        retrieval(share=share)


def test_parts_that_are_none_are_refused() -> None:
    with pytest.raises(PortMismatch):
        RetrieveOlder(KeepRecentTokens(COUNTER), COUNTER, object())  # type: ignore[arg-type]
